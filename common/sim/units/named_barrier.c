/*
 * named_barrier.c: the sixteen barriers of a CTA: __syncthreads (number 0) and the named ones.
 *
 * A barrier counts threads, a warp at a time. All that come release; those that wait acquire
 * when the count is full.
 *
 * A barrier counts arrivals, whosever they are. A warp that may come before the last use of the
 * barrier is complete is counted in that use under some schedule. So a use remembers its warps, and
 * a warp of the next use has to be ordered after all their arrivals: it waited there itself, or its
 * clocks say so.
 */
#include "sim/units/named_barrier.h"

#include <stdio.h>

#include "hopper/thread.h"
#include "sim/core/collective.h"
#include "sim/core/doubt.h"
#include "sim/core/events.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/cost/timing_model.h"
#include "sim/order/clock.h"

enum { BARRIERS = 16, MAX_WARPS = 32 };

/* A use of a barrier: from the first arrival to the last. */
struct barrier_use {
    uint32_t warps, waited; /* masks: those that came; those of them that waited */
    /* Of each warp's arrival: the epoch of its first lane, which knows of the others' after a wait;
     * where it did not wait, every lane's. */
    uint32_t epoch[MAX_WARPS];
    uint32_t *lane_epochs[MAX_WARPS];
    const char *file; /* of its first arrival */
    int line;
    int threads; /* its count */
};

struct named_barrier {
    int id;
    int expected, arrived; /* threads */
    bool everyone;         /* expected: those that have not ended */
    uint64_t latest;       /* arrival, cycles */
    struct sim_sync sync;
    struct sim_warp *waiting[MAX_WARPS];
    int waiting_count;
    struct barrier_use use[2]; /* the current one, and the one before */
    int current;
};

static struct barrier_use *use_of(struct named_barrier *b) { return &b->use[b->current]; }

void named_barriers_begin(struct sim_cta *cta) {
    cta->barriers = sim_arena_alloc(cta->cluster, BARRIERS * sizeof *cta->barriers);
    for (int i = 0; i < BARRIERS; ++i)
        cta->barriers[i].id = i;
}

/* Of warps that have not ended. */
static int live_threads(const struct sim_cta *cta) {
    int warps = 0;
    for (int w = 0; w < cta->warps; ++w)
        warps += cta->warp[w].exited != cta->warp[w].lanes;
    return warps * WARP_SIZE;
}

static void describe_barrier(const struct sim_thread *thread, const void *object, char *text,
                             size_t size) {
    const struct named_barrier *b = object;
    const uint32_t warps = b->use[b->current].warps;
    int used = b->id ? snprintf(text, size, "waits at named barrier %d", b->id)
                     : snprintf(text, size, "waits at __syncthreads");
    used += snprintf(text + used, size - used, ": %d of %d threads have arrived", b->arrived,
                     b->expected);
    int absent = 0;
    for (int w = 0; w < thread->cta->warps; ++w)
        absent += !(warps >> w & 1);
    if (!absent || absent > 8) return;
    used += snprintf(text + used, size - used, "; missing: warp");
    for (int w = 0; w < thread->cta->warps; ++w)
        if (!(warps >> w & 1)) used += snprintf(text + used, size - used, " %d", w);
    if (b->id == 0 && b->arrived == live_threads(thread->cta))
        snprintf(text + used, size - used, ", which have ended (%s, a rule in doubt)",
                 doubt_name(DOUBT_BARRIER_AFTER_EXIT));
}

static bool awaits(const struct sim_thread *waiter, const struct sim_thread *other) {
    if (waiter->cta != other->cta) return false;
    const struct named_barrier *b = waiter->waits_for;
    const bool expected = b->expected >= waiter->cta->threads ||
                          waiter->index / WARPGROUP_SIZE == other->index / WARPGROUP_SIZE;
    return expected && !(b->use[b->current].warps >> other->warp->index & 1);
}

static const struct sim_wait wait_for_barrier = {describe_barrier, awaits, false, false};

