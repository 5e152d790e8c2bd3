/*
 * shared.c: ordinary loads and stores of a CTA's shared memory.
 */
#include <string.h>

#include "hopper/thread.h"
#include "sim/core/events.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/shared_memory.h"
#include "sim/cost/warp_timing.h"
#include "sim/order/shadow.h"
#include "sim/units/access.h"
#include "sim/units/registers/accumulators.h"

void *sim_shared_memory(size_t bytes) {
    struct sim_thread *thread = sim_thread();
    if (bytes > sim.launch->smem_bytes)
        sim_fatal("shared-bounds", thread,
                  "the kernel's struct needs %zu bytes of shared memory, the launch provides %zu\n"
                  "    Give the launch .smem_bytes = sizeof(struct smem).",
                  bytes, sim.launch->smem_bytes);
    return thread->cta->shared;
}

uint32_t sim_shared_address(const void *pointer) {
    /* One past the end is an address, too. */
    return sim_shared_pointer_address(sim_shared_at(pointer, 0, 1));
}

static inline unsigned char *access_shared(const void *pointer, size_t bytes,
                                           enum sim_access access, const void *value) {
    struct sim_thread *thread = sim_thread();
    struct sim_shared_pointer at = sim_shared_at(pointer, bytes, bytes);
    if (value)
        sim_shadow_store(thread, at.cta, at.offset, bytes, value);
    else
        sim_shadow_generic(thread, at.cta, at.offset, bytes, access);
    if (sim_timed())
        timing_access(thread, access == SIM_READ ? TIMING_LD_SHARED : TIMING_ST_SHARED, at.offset,
                      (unsigned)bytes);
    if (access == SIM_WRITE) ++sim.progress;
    return at.host;
}

unsigned char *sim_access_shared(const void *pointer, size_t bytes, enum sim_access access) {
    return access_shared(pointer, bytes, access, NULL);
}

void sim_store_shared(void *pointer, const void *value, size_t bytes) {
    memcpy(access_shared(pointer, bytes, SIM_WRITE, value), value, bytes);
}

uint32_t sim_ld_shared_b32(const void *pointer) {
    uint32_t value;
    memcpy(&value, sim_access_shared(pointer, sizeof value, SIM_READ), sizeof value);
    return value;
}

struct b64 sim_ld_shared_b64(const void *pointer) {
    struct b64 value;
    memcpy(&value, sim_access_shared(pointer, sizeof value, SIM_READ), sizeof value);
    return value;
}

struct b128 sim_ld_shared_b128(const void *pointer) {
    struct b128 value;
    memcpy(&value, sim_access_shared(pointer, sizeof value, SIM_READ), sizeof value);
    return value;
}

void sim_st_shared_b32(void *pointer, uint32_t value) {
    sim_check_register(value);
    sim_store_shared(pointer, &value, sizeof value);
}

void sim_st_shared_b128(void *pointer, struct b128 value) {
    sim_thread()->cues |= TURN_BARRIER;
    for (int i = 0; i < 4; ++i)
        sim_check_register(value.word[i]);
    sim_store_shared(pointer, &value, sizeof value);
}
