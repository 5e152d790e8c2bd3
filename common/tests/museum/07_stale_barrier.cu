/*
 * 07_stale_barrier.cu: the loop that polls looks at the barrier of the first stage.
 *
 * The consumer asks early whether its next stage is full, and polls only if it was not.
 *
 * title: The barrier of the first stage
 * kind: phase
 * project: TensorRT-LLM, https://github.com/NVIDIA/TensorRT-LLM/pull/15338
 * symptom: wrong results, but only while other work copies between the GPU and the host's memory
 * reports: read-before-landed
 */
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 64, STAGES = 4, TILES = 8, READ_ROWS = 32 * 8 / BOX_ROWS };
struct smem {
    element_t stage[STAGES][BOX_ELEMENTS];
    mbarrier_t full[STAGES], empty[STAGES];
};

KERNEL(THREADS, 1) tiny_gemm(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(&shared->full[i], 1);
            mbarrier_init(&shared->empty[i], 32);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        for (int n = 0; n < TILES; ++n) {
            const int stage = n % STAGES;
            mbarrier_t *const full = &shared->full[stage];
            /* The producer is late: it begins when the tile before has been consumed. */
            if (n > 0) mbarrier_wait(&shared->empty[(n - 1) % STAGES], (n - 1) / STAGES % 2);
            mbarrier_arrive_expect_tx(full, BOX_BYTES);
            /* accused: overwritten-while-read */
            tma_load(shared->stage[stage], &args.map_a, PLACE_ROW(n), PLACE_COLUMN(n), full);
        }
    if (threadIdx.x < 32) return;
    const int lane = threadIdx.x - 32;
    const mbarrier_t *ready = &shared->full[0];
    bool full = mbarrier_test_wait(ready, 0);
    for (int n = 0; n < TILES; ++n) {
        const int stage = n % STAGES, next = (n + 1) % STAGES;
#if FIXED
        ready = &shared->full[stage];
#endif
        while (!full)
            full = mbarrier_try_wait(ready, n / STAGES % 2);
        full = n + 1 < TILES && mbarrier_test_wait(&shared->full[next], (n + 1) / STAGES % 2);
        /* accused: read-before-landed */
        const struct b128 chunk = ld_shared_b128(&shared->stage[stage][BOX_CHUNK(lane)]);
        st_global_b128(&args.d[MATRIX_CHUNK(n, lane)], chunk);
        fence_proxy_async();
        mbarrier_arrive(&shared->empty[stage]);
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)b;
    for (int n = 0; n < TILES; ++n)
        for (int i = 0; i < READ_ROWS * BOX_ROWS; ++i) {
            const int at = (PLACE_ROW(n) + i / BOX_ROWS) * MUSEUM_EXTENT + PLACE_COLUMN(n) +
                           i % BOX_ROWS;
            wrong += d[at] != a[at];
        }
    return wrong;
}

EXHIBIT(tiny_gemm, 1, 1, THREADS, struct smem, count_wrong);
