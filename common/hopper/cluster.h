/*
 * cluster.h: CTAs that run at the same time and access each other's shared memory.
 *
 * PTX ISA: "Cooperative Thread Arrays: Cluster", barrier.cluster, mapa, mbarrier.arrive (remote).
 */
#ifndef HOPPER_CLUSTER_H
#define HOPPER_CLUSTER_H

#include "hopper/mbarrier.h"

#ifdef __CUDACC__

/* The CTA's rank in its cluster. Any thread. */
DEVICE uint32_t cluster_rank(void) {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* Waits for every thread of every CTA of the cluster, and orders their accesses. Every thread
 * that has not ended calls it. */
DEVICE void cluster_sync(void) {
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

/* The same wait, but it orders only the initialization of mbarriers that an arriving thread has
 * made visible with fence_mbarrier_init(). That fence is a release of its own, so at the start of
 * a kernel no thread has to wait for its other accesses. All threads of the cluster
 * call it. PTX ISA: barrier.cluster, fence.mbarrier_init. */
DEVICE void cluster_sync_relaxed(void) {
    asm volatile("barrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

/* The two halves of cluster_sync(): what a thread does before its arrival comes before what any
 * thread does after its wait. What it does between the two is not ordered. A thread waits before it
 * arrives again. Every thread that has not ended calls both. PTX ISA: barrier.cluster. */
DEVICE void cluster_arrive(void) {
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
DEVICE void cluster_wait(void) { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

/* One arrival on the barrier at the same offset in the shared memory of CTA `rank`. The arrival
 * names no scope and so has that of the CTA, whose default `.shared::cluster` does not change.
 * Across CTAs it orders only the asynchronous reads that this thread has waited for. An empty
 * barrier needs no more. `.release.cluster` waits for every outstanding access and costs far more.
 * Any thread. PTX ISA: mapa, mbarrier.arrive. */
DEVICE void mbarrier_arrive_remote(mbarrier_t *barrier, uint32_t rank) {
    asm volatile("{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;\n\t"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote]; }"
                 ::"r"(shared_address(barrier)), "r"(rank)
                 : "memory");
}

/* The same with cluster scope: it also releases this thread's ordinary accesses (ld, st, ldmatrix)
 * to the owner. Needed where the owner overwrites data that this thread has read with ordinary
 * loads; expensive in a main loop. The owner has to wait by mbarrier_wait_cluster(): the order
 * exists only if both sides have the scope. Any thread. PTX ISA: mapa, mbarrier.arrive. */
DEVICE void mbarrier_arrive_remote_release(mbarrier_t *barrier, uint32_t rank) {
    asm volatile("{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;\n\t"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; }"
                 ::"r"(shared_address(barrier)), "r"(rank)
                 : "memory");
}

/* The same, relaxed: it orders nothing but execution. For what has fences of its own, tensor memory
 * (blackwell/tcgen05.h); the owner waits by mbarrier_wait_relaxed(). Any thread. PTX ISA: mapa,
 * mbarrier.arrive. */
DEVICE void mbarrier_arrive_remote_relaxed(mbarrier_t *barrier, uint32_t rank) {
    asm volatile("{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;\n\t"
                 "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote]; }"
                 ::"r"(shared_address(barrier)), "r"(rank)
                 : "memory");
}

/* Reads 16 bytes at the offset of `pointer` in the shared memory of CTA `rank`, its own
 * included. This is an ordinary load: a cluster barrier, or an arrival of cluster scope, has to
 * separate it from the owner's earlier and later writes. Any thread. PTX ISA: mapa,
 * ld.shared::cluster. */
DEVICE struct b128 ld_shared_cluster_b128(const void *pointer, uint32_t rank) {
    struct b128 value;
    asm volatile("{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %4, %5;\n\t"
                 "ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [remote]; }"
                 : "=r"(value.word[0]), "=r"(value.word[1]), "=r"(value.word[2]),
                   "=r"(value.word[3])
                 : "r"(shared_address(pointer)), "r"(rank)
                 : "memory");
    return value;
}

#else
#include "sim/hopper/cluster.h"
#endif

#endif