/* What the lanes pass. */
struct arrival {
    int id, threads;
    bool wait, everyone; /* everyone: who has not ended */
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
    use_of(b)->threads = b->expected;
    b->waiting_count = b->arrived = b->expected = 0;
    b->latest = 0;
    b->current ^= 1;
    use_of(b)->warps = use_of(b)->waited = 0;
}

/* ---- one use after another ---- */

static bool ordered_after(const struct sim_warp *warp, int slot, uint32_t epoch) {
    /* The warp arrives when all its lanes have come: what one of them knows is enough. */
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct sim_thread *const thread = warp->thread[lane];
        if (thread && (sim_happens_before(thread, slot, epoch) ||
                       sim_clock_get(&thread->x, slot) >= epoch)) /* execution is enough */
            return true;
    }
    return false;
}

/* Is the warp ordered after the arrival that `other` made in this use? */
static bool knows_arrival(const struct sim_warp *warp, const struct barrier_use *use,
                          const struct sim_warp *other) {
    if (use->waited >> other->index & 1)
        return ordered_after(warp, other->thread[0]->slot, use->epoch[other->index]);
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (other->thread[lane] &&
            ordered_after(warp, other->thread[lane]->slot, use->lane_epochs[other->index][lane]))
            return true;
    return false;
}

static const char *warps_text(uint32_t warps, char *text, size_t size) {
    int used = snprintf(text, size, warps & (warps - 1) ? "warps" : "warp");
    for (int w = 0; w < MAX_WARPS; ++w)
        if (warps >> w & 1) used += snprintf(text + used, size - used, " %d", w);
    return text;
}

/* Is the use before the current one over, for all that the warp knows? */
static void check_last_use(const struct named_barrier *b, const struct sim_warp *warp) {
    const struct barrier_use *const last = &b->use[b->current ^ 1];
    if (last->waited >> warp->index & 1) return;
    uint32_t unknown = 0;
    for (int w = 0; w < warp->cta->warps; ++w)
        if (last->warps >> w & 1 && w != warp->index &&
            !knows_arrival(warp, last, &warp->cta->warp[w]))
            unknown |= 1u << w;
    if (!unknown) return;
    char all[128], some[128];
    const bool none = unknown == (last->warps & ~(1u << warp->index));
    /* At the same call the warps may belong together, and the count is the mistake. */
    const struct sim_self *const self = &sim_thread()->self;
    char too_low[96] = "";
    if (last->file == self->file && last->line == self->line)
        snprintf(too_low, sizeof too_low,
                 "\n    If all these warps are to meet there, its count, %d, is too low.",
                 last->threads);
    sim_hazard(
        "barrier-shared", sim_thread(),
        "arrives at barrier %d, which %s used last (%s:%d); nothing orders this arrival after %s\n"
        "    Under another schedule it counts in that use, and the barrier completes too early: "
        "give\n"
        "    each group of warps a barrier of its own, or order the two uses by another barrier.%s",
        b->id, warps_text(last->warps, all, sizeof all), source_name(last->file), last->line,
        none ? "their arrivals" : warps_text(unknown, some, sizeof some), too_low);
}

/* Remembers the arrival, after the warp's lanes have released. */
static void note_arrival(struct barrier_use *use, const struct sim_warp *warp, bool waits) {
    const struct sim_thread *const thread = sim_thread();
    const int w = warp->index;
    if (!use->warps) {
        use->file = thread->self.file;
        use->line = thread->self.line;
    }
    use->warps |= 1u << w;
    use->epoch[w] = warp->thread[0]->epoch - 1;
    if (waits) {
        use->waited |= 1u << w;
        return;
    }
    if (!use->lane_epochs[w])
        use->lane_epochs[w] =
            sim_arena_alloc(warp->cta->cluster, WARP_SIZE * sizeof *use->lane_epochs[w]);
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (warp->thread[lane]) use->lane_epochs[w][lane] = warp->thread[lane]->epoch - 1;
}

