/*
 * 05_ring_parity.cu: one barrier, waited for with the parity of a ring.
 *
 * title: The parity of the ring
 * kind: phase
 * project: tilelang, https://github.com/tile-ai/tilelang/pull/3087
 * symptom: wrong results with three stages and more
 * run: --schedule random
 * reports: overwritten-while-read
 * does: Thread 0 loads tiles into a ring of three stages. Warp 1 reads them and arrives on the
 *   barrier done.
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 64, STAGES = 3, TILES = 6 };
struct smem {
    element_t stage[STAGES][BOX_ELEMENTS];
    mbarrier_t landed[STAGES], done;
};

KERNEL(THREADS, 1) pipeline(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i)
            mbarrier_init(&shared->landed[i], 1);
        mbarrier_init(&shared->done, 32);
        fence_mbarrier_init();
    }
    __syncthreads();
    for (int k = 0; k < TILES; ++k) {
        const int stage = k % STAGES;
        mbarrier_t *const landed = &shared->landed[stage];
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect_tx(landed, BOX_BYTES); /* accused: mbarrier-arrivals */
            /* accused: overwritten-while-read, overwritten-in-flight */
            tma_load(shared->stage[stage], &args.map_a, PLACE_ROW(k), PLACE_COLUMN(k), landed);
#if FIXED
            mbarrier_wait(&shared->done, k % 2);
#else
            mbarrier_wait(&shared->done, k / STAGES % 2); /* accused: lapped-waiter */
#endif
        } else if (threadIdx.x >= 32) {
            mbarrier_wait(landed, k / STAGES % 2);
            for (int i = threadIdx.x - 32; i < BOX_CHUNKS; i += 32) {
                const struct b128 chunk = ld_shared_b128(&shared->stage[stage][BOX_CHUNK(i)]);
                st_global_b128(&args.d[MATRIX_CHUNK(k, i)], chunk);
            }
            fence_proxy_async();
            mbarrier_arrive(&shared->done);
        }
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES);
}

EXHIBIT(pipeline, 1, 1, THREADS, struct smem, count_wrong);
