/*
 * strong.h: a strong access of the running thread, of 1 to 16 bytes at a multiple of their number.
 *
 * PTX ISA, "Memory Consistency Model": ld, st, atom and red with semantics and a scope. Two of them
 * do not race if each scope contains the other's thread.
 */
#ifndef SIM_UNITS_STRONG_H
#define SIM_UNITS_STRONG_H

#include "sim/core/shared_memory.h"
#include "sim/order/release.h"

enum { STRONG_BYTES = 16 };

struct strong_access {
    size_t bytes;
    enum sim_semantics semantics;
    enum sim_scope scope;
    const struct sim_shared_pointer *shared; /* where it is in shared memory; NULL: it is global */
};

/* `memory`: the host's address of either. Outside of global memory, which is reported, nothing is
 * written, and what is read is 0. */
void strong_load(const void *memory, void *value, struct strong_access how);
void strong_store(void *memory, const void *value, struct strong_access how);

/* fence.SEMANTICS.SCOPE */
void strong_fence(enum sim_semantics semantics, enum sim_scope scope);

/* What an atomic makes of the bytes; it may be asked more than once. */
typedef void strong_change(const void *before, void *after, const void *object);
/* `keeps`: what others have added is still in the sum. False: it was left out, as outside. */
bool strong_atomic(void *memory, void *before, strong_change *change, const void *object,
                   bool keeps, struct strong_access how);

#endif
