/* setmaxnreg.c: warpgroups that give registers back to the CTA's pool and take them from there. */
#include <stdio.h>

#include "hopper/registers.h"
#include "sim/core/doubt.h"
#include "sim/core/collective.h"
#include "sim/core/grid.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/cost/timing_model.h"
#include "sim/order/clock.h"

enum {
    SM_REGISTERS = 65536,
    GRANULE = 8,
    LEAST = 24,
    MOST = 256,
    MOST_AT_ENTRY = 248,
    MAX_WARPGROUPS = 8
};

struct register_pool {
    int at_entry;               /* per thread, when the CTA starts */
    int free;                   /* registers that no warpgroup has */
    int count[MAX_WARPGROUPS];  /* per thread of each warpgroup */
    int wanted[MAX_WARPGROUPS]; /* by a warpgroup that is waiting; 0: it is not */
    /* Of each thread, at its newest setmaxnreg; 0: it has executed none. */
    uint32_t epoch[MAX_WARPGROUPS * WARPGROUP_SIZE];
    const char *file[MAX_WARPGROUPS]; /* where that was */
    int line[MAX_WARPGROUPS];
    struct sim_wait_queue waiters;
};

/* The compiler gives a kernel with launch bounds as many registers as fit, in steps of 8. */
static struct register_pool *pool_of(struct sim_cta *cta) {
    if (cta->registers) return cta->registers;
    struct register_pool *const pool = sim_arena_alloc(cta->cluster, sizeof *pool);
    const int threads = cta->threads * grid_launch_bounds_ctas(sim.launch->kernel);
    const int fit = SM_REGISTERS / threads / GRANULE * GRANULE;
    pool->at_entry = fit < MOST_AT_ENTRY ? fit : MOST_AT_ENTRY;
    for (int i = 0; i < MAX_WARPGROUPS; ++i)
        pool->count[i] = pool->at_entry;
    return cta->registers = pool;
}

static void describe(const struct sim_thread *thread, const void *object, char *text, size_t size) {
    const struct register_pool *const pool = object;
    const int warpgroup = thread->index / WARPGROUP_SIZE;
    snprintf(
        text, size,
        "register budgets exceed the pool: setmaxnreg to %d needs %d registers more, %d are free "
        "(%d per thread at entry)",
        pool->wanted[warpgroup],
        (pool->wanted[warpgroup] - pool->count[warpgroup]) * WARPGROUP_SIZE, pool->free,
        pool->at_entry);
}

static const struct sim_wait wait_for_registers = {describe, NULL, true, false};

/* Gives a waiting warpgroup what it wants if the pool has it. */
static bool grant(struct register_pool *pool, int warpgroup) {
    const int more = (pool->wanted[warpgroup] - pool->count[warpgroup]) * WARPGROUP_SIZE;
    if (more > pool->free) return false;
    pool->free -= more;
    pool->count[warpgroup] = pool->wanted[warpgroup];
    pool->wanted[warpgroup] = 0;
    return true;
}

struct request {
    int count;
    bool increase;
};

/* Does a lane of `warp` know of the newest setmaxnreg of `other`? All lanes execute it together, so
 * any lane may have told of it. */
static bool has_met(const struct register_pool *pool, const struct sim_warp *warp,
                    const struct sim_warp *other) {
    for (int i = 0; i < WARP_SIZE; ++i)
        for (int j = 0; j < WARP_SIZE; ++j) {
            const struct sim_thread *const told = other->thread[j];
            if (sim_happens_before(warp->thread[i], told->slot, pool->epoch[told->index]))
                return true;
        }
    return false;
}

/* PTX ISA, setmaxnreg: after it all warps of the warpgroup synchronize before the next one. */
static void check_order(struct register_pool *pool, const struct sim_warpgroup *g) {
    const struct sim_self *const self = &sim_thread()->self;
    for (int i = 0; i < WARPGROUP_WARPS * WARPGROUP_WARPS && pool->file[g->index]; ++i) {
        const struct sim_warp *const warp = g->warp[i / WARPGROUP_WARPS];
        const struct sim_warp *const other = g->warp[i % WARPGROUP_WARPS];
        if (warp == other || has_met(pool, warp, other)) continue;
        sim_hazard("setmaxnreg-order", warp->thread[0],
                   "setmaxnreg again, and warp %d has not met warp %d since the one at %s:%d\n"
                   "    All warps of the warpgroup have to synchronize between two setmaxnreg: "
                   "put named_barrier_sync() between them.",
                   warp->index, other->index, source_name(pool->file[g->index]),
                   pool->line[g->index]);
        break;
    }
    for (int w = 0; w < WARPGROUP_WARPS; ++w)
        for (int lane = 0; lane < WARP_SIZE; ++lane) {
            const struct sim_thread *const thread = g->warp[w]->thread[lane];
            pool->epoch[thread->index] = thread->epoch;
        }
    pool->file[g->index] = self->file;
    pool->line[g->index] = self->line;
}

static bool apply(struct sim_warpgroup *g, void *const operand[WARPGROUP_SIZE]) {
    const struct request *const request = operand[0];
    struct register_pool *const pool = pool_of(g->cta);
    int *const count = &pool->count[g->index];
    for (int i = 1; i < WARPGROUP_SIZE; ++i)
        if (((const struct request *)operand[i])->count != request->count)
            sim_fatal("diverged-warpgroup", sim_thread(),
                      "setmaxnreg with different counts in the warps of a warpgroup\n"
                      "    All four warps have to pass the same count.");
    if (request->count < LEAST || request->count > MOST || request->count % GRANULE)
        sim_fatal("register-count", sim_thread(),
                  "setmaxnreg %d: must be %d to %d in steps of %d\n"
                  "    Choose budgets that add up to the pool: see machine.md.",
                  request->count, LEAST, MOST, GRANULE);
    if (request->increase && request->count < *count && !pool->file[g->index]) {
        if (!doubtful_rules) {
            check_order(pool, g);
            *count = request->count; /* ptxas has chosen fewer than the launch bounds allow */
            return true;
        }
        doubt_in_next_report(DOUBT_ENTRY_REGISTERS);
    }
    if (request->increase ? request->count < *count : request->count > *count) {
        sim_hazard("register-count", sim_thread(),
                   "setmaxnreg_%s(%d), but each thread has %d registers, and had %d at entry\n"
                   "    dec must not raise the count, and inc must not lower it.",
                   request->increase ? "inc" : "dec", request->count, *count, pool->at_entry);
        return true;
    }
    check_order(pool, g);
    pool->wanted[g->index] = request->count;
    if (request->increase) {
        grant(pool, g->index);
        return true;
    }
    pool->free += (*count - request->count) * WARPGROUP_SIZE;
    *count = request->count;
    pool->wanted[g->index] = 0;
    bool woken = false;
    for (int i = 0; i < MAX_WARPGROUPS; ++i)
        if (pool->wanted[i]) woken |= grant(pool, i);
    if (woken) sim_wake_all(&pool->waiters, sim_now());
    return true;
}

void sim_setmaxnreg(int count, int increase) {
    struct sim_thread *const thread = sim_thread();
    struct request request = {count, increase != 0};
    sim_warpgroup_collective(increase ? "setmaxnreg.inc" : "setmaxnreg.dec", &request, apply);
    struct register_pool *const pool = pool_of(thread->cta);
    while (pool->wanted[thread->index / WARPGROUP_SIZE])
        sim_block(&pool->waiters, &wait_for_registers, pool);
    sim_advance(thread->lane == 0 ? SETMAXNREG_CYCLES : 0);
    sim_maybe_yield();
}
