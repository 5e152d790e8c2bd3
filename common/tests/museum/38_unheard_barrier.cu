/*
 * 38_unheard_barrier.cu: each CTA of a pair loads half of an operand, and nobody waits for one of
 * the two barriers.
 *
 * title: A barrier that nobody waits for
 * kind: phase
 * project: CUTLASS, https://github.com/NVIDIA/cutlass/issues/3643
 * symptom: 29 of 200 runs wrong on a B200, and a failed launch for larger sizes
 * reports: read-before-landed
 * does: Each of two CTAs lets the TMA load half of an operand into its own shared memory, and rank
 *   0 uses both halves.
 */
#include "hopper/cluster.h"
#include "hopper/tma.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, CLUSTER = 2 };
struct smem {
    element_t half[BOX_ELEMENTS];
    mbarrier_t full;
};

KERNEL(THREADS, 1) two_loads(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const uint32_t rank = cluster_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&shared->full, BOX_BYTES);
        tma_load(shared->half, &args.map_a, PLACE_ROW((int)rank), 0, &shared->full);
    }
#if FIXED
    mbarrier_wait(&shared->full, 0);
#else
    if (rank == 0) mbarrier_wait(&shared->full, 0);
#endif
    cluster_sync();
    if (rank == 0)
        for (int i = threadIdx.x; i < CLUSTER * BOX_CHUNKS; i += THREADS) {
            const element_t *const from = &shared->half[BOX_CHUNK(i % BOX_CHUNKS)];
            /* accused: read-before-landed */
            const struct b128 chunk = ld_shared_cluster_b128(from, (uint32_t)(i / BOX_CHUNKS));
            st_global_b128(&args.d[MATRIX_CHUNK(i / BOX_CHUNKS, i % BOX_CHUNKS)], chunk);
        }
    cluster_sync();
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, CLUSTER);
}

EXHIBIT(two_loads, CLUSTER, CLUSTER, THREADS, struct smem, count_wrong);
