/*
 * checksum.cu: a checksum of device memory, so that a thousand results can be compared without
 * copying one.
 */
#include "gpu/checksum.h"

#include <stdint.h>

enum { THREADS = 256, CTAS = 1024 };

// The finalizer of SplitMix64: every bit of the result depends on every bit of x.
static __device__ uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static __global__ void add(const uint16_t *memory, size_t elements, unsigned long long *sum) {
    uint64_t own = 0;
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < elements;
         i += (size_t)gridDim.x * THREADS)
        own += mix((uint64_t)i << 16 | memory[i]); // places and values: all distinct
    for (int distance = 16; distance > 0; distance /= 2)
        own += __shfl_down_sync(0xffffffffu, own, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}

extern "C" cudaError_t checksum_add(const void *memory, size_t elements, unsigned long long *sum,
                                    cudaStream_t stream) {
    add<<<CTAS, THREADS, 0, stream>>>((const uint16_t *)memory, elements, sum);
    return cudaGetLastError();
}
