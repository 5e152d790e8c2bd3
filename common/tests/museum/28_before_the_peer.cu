/*
 * 28_before_the_peer.cu: a CTA allocates for a pair whose other CTA may not have begun. For
 * Blackwell.
 *
 * title: Before the peer
 * kind: Blackwell
 * project: CUTLASS, https://github.com/NVIDIA/cutlass/pull/3316
 * symptom: racecheck of CUDA 13.1 reports the store of the address
 * reports: tensor-pair-not-launched
 * does: The two CTAs of a pair allocate columns of tensor memory together, and free them.
 */
#include "blackwell/tcgen05.h"
#include "hopper/cluster.h"
#include "tests/museum/museum.h"

enum { THREADS = 32, COLUMNS = 64 };
struct smem {
    uint32_t sums;
};

KERNEL(THREADS, 1) allocate_for_two(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
#if FIXED
    cluster_sync_relaxed();
#endif
    tcgen05_alloc(2, &shared->sums, COLUMNS); /* accused: tensor-pair-not-launched */
    cluster_sync();
    const uint32_t sums = ld_shared_b32(&shared->sums);
    if (threadIdx.x == 0)
        st_global_b32(&args.d[2 * cluster_rank()], sums == ld_shared_b32(&shared->sums));
    cluster_sync();
    tcgen05_dealloc(2, sums, COLUMNS);
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)a, (void)b;
    return (d[0] != 1) + (d[2] != 1);
}

BLACKWELL_EXHIBIT(allocate_for_two, 2, 2, THREADS, struct smem, count_wrong);
