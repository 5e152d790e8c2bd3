/*
 * ceiling.cu: the Tensor Core alone, through wgmma: the ceiling of every chapter.
 *
 * Operands are random numbers that stay where they are: power, and with it the clock, depends on
 * the bits that toggle, so zeros would flatter. Compiled once for each element type. Every thread
 * stores the sum of its accumulators at the end, without which ptxas would remove the
 * multiplications.
 */
#include "gpu/ceiling.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

enum {
    WARPGROUPS = CEILING_M / 64,
    THREADS = WARPGROUPS * 128,
    K_STEPS = CEILING_K / 16,
    ROW_BYTES = CEILING_K * 2,  /* 128: the width of the swizzle */
    ATOM_BYTES = 8 * ROW_BYTES, /* eight rows repeat the swizzle's pattern */
};
static_assert(THREADS == (int)CEILING_SUMS, "ceiling.h");

struct smem {
    element_t a[CEILING_STAGES][CEILING_M * CEILING_K]; // [stage][row][k], 128 B swizzle
    element_t b[CEILING_STAGES][CEILING_N * CEILING_K]; // [stage][column][k], 128 B swizzle
};

KERNEL(THREADS, 1) wgmma_only(const float *operands, float *sums, int steps) {
    SHARED_MEMORY(struct smem);
    for (int i = threadIdx.x; i < CEILING_OPERANDS / 2; i += THREADS)
        st_shared_b32(&shared->a[0][2 * i], pack_elements(operands[2 * i], operands[2 * i + 1]));
    // wgmma reads through the async proxy what every thread has written through the generic one.
    fence_proxy_async();
    __syncthreads();

    float acc[CEILING_N / 2];
    UNROLL
    for (int i = 0; i < CEILING_N / 2; ++i)
        acc[i] = 0.0f;
    const uint32_t a = shared_address(shared->a[0]) + warp_index() / 4 * 64 * ROW_BYTES;
    const uint32_t b = shared_address(shared->b[0]);
    for (int step = 0; step < steps; ++step) {
        const int stage = step % CEILING_STAGES;
        wgmma_fence(); // the accumulators' first write, and the compiler's order of them
        UNROLL
        for (int k = 0; k < K_STEPS; ++k) {
            const uint32_t a_k = a + stage * CEILING_M * ROW_BYTES + k * 32;
            const uint32_t b_k = b + stage * CEILING_N * ROW_BYTES + k * 32;
            wgmma_m64nNk16(256, acc, wgmma_descriptor(a_k, 0, ATOM_BYTES, SWIZZLE_128B),
                           wgmma_descriptor(b_k, 0, ATOM_BYTES, SWIZZLE_128B), 1);
        }
        wgmma_commit_group();
        wgmma_wait_group(1); // one group always queued behind the one that runs
    }
    wgmma_wait_group(0); // a thread must not exit with a group under way
    wgmma_use_registers(acc, CEILING_N / 2);
    float sum = 0.0f;
    UNROLL
    for (int i = 0; i < CEILING_N / 2; ++i)
        sum += acc[i];
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}

extern "C" cudaError_t CEILING_NAME(wgmma, CEILING_TYPE)(const float *operands, float *sums,
                                                         int steps, int sms, cudaStream_t stream) {
    const cudaError_t allowed = cudaFuncSetAttribute(
        wgmma_only, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(struct smem));
    if (allowed != cudaSuccess) return allowed;
    wgmma_only<<<sms, THREADS, sizeof(struct smem), stream>>>(operands, sums, steps);
    return cudaGetLastError();
}
