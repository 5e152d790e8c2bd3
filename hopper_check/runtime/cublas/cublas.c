/*
 * cublas.c: cuBLAS, as far as programs use it for a reference: products, by a plain loop on the
 * host. cuBLAS, "cublasGemmEx()": column-major, C = alpha op(A) op(B) + beta C, summed in fp32.
 */
#include <cublas_v2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"

void hopper_check_refuse(const char *name) __attribute__((noreturn));
void hopper_check_begin(void);
void hopper_check_end(void);

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasMath_t math_mode;
};

/* ---- handles ---- */

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream) {
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
    handle->pointer_mode = mode; /* the host reads global memory, too */
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    handle->math_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode) {
    *mode = handle->math_mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes) {
    (void)handle, (void)workspace, (void)bytes;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version) {
    (void)handle;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}
const char *cublasGetStatusName(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS"
                                           : "CUBLAS_STATUS_INVALID_VALUE";
}
const char *cublasGetStatusString(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? "success" : "invalid value";
}

/* ---- elements ---- */

static float get(const void *at, cudaDataType type, size_t i) {
    if (type == CUDA_R_32F) return ((const float *)at)[i];
    const uint16_t bits = ((const uint16_t *)at)[i];
    return type == CUDA_R_16F ? fp16_to_float(bits) : bf16_to_float(bits);
}

static void put(void *at, cudaDataType type, size_t i, float value) {
    if (type == CUDA_R_32F)
        ((float *)at)[i] = value;
    else
        ((uint16_t *)at)[i] = type == CUDA_R_16F ? float_to_fp16(value) : float_to_bf16(value);
}

static int is_known(cudaDataType type) {
    return type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

/* ---- the product ---- */

/* op(X) as rows of `length` along the dimension that is summed: [lines][length]. `across`: its
 * lines are columns of the column-major X. */
static float *lines_of(const void *x, cudaDataType type, int ld, int across, int lines,
                       int length) {
    float *const to = malloc(((size_t)lines * (size_t)length + 1) * sizeof *to);
    for (int i = 0; to && i < lines; ++i)
        for (int j = 0; j < length; ++j)
            to[(size_t)i * (size_t)length + (size_t)j] = get(
                x, type,
                across ? (size_t)i * (size_t)ld + (size_t)j : (size_t)j * (size_t)ld + (size_t)i);
    return to;
}

struct operand {
    const void *at;
    cudaDataType type;
    int ld;
    cublasOperation_t operation;
};

static cublasStatus_t multiply(int m, int n, int k, float alpha, struct operand a, struct operand b,
                               float beta, void *c, cudaDataType type, int ldc) {
    if (m < 0 || n < 0 || k < 0 || ldc < m) return CUBLAS_STATUS_INVALID_VALUE;
    if (!is_known(a.type) || !is_known(b.type) || !is_known(type))
        hopper_check_refuse("a product of cuBLAS of other types than fp32, fp16 and bf16");
    cudaDeviceSynchronize(); /* the product is an operation of the stream, and no launch here */
    float *const rows = lines_of(a.at, a.type, a.ld, a.operation != CUBLAS_OP_N, m, k);
    float *const columns = lines_of(b.at, b.type, b.ld, b.operation == CUBLAS_OP_N, n, k);
    for (int j = 0; rows && columns && j < n; ++j)
        for (int i = 0; i < m; ++i) {
            const float *const row = rows + (size_t)i * (size_t)k;
            const float *const column = columns + (size_t)j * (size_t)k;
            const size_t at = (size_t)j * (size_t)ldc + (size_t)i;
            float sum = 0;
            for (int l = 0; l < k; ++l)
                sum += row[l] * column[l];
            sum *= alpha;
            put(c, type, at, beta == 0 ? sum : sum + beta * get(c, type, at));
        }
    const cublasStatus_t status =
        rows && columns ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
    free(rows);
    free(columns);
    return status;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t operation_a,
                            cublasOperation_t operation_b, int m, int n, int k, const void *alpha,
                            const void *a, cudaDataType type_a, int lda, const void *b,
                            cudaDataType type_b, int ldb, const void *beta, void *c,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
    const int half = compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
    const cudaDataType scale = half ? CUDA_R_16F : CUDA_R_32F;
    (void)algorithm;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_32I)
        hopper_check_refuse("a product of cuBLAS that is summed in fp64 or in whole numbers");
    enum cudaStreamCaptureStatus captured;
    cudaStreamIsCapturing(handle->stream, &captured);
    if (captured) hopper_check_refuse("cuBLAS in the capture of a stream, for which");
    hopper_check_begin();
    const cublasStatus_t status = multiply(
        m, n, k, get(alpha, scale, 0), (struct operand){a, type_a, lda, operation_a},
        (struct operand){b, type_b, ldb, operation_b}, get(beta, scale, 0), c, type_c, ldc);
    hopper_check_end();
    return status;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t operation_a,
                              cublasOperation_t operation_b, int m, int n, int k,
                              const float *alpha, const float *a, int lda, const float *b, int ldb,
                              const float *beta, float *c, int ldc) {
    return cublasGemmEx(handle, operation_a, operation_b, m, n, k, alpha, a, CUDA_R_32F, lda, b,
                        CUDA_R_32F, ldb, beta, c, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
}

/* The header declares it for C++ alone, of __half. */
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t operation_a,
                           cublasOperation_t operation_b, int m, int n, int k, const void *alpha,
                           const void *a, int lda, const void *b, int ldb, const void *beta,
                           void *c, int ldc) {
    return cublasGemmEx(handle, operation_a, operation_b, m, n, k, alpha, a, CUDA_R_16F, lda, b,
                        CUDA_R_16F, ldb, beta, c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_16F,
                        CUBLAS_GEMM_DEFAULT);
}
