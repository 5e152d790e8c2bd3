/*
 * 21_scope_of_the_cta.cu: data for a peer CTA, announced by an arrival of CTA scope.
 *
 * CTA 1 writes half of an operand to its own shared memory, CTA 0 uses both halves.
 *
 * title: The scope of a CTA
 * kind: scope
 * project: CUTLASS, https://github.com/NVIDIA/cutlass/issues/3324
 * symptom: stale data, "quite often" in one configuration
 * reports: data-race
 */
#include "hopper/cluster.h"
#include "tests/museum/museum.h"

enum { THREADS = 128, CLUSTER = 2 };
struct smem {
    element_t half[BOX_ELEMENTS];
    mbarrier_t full;
};

KERNEL(THREADS, 1) two_halves(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, THREADS);
        fence_mbarrier_init();
    }
    cluster_sync();
    if (cluster_rank() == 1) {
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS)
            st_shared_b128(&shared->half[BOX_CHUNK(i)],
                           ld_global_b128(&args.a[MATRIX_CHUNK(0, i)]));
#if FIXED
        mbarrier_arrive_remote_release(&shared->full, 0);
#else
        mbarrier_arrive_remote(&shared->full, 0);
#endif
    } else {
#if FIXED
        mbarrier_wait_cluster(&shared->full, 0);
#else
        mbarrier_wait(&shared->full, 0);
#endif
        for (int i = threadIdx.x; i < BOX_CHUNKS; i += THREADS) {
            /* accused: data-race */
            const struct b128 chunk = ld_shared_cluster_b128(&shared->half[BOX_CHUNK(i)], 1);
            st_global_b128(&args.d[MATRIX_CHUNK(0, i)], chunk);
        }
    }
    cluster_sync();
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)b;
    return count_not_copied(a, d, 0, 1);
}

EXHIBIT(two_halves, CLUSTER, CLUSTER, THREADS, struct smem, count_wrong);
