/*
 * mbarrier.cu: what arriving and waiting costs one thread, alone and between the CTAs of a cluster.
 */
#include "hopper/cluster.h"
#include "hopper/mbarrier.h"
#include "hopper/tma.h"
#include "tools/probe/probe_kernel.h"

enum { MANY = 1 << 19 };

struct smem {
    mbarrier_t counter, done, turn;
    uint32_t word[64];
};

/* Cycles of `k`: 0 arrivals; 1 successful try_waits; 2 arrivals, each completing a phase, and the
 * wait for it; 3 the same with expect_tx of no bytes; 4 fence.proxy.async. One thread. */
KERNEL(32, 1) mbarrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    if (threadIdx.x) return;
    mbarrier_init(&shared->counter, MANY);
    mbarrier_init(&shared->done, 1);
    mbarrier_init(&shared->turn, 1);
    fence_mbarrier_init();
    mbarrier_arrive(&shared->done);

    uint64_t begin = clock_now();
    for (int i = 0; i < args.k; ++i)
        mbarrier_arrive(&shared->counter);
    result(&args, 0, clock_now() - begin);

    begin = clock_now();
    for (int i = 0; i < args.k; ++i)
        mbarrier_wait(&shared->done, 0);
    result(&args, 1, clock_now() - begin);

    begin = clock_now();
    for (int i = 0; i < args.k; ++i) {
        mbarrier_arrive(&shared->turn);
        mbarrier_wait(&shared->turn, i & 1);
    }
    result(&args, 2, clock_now() - begin);

    const int parity = args.k & 1;
    begin = clock_now();
    for (int i = 0; i < args.k; ++i) {
        mbarrier_arrive_expect_tx(&shared->turn, 0);
        mbarrier_wait(&shared->turn, (i + parity) & 1);
    }
    result(&args, 3, clock_now() - begin);

    begin = clock_now();
    for (int i = 0; i < args.k; ++i)
        fence_proxy_async();
    result(&args, 4, clock_now() - begin);
}

/* A cluster of two. Cycles of `k`: 0 round trips of arrivals, each at the other's barrier after the
 * wait at the own one; 1 dependent loads from the other's shared memory. */
KERNEL(32, 1) remote(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const uint32_t rank = cluster_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->turn, 1);
        fence_mbarrier_init();
    }
    for (int i = threadIdx.x; i < 64; i += 32)
        st_shared_b32(&shared->word[i], 0);
    cluster_sync();
    if (threadIdx.x == 0) {
        uint64_t begin = clock_now();
        for (int i = 0; i < args.k; ++i) {
            if (rank == 0) mbarrier_arrive_remote(&shared->turn, 1);
            mbarrier_wait(&shared->turn, i & 1);
            if (rank == 1) mbarrier_arrive_remote(&shared->turn, 0);
        }
        result(&args, 0, clock_now() - begin);

        uint32_t offset = 0, address;
        asm("mapa.shared::cluster.u32 %0, %1, %2;"
            : "=r"(address)
            : "r"(shared_address(shared->word)), "r"(1 - rank));
        begin = clock_now();
        for (int i = 0; i < args.k; ++i)
            asm volatile("{ .reg .b32 at; add.u32 at, %1, %0;\n\tld.shared::cluster.b32 %0, [at]; }"
                         : "+r"(offset)
                         : "r"(address)
                         : "memory");
        use(&args, offset);
        result(&args, 1, clock_now() - begin);
    }
    cluster_sync();
}

/* 0: cycles of `k` cluster_sync; 1: of `k` cluster_sync_relaxed. */
KERNEL(384, 1) cluster_barrier(KERNEL_ARGS args) {
    cluster_sync();
    const uint64_t begin = clock_now();
    for (int i = 0; i < args.k; ++i)
        cluster_sync();
    const uint64_t middle = clock_now();
    for (int i = 0; i < args.k; ++i)
        cluster_sync_relaxed();
    const uint64_t end = clock_now();
    if (threadIdx.x == 0) result(&args, 0, middle - begin);
    if (threadIdx.x == 0) result(&args, 1, end - middle);
}

PROBE(mbarrier, 32, sizeof(struct smem))
PROBE(remote, 32, sizeof(struct smem))
const struct probe_kernel probe_cluster_sync = {(const void *)cluster_barrier, "cluster_sync", 384,
                                                0};
