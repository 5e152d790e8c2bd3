/*
 * gemm_scaled_args.h: the parameter of a kernel whose operands have scales (gemm_scales.h).
 */
#ifndef GEMM_SCALED_ARGS_H
#define GEMM_SCALED_ARGS_H

#include "gemm.h"

/* A kernel may have a parameter of its own that begins like this one: with gemm and scales. */
struct gemm_scaled_args {
    struct gemm_args gemm;
    struct gemm_scales scales;
    struct tensor_map map_scale_a, map_scale_b; /* of kernels that load scales with the TMA */
};

/* The parameter for a problem cut into tiles of this size; the chapter adds the tensor maps. */
static inline struct gemm_scaled_args gemm_scaled_args_of(const struct gemm_problem *p, int tile_m,
                                                          int tile_n, int tile_k) {
    struct gemm_scaled_args args;
    memset(&args, 0, sizeof args);
    args.gemm = gemm_args_of(p, tile_m, tile_n, tile_k);
    args.scales = p->scales;
    return args;
}

#endif
