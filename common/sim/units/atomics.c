/*
 * atomics.c: accesses to words that other threads access at the same time: their semantics and
 * scopes, and fence.acq_rel.
 */
#include "hopper/atomics.h"

#include <string.h>

#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/timing_model.h"
#include "sim/cost/warp_timing.h"
#include "sim/order/global_shadow.h"
#include "sim/order/prerequisites.h"
#include "sim/order/shadow.h"
#include "sim/units/access.h"
#include "sim/units/poll.h"
#include "sim/units/strong.h"

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
static uint64_t cycles_to(const void *memory, const struct strong_access *how) {
    return sim_timed() && !how->shared && sim_home_of(memory) != sim_thread()->cta->device
               ? LINK_LATENCY
               : 0;
}

/* False: leave the access out. */
static bool begin(const void *memory, enum sim_access access, const struct strong_access *how) {
    if (how->shared) {
        cluster_access_begins(*how->shared, how->bytes, access);
        return true;
    }
    if ((uintptr_t)memory % how->bytes)
        sim_fatal("misaligned", NULL, "global address %p is not a multiple of %zu", memory,
                  how->bytes);
    if (!sim_global_check(memory, how->bytes, access)) return false;
    prerequisites_check(memory, how->bytes, access, true);
    if (sim_timed())
        timing_access(sim_thread(), TIMING_ATOMIC, global_device_address(memory),
                      (unsigned)how->bytes);
    return true;
}

static void note(const void *memory, enum global_strong kind, const struct strong_access *how) {
    struct sim_thread *const thread = sim_thread();
    if (how->shared)
        sim_shadow_strong(thread, how->shared->cta, how->shared->offset, how->bytes,
                          kind == STRONG_LOAD ? SIM_READ : SIM_WRITE, how->scope == SIM_SCOPE_CTA);
    else
        sim_global_strong(thread, memory, how->bytes, kind, how->scope);
}

void strong_load(const void *memory, void *value, struct strong_access how) {
    memset(value, 0, how.bytes);
    if (!begin(memory, SIM_READ, &how)) return;
    poll_between(memory, false);
    poll_strong(memory);
    note(memory, STRONG_LOAD, &how);
    release_read(sim_thread(), memory, how.semantics, how.scope);
    memcpy(value, memory, how.bytes); /* what has been acquired belongs to this value */
    charge_order(how.semantics, how.scope);
    sim_maybe_yield();
}

void strong_store(void *memory, const void *value, struct strong_access how) {
    if (!begin(memory, SIM_WRITE, &how)) return;
    poll_between(memory, true);
    charge_order(how.semantics, how.scope);
    note(memory, STRONG_STORE, &how);
    release_write(sim_thread(), memory, how.semantics, how.scope, false);
    memcpy(memory, value, how.bytes);
    poll_written_later(cycles_to(memory, &how));
    sim_maybe_yield();
}

bool strong_atomic(void *memory, void *before, strong_change *change, const void *object,
                   bool keeps, struct strong_access how) {
    unsigned char after[STRONG_BYTES];
    memset(before, 0, how.bytes);
    if (!begin(memory, SIM_WRITE, &how)) return false;
    memcpy(before, memory, how.bytes);
    change(before, after, object);
    const bool changes = memcmp(before, after, how.bytes) != 0;
    if (changes) poll_between(memory, true);
    charge_order(how.semantics, how.scope);
    if (!changes) poll_strong(memory); /* adding nothing is another way to poll */
    note(memory, keeps && changes ? STRONG_ADD : STRONG_ADD_ZERO, &how);
    release_read(sim_thread(), memory, how.semantics, how.scope);
    release_write(sim_thread(), memory, how.semantics, how.scope, true);
    memcpy(before, memory, how.bytes); /* others may have come while it polled */
    change(before, after, object);
    const bool changed = memcmp(before, after, how.bytes) != 0;
    memcpy(memory, after, how.bytes);
    if (changed) poll_written_later(cycles_to(memory, &how));
    sim_maybe_yield();
    return true;
}

/* ---- words of global memory ---- */

static struct strong_access word_access(size_t bytes, enum sim_semantics semantics,
                                        enum scope scope) {
    return (struct strong_access){bytes, semantics, (enum sim_scope)scope, NULL};
}

static uint32_t load(const uint32_t *word, enum sim_semantics semantics, enum scope scope) {
    uint32_t value;
    strong_load(word, &value, word_access(sizeof value, semantics, scope));
    return value;
}

static void store(uint32_t *word, uint32_t value, enum sim_semantics semantics, enum scope scope) {
    strong_store(word, &value, word_access(sizeof value, semantics, scope));
}

#define ADD(name, type)                                                                            \
    static void change_##name(const void *before, void *after, const void *object) {               \
        type sum, term;                                                                            \
        memcpy(&sum, before, sizeof sum);                                                          \
        memcpy(&term, object, sizeof term);                                                        \
        sum += term;                                                                               \
        memcpy(after, &sum, sizeof sum);                                                           \
    }                                                                                              \
    static type name(type *word, type value, enum sim_semantics semantics, enum scope scope) {     \
        type before;                                                                               \
        (void)strong_atomic(word, &before, change_##name, &value, true,                            \
                            word_access(sizeof before, semantics, scope));                         \
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

struct exchange {
    uint64_t expected, value;
};

static void change_if_expected(const void *before, void *after, const void *object) {
    const struct exchange *const e = object;
    uint64_t word;
    memcpy(&word, before, sizeof word);
    if (word == e->expected) word = e->value;
    memcpy(after, &word, sizeof word);
}

/* One that finds another value polls: a thread may wait for its turn like this. */
uint64_t sim_atomic_cas_relaxed_b64(uint64_t *word, uint64_t expected, uint64_t value,
                                    enum scope scope) {
    const struct exchange e = {expected, value};
    uint64_t before;
    const bool inside = strong_atomic(word, &before, change_if_expected, &e, true,
                                      word_access(sizeof before, SIM_RELAXED, scope));
    return inside ? before : expected;
}

/* Without a result nothing is waited for, and nothing acquired. */
void sim_red_add_relaxed(uint32_t *word, uint32_t value, enum scope scope) {
    (void)add(word, value, SIM_RELAXED, scope);
}

void sim_red_add_release(uint32_t *word, uint32_t value, enum scope scope) {
    (void)add(word, value, SIM_RELEASE, scope);
}

void strong_fence(enum sim_semantics semantics, enum sim_scope scope) {
    release_fence(sim_thread(), semantics, scope);
    sim_advance(scope > SIM_SCOPE_CTA ? L2_LATENCY : FENCE_CYCLES);
    sim_maybe_yield();
}

void sim_fence_acq_rel(enum scope scope) { strong_fence(SIM_ACQ_REL, (enum sim_scope)scope); }
