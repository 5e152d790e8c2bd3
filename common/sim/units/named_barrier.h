/*
 * named_barrier.h: the barriers that a CTA begins with.
 */
#ifndef SIM_UNITS_NAMED_BARRIER_H
#define SIM_UNITS_NAMED_BARRIER_H

#include "sim/core/threads.h"

void named_barriers_begin(struct sim_cta *cta);
/* The thread ends: __syncthreads() may have to wait for it no longer (DOUBT_BARRIER_AFTER_EXIT). */
void named_barrier_thread_exit(const struct sim_thread *thread);

#endif
