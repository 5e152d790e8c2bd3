/*
 * prerequisites.h: what a launch that is early may access before its griddepcontrol_wait().
 *
 * The kernels ahead of it on the stream may still be running, whatever they are: a launch does not
 * know its neighbours. So they are taken to access all of global memory, except that none of them
 * writes B if the launch says so. Their end is an epoch of a slot that every cluster has; a wait
 * acquires it, and barriers pass it on. Where all launches are known, launches_ahead.h says what
 * those ahead have accessed.
 */
#ifndef SIM_ORDER_PREREQUISITES_H
#define SIM_ORDER_PREREQUISITES_H

#include "sim/core/global_memory.h"
#include "sim/core/state.h"
#include "sim/order/launches_ahead.h"

/* The running thread has waited: what it does next comes after the end of those kernels. */
void prerequisites_acquire(struct sim_thread *thread);

/* It has seen a flag of theirs, and what it does next may come after whatever they have done. */
void prerequisites_acquire_all(struct sim_thread *thread);
/* Has it waited, or one that it is ordered after? */
bool prerequisites_have_ended(const struct sim_thread *thread);

/* An access by the running thread, or by an async unit on its behalf: "early-access" unless it
 * comes after a wait. strong: an atomic, or an ld or st with semantics. */
void prerequisites_check_early(const void *pointer, size_t bytes, enum sim_access access,
                               bool strong);
static inline void prerequisites_check(const void *pointer, size_t bytes, enum sim_access access,
                                       bool strong) {
    if (sim.launch->early != GEMM_IN_ORDER)
        prerequisites_check_early(pointer, bytes, access, strong);
    if (launches_ahead_kept) launches_ahead_keep(pointer, bytes, access, strong);
}

#endif
