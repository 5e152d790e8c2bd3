/*
 * tile_kernels.h: kernels that multiply one tile per CTA.
 *
 * They read from gemm_args: `a`, the tiles' operands, `m` bytes from one to the next: A, B and the
 * accumulators as in struct tile; `k`, the instructions in a row, 1 or 4; `items`, the columns in
 * eights; `splits`, whether the first instruction adds to the accumulators. They write to
 * `workspace`, fp32 [tile][row][column].
 */
#ifndef TOOLS_ARITHMETIC_TILE_KERNELS_H
#define TOOLS_ARITHMETIC_TILE_KERNELS_H

#include "gemm.h"

struct tensor_core {
    const void *one[32], *four[32]; /* kernels for n = 8, 16, ... 256; instructions in a row */
    size_t smem_bytes;
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct tensor_core tensor_core_fp16, tensor_core_bf16, tensor_core_e4m3;
extern const struct tensor_core tensor_core_e5m2, tensor_core_e4m3_e5m2, tensor_core_e5m2_e4m3;
extern const struct tensor_core tensor_core_mma_fp16, tensor_core_mma_bf16;

#ifdef __cplusplus
}
#endif

#endif
