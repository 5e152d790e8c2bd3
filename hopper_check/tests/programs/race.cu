// race.cu: two threads write and read a word of shared memory without a barrier between them, or,
// with BARRIER, with one.
#include <cstdio>

__global__ void shift(int *out) {
    __shared__ int word[64];
    word[threadIdx.x] = (int)threadIdx.x; // write
#ifdef BARRIER
    __syncthreads();
#endif
    out[threadIdx.x] = word[(threadIdx.x + 32) % 64]; // read
}

int main() {
    int *out, host[64];
    cudaMalloc(&out, sizeof host);
    shift<<<1, 64>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    return 0;
}
