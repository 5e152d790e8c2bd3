/*
 * 33_last_release.cu: the last release of a stage goes to a CTA that may have ended.
 *
 * title: The last release
 * kind: exit
 * project: fast.cu, https://github.com/pranjalssh/fast.cu
 * symptom: "unspecified launch failure" on an H200 for k = 64, nothing from k = 128 on
 * reports: cta-exited
 * does: Each of two CTAs loads half of every tile into both of them, and each tells the other when
 *   it has read a stage. No load follows the last of these messages.
 */
#include "hopper/cluster.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 32, CLUSTER = 2, TILES = 2, BOTH = 3 };
struct smem {
    element_t stage[CLUSTER][BOX_ELEMENTS];
    mbarrier_t full, empty;
};

KERNEL(THREADS, 1) halves(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const uint32_t rank = cluster_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        mbarrier_init(&shared->empty, CLUSTER);
        fence_mbarrier_init();
    }
    cluster_sync();
    if (threadIdx.x == 0)
        for (int n = 0; n < TILES; ++n) {
            if (n > 0) mbarrier_wait(&shared->empty, (n - 1) % 2);
            mbarrier_arrive_expect_tx(&shared->full, CLUSTER * BOX_BYTES);
            tma_load_multicast(shared->stage[rank], &args.map_a, PLACE_ROW(n), (int)rank * BOX_ROWS,
                               &shared->full, BOTH);
            mbarrier_wait(&shared->full, n % 2);
            tma_store(&args.map_d, PLACE_ROW(n), (int)rank * BOX_ROWS, shared->stage[rank]);
            bulk_commit_group();
            bulk_wait_group(0);
            for (int to = 0; to < CLUSTER; ++to)
                /* accused: cta-exited, exit-before-remote-arrival */
                mbarrier_arrive_remote(&shared->empty, (uint32_t)to);
        }
#if FIXED
    cluster_sync();
#endif
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, TILES) +
           count_not_copied(a, d, MUSEUM_BOXES, MUSEUM_BOXES + TILES);
}

EXHIBIT(halves, CLUSTER, CLUSTER, THREADS, struct smem, count_wrong);
