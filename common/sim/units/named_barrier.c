/*
 * named_barrier.c: the sixteen barriers of a CTA: __syncthreads (number 0) and the named ones.
 *
 * A barrier counts threads, a warp at a time. Everybody who comes releases; those who wait acquire
 * when the count is full.
 */
#include "sim/units/named_barrier.h"

#include <stdio.h>

#include "hopper/thread.h"
#include "sim/core/collective.h"
#include "sim/core/hazards.h"
#include "sim/core/run.h"
#include "sim/core/storage.h"
#include "sim/cost/timing_model.h"
#include "sim/order/clock.h"

enum { BARRIERS = 16 };

struct named_barrier {
    int id;
    int expected, arrived; /* threads */
    uint64_t latest;       /* arrival, cycles */
    struct sim_sync sync;
    struct sim_warp *waiting[WARP_SIZE]; /* at most 32 warps in a CTA */
    int waiting_count;
    uint32_t warps; /* mask of those that have come */
};

void named_barriers_begin(struct sim_cta *cta) {
    cta->barriers = sim_arena_alloc(cta->cluster, BARRIERS * sizeof *cta->barriers);
    for (int i = 0; i < BARRIERS; ++i)
        cta->barriers[i].id = i;
}

static void describe_barrier(const struct sim_thread *thread, const void *object, char *text,
                             size_t size) {
    const struct named_barrier *b = object;
    int used = b->id ? snprintf(text, size, "waits at named barrier %d", b->id)
                     : snprintf(text, size, "waits at __syncthreads");
    used +=
        snprintf(text + used, size - used, ": %d of %d threads have come", b->arrived, b->expected);
    int absent = 0;
    for (int w = 0; w < thread->cta->warps; ++w)
        absent += !(b->warps >> w & 1);
    if (!absent || absent > 8) return;
    used += snprintf(text + used, size - used, "; not yet: warp");
    for (int w = 0; w < thread->cta->warps; ++w)
        if (!(b->warps >> w & 1)) used += snprintf(text + used, size - used, " %d", w);
}

static bool awaits(const struct sim_thread *waiter, const struct sim_thread *other) {
    if (waiter->cta != other->cta) return false;
    const struct named_barrier *b = waiter->waits_for;
    const bool expected = b->expected >= waiter->cta->threads ||
                          waiter->index / WARPGROUP_SIZE == other->index / WARPGROUP_SIZE;
    return expected && !(b->warps >> other->warp->index & 1);
}

static const struct sim_wait wait_for_barrier = {describe_barrier, awaits, false};

/* What the lanes pass. */
struct arrival {
    int id, threads;
    bool wait;
};

/* From the last arrival to the first instruction after it. */
static uint64_t latency_of(int threads) {
    return BARRIER_LATENCY + (uint64_t)threads / WARP_SIZE * BARRIER_WARP_CYCLES;
}

static void complete_barrier(struct named_barrier *b) {
    for (int i = 0; i < b->waiting_count; ++i) {
        struct sim_warp *warp = b->waiting[i];
        for (int lane = 0; lane < WARP_SIZE; ++lane)
            if (warp->thread[lane]) sim_acquire(warp->thread[lane], &b->sync);
    }
    sim_sync_clear(&b->sync);
    for (int i = 0; i < b->waiting_count; ++i)
        sim_warp_wake(b->waiting[i], b->latest + latency_of(b->expected));
    b->waiting_count = b->arrived = b->expected = 0;
    b->warps = 0;
    b->latest = 0;
}

static bool arrive(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    const struct sim_thread *thread = sim_thread();
    const struct arrival *arrival = operand[thread->lane];
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct arrival *other = operand[lane];
        if (warp->thread[lane] && (other->id != arrival->id || other->threads != arrival->threads))
            sim_fatal("diverged-warp", thread,
                      "lanes of one warp come to different named barriers: %d and %d\n"
                      "    All 32 lanes have to pass the same barrier and the same count.",
                      arrival->id, other->id);
    }
    struct named_barrier *b = &warp->cta->barriers[arrival->id];
    if (b->arrived && b->expected != arrival->threads)
        sim_fatal("barrier-count", thread,
                  "comes to barrier %d for %d threads; those before came for %d\n"
                  "    All who meet at a barrier have to give the same count: those who wait and "
                  "those who arrive.",
                  b->id, arrival->threads, b->expected);
    if (b->warps >> warp->index & 1)
        sim_fatal("barrier-count", thread,
                  "warp %d comes to barrier %d again before it is complete\n"
                  "    It would stand for a warp that is missing: give each use a barrier of its "
                  "own, or let the warp wait in between.",
                  warp->index, b->id);
    b->expected = arrival->threads;
    b->arrived += WARP_SIZE;
    b->warps |= 1u << warp->index;
    if (b->latest < warp->clock) b->latest = warp->clock;
    sim_progress();
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (warp->thread[lane]) sim_release(warp->thread[lane], &b->sync);
    const bool full = b->arrived == b->expected;
    if (arrival->wait) {
        b->waiting[b->waiting_count++] = warp;
        if (full) {
            /* This warp has not blocked yet: it acquires like the others and goes on. */
            complete_barrier(b);
            if (sim_timed()) warp->clock += latency_of(arrival->threads);
        } else {
            sim_warp_blocked_on(warp, &wait_for_barrier, b);
        }
        return full;
    }
    if (full) complete_barrier(b);
    return true;
}

static void come(const char *name, int id, int threads, bool wait) {
    if (id < 0 || id >= BARRIERS)
        sim_fatal("barrier-count", NULL,
                  "there is no barrier %d: they are 0 to 15\n"
                  "    Choose another; 0 is that of __syncthreads().",
                  id);
    if (threads <= 0 || threads % WARP_SIZE || threads > 1024)
        sim_fatal("barrier-count", NULL,
                  "barrier %d for %d threads: not a multiple of 32 up to 1024\n"
                  "    Count the threads of all warps that meet there, each as 32.",
                  id, threads);
    sim_warp_collective(name, &(struct arrival){id, threads, wait}, arrive);
    sim_maybe_yield();
}

void sim_sync_threads(void) {
    come("__syncthreads", 0, sim_thread()->cta->warps * WARP_SIZE, true);
}

void sim_named_barrier_sync(int id, int threads) { come("named_barrier_sync", id, threads, true); }

void sim_named_barrier_arrive(int id, int threads) {
    come("named_barrier_arrive", id, threads, false);
}
