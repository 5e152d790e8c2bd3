/*
 * trace.h: the simulator's half of timeline/trace.h, which includes it behind its enums. The
 * simulator sees every mark; it costs nothing while no recording runs.
 */
#ifndef SIM_HOPPER_TRACE_H
#define SIM_HOPPER_TRACE_H

#include "sim/hopper/thread.h"

void sim_trace(int role, int event, int argument);

struct trace {
    int role; /* negative: does not record */
};

DEVICE struct trace trace_open(struct trace_record *buffer, int role, bool recorder) {
    const struct trace trace = {recorder ? role : -1};
    (void)buffer; /* the simulator's recorder has its own */
    if (recorder) sim_trace(role, TRACE_NONE, 1);
    return trace;
}

DEVICE void trace_mark(struct trace *trace, enum trace_event event, int argument) {
    if (trace->role >= 0) sim_trace(trace->role, event, argument);
}

DEVICE void trace_close(struct trace *trace) {
    if (trace->role >= 0) sim_trace(trace->role, TRACE_NONE, 0);
}

#endif
