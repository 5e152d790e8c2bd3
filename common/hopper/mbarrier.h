/*
 * mbarrier.h: the barrier in shared memory, on which threads can wait for bytes as well as for
 * other threads.
 *
 * A barrier counts phases. Its state is {phase, expected arrivals, pending arrivals, tx-count}. A
 * phase completes when the pending arrivals AND the tx-count are both zero. Then the phase flips,
 * and the pending arrivals start again from the expected number. A wait names the parity of a phase
 * and returns once that phase has completed. The phase before the first counts as completed and has
 * parity 1, so waiting for parity 1 on a fresh barrier returns at once.
 *
 * PTX ISA: "Parallel Synchronization and Communication Instructions: mbarrier".
 */
#ifndef HOPPER_MBARRIER_H
#define HOPPER_MBARRIER_H

#include "hopper/thread.h"

/* 8 bytes of shared memory, 8-byte aligned; only these functions may access them. */
typedef uint64_t mbarrier_t;

#ifdef __CUDACC__

/* Phase 0, `arrivals` expected arrivals in every phase. One thread, before any thread or
 * copy uses the barrier. */
DEVICE void mbarrier_init(mbarrier_t *barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

/* Ends the barrier: its 8 bytes may hold data again, or another barrier. Until then no load, store
 * or copy may touch them, and no second mbarrier_init(). One thread, after the last use by any
 * thread or copy. PTX ISA: mbarrier.inval. */
DEVICE void mbarrier_inval(mbarrier_t *barrier) {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/* Makes the initializations so far visible to the cluster and to the async proxy: a release of
 * cluster scope, for mbarrier.init alone. The initializing thread, followed by a CTA or cluster
 * barrier. Needed where a peer CTA uses the barrier after a relaxed cluster barrier; where the TMA
 * signals it, or a peer comes after a release, that is in doubt (docs/rules-in-doubt.md). For the
 * TMA alone, fence_proxy_async() by the same thread is enough. PTX ISA: fence.mbarrier_init. */
DEVICE void fence_mbarrier_init(void) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* One arrival; releases this thread's earlier accesses to the threads that wait for the phase. Any
 * thread. */
DEVICE void mbarrier_arrive(mbarrier_t *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

/* Raises the tx-count of the current phase by `bytes` and then arrives, as one operation. Any
 * thread. */
DEVICE void mbarrier_arrive_expect_tx(mbarrier_t *barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

/* Has the phase of this parity completed? Does not wait; acquires if true. Any thread. */
DEVICE bool mbarrier_test_wait(const mbarrier_t *barrier, uint32_t parity) {
    uint32_t done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return done != 0;
}

/* The same, but the hardware may suspend the thread first, up to a time limit. At the limit it
 * returns false, and the phase is not complete: always call it in a loop. Any thread. */
DEVICE bool mbarrier_try_wait(const mbarrier_t *barrier, uint32_t parity) {
    uint32_t done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return done != 0;
}

/* Waits until the phase of this parity has completed, and acquires what threads of this CTA, and
 * copies, have released to it. Its scope is the default, that of the CTA. Any thread. PTX ISA:
 * mbarrier.try_wait. */
DEVICE void mbarrier_wait(const mbarrier_t *barrier, uint32_t parity) {
    while (!mbarrier_try_wait(barrier, parity)) {
    }
}

/* The same wait with the scope of the cluster: it also acquires what a thread of another CTA has
 * released by mbarrier_arrive_remote_release(). Costs an invalidation of the L1. Any thread. PTX
 * ISA: mbarrier.try_wait, "Memory Consistency Model" (morally strong operations). */
DEVICE void mbarrier_wait_cluster(const mbarrier_t *barrier, uint32_t parity) {
    uint32_t done;
    do {
        asm volatile("{ .reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    } while (!done);
}

/* One arrival, and a wait, that order nothing but execution, within the cluster. For what has
 * fences of its own: tensor memory (blackwell/tcgen05.h). Any thread. PTX ISA: mbarrier.arrive,
 * mbarrier.try_wait (.relaxed). */
DEVICE void mbarrier_arrive_relaxed(mbarrier_t *barrier) {
    asm volatile("mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [%0];"
                 ::"r"(shared_address(barrier))
                 : "memory");
}
DEVICE void mbarrier_wait_relaxed(const mbarrier_t *barrier, uint32_t parity) {
    uint32_t done;
    do {
        asm volatile("{ .reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    } while (!done);
}

#else
#include "sim/hopper/mbarrier.h"
#endif

#endif
