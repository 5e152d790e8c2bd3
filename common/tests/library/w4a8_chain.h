/*
 * w4a8_chain.h: chains of W4A8 products whose results are known. A row of D, n bf16, is a row of
 * the next A, 2 n e4m3. A column of B has one weight, 1, and the scale of a row is a power of two, so
 * D has A's elements, scaled, and no byte of such a bf16 is an e4m3 NaN.
 */
#ifndef TESTS_W4A8_CHAIN_H
#define TESTS_W4A8_CHAIN_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"
#include "w4a8_gemm.h"

/* The column of A that a column of D is a copy of. */
static inline int chain_source(int column, int n) { return (5 * column + 1) % (2 * n); }

/* Fills the first A, `bytes` bytes, and the scales of the `m` rows of every A. Host memory. */
static inline void chain_fill(uint8_t *a, size_t bytes, float *scale_a, int m) {
    for (size_t i = 0; i < bytes; ++i)
        a[i] = (uint8_t)(rand() % 112 + rand() % 2 * 128);
    for (int i = 0; i < m; ++i)
        scale_a[i] = ldexpf(1, i % 5 - 2);
}

/* Arranges the weights of n columns of k = 2 n. Host memory; false: it is used up. */
static inline bool chain_weights(int n, void *blocks) {
    const int k = 2 * n, groups = (k + 127) / 128;
    int8_t *const weights = calloc((size_t)n, (size_t)k);
    float *const scales = malloc(sizeof *scales * (size_t)n * (size_t)groups);
    if (weights && scales) {
        for (int i = 0; i < n; ++i)
            weights[(size_t)i * (size_t)k + (size_t)chain_source(i, n)] = 1;
        for (int i = 0; i < n * groups; ++i)
            scales[i] = 1;
    }
    const bool good = weights && scales &&
                      w4a8_gemm_arrange(n, k, weights, k, scales, groups, blocks) == W4A8_GEMM_OK;
    free(scales);
    free(weights);
    return good;
}

/* How many elements of the last D, after `links` products, are not what they should be. */
static inline int chain_count_wrong(const uint8_t *a, const float *scale_a, const uint16_t *d,
                                    int m, int n, int links) {
    uint8_t *const row = malloc((size_t)n * 2), *const next = malloc((size_t)n * 2);
    int wrong = 0;
    if (!row || !next) exit(1);
    for (int i = 0; i < m; ++i) {
        memcpy(row, a + (size_t)i * (size_t)n * 2, (size_t)n * 2);
        for (int link = 0; link < links; ++link) {
            for (int j = 0; j < n; ++j) {
                const float value = scale_a[i] * e4m3_to_float(row[chain_source(j, n)]);
                const uint16_t bits = float_to_bf16(value == 0 ? 0 : value); /* of a sum, no -0 */
                memcpy(next + (size_t)j * 2, &bits, sizeof bits);
            }
            memcpy(row, next, (size_t)n * 2);
        }
        for (int j = 0; j < n; ++j)
            wrong += memcmp(row + (size_t)j * 2, &d[(size_t)i * (size_t)n + (size_t)j], 2) != 0;
    }
    free(next);
    free(row);
    return wrong;
}

#endif
