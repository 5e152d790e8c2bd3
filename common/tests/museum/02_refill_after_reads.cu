/*
 * 02_refill_after_reads.cu: a warp reads a stage with ordinary loads, and the next copy of the TMA
 * overwrites it.
 *
 * title: Read by a warp, refilled by the TMA
 * kind: proxy
 * project: DeepEP, https://github.com/deepseek-ai/DeepEP/pull/642
 * symptom: wrong sums in repeated runs with more than 256 tokens, on GB200
 * reports: missing-proxy-fence-after-read
 * does: A warp takes tiles from a stage in shared memory: the TMA fills it, the lanes read it, the
 *   TMA refills it.
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 32, TILES = 4 };
struct smem {
    element_t stage[BOX_ELEMENTS];
    mbarrier_t landed;
};

KERNEL(THREADS, 1) combine(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->landed, 1);
        fence_mbarrier_init();
    }
    __syncwarp();
    for (int n = 0; n < TILES; ++n) {
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect_tx(&shared->landed, BOX_BYTES);
            /* accused: missing-proxy-fence-after-read */
            tma_load(shared->stage, &args.map_a, PLACE_ROW(n), 0, &shared->landed);
        }
        mbarrier_wait(&shared->landed, n % 2);
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
            const struct b128 chunk = ld_shared_b128(&shared->stage[BOX_CHUNK(i)]);
            st_global_b128(&args.d[MATRIX_CHUNK(n, i)], chunk);
        }
#if FIXED
        fence_proxy_async();
#endif
        __syncwarp();
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES);
}

EXHIBIT(combine, 1, 1, THREADS, struct smem, count_wrong);
