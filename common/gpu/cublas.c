/*
 * cublas.c: the library that others are compared with, as it comes: it selects its kernel itself.
 * Where it splits k, the parts are added in fp32, as in the chapters; a second contender may round
 * them to D's type first, which cuBLAS does unless it is told not to.
 *
 * cuBLAS is column-major. The bytes of a row-major matrix [rows][columns] with pitch ld are those
 * of a column-major one with `columns` rows, `rows` columns and leading dimension ld: its
 * transpose. So D (m x n row-major) is for cuBLAS D' (n x m, ldd), and D' = (A B^T)' = B A'. B (n x
 * k row-major) is there k x n with ldb and has to be transposed; A' (k x m, lda) is what A already
 * is. Hence: op T and the n x k operand first, op N and the k x m operand second, n before m.
 *
 * cuBLAS Library: cublasGemmEx, cublasSetWorkspace, cublasSetMathMode.
 */
#include "gpu/cublas_call.h"

#include <stdio.h>

#include "gpu/baselines.h"
#include "gpu/cuda_call.h"
#include "gpu/gpu_state.h"

static struct {
    cublasHandle_t handle;
    void *workspace;
} cublas;

bool cublas_ok(cublasStatus_t status, const char *attempt) {
    if (status == CUBLAS_STATUS_SUCCESS) return true;
    fprintf(stderr, "cuBLAS: %s: %s\n", attempt, cublasGetStatusString(status));
    return false;
}

bool cublas_multiply(cublasHandle_t handle, void *workspace, bool reduced,
                     const struct gemm_problem *p, cudaStream_t stream) {
    const float one = 1.0f, zero = 0.0f;
    const cudaDataType_t type = gpu_state.type == GEMM_BF16 ? CUDA_R_16BF : CUDA_R_16F;
    const int mode = reduced
                         ? CUBLAS_DEFAULT_MATH
                         : CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    return cublas_ok(cublasSetStream(handle, stream), "setting the stream") &&
           cublas_ok(cublasSetWorkspace(handle, workspace, LIBRARY_WORKSPACE),
                     "setting the workspace") && /* setting the stream has reset it */
           cublas_ok(cublasSetMathMode(handle, (cublasMath_t)mode), "setting the math mode") &&
           cublas_ok(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, p->n, p->m, p->k, &one, p->b,
                                  type, (int)p->ldb, p->a, type, (int)p->lda, &zero, p->d, type,
                                  (int)p->ldd, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                     "cublasGemmEx");
}

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *p,
                                void *stream) {
    const bool reduced = self->result == RESULT_ROUNDED;
    return cublas_multiply(cublas.handle, cublas.workspace, reduced, p, (cudaStream_t)stream)
               ? GEMM_OK
               : GEMM_LAUNCH_FAILED;
}

static bool open_library(void) {
    if (cublas.handle) return true;
    if (!cublas_ok(cublasCreate(&cublas.handle), "creating a handle")) return false;
    if (cuda_ok(cudaMalloc(&cublas.workspace, LIBRARY_WORKSPACE), "allocating cuBLAS's workspace"))
        return true;
    cublas_close();
    return false;
}

bool cublas_contender(const struct gemm_problem *problems, int count, struct contender *out) {
    (void)problems, (void)count;
    *out = (struct contender){.name = "cublas", .result = RESULT_PRODUCT, .enqueue = enqueue};
    return open_library();
}

bool cublas_reduced_contender(const struct gemm_problem *problems, int count,
                              struct contender *out) {
    (void)problems, (void)count;
    *out =
        (struct contender){.name = "cublas-reduced", .result = RESULT_ROUNDED, .enqueue = enqueue};
    return open_library();
}

void cublas_close(void) {
    if (cublas.handle) cublasDestroy(cublas.handle);
    if (cublas.workspace) cudaFree(cublas.workspace);
    cublas.handle = NULL;
    cublas.workspace = NULL;
}
