/*
 * attention.h: O = softmax(Q * K^T / sqrt(d)) * V for `heads` heads of each of `batch` sequences,
 * for its kernels and for kind.c.
 *
 *     Q [batch][m][heads * d]      A: a row is a query, and head h has the columns from h * d on
 *     K [batch][n][kv_heads * d]   B: a row is a key, its heads in the same way
 *     V [batch][n][kv_heads * d]   a value for each key
 *     O [batch][m][heads * d]      D
 *     LSE [batch * heads][m]       the logarithm of the sum of the exponentials, which training
 *                                  needs
 *
 * From one sequence to the next each of the first four has a stride of its own, whatever lies
 * between. Several heads of Q in a row may share a head of K and V. A query sees all keys, or with
 * a causal mask only those up to its own: the last query sees the last key. A query that sees none
 * has O = 0 and LSE = -infinity. The values of keys that a query does not see are multiplied by 0,
 * if another query of its tile sees them: they must be finite.
 */
#ifndef BEYOND_16_ATTENTION_ATTENTION_H
#define BEYOND_16_ATTENTION_ATTENTION_H

#include "gemm.h"

enum { VALUES, LSE, ATTENTION_MATRICES }; /* in gemm_problem.matrix */

/* Elements from one sequence to the next, positive multiples of 8; of one sequence not used. */
struct attention_strides {
    int64_t q, k, v, o;
};

/* What gemm_problem.of_kind points to; k is d. */
struct attention_problem {
    int batch;           /* sequences, all of m queries and n keys */
    int heads, kv_heads; /* of each; the second divides the first */
    struct attention_strides strides;
    bool causal;
    float scale; /* a score times this is the exponent of 2: log2(e) / sqrt(d) */
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct problem_kind attention_128_kind GEMM_KIND_IF_LINKED,
    attention_64_kind GEMM_KIND_IF_LINKED; /* by d */

/* The baselines, as problem_kind.baselines writes them: rivals.cu. */
struct contender;
int attention_rivals(const struct gemm_problem *problems, int count, uint32_t wanted,
                     struct contender *out, int room);
/* One of them, as gpu/baselines.h has it: rivals_flash.cu. */
bool flash_attention_contender(const struct gemm_problem *problems, int count,
                               struct contender *out);

#ifdef __cplusplus
}
#endif

/* Host thread. */
static inline const struct attention_problem *attention_of(const struct gemm_problem *p) {
    return (const struct attention_problem *)p->of_kind;
}

/* The parameter of the kernels. In `gemm`, map_a is that of Q, map_b of K, map_d of O, of three
 * dimensions: sequence, row, column. A box has 64 columns, so it never reaches into the next
 * head. */
struct attention_args {
    struct gemm_args gemm;
    struct tensor_map map_v;
    float *lse;
    int64_t lse_pitch;
    int heads, sharing; /* heads of Q in a sequence; those that share a head of K and V */
    int all_heads;      /* those of all sequences */
    int pairs;          /* 1: a CTA takes two tiles of a head together; 0: one */
    int beyond;         /* query i sees keys 0 to i + beyond, if there are so many */
    float scale;        /* of a score, to be an exponent of 2 */
};

#endif
