/*
 * from_kernel.h: the kernel of the chapter that a chapter builds on (FROM in common/cmake/
 * Chapters.cmake), for the CUDA files with the chapter's RIVALS.
 */
#ifndef GPU_FROM_KERNEL_H
#define GPU_FROM_KERNEL_H

#include "gpu/gpu_state.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct gemm_kernel FROM_KERNEL_FP16, FROM_KERNEL_BF16; /* CMake names them */

/* Enqueues a product of 16-bit operands. */
static inline enum gemm_status from_kernel_launch(const struct gemm_problem *p, void *stream) {
    const struct gemm_kernel *const kernel =
        gpu_state.type == GEMM_BF16 ? &FROM_KERNEL_BF16 : &FROM_KERNEL_FP16;
    return kernel->launch(p, stream);
}

#ifdef __cplusplus
}
#endif

#endif
