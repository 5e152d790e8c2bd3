/*
 * attend.h: attention in fp64, for tests that launch 16's kernels themselves: how far is a head's
 * O, and its LSE, from what they must be?
 */
#ifndef BEYOND_TESTS_KINDS_ATTEND_H
#define BEYOND_TESTS_KINDS_ATTEND_H

#include <math.h>

#include "16_attention/attention.h"
#include "element_codec.h"
#include "memory.h"

/* A matrix of small whole numbers, on the host and in the simulator's memory. */
struct matrix {
    int rows, columns;
    uint16_t *host;
    void *memory;
};

static inline struct matrix matrix_of(int rows, int columns, bool drawn) {
    const size_t bytes = (size_t)rows * (size_t)columns * 2;
    struct matrix x = {rows, columns, filled(bytes, 0xff), NULL};
    for (int i = 0; drawn && i < rows * columns; ++i)
        x.host[i] = float_to_bf16((float)(rand() % 5 - 2));
    x.memory = put(x.host, bytes);
    return x;
}

static inline float at(const struct matrix *x, int row, int column) {
    return bf16_to_float(x->host[row * x->columns + column]);
}

static inline void fetch(struct matrix *x) {
    if (!backend_copy_out(x->host, x->memory, (size_t)x->rows * (size_t)x->columns * 2)) exit(1);
}

static inline void forget(struct matrix *x) {
    backend_free(x->memory);
    free(x->host);
}

/* ---- a head ---- */

enum { HEAD = 128, MOST_KEYS = 512 };

/* Where a head begins in a matrix. */
struct part {
    const struct matrix *matrix;
    int row, column;
};
static inline float part_at(const struct part *x, int row, int column) {
    return at(x->matrix, x->row + row, x->column + column);
}

struct attended_head {
    struct part q, k, v, o;
    int queries, keys;
};

/* O and LSE of one of its queries. */
static inline double attend(const struct attention_problem *of, const struct attended_head *head,
                            int row, double o[HEAD]) {
    const int seen = of->causal ? row + head->keys - head->queries + 1 : head->keys;
    double exponent[MOST_KEYS], max = -INFINITY, sum = 0;
    memset(o, 0, HEAD * sizeof *o);
    for (int key = 0; key < seen; ++key) {
        double score = 0;
        for (int i = 0; i < HEAD; ++i)
            score += part_at(&head->q, row, i) * part_at(&head->k, key, i);
        exponent[key] = score * (double)of->scale;
        max = fmax(max, exponent[key]);
    }
    for (int key = 0; key < seen; ++key) {
        const double power = exp2(exponent[key] - max);
        sum += power;
        for (int i = 0; i < HEAD; ++i)
            o[i] += power * part_at(&head->v, key, i);
    }
    for (int i = 0; i < HEAD && seen > 0; ++i)
        o[i] /= sum;
    return seen > 0 ? (max + log2(sum)) * log(2) : -INFINITY;
}

/* The greatest ones; infinite, if something is no number. */
struct difference {
    double o, lse;
};
static inline bool is_right(const struct difference *difference) {
    return difference->o < 0.02 && difference->lse < 1e-5;
}

/* Adds a head's. `lse`: of each of its queries. */
static inline void compare_head(const struct attention_problem *of,
                                const struct attended_head *head, const float *lse,
                                struct difference *difference) {
    double o[HEAD];
    for (int row = 0; row < head->queries; ++row) {
        const double is = attend(of, head, row, o), got = lse[row];
        const double off = is == got ? 0 : isnan(got) ? INFINITY : fabs(is - got);
        difference->lse = fmax(difference->lse, off);
        for (int column = 0; column < HEAD; ++column) {
            const double element = part_at(&head->o, row, column);
            difference->o =
                fmax(difference->o, isnan(element) ? INFINITY : fabs(element - o[column]));
        }
    }
}

#endif
