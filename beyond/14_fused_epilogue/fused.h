/*
 * fused.h: what the kernels of this chapter have besides A, B and D: the matrices' numbers in
 * gemm_problem.matrix, the kinds of problem (kind.c), and the kernels' parameter.
 *
 * A bias has n elements and begins at a multiple of 4 bytes; what lies behind them is not read. C
 * may be D itself, as where a layer's residual is added in place: a piece of C has been read before
 * its piece of D is stored, and no other piece has elements of it. It may not overlap D otherwise.
 */
#ifndef FUSED_EPILOGUE_FUSED_H
#define FUSED_EPILOGUE_FUSED_H

#include "scaled/scales.h"

enum { BIAS, C, FUSED_MATRICES };                  /* bias_gelu.cu has the first, kernel.cu both */
enum { QUANTIZED = 1, SCALES, QUANTIZE_MATRICES }; /* quantize.cu, behind BIAS */

#ifdef __cplusplus
extern "C" {
#endif
extern const struct problem_kind bias_gelu_kind, fused_kind, swiglu_kind, quantize_kind;
#ifdef __cplusplus
}
#endif

enum {
    QUANTIZED_GREATEST = 448
}; /* the greatest number of e4m3: a scale is a 448th of the block's */

/* A block of 1 x SCALE_BLOCK whose greatest magnitude is less than this counts as zeros, and its
 * scale is 1: the reciprocal of a scale is a number. */
#define LEAST_GREATEST 0x1p-100f

struct fused_args {
    struct gemm_args gemm;
    const element_t *bias;   /* [n] */
    struct tensor_map map_c; /* of kernel.cu */
    float *scales;           /* of quantize.cu: [n / SCALE_BLOCK, rounded up][scale_pitch] */
    int64_t scale_pitch;
};

/* The parameter for a problem cut into tiles of this size; the chapter adds the tensor maps. */
static inline struct fused_args fused_args_of(const struct gemm_problem *p, int tile_m, int tile_n,
                                              int tile_k) {
    struct fused_args args;
    memset(&args, 0, sizeof args);
    args.gemm = gemm_args_of(p, tile_m, tile_n, tile_k);
    args.bias = (const element_t *)p->matrix[BIAS].memory;
    return args;
}

#endif
