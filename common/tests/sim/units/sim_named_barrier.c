/*
 * sim_named_barrier.c: named barriers that one group of warps uses after another. A barrier counts
 * arrivals, whosever they are; so the later use has to be ordered after the earlier one, and the
 * verdict must not depend on which came first this time.
 */
#include "tests/sim/sim_kernels.h"

#include "hopper/mbarrier.h"

/* Reports name lines: what belongs to one report stays on one. */
// clang-format off

struct smem {
    mbarrier_t told;
};

/* Two groups of two warps. */
enum { THREADS = 128, GROUP = 64, ROUNDS = 3 };

static int group(void) { return (int)threadIdx.x / GROUP; }
static int warp(void) { return (int)threadIdx.x / 32; }
static int lane(void) { return (int)threadIdx.x % 32; }

static inline void begin(struct smem *shared, int arrivals) {
    if (threadIdx.x == 0) mbarrier_init(&shared->told, arrivals);
    __syncthreads();
}

/* ---- right ---- */

KERNEL(THREADS, 1) own_barriers(KERNEL_ARGS args) {
    (void)args;
    for (int i = 0; i < ROUNDS; ++i) named_barrier_sync(1 + group(), GROUP);
    __syncthreads();
    for (int i = 0; i < ROUNDS; ++i) named_barrier_sync(1 + group(), GROUP);
}

/* One group, two counts: all warps of the second use have waited in the first. */
KERNEL(THREADS, 1) fewer_of_the_same(KERNEL_ARGS args) {
    (void)args;
    named_barrier_sync(1, THREADS);
    if (group() == 0) named_barrier_sync(1, GROUP);
}

KERNEL(THREADS, 1) handed_on_by_syncthreads(KERNEL_ARGS args) {
    (void)args;
    for (int i = 0; i < ROUNDS; ++i) {
        if (group() == 0) named_barrier_sync(1, GROUP);
        __syncthreads();
        if (group() == 1) named_barrier_sync(1, GROUP);
        __syncthreads();
    }
}

/* One thread of a warp that has waited knows of all arrivals. */
KERNEL(THREADS, 1) handed_on_by_mbarrier(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 1);
    if (group() == 0) {
        named_barrier_sync(1, GROUP);
        if (threadIdx.x == 37) mbarrier_arrive(&shared->told);
    } else {
        if (lane() == 5) mbarrier_wait(&shared->told, 0);
        named_barrier_sync(1, GROUP);
    }
}

/* Turns as CUTLASS and FlashAttention take them: a group waits at its own barrier, where the other
 * group has only arrived. */
KERNEL(THREADS, 1) turns(KERNEL_ARGS args) {
    (void)args;
    if (group() == 1) named_barrier_arrive(1, THREADS); /* group 0 begins */
    for (int i = 0; i < ROUNDS; ++i) {
        named_barrier_sync(1 + group(), THREADS);
        if (i + group() < ROUNDS) named_barrier_arrive(2 - group(), THREADS);
    }
}

/* Warp 0 fills, warp 1 empties; each only arrives where the other waits. */
KERNEL(THREADS, 1) full_and_empty(KERNEL_ARGS args) {
    (void)args;
    if (warp() > 1) return;
    for (int i = 0; i < ROUNDS; ++i) {
        if (warp() == 0) {
            if (i > 0) named_barrier_sync(2, GROUP);
            named_barrier_arrive(1, GROUP);
        } else {
            named_barrier_sync(1, GROUP);
            if (i + 1 < ROUNDS) named_barrier_arrive(2, GROUP);
        }
    }
}

/* No thread waits, and one lane of each warp tells that its warp has come. */
KERNEL(THREADS, 1) arrivals_told(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 2);
    if (group() == 0) {
        named_barrier_arrive(1, GROUP);
        if (lane() == 9) mbarrier_arrive(&shared->told);
    } else {
        mbarrier_wait(&shared->told, 0);
        named_barrier_sync(1, GROUP);
    }
}

/* ---- wrong ---- */

KERNEL(THREADS, 1) strangers(KERNEL_ARGS args) {
    (void)args;
    MARK named_barrier_sync(1, GROUP);
}

/* The two groups have met at first, and each uses both barriers, in another order. */
KERNEL(THREADS, 1) mixed(KERNEL_ARGS args) {
    (void)args;
    for (int i = 0; i < 2; ++i) {
        if (i == 0) __syncthreads();
        MARK named_barrier_sync(1 + (group() ^ i), GROUP);
    }
}

/* Barrier 0 is that of __syncthreads, which all warps have passed, but nothing orders what comes
 * after. */
KERNEL(THREADS, 1) strangers_at_barrier_0(KERNEL_ARGS args) {
    (void)args;
    __syncthreads();
    for (int i = 0; i < 2; ++i) {
        MARK named_barrier_sync(0, GROUP);
    }
}

/* The earlier group tells the later one before it comes to the barrier, not after. */
KERNEL(THREADS, 1) handed_on_too_early(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 2);
    if (group() == 0 && lane() == 0) mbarrier_arrive(&shared->told);
    if (group() == 1) mbarrier_wait(&shared->told, 0);
    MARK named_barrier_sync(1, GROUP);
}

/* Warp 1 has only arrived: it does not know whether warp 0 has come. */
KERNEL(THREADS, 1) told_by_one_that_arrived(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    (void)args;
    begin(shared, 1);
    if (warp() == 1) {
        named_barrier_arrive(1, GROUP);
        if (lane() == 0) mbarrier_arrive(&shared->told);
        return;
    }
    if (group() == 1) mbarrier_wait(&shared->told, 0);
    MARK named_barrier_sync(1, GROUP);
}

/* Warp 0 arrives round after round and waits for nothing. */
KERNEL(THREADS, 1) arrives_and_arrives(KERNEL_ARGS args) {
    (void)args;
    if (warp() > 1) return;
    for (int i = 0; i < ROUNDS; ++i) {
        if (warp() == 0) named_barrier_arrive(1, GROUP);
        if (warp() == 1) named_barrier_sync(1, GROUP);
    }
}

int main(void) {
    EXPECT_CLEAN(own_barriers, THREADS);
    EXPECT_CLEAN(fewer_of_the_same, THREADS);
    EXPECT_CLEAN(handed_on_by_syncthreads, THREADS);
    EXPECT_CLEAN(handed_on_by_mbarrier, THREADS);
    EXPECT_CLEAN(turns, THREADS);
    EXPECT_CLEAN(full_and_empty, THREADS);
    EXPECT_CLEAN(arrivals_told, THREADS);
    EXPECT_HAZARD(strangers, THREADS, "barrier-shared");
    EXPECT_HAZARD(mixed, THREADS, "barrier-shared");
    EXPECT_HAZARD(strangers_at_barrier_0, THREADS, "barrier-shared");
    EXPECT_HAZARD(handed_on_too_early, THREADS, "barrier-shared");
    EXPECT_HAZARD(told_by_one_that_arrived, THREADS, "barrier-shared");
    /* Before the barrier is complete: "barrier-count". */
    EXPECT_RACE(arrives_and_arrives, THREADS);
    backend_close();
    return expect_result();
}
