/*
 * scheduler.h: running a grid's threads and jobs under a schedule.
 */
#ifndef SIM_CORE_SCHEDULER_H
#define SIM_CORE_SCHEDULER_H

#include "sim/core/state.h"

void scheduler_begin(enum sim_schedule schedule, uint64_t seed);
/* Runs until the grid is done; false if the launch was abandoned after a fatal hazard. */
bool scheduler_run(void);
/* Where a fatal hazard ends: leaves the launch. */
void scheduler_abandon(void) __attribute__((noreturn));
/* Makes a thread ready to run. */
void scheduler_ready(struct sim_thread *thread, uint64_t time);

/* Adds to the warp's clock what its lanes have been charged. */
void scheduler_advance_warp(struct sim_warp *warp);
/* Back to the scheduler, ready to go on. From a fiber. */
void scheduler_yield(void);

#endif
