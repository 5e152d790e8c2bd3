/*
 * 15_owner_returns.cu: CTA 0 leaves while its peers read the result in its shared memory.
 *
 * title: The owner returns
 * kind: exit
 * project: Triton, https://github.com/triton-lang/triton/issues/11730
 * symptom: the launch fails on an RTX PRO 6000, which has Blackwell's compute capability 12.0
 * reports: exit-before-remote-read
 * does: CTA 0 does an atomic operation for its cluster, and all CTAs read the result in its shared
 *   memory.
 */
#include "hopper/atomics.h"
#include "hopper/cluster.h"
#include "tests/museum/museum.h"

enum { THREADS = 32, CLUSTER = 4, NUMBER = 7 };
struct smem {
    struct b128 old;
};

KERNEL(THREADS, 1) atomic_for_all(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (cluster_rank() == 0 && threadIdx.x == 0) {
        const uint32_t old = atomic_add_relaxed(args.tile_counter, 0, SCOPE_GPU);
        const struct b128 result = {{old + NUMBER, 0, 0, 0}};
        st_shared_b128(&shared->old, result);
    }
    cluster_sync();
    if (threadIdx.x == 0) {
        /* accused: exit-before-remote-read, cta-exited */
        const struct b128 result = ld_shared_cluster_b128(&shared->old, 0);
        st_global_b32(&args.d[cluster_rank() * 2], result.word[0]);
    }
#if FIXED
    cluster_sync();
#endif
}

static int count_wrong(const uint16_t *a, const uint16_t *b, const uint16_t *d) {
    int wrong = 0;
    (void)a, (void)b;
    for (int i = 0; i < CLUSTER; ++i)
        wrong += d[2 * i] != NUMBER || d[2 * i + 1] != 0;
    return wrong;
}

EXHIBIT(atomic_for_all, CLUSTER, CLUSTER, THREADS, struct smem, count_wrong);
