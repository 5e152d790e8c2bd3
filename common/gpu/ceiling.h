/*
 * ceiling.h: kernels that only multiply: what is left when memory, barriers and epilogue cost
 * nothing.
 */
#ifndef GPU_CEILING_H
#define GPU_CEILING_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* Sets of operands taken in turn, so that the data lines toggle as in real work. */
    CEILING_STAGES = 2,
    /* One step of one CTA of wgmma. */
    CEILING_M = 128,
    CEILING_N = 256,
    CEILING_K = 64,
    /* Floats to be uploaded. */
    CEILING_OPERANDS = CEILING_STAGES * (CEILING_M + CEILING_N) * CEILING_K,
    CEILING_SUMS = 256, /* one per thread */
    /* FLOPs of one step of one CTA. */
    CEILING_WGMMA_STEP = 2 * CEILING_M * CEILING_N * CEILING_K,
    CEILING_MMA_WARPS = 8,
    CEILING_MMA_TILES = 8, /* independent accumulator tiles of m16n8 per warp */
    CEILING_MMA_STEP = CEILING_MMA_WARPS * CEILING_STAGES * CEILING_MMA_TILES * 2 * 16 * 8 * 16,
};

/* ceiling_<kind>_<type>, the function's name in a file that is compiled for each type. */
#define CEILING_PASTE(kind, type) ceiling_##kind##_##type
#define CEILING_NAME(kind, type) CEILING_PASTE(kind, type)

/* Enqueues `steps` steps on each of `sms` CTAs, one per SM. `operands`: CEILING_OPERANDS floats in
 * global memory; `sums`: room for CEILING_SUMS floats per CTA. wgmma: two warpgroups of m64n256k16,
 * operands in shared memory. mma: mma.sync, operands in registers. */
cudaError_t ceiling_wgmma_fp16(const float *operands, float *sums, int steps, int sms,
                               cudaStream_t stream);
cudaError_t ceiling_wgmma_bf16(const float *operands, float *sums, int steps, int sms,
                               cudaStream_t stream);
cudaError_t ceiling_mma_fp16(const float *operands, float *sums, int steps, int sms,
                             cudaStream_t stream);
cudaError_t ceiling_mma_bf16(const float *operands, float *sums, int steps, int sms,
                             cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
