/*
 * collective.c: instructions that a whole warp, or a whole warpgroup, executes together.
 *
 * Lanes are fibers and come one after another. Each leaves its operands (a pointer to its own
 * stack) and blocks; the last one executes for all and lets the others go. Lanes that come to
 * different instructions have diverged, which the GPU answers with a hang or worse and the
 * simulator with a report.
 */
#include "sim/core/collective.h"

#include <stdio.h>

#include "sim/core/doubt.h"
#include "sim/core/hazards.h"
#include "sim/core/hooks.h"
#include "sim/core/state.h"

static void describe_warp(const struct sim_thread *thread, const void *object, char *text,
                          size_t size) {
    const struct sim_warp *warp = object;
    (void)thread;
    snprintf(text, size, "waits for the rest of its warp at %s; lanes %#x are missing",
             warp->collective, warp->lanes & ~warp->arrived);
}

/* Do the two wait for the same thing in the same place? */
static bool wait_together(const struct sim_thread *a, const struct sim_thread *b) {
    return a->wait == b->wait && a->waits_for == b->waits_for;
}

static bool awaits_lane(const struct sim_thread *waiter, const struct sim_thread *other) {
    return waiter->warp == other->warp && !wait_together(waiter, other);
}

static const struct sim_wait wait_for_warp = {describe_warp, awaits_lane, false, false};

static const char *lanes_text(uint32_t mask, char *text, size_t size) {
    int low = mask ? __builtin_ctz(mask) : 0, high = mask ? 31 - __builtin_clz(mask) : 0;
    uint64_t run = ((uint64_t)1 << (high + 1)) - ((uint64_t)1 << low);
    if (low == high)
        snprintf(text, size, "lane %d is", low);
    else if (mask == run)
        snprintf(text, size, "lanes %d-%d are", low, high);
    else
        snprintf(text, size, "lanes %#x are", mask);
    return text;
}

static void diverged(struct sim_warp *warp, const char *name) {
    char lanes[48];
    const struct sim_thread *thread = sim_thread();
    sim_fatal("diverged-warp", thread,
              "at %s while %s at %s, %s:%d.\n    All 32 lanes of a warp have "
              "to execute the same %s.",
              name, lanes_text(warp->arrived, lanes, sizeof lanes), warp->collective,
              source_name(warp->collective_file), warp->collective_line, warp->collective);
}

bool collective_leaves_out(enum sim_ended ended) {
    return ended == ENDED_LEFT_OUT || (ended == ENDED_IN_DOUBT && !doubtful_rules);
}

void collective_in_doubt(enum sim_ended ended) {
    if (ended == ENDED_IN_DOUBT) doubt_in_next_report(DOUBT_BARRIER_AFTER_EXIT);
}

/* The lane gathers; true in the lane that completes the warp, which executes. */
static bool gather(struct sim_thread *thread, const char *name, void *operand, enum sim_ended ended,
                   sim_warp_execute *execute) {
    struct sim_warp *warp = thread->warp;
    const char *file = thread->self.file;
    const int line = thread->self.line;
    if (!warp->arrived) {
        warp->collective = name;
        warp->collective_file = file;
        warp->collective_line = line;
        warp->collective_ended = ended;
        warp->collective_execute = execute;
    } else if (warp->collective != name || warp->collective_line != line ||
               warp->collective_file != file) {
        diverged(warp, name);
    }
    warp->arrived |= 1u << thread->lane;
    warp->operand[thread->lane] = operand;
    if (warp->exited && !collective_leaves_out(ended)) {
        char lanes[48];
        collective_in_doubt(ended);
        sim_fatal("diverged-warp", thread,
                  "at %s, but %s gone: the kernel has returned there.\n"
                  "    All 32 lanes of a warp have to execute the same %s.",
                  name, lanes_text(warp->exited, lanes, sizeof lanes), name);
    }
    return (warp->arrived | warp->exited) == warp->lanes;
}

void sim_warp_wake(struct sim_warp *warp, uint64_t time) { sim_wake_all(&warp->waiters, time); }

void sim_warp_blocked_on(struct sim_warp *warp, const struct sim_wait *wait, const void *object) {
    for (struct sim_thread *t = warp->waiters.head; t; t = t->next_waiter) {
        t->wait = wait;
        t->waits_for = object;
    }
    /* The lane that is executing blocks after this. */
    warp->wait = wait;
    warp->waits_for = object;
}

/* Lets the warp go, or blocks this last lane, too. The clock needs no raising: it is the warp's
 * own. */
static void finish(struct sim_warp *warp, bool done) {
    warp->ahead = done ? sim_thread() : NULL;
    if (done) {
        uint64_t progress =
            sim.progress; /* that lanes met again changes nothing that is waited for */
        sim_warp_wake(warp, 0);
        sim.progress = progress;
    } else {
        sim_block(&warp->waiters, warp->wait, warp->waits_for);
    }
}

/* All lanes are there: the instruction is executed now. */
static void begin(struct sim_warp *warp) {
    sim_drain(warp);
    warp->arrived = 0;
    warp->collective = NULL;
}

