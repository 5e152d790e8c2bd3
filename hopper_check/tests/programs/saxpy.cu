// saxpy.cu [N]: a program as most begin: memory, one kernel, a comparison.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void saxpy(int n, float a, const float *x, float *y) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000;
    std::vector<float> host(n);
    float *x, *y;
    for (int i = 0; i < n; ++i)
        host[i] = (float)i;
    cudaMalloc(&x, n * sizeof *x);
    cudaMalloc(&y, n * sizeof *y);
    cudaMemcpy(x, host.data(), n * sizeof *x, cudaMemcpyHostToDevice);
    cudaMemcpy(y, host.data(), n * sizeof *y, cudaMemcpyHostToDevice);
    saxpy<<<(n + 127) / 128, 128>>>(n, 2, x, y);
    cudaMemcpy(host.data(), y, n * sizeof *y, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i)
        if (host[i] != (float)(3 * i)) return printf("wrong at %d\n", i), 1;
    return printf("right\n"), cudaGetLastError() != cudaSuccess;
}
