/*
 * ceiling_mma.cu: the Tensor Core alone, through mma.sync: the ceiling of the chapters before
 * wgmma. As ceiling.cu, with operands in registers; for every GPU from compute capability 8.0 on.
 */
#include "gpu/ceiling.h"
#include "hopper/mma.h"

enum {
    THREADS = CEILING_MMA_WARPS * 32,
    MMA_M = 2,
    MMA_N = 4, /* a warp's accumulator tiles */
};
static_assert(MMA_M * MMA_N == CEILING_MMA_TILES && THREADS == (int)CEILING_SUMS, "ceiling.h");

KERNEL(THREADS, 1) mma_only(const float *operands, float *sums, int steps) {
    uint32_t a[CEILING_STAGES][MMA_M][4], b[CEILING_STAGES][MMA_N][2];
    float acc[MMA_M][MMA_N][4];
    const float *next = operands + threadIdx.x;
    UNROLL
    for (int stage = 0; stage < CEILING_STAGES; ++stage) {
        UNROLL
        for (int i = 0; i < MMA_M * 4; ++i, next += 2 * THREADS)
            a[stage][i / 4][i % 4] = pack_elements(next[0], next[THREADS]);
        UNROLL
        for (int i = 0; i < MMA_N * 2; ++i, next += 2 * THREADS)
            b[stage][i / 2][i % 2] = pack_elements(next[0], next[THREADS]);
    }
    UNROLL
    for (int i = 0; i < MMA_M * MMA_N * 4; ++i)
        acc[i / 4 / MMA_N][i / 4 % MMA_N][i % 4] = 0.0f;
    for (int step = 0; step < steps; ++step) {
        UNROLL
        for (int stage = 0; stage < CEILING_STAGES; ++stage) {
            UNROLL
            for (int m = 0; m < MMA_M; ++m) {
                UNROLL
                for (int n = 0; n < MMA_N; ++n)
                    mma_m16n8k16(acc[m][n], a[stage][m], b[stage][n]);
            }
        }
    }
    float sum = 0.0f;
    UNROLL
    for (int i = 0; i < MMA_M * MMA_N * 4; ++i)
        sum += acc[i / 4 / MMA_N][i / 4 % MMA_N][i % 4];
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}

extern "C" cudaError_t CEILING_NAME(mma, CEILING_TYPE)(const float *operands, float *sums,
                                                       int steps, int sms, cudaStream_t stream) {
    mma_only<<<sms, THREADS, 0, stream>>>(operands, sums, steps);
    return cudaGetLastError();
}
