/*
 * 08_flips_on_empty.cu: a consumer flips its phase in a tile that has no producer.
 *
 * title: A flip without a tile
 * kind: phase
 * project: FlashAttention, https://github.com/Dao-AILab/flash-attention/pull/2258
 * symptom: the kernel hangs
 * reports: overwritten-while-read
 * does: Thread 0 loads tiles into one stage, warp 1 reads them. The second of three tiles is empty:
 *   nothing is loaded, and nothing is awaited.
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 64, TILES = 3 };
struct smem {
    element_t stage[BOX_ELEMENTS];
    mbarrier_t full, empty;
};

KERNEL(THREADS, 1) sparse_tiles(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        mbarrier_init(&shared->empty, 32);
        fence_mbarrier_init();
    }
    __syncthreads();
    uint32_t phase = 0;
    for (int n = 0; n < TILES; ++n) {
        const bool empty = n == 1;
        if (threadIdx.x == 0 && !empty) {
            mbarrier_wait(&shared->empty, phase ^ 1); /* accused: lapped-waiter */
            mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
            /* accused: overwritten-while-read */
            tma_load(shared->stage, &args.map_a, PLACE_ROW(n), 0, &shared->full);
            phase ^= 1;
        }
        if (threadIdx.x < 32) continue;
        if (!empty) {
            mbarrier_wait(&shared->full, phase);
            for (int i = threadIdx.x - 32; i < BOX_CHUNKS; i += 32) {
                const struct b128 chunk = ld_shared_b128(&shared->stage[BOX_CHUNK(i)]);
                st_global_b128(&args.d[MATRIX_CHUNK(n, i)], chunk);
            }
            fence_proxy_async();
            mbarrier_arrive(&shared->empty);
        }
#if FIXED
        if (!empty) phase ^= 1;
#else
        phase ^= 1;
#endif
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, 1) + count_not_copied(a, d, 2, 3);
}

EXHIBIT(sparse_tiles, 1, 1, THREADS, struct smem, count_wrong);
