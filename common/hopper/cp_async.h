/*
 * cp_async.h: Ampere's asynchronous copy, global memory to shared memory without a register in
 * between.
 *
 * A thread collects its copies in groups and waits for groups, oldest first. The wait makes the
 * copies visible to the waiting thread only. Before another thread reads them, a barrier must
 * follow. PTX ISA: "Data Movement and Conversion Instructions: Asynchronous
 * copy" (cp.async).
 */
#ifndef HOPPER_CP_ASYNC_H
#define HOPPER_CP_ASYNC_H

#include "hopper/thread.h"

#ifdef __CUDACC__

/* Starts copying 16 bytes: the first `valid_bytes` (0..16) come from `global`, the rest are
 * zeros, and no more than valid_bytes are read (with 0, `global` may be any address). Both
 * addresses 16-byte aligned. `.cg` goes through L2 only, not L1. Any thread. */
DEVICE void cp_async_16(void *shared, const void *global, int valid_bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
                 "l"(global), "r"(valid_bytes)
                 : "memory");
}

/* Closes the thread's current group; it may be empty. Each thread. */
DEVICE void cp_async_commit_group(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }

/* Waits until at most the `pending` youngest groups of this thread are still under way (a
 * constant). Orders nothing for other threads. Each thread. */
#define cp_async_wait_group(pending)                                                               \
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

/* Arrives on `barrier` for this thread once all of its earlier copies have landed; does not wait.
 * `.noinc`: the arrival is one of those that the barrier was initialized to expect. (Without it the
 * instruction raises the pending count when it is issued and lowers it when the copies have landed,
 * so that it only holds the phase open.) Each thread. PTX ISA: cp.async.mbarrier.arrive. */
DEVICE void cp_async_mbarrier_arrive_noinc(uint64_t *barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];"
                 ::"r"(shared_address(barrier))
                 : "memory");
}

#else
#include "sim/hopper/cp_async.h"
#endif

#endif
