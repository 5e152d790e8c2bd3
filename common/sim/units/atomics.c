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
static uint64_t cycles_to(const void *word) {
    return sim_timed() && sim_home_of(word) != sim_thread()->cta->device ? LINK_LATENCY : 0;
}

/* False: leave the access out. */
static bool begin(const void *word, size_t bytes, enum sim_access access) {
    if ((uintptr_t)word % bytes)
        sim_fatal("misaligned", NULL, "global address %p is not a multiple of %zu", word, bytes);
    if (!sim_global_check(word, bytes, access)) return false;
    prerequisites_check(word, access);
    if (sim_timed()) timing_access(sim_thread(), TIMING_ATOMIC, global_device_address(word), bytes);
    return true;
}

static uint32_t load(const uint32_t *word, enum sim_semantics semantics, enum scope scope) {
    struct sim_thread *const thread = sim_thread();
    const enum sim_scope in = (enum sim_scope)scope;
    if (!begin(word, sizeof *word, SIM_READ)) return 0;
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
    if (!begin(word, sizeof *word, SIM_WRITE)) return;
    poll_between(word, true);
    charge_order(semantics, in);
    sim_global_strong(thread, word, sizeof *word, STRONG_STORE, in);
    release_write(thread, word, semantics, in, false);
    *word = value;
    poll_written_later(cycles_to(word));
    sim_maybe_yield();
}

/* An atomic, up to its write. `changes`: it writes another value, as far as can be told. False:
 * leave the access out. */
static bool atomic_begins(void *word, size_t bytes, bool changes, enum sim_semantics semantics,
                          enum scope scope) {
    if (!begin(word, bytes, SIM_WRITE)) return false;
    if (changes) poll_between(word, true);
    charge_order(semantics, (enum sim_scope)scope);
    return true;
}

/* The order that it makes, now. */
static void atomic_orders(void *word, size_t bytes, bool changes, enum sim_semantics semantics,
                          enum scope scope) {
    struct sim_thread *const thread = sim_thread();
    const enum sim_scope in = (enum sim_scope)scope;
    sim_global_strong(thread, word, bytes, changes ? STRONG_ADD : STRONG_ADD_ZERO, in);
    release_read(thread, word, semantics, in);
    release_write(thread, word, semantics, in, true);
}

/* It has written. */
static void atomic_ends(const void *word, bool changed) {
    if (changed) poll_written_later(cycles_to(word));
    sim_maybe_yield();
}

#define ADD(name, type)                                                                            \
    static type name(type *word, type value, enum sim_semantics semantics, enum scope scope) {     \
        if (!atomic_begins(word, sizeof *word, value != 0, semantics, scope)) return 0;            \
        if (!value) poll_strong(word); /* adding nothing is another way to poll */                 \
        atomic_orders(word, sizeof *word, value != 0, semantics, scope);                           \
        const type before = *word;                                                                 \
        *word = before + value;                                                                    \
        atomic_ends(word, value != 0);                                                             \
        return before;                                                                             \
    }
ADD(add, uint32_t)
ADD(add_b64, uint64_t)

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

uint64_t sim_atomic_add_acq_rel_b64(uint64_t *word, uint64_t value, enum scope scope) {
    return add_b64(word, value, SIM_ACQ_REL, scope);
}

uint64_t sim_atomic_cas_relaxed_b64(uint64_t *word, uint64_t expected, uint64_t value,
                                    enum scope scope) {
    if (!atomic_begins(word, sizeof *word, true, SIM_RELAXED, scope)) return expected;
    if (*word != expected) poll_strong(word); /* a thread may wait for its turn like this */
    const uint64_t before = *word;
    atomic_orders(word, sizeof *word, before == expected, SIM_RELAXED, scope);
    if (before == expected) *word = value;
    atomic_ends(word, before == expected);
    return before;
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
