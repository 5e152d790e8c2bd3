/*
 * recording.h: handing the events of one run to the timeline.
 */
#ifndef SIM_RECORDING_H
#define SIM_RECORDING_H

#include "gemm.h"

/* The backend brackets a run with these when the user asked for a trace; `cycles` is negative under
 * schedules that keep no time. */
void sim_recording_begin(const struct gemm_kernel *kernel, const struct gemm_problem *problem);
void sim_recording_end(double cycles);

#endif