static bool arrive(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    const struct sim_thread *thread = sim_thread();
    const struct arrival *arrival = operand[thread->lane];
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct arrival *other = operand[lane];
        if (warp->thread[lane] && (other->id != arrival->id || other->threads != arrival->threads))
            sim_fatal("diverged-warp", thread,
                      "lanes of one warp arrive at different named barriers: %d and %d\n"
                      "    All 32 lanes have to pass the same barrier and the same count.",
                      arrival->id, other->id);
    }
    struct named_barrier *b = &warp->cta->barriers[arrival->id];
    const int threads = arrival->everyone ? live_threads(warp->cta) : arrival->threads;
    if (b->arrived && b->expected != threads)
        sim_fatal("barrier-count", thread,
                  "arrives at barrier %d for %d threads; earlier arrivals were for %d\n"
                  "    Every warp has to give the same count, whether it waits there or only "
                  "arrives.",
                  b->id, threads, b->expected);
    if (use_of(b)->warps >> warp->index & 1 && (doubtful_rules || !arrival->wait)) {
        /* A warp that waits behind its own arrival may mean to count twice. */
        if (arrival->wait) doubt_in_next_report(DOUBT_OWN_ARRIVAL);
        sim_fatal("barrier-count", thread,
                  "warp %d arrives at barrier %d again before the barrier is complete\n"
                  "    The second arrival would count for a missing warp: give each use a barrier "
                  "of its own, or let the warp wait in between.",
                  warp->index, b->id);
    }
    check_last_use(b, warp);
    b->expected = threads;
    b->everyone = arrival->everyone;
    b->arrived += WARP_SIZE;
    if (b->latest < warp->clock) b->latest = warp->clock;
    sim_progress();
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (warp->thread[lane]) sim_release(warp->thread[lane], &b->sync);
    note_arrival(use_of(b), warp, arrival->wait);
    const bool full = b->arrived == b->expected;
    if (arrival->wait) {
        b->waiting[b->waiting_count++] = warp;
        if (full) {
            /* This warp has not blocked yet: it acquires like the others and goes on. */
            complete_barrier(b);
            if (sim_timed()) warp->clock += latency_of(threads);
        } else {
            sim_warp_blocked_on(warp, &wait_for_barrier, b);
        }
        return full;
    }
    if (full) complete_barrier(b);
    return true;
}

static void come(const char *name, struct arrival arrival) {
    const int id = arrival.id, threads = arrival.threads;
    if (id < 0 || id >= BARRIERS)
        sim_fatal("barrier-count", NULL,
                  "there is no barrier %d: they are 0 to 15\n"
                  "    Choose another; 0 is that of __syncthreads().",
                  id);
    if (threads <= 0 || threads % WARP_SIZE || threads > 1024)
        sim_fatal("barrier-count", NULL,
                  "barrier %d for %d threads: not a multiple of 32 up to 1024\n"
                  "    Count 32 threads for each warp that waits or arrives there.",
                  id, threads);
    sim_warp_collective(name, &arrival, arrive);
    sim_maybe_yield();
}

void sim_sync_threads(void) {
    sim_turn(SIM_EVENT_CUE_BARRIER, TURN_BARRIER, 0, 0);
    come("__syncthreads",
         (struct arrival){0, sim_thread()->cta->warps * WARP_SIZE, true, !doubtful_rules});
    sim_turn(SIM_EVENT_CUE_FREE, TURN_BARRIER, TURN_BARRIER, 0);
}

void named_barrier_thread_exit(const struct sim_thread *thread) {
    const struct sim_warp *const warp = thread->warp;
    struct named_barrier *const b = &warp->cta->barriers[0];
    if (!b->everyone || !b->arrived || (warp->exited | 1u << thread->lane) != warp->lanes) return;
    b->expected = live_threads(warp->cta) - WARP_SIZE;
    if (b->arrived == b->expected) complete_barrier(b);
}

void sim_named_barrier_sync(int id, int threads) {
    come("named_barrier_sync", (struct arrival){id, threads, true, false});
}

void sim_named_barrier_arrive(int id, int threads) {
    come("named_barrier_arrive", (struct arrival){id, threads, false, false});
}
