/*
 * 24_flag_then_tma.cu: a thread acquires a flag, then the TMA loads what the flag announces.
 *
 * The practice of DeepEP, https://github.com/deepseek-ai/DeepEP/pull/642 and 632. CTA 0 stands for
 * the rank that sends, CTA 1 for the one that receives.
 *
 * title: A flag, then the TMA
 * kind: proxy, a practice
 * project: DeepEP, https://github.com/deepseek-ai/DeepEP/pull/642
 * symptom: the first pull request named this place as the cause of the wrong sums of exhibit 02
 * reports: missing-proxy-fence
 */
#include "hopper/atomics.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, CTAS = 2 };
struct smem {
    element_t box[BOX_ELEMENTS];
    mbarrier_t landed;
};

KERNEL(THREADS, 1) receive_box(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    uint32_t *const flag = args.tile_counter;
    if (blockIdx.x == 0) {
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS)
            st_global_b128(&args.d[MATRIX_CHUNK(0, i)],
                           ld_global_b128(&args.a[MATRIX_CHUNK(0, i)]));
        __syncthreads();
        if (threadIdx.x == 0) st_global_release(flag, 1, SCOPE_GPU);
        return;
    }
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->landed, 1);
        fence_mbarrier_init();
        while (ld_global_acquire(flag, SCOPE_GPU) == 0) {
        }
#if FIXED
        fence_proxy_async_global();
#endif
        mbarrier_arrive_expect_tx(&shared->landed, BOX_BYTES);
        /* accused: missing-proxy-fence */
        tma_load(shared->box, &args.map_d, PLACE_ROW(0), 0, &shared->landed);
    }
    __syncthreads();
    mbarrier_wait(&shared->landed, 0);
    for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
        const struct b128 chunk = ld_shared_b128(&shared->box[BOX_CHUNK(i)]);
        st_global_b128(&args.d[MATRIX_CHUNK(1, i)], chunk);
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)b;
    for (int i = 0; i < BOX_ELEMENTS; ++i)
        for (int n = 0; n < CTAS; ++n)
            wrong += d[(PLACE_ROW(n) + i / BOX_ROWS) * MUSEUM_EXTENT + i % BOX_ROWS] !=
                     a[i / BOX_ROWS * MUSEUM_EXTENT + i % BOX_ROWS];
    return wrong;
}

EXHIBIT(receive_box, CTAS, 1, THREADS, struct smem, count_wrong);
