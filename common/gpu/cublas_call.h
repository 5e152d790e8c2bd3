/*
 * cublas_call.h: a multiplication by cuBLAS: cublas.c on one device, rivals/nccl.c on several.
 */
#ifndef GPU_CUBLAS_CALL_H
#define GPU_CUBLAS_CALL_H

#include <cublas_v2.h>
#include <stdbool.h>

#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* False after a message if the status is an error. */
bool cublas_ok(cublasStatus_t status, const char *attempt);

/* Enqueues a product on one device, with LIBRARY_WORKSPACE bytes of workspace. `reduced`: parts of
 * k may be rounded to D's type before they are added. False after a message. */
bool cublas_multiply(cublasHandle_t handle, void *workspace, bool reduced,
                     const struct gemm_problem *problem, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
