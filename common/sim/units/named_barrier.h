/*
 * named_barrier.h: the barriers that a CTA begins with.
 */
#ifndef SIM_UNITS_NAMED_BARRIER_H
#define SIM_UNITS_NAMED_BARRIER_H

#include "sim/core/threads.h"

void named_barriers_begin(struct sim_cta *cta);

#endif
