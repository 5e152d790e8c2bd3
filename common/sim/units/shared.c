/*
 * shared.c: a CTA's shared memory: addresses, bounds, ordinary loads and stores.
 */
#include <string.h>

#include "sim/core/core.h"

/* What to do about it, in reports. */
#define WHICH_INDEX "\n    Check the index: is it a stage, row or column too many?"
#define ALIGN_IT "\n    Align the member and every stage of it, or choose a narrower access."

void sim_poison(void *memory, size_t bytes) {
    const uint16_t pattern = SIM_POISON_16;
    for (size_t i = 0; i + 1 < bytes; i += 2)
        memcpy((char *)memory + i, &pattern, 2);
}

void *sim_shared_memory(size_t bytes) {
    struct sim_thread *thread = sim_thread();
    if (bytes > sim.launch->smem_bytes)
        sim_fatal("shared-bounds", thread,
                  "the kernel's struct needs %zu bytes of shared memory, the launch gave %zu\n"
                  "    Give the launch .smem_bytes = sizeof(struct smem).",
                  bytes, sim.launch->smem_bytes);
    return thread->cta->shared;
}

static struct sim_shared_place place(struct sim_cta *cta, size_t offset) {
    return (struct sim_shared_place){cta, offset, cta->shared + offset};
}

struct sim_shared_place sim_shared_at(const void *pointer, size_t bytes, size_t alignment) {
    struct sim_thread *thread = sim_thread();
    struct sim_cta *cta = thread->cta;
    size_t limit = sim.launch->smem_bytes;
    size_t offset = (size_t)((uintptr_t)pointer - (uintptr_t)cta->shared);
    if (offset > limit || bytes > limit - offset) {
        ptrdiff_t distance = (ptrdiff_t)offset;
        if (distance > -(1 << 24) && distance < 1 << 24)
            sim_fatal("shared-bounds", thread,
                      "%zu bytes at offset %td of shared memory, which has %zu bytes" WHICH_INDEX,
                      bytes, distance, limit);
        sim_fatal("shared-bounds", thread,
                  "%p does not point into the CTA's shared memory\n"
                  "    Take the address of a member of the kernel's struct smem.",
                  pointer);
    }
    if (offset & (alignment - 1))
        sim_fatal("misaligned", thread,
                  "offset %#zx of shared memory is no multiple of %zu" ALIGN_IT,
                  offset, alignment);
    return place(cta, offset);
}

struct sim_shared_place sim_shared_at_address(uint32_t address, size_t bytes, size_t alignment) {
    struct sim_thread *thread = sim_thread();
    struct sim_cluster *cluster = thread->cta->cluster;
    unsigned rank = address >> SHARED_RANK_SHIFT;
    size_t offset = (size_t)(address & SHARED_OFFSET_MASK) - SHARED_BASE;
    size_t limit = sim.launch->smem_bytes;
    if (rank >= (unsigned)cluster->ctas)
        sim_fatal("bad-rank", thread, "shared address %#x names CTA %u of a cluster of %d", address,
                  rank, cluster->ctas);
    if (offset > limit || bytes > limit - offset)
        sim_fatal("shared-bounds", thread,
                  "%zu bytes at offset %td of shared memory, which has %zu bytes" WHICH_INDEX,
                  bytes, (ptrdiff_t)offset, limit);
    if (offset & (alignment - 1))
        sim_fatal("misaligned", thread,
                  "shared address %#x is no multiple of %zu" ALIGN_IT,
                  address, alignment);
    return place(&cluster->cta[rank], offset);
}

struct sim_shared_place sim_shared_map(struct sim_shared_place from, unsigned rank) {
    struct sim_cluster *cluster = from.cta->cluster;
    if (rank >= (unsigned)cluster->ctas)
        sim_fatal("bad-rank", NULL, "CTA %u of a cluster of %d", rank, cluster->ctas);
    return place(&cluster->cta[rank], from.offset);
}

uint32_t sim_shared_address(const void *pointer) {
    /* One past the end is an address, too. */
    return sim_shared_place_address(sim_shared_at(pointer, 0, 1));
}

/* ---- ld.shared, st.shared ---- */

static unsigned char *access_shared(const void *pointer, size_t bytes, enum sim_access access) {
    struct sim_thread *thread = sim_thread();
    struct sim_shared_place at = sim_shared_at(pointer, bytes, bytes);
    sim_shadow_generic(thread, at.cta, at.offset, bytes, access);
    if (sim_timed())
        timing_access(thread, access == SIM_READ ? TIMING_LD_SHARED : TIMING_ST_SHARED, at.offset,
                      (unsigned)bytes);
    return at.host;
}

uint32_t sim_ld_shared_b32(const void *pointer) {
    uint32_t value;
    memcpy(&value, access_shared(pointer, sizeof value, SIM_READ), sizeof value);
    return value;
}

struct b128 sim_ld_shared_b128(const void *pointer) {
    struct b128 value;
    memcpy(&value, access_shared(pointer, sizeof value, SIM_READ), sizeof value);
    return value;
}

void sim_st_shared_b32(void *pointer, uint32_t value) {
    sim_check_register(value);
    memcpy(access_shared(pointer, sizeof value, SIM_WRITE), &value, sizeof value);
    ++sim.progress;
}

void sim_st_shared_b128(void *pointer, struct b128 value) {
    for (int i = 0; i < 4; ++i)
        sim_check_register(value.word[i]);
    memcpy(access_shared(pointer, sizeof value, SIM_WRITE), &value, sizeof value);
    ++sim.progress;
}
