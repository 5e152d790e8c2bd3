/*
 * 10_one_store_too_many.cu: the wait before a refill allows the very store that still reads.
 *
 * title: One store too many
 * kind: count
 * project: DeepEP, https://github.com/deepseek-ai/DeepEP/issues/657
 * symptom: none
 * reports: overwritten-while-read
 * does: One thread copies tiles through a ring of two stages: the TMA loads a stage, then stores
 *   it.
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 32, STAGES = 2, TILES = 6 };
struct smem {
    element_t stage[STAGES][BOX_ELEMENTS];
    mbarrier_t landed[STAGES];
};

KERNEL(THREADS, 1) copy(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x != 0) return;
    for (int i = 0; i < STAGES; ++i)
        mbarrier_init(&shared->landed[i], 1);
    fence_mbarrier_init();
    for (int n = 0; n < TILES + STAGES; ++n) {
        const int stage = n % STAGES;
        mbarrier_t *const landed = &shared->landed[stage];
        if (n >= STAGES) {
            mbarrier_wait(landed, (n / STAGES - 1) % 2);
            tma_store(&args.map_d, PLACE_ROW(n - STAGES), PLACE_COLUMN(n - STAGES),
                      shared->stage[stage]);
            bulk_commit_group();
        }
        if (n < TILES) {
#if FIXED
            bulk_wait_group(0);
#else
            bulk_wait_group(STAGES - 1);
#endif
            mbarrier_arrive_expect_tx(landed, BOX_BYTES);
            /* accused: overwritten-while-read */
            tma_load(shared->stage[stage], &args.map_a, PLACE_ROW(n), PLACE_COLUMN(n), landed);
        }
    }
    bulk_wait_group(0);
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES);
}

EXHIBIT(copy, 1, 1, THREADS, struct smem, count_wrong);
