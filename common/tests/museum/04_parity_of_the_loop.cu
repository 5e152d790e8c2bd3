/*
 * 04_parity_of_the_loop.cu: the parity comes from the loop, the barrier is another one each time.
 *
 * title: The parity of the loop
 * kind: phase
 * project: tilelang, https://github.com/tile-ai/tilelang/issues/2927
 * symptom: silent corruption
 * reports: read-before-landed
 * does: The TMA copies one tile after the other into a place of its own, each with a barrier of its
 *   own.
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, TILES = 4 };
struct smem {
    element_t box[TILES][BOX_ELEMENTS];
    mbarrier_t landed[TILES];
};

KERNEL(THREADS, 1) copy_each(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        for (int n = 0; n < TILES; ++n)
            mbarrier_init(&shared->landed[n], 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    for (int n = 0; n < TILES; ++n) {
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect_tx(&shared->landed[n], BOX_BYTES);
            /* accused: overwritten-while-read */
            tma_load(shared->box[n], &args.map_a, PLACE_ROW(n), 0, &shared->landed[n]);
        }
#if FIXED
        mbarrier_wait(&shared->landed[n], 0);
#else
        mbarrier_wait(&shared->landed[n], n & 1); /* accused: deadlock */
#endif
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
            /* accused: read-before-landed */
            const struct b128 chunk = ld_shared_b128(&shared->box[n][BOX_CHUNK(i)]);
            st_global_b128(&args.d[MATRIX_CHUNK(n, i)], chunk);
        }
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES);
}

EXHIBIT(copy_each, 1, 1, THREADS, struct smem, count_wrong);
