/*
 * 18_metadata_in_the_stage.cu: what the warps still have to read lies where the TMA loads to.
 *
 * title: Metadata under a load
 * kind: reuse
 * project: Transformer Engine, https://github.com/NVIDIA/TransformerEngine/pull/3483
 * symptom: illegal memory access in the first backward pass
 * reports: overwritten-while-read
 * does: Thread 0 determines which tile the CTA works on, tells the others through shared memory,
 *   and starts the first load.
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, CTAS = 4 };
struct smem {
    element_t box[BOX_ELEMENTS];
    mbarrier_t landed;
    uint32_t place;
};

KERNEL(THREADS, 1) group_quantize(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
#if FIXED
    uint32_t *const place = &shared->place;
#else
    uint32_t *const place = (uint32_t *)(void *)shared->box;
#endif
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->landed, 1);
        st_shared_b32(place, CTAS - 1 - blockIdx.x);
        fence_proxy_async();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const int row = PLACE_ROW((int)(CTAS - 1 - blockIdx.x));
        mbarrier_arrive_expect_tx(&shared->landed, BOX_BYTES);
        /* accused: overwritten-while-read */
        tma_load(shared->box, &args.map_a, row, 0, &shared->landed);
    }
    const int n = (int)ld_shared_b32(place); /* accused: read-before-landed */
    mbarrier_wait(&shared->landed, 0);
    for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
        const struct b128 chunk = ld_shared_b128(&shared->box[BOX_CHUNK(i)]);
        st_global_b128(&args.d[MATRIX_CHUNK(n & 3, i)], chunk);
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, CTAS);
}

EXHIBIT(group_quantize, CTAS, 1, THREADS, struct smem, count_wrong);
