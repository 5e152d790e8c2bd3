/*
 * address.h: from an operand to the memory that it addresses.
 *
 * A generic address is the host's. One of shared memory is an offset in the shared window of the
 * cluster, as on the GPU; cvta translates.
 */
#ifndef SEMANTICS_ADDRESS_H
#define SEMANTICS_ADDRESS_H

#include "machine/thread.h"
#include "program/decoder.h"
#include "sim/core/shared_memory.h"

/* Of the address operand at[i], as it is. */
static inline uint64_t address(const struct operation *op, const struct frame *frame, int i,
                               int64_t offset) {
    const uint64_t base = op->option[ADDRESS_BITS] == 32 ? VALUE(reg_u32, i) : VALUE(reg_u64, i);
    return base + (uint64_t)offset;
}

/* The same place in the running thread's own CTA, of an address in the shared window; *rank: of the
 * CTA that the address is in. Bounds are the user's to check. */
static inline void *shared_pointer(uint64_t address, unsigned *rank) {
    *rank = (unsigned)(address >> SHARED_RANK_SHIFT);
    return sim_thread()->cta->shared + (ptrdiff_t)(address & SHARED_OFFSET_MASK) - SHARED_BASE;
}

/* The state space that the opcode's next word names; < 0: it names none. */
enum state {
    STATE_GLOBAL,
    STATE_SHARED,
    STATE_SHARED_CTA,
    STATE_SHARED_CLUSTER,
    STATE_LOCAL,
    STATE_CONST,
    STATE_PARAM
};
int take_space(struct decoder *d);

/* Where an address of an access leads: to memory of the thread alone, to shared memory of some CTA
 * of the cluster, or to global memory. */
struct target {
    enum { TARGET_OWN, TARGET_SHARED, TARGET_GLOBAL } kind;
    void *host;
    struct sim_shared_pointer shared; /* of shared memory */
};
/* `space`: as take_space() says. Ends the launch if shared memory has no such bytes. */
struct target target_of(const struct frame *frame, uint64_t address, int space, size_t bytes);
/* `bytes` at an address of the shared window. */
struct sim_shared_pointer window_pointer(uint64_t address, size_t bytes, size_t alignment);

/* An address in local memory, or of a parameter, as a generic one. Of 32 bits it is an offset. */
static inline uint64_t own_pointer(const struct frame *frame, int space, uint64_t at) {
    if (at >> 32) return at;
    return at + (uintptr_t)(space == STATE_PARAM ? frame->parameters : frame->local);
}

/* Is this generic address one of the thread's local memory or parameters? */
bool own_address(const struct frame *frame, uint64_t at);
/* In the running thread's own CTA, and nowhere else. */
void *own_shared(const struct operation *op, uint64_t address);
/* Which CTA of the cluster has this generic address in its shared memory; NULL: none. */
struct sim_cta *shared_owner(const void *pointer);

#endif
