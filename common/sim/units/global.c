/*
 * global.c: ordinary loads, stores and atomics of global memory.
 */
#include "sim/units/global.h"

#include <stdio.h>
#include <string.h>

#include "hopper/thread.h"
#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/run.h"
#include "sim/core/shared_memory.h"
#include "sim/cost/warp_timing.h"
#include "sim/units/accumulators.h"

static struct sim_wait_queue pollers; /* threads that poll a word of global memory */

void global_pollers_begin(void) { pollers.head = NULL; }

static inline bool check(const void *pointer, size_t bytes, enum sim_access access) {
    if ((uintptr_t)pointer & (bytes - 1))
        sim_fatal("misaligned", NULL, "global address %p is no multiple of %zu", pointer, bytes);
    return sim_global_check(pointer, bytes, access);
}

static inline void account(enum timing_op op, const void *pointer, unsigned bytes) {
    if (sim_timed()) timing_access(sim_thread(), op, global_device_address(pointer), bytes);
}

element_t sim_ld_global_element(const element_t *pointer) {
    if (!check(pointer, sizeof *pointer, SIM_READ)) return (element_t){SIM_POISON_16};
    account(TIMING_LD_GLOBAL, pointer, sizeof *pointer);
    return *pointer;
}

struct b128 sim_ld_global_b128(const void *pointer) {
    struct b128 value;
    sim_poison(&value, sizeof value);
    if (!check(pointer, sizeof value, SIM_READ)) return value;
    account(TIMING_LD_GLOBAL, pointer, sizeof value);
    memcpy(&value, pointer, sizeof value);
    return value;
}

static void store(void *pointer, const void *value, size_t bytes) {
    if (!check(pointer, bytes, SIM_WRITE)) return;
    sim_global_wrote(sim_thread(), pointer, bytes);
    account(TIMING_ST_GLOBAL, pointer, (unsigned)bytes);
    memcpy(pointer, value, bytes);
    ++sim.progress;
}

void sim_st_global_element(element_t *pointer, element_t value) {
    store(pointer, &value, sizeof value);
}

void sim_st_global_b32(void *pointer, uint32_t value) {
    sim_check_register(value);
    store(pointer, &value, sizeof value);
}

void sim_st_global_b128(void *pointer, struct b128 value) {
    for (int i = 0; i < 4; ++i)
        sim_check_register(value.word[i]);
    store(pointer, &value, sizeof value);
}

static void describe_spin(const struct sim_thread *thread, const void *object, char *text,
                          size_t size) {
    (void)thread;
    uint32_t value;
    char where[96];
    memcpy(&value, object, sizeof value);
    snprintf(text, size, "polls the word at %s, which stays %u",
             global_where(object, where, sizeof where), value);
}

static const struct sim_wait wait_for_word = {describe_spin, NULL, false};

uint32_t sim_atomic_add_global(uint32_t *pointer, uint32_t value) {
    if (!check(pointer, sizeof *pointer, SIM_WRITE)) return 0;
    account(TIMING_ATOMIC, pointer, sizeof *pointer);
    /* Adding nothing is how a word is polled. The second time in a row it waits until something has
     * happened. */
    struct sim_thread *thread = sim_thread();
    if (value)
        ++sim.progress;
    else if (thread->polled)
        sim_park(&pollers, &wait_for_word, pointer);
    thread->polled = !value;
    uint32_t before = *pointer;
    *pointer = before + value;
    if (value && pollers.head) sim_wake_all(&pollers, sim_now());
    sim_maybe_yield();
    return before;
}
