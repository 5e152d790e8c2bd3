/*
 * 32_one_thread_waits.cu: the wait for a store speaks for the thread that has issued it. Four
 * warps fill a stage, one thread lets the TMA store it, and before the next tile all wait. A
 * barrier helps at three places: the practice asks for none.
 *
 * title: One thread waits
 * kind: reuse
 * project: fast.cu, https://github.com/pranjalssh/fast.cu
 * symptom: on an H200 every result is wrong for k = 64, none from k = 256 on
 * run: --schedule late
 * reports: overwritten-while-read
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, TILES = 3 };
struct smem {
    element_t stage[BOX_ELEMENTS];
};

KERNEL(THREADS, 1) staged_copy(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    for (int n = 0; n < TILES; ++n) {
        bulk_wait_group_read(0);
#if FIXED
        __syncthreads();
#endif
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
            const struct b128 chunk = ld_global_b128(&args.a[MATRIX_CHUNK(n, i)]);
            /* accused: overwritten-while-read */
            st_shared_b128(&shared->stage[BOX_CHUNK(i)], chunk);
        }
        fence_proxy_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            /* accused: data-race */
            tma_store(&args.map_d, PLACE_ROW(n), PLACE_COLUMN(n), shared->stage);
            bulk_commit_group();
        }
    }
    bulk_wait_group(0);
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES);
}

EXHIBIT(staged_copy, 1, 1, THREADS, struct smem, count_wrong);
