/*
 * timeline_explain.c: prints the life of an mbarrier that is hard to print. Some of its waiters are
 * of warps whose clocks are behind, and its numbers are long. explain.sh judges what is printed.
 */
#include <stdio.h>

#include "timeline/timeline.h"

enum { WAITERS = 200, ARRIVALS = 100000, BYTES = 1048575 };

static const uint64_t start = 123456789012; /* cycle: longer than the word */

static struct timeline *timeline;
static struct barrier_event state = {.offset = 0x30008,
                                     .pending = ARRIVALS,
                                     .expected = ARRIVALS,
                                     .file = "kernel.cu",
                                     .line = 1000};

/* The next event, in the state that has been reached. */
static void event(uint64_t after_start, enum barrier_event_kind kind, int thread, uint32_t amount) {
    state.cycle = start + after_start;
    state.kind = (uint8_t)kind;
    state.by_thread = thread;
    state.amount = amount;
    timeline_barrier(timeline, &state);
}

static void phase(uint64_t begin) {
    const uint32_t parity = state.phase & 1;
    state.tx = BYTES;
    event(begin + 500, BARRIER_EXPECT_TX, 0, BYTES);
    for (int i = 0; i < ARRIVALS; ++i) {
        --state.pending;
        event(begin + 500, BARRIER_ARRIVE, i, 1);
    }
    for (int i = 0; i < WAITERS; ++i) /* behind the arrivals */
        event(begin + 100, BARRIER_WAIT_BEGIN, i, parity);
    state.tx = 0;
    event(begin + 900, BARRIER_COMPLETE_TX, -1, BYTES);
    state.pending = ARRIVALS;
    ++state.phase;
    event(begin + 900, BARRIER_FLIP, -1, 0);
    for (int i = 0; i < WAITERS; ++i) /* half of them behind the flip */
        event(begin + (i < WAITERS / 2 ? 1000 : 875), BARRIER_WAIT_END, i, parity);
}

int main(void) {
    const struct gemm_kernel step = {.name = "synthetic",
                                     .technique = "for tests",
                                     .tile_m = 64,
                                     .tile_n = 64,
                                     .tile_k = 64,
                                     .stages = 1,
                                     .cluster = 1};
    const struct gemm_problem problem = {.m = 64, .n = 64, .k = 64};
    timeline = timeline_begin(&step, &problem);
    event(0, BARRIER_INIT, 0, ARRIVALS);
    event(10, BARRIER_WAIT_END, 7, 1); /* parity 1 of a fresh barrier */
    phase(0);
    phase(1000);
    timeline_end(timeline, 1e12);
    const int barriers = timeline_explain_barrier(stdout, 0);
    timeline_free_all();
    return barriers == 1 ? 0 : 1;
}
