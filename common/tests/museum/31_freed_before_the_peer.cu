/*
 * 31_freed_before_the_peer.cu: a CTA of a pair frees what the other is still allocating. For
 * Blackwell.
 *
 * title: Freed before the peer
 * kind: Blackwell
 * project: CUTLASS, https://github.com/NVIDIA/cutlass/issues/3435
 * symptom: unspecified launch failure, in 96 of 96 runs
 * reports: tensor-alloc-order
 * does: The two CTAs of a pair allocate columns of tensor memory together, and free them.
 */
#include "blackwell/tcgen05.h"
#include "hopper/cluster.h"
#include "tests/museum/museum.h"

enum { THREADS = 32, COLUMNS = 64 };
struct smem {
    uint32_t sums;
};

KERNEL(THREADS, 1) free_at_once(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    cluster_sync_relaxed();
    tcgen05_alloc(2, &shared->sums, COLUMNS);
    __syncwarp();
    const uint32_t sums = ld_shared_b32(&shared->sums);
    if (threadIdx.x == 0)
        st_global_b32(&args.d[2 * cluster_rank()], sums == ld_shared_b32(&shared->sums));
#if FIXED
    cluster_sync();
#endif
    tcgen05_dealloc(2, sums, COLUMNS); /* accused: tensor-alloc-order */
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    (void)a, (void)b;
    return (d[0] != 1) + (d[2] != 1);
}

BLACKWELL_EXHIBIT(free_at_once, 2, 2, THREADS, struct smem, count_wrong);
