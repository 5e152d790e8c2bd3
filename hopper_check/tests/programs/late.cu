// late.cu: a flag without an order behind it: whether the reader sees the data depends on the
// schedule, and so does the status of the program. The kernel says so itself.
#include <cstdio>

__global__ void first(int *out) {
    if (threadIdx.x == 0) atomicExch(out, (int)blockIdx.x + 1);
}

int main() {
    int *out, host = 0;
    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);
    first<<<2, 32>>>(out);
    cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
    return host == 2 ? 0 : 3;
}
