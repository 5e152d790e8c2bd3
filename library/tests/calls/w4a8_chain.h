/*
 * w4a8_chain.h: chains of W4A8 products whose results are known. A row of D, n bf16, is a row of
 * the next A, 2 n e4m3, of which k <= 2 n take part. A column of B has one weight, 1, and the scale
 * of a row is a power of two, so D has A's elements, scaled, and no byte of such a bf16 is an e4m3
 * NaN.
 */
#ifndef TESTS_CALLS_W4A8_CHAIN_H
#define TESTS_CALLS_W4A8_CHAIN_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"
#include "w4a8_gemm.h"

/* The column of A that a column of D is computed from. */
static inline int chain_source(int column, int k) { return (5 * column + 1) % k; }

/* Fills the first A, `bytes` bytes, and the scales of the `m` rows of every A. Host memory. */
static inline void chain_fill(uint8_t *a, size_t bytes, float *scale_a, int m) {
    for (size_t i = 0; i < bytes; ++i)
        a[i] = (uint8_t)(rand() % 112 + rand() % 2 * 128);
    for (int i = 0; i < m; ++i)
        scale_a[i] = ldexpf(1, i % 5 - 2);
}

/* Arranges the weights of n columns. Host memory; false: it is used up. */
static inline bool chain_weights(int n, int k, void *blocks) {
    const int groups = (k + 127) / 128;
    int8_t *const weights = calloc((size_t)n, (size_t)k);
    float *const scales = malloc(sizeof *scales * (size_t)n * (size_t)groups);
    if (weights && scales) {
        for (int i = 0; i < n; ++i)
            weights[(size_t)i * (size_t)k + (size_t)chain_source(i, k)] = 1;
        for (int i = 0; i < n * groups; ++i)
            scales[i] = 1;
    }
    const bool good = weights && scales &&
                      w4a8_gemm_arrange(n, k, weights, k, scales, groups, blocks) == W4A8_GEMM_OK;
    free(scales);
    free(weights);
    return good;
}

/* Computes the last D of `links` products, m x n, from the first A, m x 2 n. Host memory. */
static inline void chain_compute(uint16_t *d, const uint8_t *a, const float *scale_a, int m, int n,
                                 int k, int links) {
    const size_t row = (size_t)n * 2;
    uint8_t *const last = malloc(row);
    if (!last) exit(1);
    for (int i = 0; i < m; ++i) {
        uint16_t *const out = d + (size_t)i * (size_t)n;
        memcpy(last, a + (size_t)i * row, row);
        for (int link = 0; link < links; ++link) {
            for (int j = 0; j < n; ++j) {
                const float value = scale_a[i] * e4m3_to_float(last[chain_source(j, k)]);
                out[j] = float_to_bf16(value == 0 ? 0 : value); /* of a sum, no -0 */
            }
            memcpy(last, out, row);
        }
    }
    free(last);
}

#endif
