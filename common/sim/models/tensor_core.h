/*
 * tensor_core.h: the arithmetic of one wgmma or mma.sync, without any of its asynchrony: every sum
 * as tensor_sum.h defines it, bit for bit what the hardware computes.
 */
#ifndef SIM_MODELS_TENSOR_CORE_H
#define SIM_MODELS_TENSOR_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/models/tensor_sum.h"

/* WGMMA_K: of 16-bit elements. */
enum { WGMMA_M = 64, WGMMA_K = 16, WGMMA_MAX_N = 256, TENSOR_MAX_K = 32 };

/* One operand as the Tensor Core uses it: k outside, m or n inside, so that the inner loops run
 * over contiguous memory. A tf32 has its upper half in row k, and its lower half in row 8 + k. */
struct wgmma_operand {
    uint16_t bits[TENSOR_MAX_K][WGMMA_MAX_N];
};

/* Copies 16 bytes, 8 elements of 16 bits, 16 of 8 bits or 4 of 32 bits, which are contiguous along
 * k (K-major: `line` is m or n, `chunk` counts along k) or, of 16 bits only, along m or n
 * (MN-major: `line` is k). As descriptor_chunk() numbers them. */
void wgmma_operand_chunk(struct wgmma_operand *operand, bool mn_major, int line, int chunk,
                         const void *bytes, enum tensor_type type);

/* The instruction: types of 8 bits mix with each other, but not real ones with whole ones; the
 * others do not. */
struct tensor_shape {
    int m, n; /* at most 64; a multiple of 8, at most 256 */
    enum tensor_type a, b;
    bool accumulate;
};

/* d[m][n] = a * b, or += if `accumulate`. Sums of whole numbers are 32 bits of them each. */
void tensor_core_multiply(float *d, const struct wgmma_operand *a, const struct wgmma_operand *b,
                          struct tensor_shape shape);

/* The same of sums that are kept as fp16, whose values are in d. */
void tensor_half_multiply(float *d, const struct wgmma_operand *a, const struct wgmma_operand *b,
                          struct tensor_shape shape);
/* The same of whole numbers, whose sums go to the nearest of 32 bits. */
void tensor_saturated_multiply(float *d, const struct wgmma_operand *a,
                               const struct wgmma_operand *b, struct tensor_shape shape);
/* The same of tf32 and whole numbers, and of no others. */
void tensor_other_multiply(float *d, const struct wgmma_operand *a, const struct wgmma_operand *b,
                           struct tensor_shape shape);

#endif
