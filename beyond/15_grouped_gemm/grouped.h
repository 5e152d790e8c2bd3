/*
 * grouped.h: a grouped product, for its kernels and for kind.c: D_g = A_g * B_g for each of
 * `groups` groups. Group g has some of the rows of A and of D, none perhaps, and n rows of B:
 *
 *     A [m][k], D [m][n]        the groups' rows, one group behind the other
 *     B [groups * rows_b][k]    group g's begin with row g * rows_b: grouped_rows_of_b()
 *
 * Which rows belong to which group is data: only a kernel sees it, as a router leaves it.
 */
#ifndef BEYOND_15_GROUPED_GEMM_GROUPED_H
#define BEYOND_15_GROUPED_GEMM_GROUPED_H

#include "gemm_types.h"
#include "scaled/scales.h"

enum { GROUPS_MOST = 256 };

/* In gemm_problem.matrix: [groups + 1] words; group g has the rows from word g to word g + 1. Word
 * 0 is 0. A word below the one before it leaves its group empty, one above m counts as m. Behind
 * it, of e4m3, the scales (scaled/scales.h). */
enum { FIRST_ROWS, GROUPED_SCALES };

/* What gemm_problem.of_kind points to. */
struct grouped_problem {
    int groups;            /* at most GROUPS_MOST */
    const int *first_rows; /* what FIRST_ROWS holds, for a launch that may know it; or NULL */
};

/* From a group's first row of B to the next group's: n, but where scales are for blocks of B every
 * group begins a block of its own. */
static inline int64_t grouped_rows_of_b(int n, enum gemm_type type) {
    const int64_t blocks = ((int64_t)n + SCALE_BLOCK - 1) / SCALE_BLOCK;
    return gemm_type_is_scaled(type) ? blocks * SCALE_BLOCK : n;
}

#ifdef __cplusplus
extern "C" {
#endif

extern const struct problem_kind grouped_kind GEMM_KIND_IF_LINKED;

/* The baselines, as problem_kind.baselines writes them: rivals.cu. */
struct contender;
int grouped_rivals(const struct gemm_problem *problems, int count, uint32_t wanted,
                   struct contender *out, int room);
/* One of them: DeepGEMM's contiguous layout. False where there is none, after a message unless the
 * build has no DeepGEMM or the type is another: rivals_deepgemm.cu. */
bool deepgemm_rival(const struct gemm_problem *problems, int count, struct contender *out);

#ifdef __cplusplus
}
#endif

/* Host thread. */
static inline const struct grouped_problem *grouped_of(const struct gemm_problem *p) {
    return (const struct grouped_problem *)p->of_kind;
}

#endif
