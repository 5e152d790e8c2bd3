/*
 * 11_clamped_bytes.cu: the kernel announces the rows that exist, the TMA counts the whole box.
 *
 * title: The bytes of half a box
 * kind: count
 * project: Mirage, https://github.com/mirage-project/mirage/pull/705
 * symptom: the kernel always hangs, with all 128 of its workers, in the first layer
 * reports: deadlock
 * does: A CTA loads the last tile, half of whose rows lie below the matrix, and copies those that
 *   exist.
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, FIRST_ROW = MUSEUM_EXTENT - BOX_ROWS / 2 };
struct smem {
    element_t box[BOX_ELEMENTS];
    mbarrier_t landed;
};

KERNEL(THREADS, 1) last_tile(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->landed, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    const int rows = args.m - FIRST_ROW < BOX_ROWS ? args.m - FIRST_ROW : BOX_ROWS;
    if (threadIdx.x == 0) {
#if FIXED
        mbarrier_arrive_expect_tx(&shared->landed, BOX_BYTES);
#else
        mbarrier_arrive_expect_tx(&shared->landed, rows * BOX_ROWS * sizeof(element_t));
#endif
        tma_load(shared->box, &args.map_a, FIRST_ROW, 0, &shared->landed);
    }
    mbarrier_wait(&shared->landed, 0); /* accused: deadlock */
    for (int i = threadIdx.x; i < rows * 8; i += THREADS) {
        const struct b128 chunk = ld_shared_b128(&shared->box[BOX_CHUNK(i)]);
        st_global_b128(&args.d[(FIRST_ROW + i / 8) * MUSEUM_EXTENT + i % 8 * 8], chunk);
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)b;
    for (int i = FIRST_ROW * BOX_ROWS; i < MUSEUM_EXTENT * BOX_ROWS; ++i) {
        const int at = i / BOX_ROWS * MUSEUM_EXTENT + i % BOX_ROWS;
        wrong += d[at] != a[at];
    }
    return wrong;
}

EXHIBIT(last_tile, 1, 1, THREADS, struct smem, count_wrong);
