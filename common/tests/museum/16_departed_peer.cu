/*
 * 16_departed_peer.cu: a CTA arrives on the barrier of a peer that has left.
 *
 * title: A peer that has left
 * kind: exit
 * project: Triton, https://github.com/facebookexperimental/triton/pull/1105
 * symptom: CUDA_EXCEPTION_17, the target block is not present, where the hardware reuses an SM
 *   before the whole cluster has ended
 * reports: cta-exited
 * does: Two CTAs share tiles: rank 0 loads each into both, and both arrive on its barrier empty
 *   when they are done with it.
 */
#include "hopper/cluster.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 32, CLUSTER = 2, TILES = 2 };
struct smem {
    element_t stage[BOX_ELEMENTS];
    mbarrier_t full, empty;
};

KERNEL(THREADS, 1) shared_stage(KERNEL_ARGS args) {
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
            if (rank == 0) mbarrier_wait(&shared->empty, n % 2 ^ 1);
            mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
            if (rank == 0)
                tma_load_multicast(shared->stage, &args.map_a, PLACE_ROW(n), 0, &shared->full, 3);
            mbarrier_wait(&shared->full, n % 2);
            tma_store(&args.map_d, PLACE_ROW(n), (int)rank * BOX_ROWS, shared->stage);
            bulk_commit_group();
            bulk_wait_group(0);
            /* accused: cta-exited, exit-before-remote-arrival */
            mbarrier_arrive_remote(&shared->empty, 0);
        }
#if FIXED
    cluster_sync();
#endif
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)b;
    for (int i = 0; i < TILES * BOX_ROWS * CLUSTER * BOX_ROWS; ++i) {
        const int row = i / (CLUSTER * BOX_ROWS), column = i % (CLUSTER * BOX_ROWS);
        wrong += d[row * MUSEUM_EXTENT + column] != a[row * MUSEUM_EXTENT + column % BOX_ROWS];
    }
    return wrong;
}

EXHIBIT(shared_stage, CLUSTER, CLUSTER, THREADS, struct smem, count_wrong);
