// pointers.cu: stores through addresses from everywhere: none may be taken for memory that the
// launch only reads. And, with an argument, a store through a pointer to memory that is not written
// elsewhere, beyond its end.
#include <cstdio>
#include <cstdint>

#include <mma.h>

struct pair {
    const int *from;
    int *to;
};

__device__ int variable[32];
__device__ int *pointer_variable;
__constant__ struct pair constant_pair;

__device__ __noinline__ void store(int *to, int value) { *to = value; }

__global__ void by_table(int *const *table, const int *in) { // from global memory
    table[threadIdx.x % 4][threadIdx.x] = in[threadIdx.x];
}
__global__ void by_struct(const __grid_constant__ struct pair p, int n) { // words of a parameter
    if ((int)threadIdx.x < n) p.to[threadIdx.x] = p.from[threadIdx.x];
}
__global__ void by_shared(int *a, int *b, const int *in) { // a pointer that lies in shared memory
    __shared__ int *to[2];
    if (threadIdx.x == 0) to[0] = a, to[1] = b;
    __syncthreads();
    to[threadIdx.x % 2][threadIdx.x] = in[threadIdx.x];
}
__global__ void by_local(int *a, int *b, const int *in, int which) { // in local memory
    int *to[2] = {a, b};
    for (int i = 0; i < 2; ++i)
        to[(which + i) % 2][threadIdx.x] = in[threadIdx.x] + i;
}
__global__ void by_halves(const uint4 *words) { // two pointers in one word of 16 bytes
    const uint4 w = words[0];
    const int *const from = (const int *)((uint64_t)w.y << 32 | w.x);
    int *const to = (int *)((uint64_t)w.w << 32 | w.z);
    to[threadIdx.x] = from[threadIdx.x];
}
__global__ void by_assembly(const uint2 *words, int value) {
    uint64_t to;
    const uint2 w = words[0];
    asm("mov.b64 %0, {%1, %2};" : "=l"(to) : "r"(w.x), "r"(w.y));
    ((int *)to)[threadIdx.x] = value;
}
__global__ void by_shuffle(int *a, int *b) { // each lane has its neighbour's pointer
    int *const mine = threadIdx.x % 2 ? a : b;
    int *const other = (int *)__shfl_xor_sync(~0u, (uint64_t)mine, 1);
    other[threadIdx.x] = 7;
}
__global__ void by_call(int *to) { store(to + threadIdx.x, 8); }
__global__ void by_variable(int n) {
    if ((int)threadIdx.x < n) variable[threadIdx.x] = (int)threadIdx.x;
    pointer_variable[threadIdx.x] = 9;
    constant_pair.to[threadIdx.x] += constant_pair.from[threadIdx.x];
}
__global__ void by_atomics(int *a, unsigned long long *b, float *c) {
    atomicAdd(a, 1);
    if (atomicCAS(b, 0ull, 5ull) == 0) atomicExch(a + 1, 6);
    atomicAdd(c, 1.0f);
}
__global__ void by_fragment(float *d) { // a store of a warp's fragment
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sum;
    nvcuda::wmma::fill_fragment(sum, 4.0f);
    nvcuda::wmma::store_matrix_sync(d, sum, 16, nvcuda::wmma::mem_row_major);
}
__global__ void beyond(const int *in, int *out) { const_cast<int *>(in)[32] = *out = 1; }

int main(int argc, char **) {
    int *a, *b, *c, *in, **table, host[32];
    for (int i = 0; i < 32; ++i)
        host[i] = i;
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMalloc(&c, sizeof host);
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&table, 4 * sizeof *table);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(c, host, sizeof host, cudaMemcpyHostToDevice);
    if (argc > 1) {
        beyond<<<1, 1>>>(in, a);
        return cudaDeviceSynchronize();
    }
    int *const pointers[4] = {a, b, a, b};
    const struct pair pair = {in, c};
    cudaMemcpy(table, pointers, sizeof pointers, cudaMemcpyHostToDevice);
    by_table<<<1, 32>>>(table, in);
    by_struct<<<1, 32>>>(pair, 32);
    by_shared<<<1, 32>>>(a, b, in);
    by_local<<<1, 32>>>(a, b, in, 1);
    cudaMemcpy(table, &pair, sizeof pair, cudaMemcpyHostToDevice);
    by_halves<<<1, 32>>>((const uint4 *)table);
    cudaMemcpy(table, &a, sizeof a, cudaMemcpyHostToDevice);
    by_assembly<<<1, 32>>>((const uint2 *)table, 3);
    by_shuffle<<<1, 32>>>(a, b);
    by_call<<<1, 32>>>(b);
    cudaMemcpyToSymbol(pointer_variable, &a, sizeof a);
    cudaMemcpyToSymbol(constant_pair, &pair, sizeof pair);
    by_variable<<<1, 32>>>(32);
    by_atomics<<<1, 32>>>(b, (unsigned long long *)a, (float *)table);
    float *d, corner = 0;
    cudaMalloc(&d, 256 * sizeof *d);
    by_fragment<<<1, 32>>>(d);
    cudaMemcpy(&corner, d + 255, sizeof corner, cudaMemcpyDeviceToHost);
    if (corner != 4) return 2;
    cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; ++i)
        if (host[i] != 2 * i) return printf("%d: %d\n", i, host[i]), 1;
    return printf("right\n"), cudaGetLastError() != cudaSuccess;
}
