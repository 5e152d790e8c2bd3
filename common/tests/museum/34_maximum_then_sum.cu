/*
 * 34_maximum_then_sum.cu: one array holds the maxima of the warps, then their sums.
 *
 * title: A maximum, then a sum
 * kind: reuse
 * project: llm.c, dev/cuda/softmax_forward.cu, https://github.com/karpathy/llm.c
 * symptom: none is told
 * reports: data-race
 * does: Warps reduce a row twice, and both times the first thread combines what the warps have
 *   found, in the same place.
 */
#include "hopper/thread.h"
#include "tests/museum/museum.h"

enum { THREADS = 64, LANES = 32, WARPS = THREADS / LANES };
struct smem {
    struct b128 of_warp[WARPS];
};

KERNEL(THREADS, 1) two_reductions(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warp = threadIdx.x / LANES;
    const bool writes = threadIdx.x % LANES == 0;
    struct b128 found = {{(uint32_t)warp + 1, 0, 0, 0}};
    if (writes) st_shared_b128(&shared->of_warp[warp], found);
    __syncthreads();
    if (threadIdx.x == 0)
        st_shared_b128(&shared->of_warp[0], ld_shared_b128(&shared->of_warp[WARPS - 1]));
    __syncthreads();
    found.word[0] = ld_shared_b128(&shared->of_warp[0]).word[0] + (uint32_t)warp;
#if FIXED
    __syncthreads();
#endif
    /* accused: data-race */
    if (writes) st_shared_b128(&shared->of_warp[warp], found);
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t sum = 0;
        for (int i = 0; i < WARPS; ++i)
            sum += ld_shared_b128(&shared->of_warp[i]).word[0];
        st_global_b32(&args.d[0], sum);
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)a, (void)b;
    return d[0] != WARPS * WARPS + WARPS * (WARPS - 1) / 2;
}

EXHIBIT(two_reductions, 1, 1, THREADS, struct smem, count_wrong);
