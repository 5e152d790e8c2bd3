/*
 * 09_lapped_lane.cu: 32 lanes wait for a stage, one of them refills it, nothing holds it back.
 *
 * Warp 0 loads, warp 1 consumes.
 *
 * title: A lane that is lapped
 * kind: phase
 * project: CUTLASS, https://github.com/NVIDIA/cutlass/pull/3654
 * symptom: none was seen
 * run: --schedule random --schedule-seed 24
 * reports: deadlock
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 64, TILES = MUSEUM_BOXES * MUSEUM_BOXES };
struct smem {
    element_t stage[BOX_ELEMENTS];
    mbarrier_t full, empty;
};

KERNEL(THREADS, 1) load_warp(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        mbarrier_init(&shared->empty, 32);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (warp_index() == 0) {
        const bool elected = elect_one();
        for (int n = 0; n < TILES; ++n) {
            /* accused under random: deadlock, lapped-waiter */
            mbarrier_wait(&shared->empty, n % 2 ^ 1);
#if FIXED
            __syncwarp();
#endif
            if (elected) {
                mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
                tma_load(shared->stage, &args.map_a, PLACE_ROW(n), PLACE_COLUMN(n),
                         &shared->full);
            }
        }
    } else {
        for (int n = 0; n < TILES; ++n) {
            mbarrier_wait(&shared->full, n % 2);
            for (int i = threadIdx.x - 32; i < BOX_CHUNKS; i += 32) {
                const struct b128 chunk = ld_shared_b128(&shared->stage[BOX_CHUNK(i)]);
                st_global_b128(&args.d[MATRIX_CHUNK(n, i)], chunk);
            }
            fence_proxy_async();
            mbarrier_arrive(&shared->empty);
        }
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES);
}

EXHIBIT(load_warp, 1, 1, THREADS, struct smem, count_wrong);
