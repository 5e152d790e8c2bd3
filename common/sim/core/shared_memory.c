/*
 * shared_memory.c: a CTA's shared memory: addresses and bounds.
 */
#include "sim/core/shared_memory.h"

#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/state.h"

/* What to do about it, in reports. */
#define WHICH_INDEX "\n    Check the index: is it a stage, row or column too many?"
#define ALIGN_IT "\n    Align the member and every stage of it, or choose a narrower access."

void sim_poison(void *memory, size_t bytes) {
    const uint16_t pattern = SIM_POISON_16;
    for (size_t i = 0; i + 1 < bytes; i += 2)
        memcpy((char *)memory + i, &pattern, 2);
}

static struct sim_shared_pointer pointer_to(struct sim_cta *cta, size_t offset) {
    return (struct sim_shared_pointer){cta, offset, cta->shared + offset};
}

struct sim_shared_pointer sim_shared_at(const void *pointer, size_t bytes, size_t alignment) {
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
                  "offset %#zx of shared memory is not a multiple of %zu" ALIGN_IT, offset,
                  alignment);
    return pointer_to(cta, offset);
}

struct sim_shared_pointer sim_shared_map(struct sim_shared_pointer from, unsigned rank) {
    struct sim_cluster *cluster = from.cta->cluster;
    if (rank >= (unsigned)cluster->ctas)
        sim_fatal("bad-rank", NULL, "CTA %u of a cluster of %d", rank, cluster->ctas);
    return pointer_to(&cluster->cta[rank], from.offset);
}
