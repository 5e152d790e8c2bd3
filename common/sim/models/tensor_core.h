/*
 * tensor_core.h: the arithmetic of one wgmma, without any of its asynchrony.
 *
 * Products of two elements are exact in fp32; they are added in fp32, k ascending. Where the
 * sum is a whole number below 2^24 the result is exact, as on the hardware; otherwise the hardware
 * may round differently (it adds several products at once and truncates), so real-valued results
 * agree only within the usual error bound.
 */
#ifndef SIM_MODELS_TENSOR_CORE_H
#define SIM_MODELS_TENSOR_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "gemm.h"

/* WGMMA_K: of 16-bit elements. */
enum { WGMMA_M = 64, WGMMA_K = 16, WGMMA_MAX_K = 32, WGMMA_MAX_N = 256 };

/* Elements of k that one instruction multiplies: 32 bytes. */
static inline int wgmma_k(enum gemm_type type) { return type == GEMM_E4M3 ? WGMMA_MAX_K : WGMMA_K; }

/* One operand as the Tensor Core uses it: k outside, m or n inside, so that the inner loops run
 * over contiguous memory. */
struct wgmma_operand {
    float value[WGMMA_MAX_K][WGMMA_MAX_N];
};

/* Copies 16 bytes, 8 elements or 16 e4m3, which are contiguous along k (K-major: `line` is m or n,
 * `chunk` counts along k) or, of 16-bit elements, along m or n (MN-major: `line` is k). As
 * descriptor_chunk() numbers them. */
void wgmma_operand_chunk(struct wgmma_operand *operand, bool mn_major, int line, int chunk,
                         const void *bytes, enum gemm_type type);

/* d[64][n] = a * b, or += if `accumulate`; n a multiple of 8, at most 256. */
void wgmma_multiply(float *d, const struct wgmma_operand *a, const struct wgmma_operand *b, int n,
                    enum gemm_type type, bool accumulate);

#endif
