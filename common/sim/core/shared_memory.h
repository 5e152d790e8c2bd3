/*
 * shared_memory.h: pointers into the shared memory of a cluster's CTAs.
 */
#ifndef SIM_CORE_SHARED_MEMORY_H
#define SIM_CORE_SHARED_MEMORY_H

#include "sim/core/threads.h"

/* Where a CTA's dynamic shared memory begins in its 16 MiB window of shared addresses; as on the
 * GPU, where the first KiB is the system's. */
enum { SHARED_BASE = 1024, SHARED_RANK_SHIFT = 24 };
#define SHARED_OFFSET_MASK ((1u << SHARED_RANK_SHIFT) - 1)

/* Into the shared memory of a CTA of the running thread's cluster. */
struct sim_shared_pointer {
    struct sim_cta *cta;
    size_t offset;       /* from cta->shared */
    unsigned char *host; /* cta->shared + offset */
};

/* From a pointer into the running thread's own shared memory; ends the launch ("shared-bounds") if
 * the bytes do not all lie in it, ("misaligned") if it is not aligned. */
struct sim_shared_pointer sim_shared_at(const void *pointer, size_t bytes, size_t alignment);
/* The same offset in the CTA of this rank (mapa). Ends the launch ("bad-rank") if there is none. */
struct sim_shared_pointer sim_shared_map(struct sim_shared_pointer pointer, unsigned rank);
/* The same as a 32-bit address. */
static inline uint32_t sim_shared_pointer_address(struct sim_shared_pointer pointer) {
    return (uint32_t)pointer.cta->rank << SHARED_RANK_SHIFT |
           (uint32_t)(SHARED_BASE + pointer.offset);
}

/* What uninitialized shared memory and in-flight destinations hold: a signalling pattern in both
 * 16-bit types and in fp32. */
#define SIM_POISON_16 0x7fb7u
void sim_poison(void *memory, size_t bytes);

#endif
