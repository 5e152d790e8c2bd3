/*
 * 29_answer_after_release.cu: the answer of the scheduler is read after its place was released. For
 * Blackwell.
 *
 * title: An answer that is released first
 * kind: Blackwell
 * project: tilelang, https://github.com/tile-ai/tilelang/pull/2420
 * symptom: the kernel hangs now and then, in benchmarks with many runs of a large product
 * reports: overwritten-while-read
 * does: One thread asks the hardware for the next tile, and a warp copies the tiles. The answers
 *   have one place in shared memory.
 */
#include "blackwell/cluster_launch.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 64, SCHEDULER = 32, TILES = MUSEUM_BOXES * MUSEUM_BOXES };
struct smem {
    struct b128 answer;
    mbarrier_t full, empty;
};

/* Asks until there is no tile left. One thread. */
DEVICE void schedule(struct smem *shared) {
    bool more = true;
    for (uint32_t phase = 0; more; phase ^= 1) {
        mbarrier_wait(&shared->empty, phase ^ 1);
        mbarrier_arrive_expect_tx(&shared->full, sizeof(struct b128));
        /* accused: overwritten-while-read */
        cluster_try_cancel(&shared->answer, &shared->full);
        mbarrier_wait(&shared->full, phase);
        more = cluster_is_canceled(ld_shared_b128(&shared->answer));
        fence_proxy_async();
        mbarrier_arrive(&shared->empty);
    }
}

KERNEL(THREADS, 1) copy_tiles(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        mbarrier_init(&shared->empty, 1 + 32);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == SCHEDULER) schedule(shared);
    if (threadIdx.x >= SCHEDULER) return;
    int tile = blockIdx.x;
    for (uint32_t phase = 0; tile >= 0; phase ^= 1) {
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += 32)
            st_global_b128(&args.d[MATRIX_CHUNK(tile, i)],
                           ld_global_b128(&args.a[MATRIX_CHUNK(tile, i)]));
        mbarrier_wait(&shared->full, phase);
#if !FIXED
        mbarrier_arrive(&shared->empty);
#endif
        const struct b128 answer = ld_shared_b128(&shared->answer);
        tile = cluster_is_canceled(answer) ? cluster_first_cta(answer) : -1;
#if FIXED
        fence_proxy_async();
        mbarrier_arrive(&shared->empty);
#endif
    }
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES);
}

BLACKWELL_EXHIBIT(copy_tiles, TILES, 1, THREADS, struct smem, count_wrong);
