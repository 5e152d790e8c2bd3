/*
 * global.c: ordinary loads and stores of global memory.
 */
#include <string.h>

#include "hopper/thread.h"
#include "sim/core/events.h"
#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/shared_memory.h"
#include "sim/cost/warp_timing.h"
#include "sim/order/global_shadow.h"
#include "sim/order/prerequisites.h"
#include "sim/units/access.h"
#include "sim/units/registers/accumulators.h"
#include "sim/units/poll.h"

static inline enum global_kind check(const void *pointer, size_t bytes, enum sim_access access) {
    if ((uintptr_t)pointer & (bytes - 1))
        sim_fatal("misaligned", NULL, "global address %p is not a multiple of %zu", pointer, bytes);
    prerequisites_check(pointer, bytes, access, false);
    return sim_global_check(pointer, bytes, access);
}

static inline void account(enum timing_op op, const void *pointer, unsigned bytes) {
    if (sim_timed()) timing_access(sim_thread(), op, global_device_address(pointer), bytes);
}

/* Before a load: of what is never written there is nothing to say. */
static inline bool may_load(const void *pointer, size_t bytes) {
    const enum global_kind kind = check(pointer, bytes, SIM_READ);
    if (kind != GLOBAL_WRITABLE) return kind != GLOBAL_REFUSED;
    poll_ordinary(pointer);
    sim_global_generic(sim_thread(), pointer, bytes, SIM_READ);
    return true;
}

element_t sim_ld_global_element(const element_t *pointer) {
    sim_thread()->cues |= TURN_RESULT;
    if (!may_load(pointer, sizeof *pointer)) return (element_t){SIM_POISON_16};
    account(TIMING_LD_GLOBAL, pointer, sizeof *pointer);
    return *pointer;
}

uint32_t sim_ld_global_b32(const void *pointer) {
    uint32_t value;
    sim_poison(&value, sizeof value);
    if (!may_load(pointer, sizeof value)) return value;
    account(TIMING_LD_GLOBAL, pointer, sizeof value);
    memcpy(&value, pointer, sizeof value);
    return value;
}

struct b128 sim_ld_global_b128(const void *pointer) {
    struct b128 value;
    sim_poison(&value, sizeof value);
    if (!may_load(pointer, sizeof value)) return value;
    account(TIMING_LD_GLOBAL, pointer, sizeof value);
    memcpy(&value, pointer, sizeof value);
    return value;
}

/* `value`: what it brings, if that is known. */
static inline bool may_store(const void *pointer, size_t bytes, const void *value) {
    if (!check(pointer, bytes, SIM_WRITE)) return false;
    sim_global_store(sim_thread(), pointer, bytes, value);
    account(TIMING_ST_GLOBAL, pointer, (unsigned)bytes);
    poll_written();
    return true;
}

void sim_store_global(void *pointer, const void *value, size_t bytes) {
    if (may_store(pointer, bytes, value)) memcpy(pointer, value, bytes);
}

bool sim_access_global(const void *pointer, size_t bytes, enum sim_access access) {
    if (access == SIM_WRITE) return may_store(pointer, bytes, NULL);
    if (!may_load(pointer, bytes)) return false;
    account(TIMING_LD_GLOBAL, pointer, (unsigned)bytes);
    return true;
}

void sim_st_global_element(element_t *pointer, element_t value) {
    sim_store_global(pointer, &value, sizeof value);
}

void sim_st_global_b8(void *pointer, uint32_t value) {
    const uint8_t byte = (uint8_t)value;
    sim_store_global(pointer, &byte, sizeof byte);
}

void sim_st_global_b32(void *pointer, uint32_t value) {
    sim_check_register(value);
    sim_store_global(pointer, &value, sizeof value);
}

void sim_st_global_b128(void *pointer, struct b128 value) {
    for (int i = 0; i < 4; ++i)
        sim_check_register(value.word[i]);
    sim_store_global(pointer, &value, sizeof value);
}
