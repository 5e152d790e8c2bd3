/*
 * pipeline.h: a ring of buffers between a producer and its consumers, under CUTLASS's names.
 *
 * Every stage of the ring has two barriers. `full` completes when the stage holds data: the
 * producer arrives once, and the TMA delivers the bytes. `empty` completes when the stage may be
 * overwritten: the consumers arrive. Each side walks the ring with a state of its own, {index,
 * phase}, and waits for the phase that the other side completes:
 *
 *   producer  acquire(empty) -> TMA load  -> advance        the TMA completes full
 *   consumer  wait(full)     -> wgmma ... -> release(empty) -> advance
 *
 * The producer starts with phase 1: on a fresh barrier the phase before the first counts as
 * completed and has parity 1, so the first acquire of every stage passes at once. The consumer
 * starts with phase 0 and has to wait.
 *
 * Nothing here locks. The last arrival flips the phase, and a thread that polls sees the
 * flip.
 */
#ifndef BUILDING_BLOCKS_PIPELINE_H
#define BUILDING_BLOCKS_PIPELINE_H

#include "hopper/mbarrier.h"

/* The named barrier after the initialization of a ring. Threads that use the ring wait there. A
 * warp that has initialized it alone has nothing to wait for: it may just arrive, so that the first
 * loads are under way at once. */
enum { RING_BARRIER = 15 };

/* The barriers of one stage, in shared memory; a ring is an array of these. */
struct pipeline_stage {
    mbarrier_t full, empty;
};

/* A place in the ring: the stage's index, and the parity of the phase to wait for there. */
struct pipeline_state {
    int index;
    uint32_t phase;
};

/* Moves on to the next stage; the phase flips when the index wraps around. Any thread. */
DEVICE void pipeline_advance(struct pipeline_state *state, int stages) {
    if (++state->index == stages) {
        state->index = 0;
        state->phase ^= 1;
    }
}

/* Goes on by `count` stages: the next one that this consumer reads. */
DEVICE void pipeline_skip(struct pipeline_state *state, int count, int stages) {
    state->phase ^= (uint32_t)((state->index + count) / stages) & 1;
    state->index = (state->index + count) % stages;
}

/* `consumers`: arrivals that release a stage. One thread; the caller then makes the barriers
 * visible: fence_mbarrier_init() and a CTA or cluster barrier. */
DEVICE void pipeline_init_stages(struct pipeline_stage *ring, int stages, int consumers) {
    for (int i = 0; i < stages; ++i) {
        mbarrier_init(&ring[i].full, 1);
        mbarrier_init(&ring[i].empty, consumers);
    }
}

/* The same by several threads at once, each of which makes its barriers visible: stages `first`,
 * first + step, first + 2 * step ... */
DEVICE void pipeline_init_every(struct pipeline_stage *ring, int first, int step, int stages,
                                int consumers) {
    NO_UNROLL
    for (int i = first; i < stages; i += step) {
        mbarrier_init(&ring[i].full, 1);
        mbarrier_init(&ring[i].empty, consumers);
    }
}

/* Is the stage free already? Announces nothing; a producer thread may call it before the
 * acquire. */
DEVICE bool pipeline_producer_try_acquire(struct pipeline_stage *ring,
                                          struct pipeline_state state) {
    return mbarrier_try_wait(&ring[state.index].empty, state.phase);
}

/* Waits until every consumer has released the stage, then announces `bytes` bytes. One producer
 * thread. */
DEVICE void pipeline_producer_acquire(struct pipeline_stage *ring, struct pipeline_state state,
                                      uint32_t bytes) {
    mbarrier_wait(&ring[state.index].empty, state.phase);
    mbarrier_arrive_expect_tx(&ring[state.index].full, bytes);
}

/* Signals that the stage is full. Only for a producer that wrote the stage itself: after an acquire
 * with `bytes`, the TMA signals. One producer thread. */
DEVICE void pipeline_producer_commit(struct pipeline_stage *ring, struct pipeline_state state) {
    mbarrier_arrive(&ring[state.index].full);
}

/* Waits until every stage has been released; `state` is the next one to acquire. Needed before the
 * producer's CTA ends if consumers in another CTA may still arrive on its barriers. One
 * producer thread. */
DEVICE void pipeline_producer_tail(struct pipeline_stage *ring, struct pipeline_state state,
                                   int stages) {
    for (int i = 0; i < stages; ++i) {
        mbarrier_wait(&ring[state.index].empty, state.phase);
        pipeline_advance(&state, stages);
    }
}

/* Is the stage full already? try may suspend the thread for a while, test returns at once. Any
 * consumer thread. */
DEVICE bool pipeline_consumer_try_wait(struct pipeline_stage *ring, struct pipeline_state state) {
    return mbarrier_try_wait(&ring[state.index].full, state.phase);
}
DEVICE bool pipeline_consumer_test_wait(struct pipeline_stage *ring, struct pipeline_state state) {
    return mbarrier_test_wait(&ring[state.index].full, state.phase);
}

/* Waits until the stage is full. Every consumer thread. */
DEVICE void pipeline_consumer_wait(struct pipeline_stage *ring, struct pipeline_state state) {
    mbarrier_wait(&ring[state.index].full, state.phase);
}

/* Signals that this consumer has read the stage. Call it after the wait that covers the wgmma which
 * reads the stage, not after the issue. One of the `consumers` arrivals. */
DEVICE void pipeline_consumer_release(struct pipeline_stage *ring, struct pipeline_state state) {
    mbarrier_arrive(&ring[state.index].empty);
}

/* The verbs, as kernels use them. The simulator's reports then name the kernel's line beside this
 * file's, and call the barriers by the kernel's name for its ring. */
#define pipeline_init(ring, stages, consumers)                                                     \
    VERB_OF(#ring, "ring", ring, pipeline_init_stages(ring, stages, consumers))
#define pipeline_init_some(ring, first, step, stages, consumers)                                   \
    VERB_OF(#ring, "ring", ring, pipeline_init_every(ring, first, step, stages, consumers))
#define producer_try_acquire(ring, state) VERB_VALUE(pipeline_producer_try_acquire(ring, state))
#define producer_acquire(ring, state, bytes) VERB(pipeline_producer_acquire(ring, state, bytes))
#define producer_commit(ring, state) VERB(pipeline_producer_commit(ring, state))
#define producer_tail(ring, state, stages) VERB(pipeline_producer_tail(ring, state, stages))
#define consumer_try_wait(ring, state) VERB_VALUE(pipeline_consumer_try_wait(ring, state))
#define consumer_test_wait(ring, state) VERB_VALUE(pipeline_consumer_test_wait(ring, state))
#define consumer_wait(ring, state) VERB(pipeline_consumer_wait(ring, state))
#define consumer_release(ring, state) VERB(pipeline_consumer_release(ring, state))

#endif
