/*
 * atomics.c: accesses to words of global memory that other threads access at the same time: their
 * semantics and scopes, and fence.acq_rel.
 */
#include "hopper/atomics.h"

#include <string.h>

#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/run.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/timing_model.h"
#include "sim/cost/warp_timing.h"
#include "sim/order/global_shadow.h"
#include "sim/order/prerequisites.h"
#include "sim/order/release.h"
#include "sim/units/poll.h"

_Static_assert((int)SCOPE_CTA == (int)SIM_SCOPE_CTA && (int)SCOPE_SYS == (int)SIM_SCOPE_SYS,
               "one scope, two names");

/* A release waits until the thread's earlier writes have reached the L2, if others are to see them
 * there. Other devices' L2s are farther away. */
static void charge_order(enum sim_semantics semantics, enum sim_scope scope) {
    if (semantics != SIM_RELAXED && scope > SIM_SCOPE_CTA) sim_advance(L2_LATENCY);
    if (semantics & SIM_RELEASE && scope == SIM_SCOPE_SYS && sim.gpus > 1)
        sim_advance(LINK_LATENCY);
}

/* How long a write of the running thread takes to the memory of another device. */
static uint64_t cycles_to(const uint32_t *word) {
    return sim_timed() && sim_home_of(word) != sim_thread()->cta->device ? LINK_LATENCY : 0;
}

/* False: leave the access out. */
static bool begin(const uint32_t *word, enum sim_access access) {
    if ((uintptr_t)word % sizeof *word)
        sim_fatal("misaligned", NULL, "global address %p is not a multiple of %zu",
                  (const void *)word, sizeof *word);
    if (!sim_global_check(word, sizeof *word, access)) return false;
    prerequisites_check(word, access);
    if (sim_timed())
        timing_access(sim_thread(), TIMING_ATOMIC, global_device_address(word), sizeof *word);
    return true;
}

static uint32_t load(const uint32_t *word, enum sim_semantics semantics, enum scope scope) {
    struct sim_thread *const thread = sim_thread();
    const enum sim_scope in = (enum sim_scope)scope;
    if (!begin(word, SIM_READ)) return 0;
    poll_between(word, false);
    poll_strong(word);
    sim_global_strong(thread, word, sizeof *word, STRONG_LOAD, in);
    release_read(thread, word, semantics, in);
    const uint32_t value = *word; /* what has been acquired belongs to this value */
    charge_order(semantics, in);
    sim_maybe_yield();
    return value;
}

static void store(uint32_t *word, uint32_t value, enum sim_semantics semantics, enum scope scope) {
    struct sim_thread *const thread = sim_thread();
    const enum sim_scope in = (enum sim_scope)scope;
    if (!begin(word, SIM_WRITE)) return;
    poll_between(word, true);
    charge_order(semantics, in);
    sim_global_strong(thread, word, sizeof *word, STRONG_STORE, in);
    release_write(thread, word, semantics, in, false);
    *word = value;
    poll_written_later(cycles_to(word));
    sim_maybe_yield();
}

static uint32_t add(uint32_t *word, uint32_t value, enum sim_semantics semantics,
                    enum scope scope) {
    struct sim_thread *const thread = sim_thread();
    const enum sim_scope in = (enum sim_scope)scope;
    if (!begin(word, SIM_WRITE)) return 0;
    if (value) poll_between(word, true);
    charge_order(semantics, in);
    if (!value) poll_strong(word); /* adding nothing is another way to poll */
    sim_global_strong(thread, word, sizeof *word, value ? STRONG_ADD : STRONG_ADD_ZERO, in);
    release_read(thread, word, semantics, in);
    release_write(thread, word, semantics, in, true);
    const uint32_t before = *word;
    *word = before + value;
    if (value) poll_written_later(cycles_to(word));
    sim_maybe_yield();
    return before;
}

uint32_t sim_ld_global_relaxed(const uint32_t *word, enum scope scope) {
    return load(word, SIM_RELAXED, scope);
}

uint32_t sim_ld_global_acquire(const uint32_t *word, enum scope scope) {
    return load(word, SIM_ACQUIRE, scope);
}

void sim_st_global_relaxed(uint32_t *word, uint32_t value, enum scope scope) {
    store(word, value, SIM_RELAXED, scope);
}

void sim_st_global_release(uint32_t *word, uint32_t value, enum scope scope) {
    store(word, value, SIM_RELEASE, scope);
}

uint32_t sim_atomic_add_relaxed(uint32_t *word, uint32_t value, enum scope scope) {
    return add(word, value, SIM_RELAXED, scope);
}

uint32_t sim_atomic_add_acquire(uint32_t *word, uint32_t value, enum scope scope) {
    return add(word, value, SIM_ACQUIRE, scope);
}

uint32_t sim_atomic_add_release(uint32_t *word, uint32_t value, enum scope scope) {
    return add(word, value, SIM_RELEASE, scope);
}

uint32_t sim_atomic_add_acq_rel(uint32_t *word, uint32_t value, enum scope scope) {
    return add(word, value, SIM_ACQ_REL, scope);
}

/* Without a result nothing is waited for, and nothing acquired. */
void sim_red_add_relaxed(uint32_t *word, uint32_t value, enum scope scope) {
    (void)add(word, value, SIM_RELAXED, scope);
}

void sim_red_add_release(uint32_t *word, uint32_t value, enum scope scope) {
    (void)add(word, value, SIM_RELEASE, scope);
}

void sim_fence_acq_rel(enum scope scope) {
    release_fence(sim_thread(), (enum sim_scope)scope);
    sim_advance(scope > SCOPE_CTA ? L2_LATENCY : FENCE_CYCLES);
    sim_maybe_yield();
}
