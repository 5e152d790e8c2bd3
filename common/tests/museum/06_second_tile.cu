/*
 * 06_second_tile.cu: stage and phase start anew with every tile of a persistent CTA.
 *
 * title: The second tile
 * kind: phase
 * project: tilelang, https://github.com/tile-ai/tilelang/pull/2674
 * symptom: every tile from the second on is wrong, or the launch fails
 * reports: unwaited-copy
 * does: A persistent CTA computes two tiles of three k-tiles each; the k-tiles go through a ring of
 *   two stages.
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 64, STAGES = 2, TILES = 2, K_TILES = 3 };
struct smem {
    element_t stage[STAGES][BOX_ELEMENTS];
    mbarrier_t full[STAGES], empty[STAGES];
};

KERNEL(THREADS, 1) persistent(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(&shared->full[i], 1);
            mbarrier_init(&shared->empty[i], 32);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    for (int n = 0; n < TILES * K_TILES; ++n) {
#if FIXED
        const int turn = n;
#else
        const int turn = n % K_TILES;
#endif
        const int stage = turn % STAGES, phase = turn / STAGES % 2;
        mbarrier_t *const full = &shared->full[stage];
        if (threadIdx.x == 0) {
            mbarrier_wait(&shared->empty[stage], phase ^ 1);
            mbarrier_arrive_expect_tx(full, BOX_BYTES);
            /* accused: unwaited-copy */
            tma_load(shared->stage[stage], &args.map_a, PLACE_ROW(n), PLACE_COLUMN(n), full);
        } else if (threadIdx.x >= 32) {
            mbarrier_wait(full, phase);
            for (int i = threadIdx.x - 32; i < BOX_CHUNKS; i += 32) {
                const struct b128 chunk = ld_shared_b128(&shared->stage[stage][BOX_CHUNK(i)]);
                st_global_b128(&args.d[MATRIX_CHUNK(n, i)], chunk);
            }
            fence_proxy_async();
            mbarrier_arrive(&shared->empty[stage]);
        }
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES * K_TILES);
}

EXHIBIT(persistent, 1, 1, THREADS, struct smem, count_wrong);
