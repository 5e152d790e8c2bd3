// chapter.cu [M N K]: a program around one of the book's kernels, whose file it is compiled with.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "gemm.h"

int main(int argc, char **argv) {
    const int m = argc > 3 ? atoi(argv[1]) : 256, n = argc > 3 ? atoi(argv[2]) : 256,
              k = argc > 3 ? atoi(argv[3]) : 192;
    std::vector<__nv_bfloat16> a((size_t)m * k), b((size_t)n * k), d((size_t)m * n);
    struct gemm_problem problem = {};
    int *counter;
    element_t *memory[3];
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = __float2bfloat16((float)((int)(i * 7 % 5) - 2));
    for (size_t i = 0; i < b.size(); ++i)
        b[i] = __float2bfloat16((float)((int)(i * 5 % 3) - 1));
    cudaMalloc(&memory[0], a.size() * 2);
    cudaMalloc(&memory[1], b.size() * 2);
    cudaMalloc(&memory[2], d.size() * 2);
    cudaMalloc(&counter, GEMM_COUNTERS * sizeof *counter);
    cudaMemset(counter, 0, GEMM_COUNTERS * sizeof *counter);
    cudaMemcpy(memory[0], a.data(), a.size() * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(memory[1], b.data(), b.size() * 2, cudaMemcpyHostToDevice);
    problem.m = m;
    problem.n = n;
    problem.k = k;
    problem.lda = problem.ldb = k;
    problem.ldd = n;
    problem.a = memory[0];
    problem.b = memory[1];
    problem.d = memory[2];
    problem.tile_counter = (decltype(problem.tile_counter))counter;
    if (GEMM_KERNEL.launch(&problem, nullptr) != GEMM_OK) return 2;
    if (cudaMemcpy(d.data(), memory[2], d.size() * 2, cudaMemcpyDeviceToHost)) return 3;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int l = 0; l < k; ++l)
                sum += __bfloat162float(a[(size_t)i * k + l]) *
                       __bfloat162float(b[(size_t)j * k + l]);
            const float found = __bfloat162float(d[(size_t)i * n + j]);
            if (found != __bfloat162float(__float2bfloat16(sum)))
                return printf("D(%d, %d) is %g and not %g\n", i, j, found, sum), 1;
        }
    return printf("right\n"), 0;
}
