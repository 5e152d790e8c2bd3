/* lanes.c: lanes of a mask gather, and the last one executes for them. */
#include "sim/core/lanes.h"

#include <stdio.h>
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"

/* At one mask; they live as long as the cluster. */
struct gathering {
    const char *name; /* of the instruction that the lanes are at */
    const char *file;
    int line;
    uint32_t mask, arrived;
    enum sim_ended ended;
    sim_warp_execute *execute;
    void *operand[WARP_SIZE];
    struct sim_wait_queue waiters;
    struct gathering *next;
};

static void describe(const struct sim_thread *thread, const void *object, char *text, size_t size) {
    const struct gathering *const g = object;
    (void)thread;
    snprintf(text, size, "waits for lanes %#x of its warp at %s, whose mask is %#x",
             g->mask & ~g->arrived, g->name, g->mask);
}

static bool awaits(const struct sim_thread *waiter, const struct sim_thread *other) {
    const struct gathering *const g = waiter->waits_for;
    return waiter->warp == other->warp && (g->mask & ~g->arrived) >> other->lane & 1;
}

static const struct sim_wait wait_for_lanes = {describe, awaits, false, false};

static struct gathering *gathering_of(struct sim_warp *warp, uint32_t mask) {
    struct gathering *g = warp->gatherings;
    while (g && g->mask != mask)
        g = g->next;
    if (g) return g;
    g = sim_arena_alloc(warp->cta->cluster, sizeof *g);
    g->mask = mask;
    g->next = warp->gatherings;
    return warp->gatherings = g;
}

static void check(const struct gathering *g, const struct sim_thread *thread, const char *name,
                  enum sim_ended how) {
    const uint32_t ended = g->mask & thread->warp->exited;
    if (!(g->mask >> thread->lane & 1))
        sim_fatal("diverged-warp", thread,
                  "at %s, whose mask %#x leaves out the lane that executes it\n"
                  "    A lane has to name itself.",
                  name, g->mask);
    if (ended && !collective_leaves_out(how)) {
        collective_in_doubt(how);
        sim_fatal("diverged-warp", thread,
                  "at %s, whose mask %#x names lanes %#x: the kernel has returned there\n"
                  "    All lanes of the mask have to execute the same %s.",
                  name, g->mask, ended, name);
    }
    if (g->arrived &&
        (g->name != name || g->line != thread->self.line || g->file != thread->self.file))
        sim_fatal("diverged-warp", thread,
                  "at %s while lanes %#x are at %s, %s:%d.\n"
                  "    All lanes of the mask %#x have to execute the same %s.",
                  name, g->arrived, g->name, source_name(g->file), g->line, g->mask, g->name);
}

static void execute(struct gathering *g, struct sim_warp *warp) {
    void *operands[WARP_SIZE];
    memcpy(operands, g->operand, sizeof operands);
    g->arrived = 0;
    memset(g->operand, 0, sizeof g->operand);
    (void)g->execute(warp, operands);
    sim_wake_all(&g->waiters, sim_now());
}

void sim_lanes_collective(enum sim_ended ended, const char *name, uint32_t mask, void *operand,
                          sim_warp_execute *call) {
    struct sim_thread *const thread = sim_thread();
    struct sim_warp *const warp = thread->warp;
    if ((mask & warp->lanes) == warp->lanes) {
        sim_warp_collective_of(ended, name, operand, call);
        return;
    }
    struct gathering *const g = gathering_of(warp, mask & warp->lanes);
    check(g, thread, name, ended);
    g->name = name;
    g->file = thread->self.file;
    g->line = thread->self.line;
    g->ended = ended;
    g->execute = call;
    g->arrived |= 1u << thread->lane;
    g->operand[thread->lane] = operand;
    if (g->mask & ~(g->arrived | warp->exited))
        sim_block(&g->waiters, &wait_for_lanes, g);
    else
        execute(g, warp);
}

void sim_lanes_check_source(const struct sim_warp *warp, int lane, int from) {
    if (!warp->thread[from]) return;
    sim_fatal("diverged-warp", warp->thread[lane],
              "at a shuffle that reads from lane %d: the kernel has returned there\n"
              "    What it reads is undefined. The lane has to stay, or nothing may read from it.",
              from);
}

void lanes_thread_exit(struct sim_thread *thread) {
    struct sim_warp *const warp = thread->warp;
    const uint32_t ended = warp->exited | 1u << thread->lane;
    for (struct gathering *g = warp->gatherings; g; g = g->next)
        if (g->arrived && g->mask >> thread->lane & 1 && !(g->mask & ~(g->arrived | ended)) &&
            collective_leaves_out(g->ended))
            execute(g, warp);
}