void sim_warp_collective_of(enum sim_ended ended, const char *name, void *operand,
                            sim_warp_execute *execute) {
    struct sim_thread *thread = sim_thread();
    struct sim_warp *warp = thread->warp;
    if (!gather(thread, name, operand, ended, execute)) {
        sim_block(&warp->waiters, &wait_for_warp, warp);
        return;
    }
    begin(warp);
    finish(warp, execute(warp, warp->operand));
}

void sim_warp_collective(const char *name, void *operand, sim_warp_execute *execute) {
    sim_warp_collective_of(ENDED_MISSING, name, operand, execute);
}

/* ---- warpgroups ---- */

static void describe_warpgroup(const struct sim_thread *thread, const void *object, char *text,
                               size_t size) {
    const struct sim_warpgroup *warpgroup = object;
    (void)thread;
    char missing[32] = "";
    int used = 0;
    for (int i = 0; i < WARPGROUP_WARPS; ++i)
        if (!(warpgroup->arrived >> i & 1))
            used += snprintf(missing + used, sizeof missing - used, " %d",
                             warpgroup->index * WARPGROUP_WARPS + i);
    snprintf(text, size, "waits for the rest of its warpgroup at %s; missing: warp%s",
             warpgroup->collective, missing);
}

static bool awaits_warp(const struct sim_thread *waiter, const struct sim_thread *other) {
    return waiter->cta == other->cta &&
           waiter->index / WARPGROUP_SIZE == other->index / WARPGROUP_SIZE &&
           !wait_together(waiter, other);
}

static const struct sim_wait wait_for_warpgroup = {describe_warpgroup, awaits_warp, false, false};

struct warpgroup_call {
    const char *name;
    sim_warpgroup_execute *execute;
};
static struct warpgroup_call call; /* of the lane that is executing for its warp */

/* A whole warp has come. */
static bool gather_warps(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    (void)operand; /* stays in warp->operand: the lanes cannot move on before the warpgroup does */
    struct sim_thread *thread = sim_thread();
    struct sim_warpgroup *warpgroup = sim_warpgroup_of(thread);
    if (warpgroup->warps < WARPGROUP_WARPS)
        sim_fatal("diverged-warpgroup", thread,
                  "%s needs the four warps of a warpgroup, and this CTA has only %d of them",
                  call.name, warpgroup->warps);
    if (!warpgroup->arrived) {
        warpgroup->collective = call.name;
        warpgroup->collective_file = thread->self.file;
        warpgroup->collective_line = thread->self.line;
    } else if (warpgroup->collective != call.name ||
               warpgroup->collective_line != thread->self.line ||
               warpgroup->collective_file != thread->self.file) {
        sim_fatal("diverged-warpgroup", thread,
                  "at %s while other warps of the warpgroup are at %s, %s:%d.\n"
                  "    All four warps of a warpgroup have to execute the same %s.",
                  call.name, warpgroup->collective, source_name(warpgroup->collective_file),
                  warpgroup->collective_line, warpgroup->collective);
    }
    warpgroup->arrived |= 1u << warp->index % WARPGROUP_WARPS;
    if (warpgroup->arrived != (1u << WARPGROUP_WARPS) - 1) {
        sim_warp_blocked_on(warp, &wait_for_warpgroup, warpgroup);
        return false;
    }
    warpgroup->arrived = 0;
    void *operands[WARPGROUP_SIZE];
    uint64_t latest = 0;
    for (int w = 0; w < WARPGROUP_WARPS; ++w) {
        for (int lane = 0; lane < WARP_SIZE; ++lane)
            operands[w * WARP_SIZE + lane] = warpgroup->warp[w]->operand[lane];
        if (latest < warpgroup->warp[w]->clock) latest = warpgroup->warp[w]->clock;
    }
    warp->clock = latest;
    bool done = call.execute(warpgroup, operands);
    for (int w = 0; w < WARPGROUP_WARPS; ++w)
        if (done && warpgroup->warp[w] != warp) sim_warp_wake(warpgroup->warp[w], warp->clock);
    return done;
}

void sim_warpgroup_collective(const char *name, void *operand, sim_warpgroup_execute *execute) {
    struct sim_thread *thread = sim_thread();
    struct sim_warp *warp = thread->warp;
    if (!gather(thread, name, operand, ENDED_MISSING, NULL)) {
        sim_block(&warp->waiters, &wait_for_warp, warp);
        return;
    }
    begin(warp);
    call = (struct warpgroup_call){name, execute};
    finish(warp, gather_warps(warp, warp->operand));
}

/* ---- lanes that end ---- */

void collective_thread_exit(struct sim_thread *thread) {
    struct sim_warp *warp = thread->warp;
    warp->operand[thread->lane] = NULL;
    if (!warp->arrived) return;
    const enum sim_ended ended = (enum sim_ended)warp->collective_ended;
    if (collective_leaves_out(ended)) {
        if ((warp->arrived | warp->exited | 1u << thread->lane) != warp->lanes) return;
        begin(warp);
        finish(warp, warp->collective_execute(warp, warp->operand));
        return;
    }
    char lanes[48];
    collective_in_doubt(ended);
    sim_fatal("diverged-warp", thread,
              "ends while %s at %s, %s:%d.\n"
              "    All 32 lanes of a warp have to execute the same %s.",
              lanes_text(warp->arrived, lanes, sizeof lanes), warp->collective,
              source_name(warp->collective_file), warp->collective_line, warp->collective);
}
