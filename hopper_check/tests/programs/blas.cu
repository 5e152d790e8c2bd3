// blas.cu [lt]: a product by cuBLAS, column-major, beside a kernel's own; or a call of cuBLASLt.
#include <cstdio>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>

enum { M = 24, N = 40, K = 16 };

__global__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c) { // A^T B
    const int i = (int)threadIdx.x, j = (int)blockIdx.x;
    float sum = 0;
    for (int l = 0; l < K; ++l)
        sum += __bfloat162float(a[i * K + l]) * __bfloat162float(b[j * K + l]);
    c[j * M + i] = 2 * sum + c[j * M + i];
}

int main(int argc, char **) {
    static __nv_bfloat16 a[M * K], b[N * K];
    static float wanted[M * N], found[M * N];
    __nv_bfloat16 *da, *db;
    float *dc, *dd;
    const float alpha = 2, beta = 1;
    cublasHandle_t handle;
    for (int i = 0; i < M * K; ++i)
        a[i] = __float2bfloat16((float)(i * 7 % 5) - 2);
    for (int i = 0; i < N * K; ++i)
        b[i] = __float2bfloat16((float)(i * 5 % 7) - 3);
    for (int i = 0; i < M * N; ++i)
        wanted[i] = (float)(i % 3);
    cudaMalloc(&da, sizeof a);
    cudaMalloc(&db, sizeof b);
    cudaMalloc(&dc, sizeof wanted);
    cudaMalloc(&dd, sizeof wanted);
    cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
    cudaMemcpy(dc, wanted, sizeof wanted, cudaMemcpyHostToDevice);
    cudaMemcpy(dd, wanted, sizeof wanted, cudaMemcpyHostToDevice);
    if (argc > 1) {
        cublasLtHandle_t lt;
        return cublasLtCreate(&lt);
    }
    if (cublasCreate(&handle)) return 2;
    if (cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, N, K, &alpha, da, CUDA_R_16BF, K, db,
                     CUDA_R_16BF, K, &beta, dc, CUDA_R_32F, M, CUBLAS_COMPUTE_32F,
                     CUBLAS_GEMM_DEFAULT))
        return 3;
    cublasDestroy(handle);
    product<<<N, M>>>(da, db, dd);
    cudaMemcpy(wanted, dc, sizeof wanted, cudaMemcpyDeviceToHost);
    cudaMemcpy(found, dd, sizeof found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < M * N; ++i)
        if (wanted[i] != found[i]) return printf("%d: %g, %g\n", i, wanted[i], found[i]), 1;
    return printf("right\n"), 0;
}
