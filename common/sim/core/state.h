/*
 * state.h: the simulation: its schedule and state, blocking and waking threads, what time it is.
 */
#ifndef SIM_CORE_STATE_H
#define SIM_CORE_STATE_H

#include "gemm.h"
#include "sim/core/simulation.h"
#include "sim/core/threads.h"

struct sim_state {
    enum sim_schedule schedule;
    enum gemm_machine machine; /* that the kernel is for */
    bool tensor_memory;        /* it has some */
    int gpus, sms;             /* devices that a launch may have; SMs of each */
    uint64_t held;             /* cycles after which another kernel leaves a device's first SM */
    const struct gemm_launch *launch;
    size_t args_bytes;            /* of the kernel's parameter */
    const struct gemm_args *args; /* what the first device's begins with; sim_args_of() */
    int devices;                  /* of the launch */
    int launches;                 /* that follow each other on each device */
    struct sim_cluster *clusters; /* resident */
    uint64_t cycles;              /* the end of the latest launch, SCHEDULE_TIME */
    /* Of a launch that is early, with what is ahead of it on the stream: */
    bool ahead_complete; /* the host has waited, or no kernel is directly ahead */
    bool waits;          /* a thread of it has executed griddepcontrol.wait */
    bool lets_next;      /* a CTA of it has executed griddepcontrol.launch_dependents */
    bool lets_late;      /* and one does so, or ends, only when the launches ahead are complete */
    bool never_waited;   /* the launch before was early, over another one, and none did */
    uint64_t ahead_end;  /* the end of the launch ahead, SCHEDULE_TIME; 0: there is none */
    uint64_t dependents_at; /* when the running launch allows the next one to begin */
    uint64_t steps;         /* scheduling steps so far */
    uint64_t progress;      /* changes of state that a spinning thread may be waiting for */
    unsigned hazards;       /* found since the run began */
};
extern struct sim_state sim;

/* What the parameter of grid `grid` of the launches begins with, [launches][devices]. */
const struct gemm_args *sim_args_of(int grid);

static inline bool sim_timed(void) { return sim.schedule == SCHEDULE_TIME; }

/* Random choices of SCHEDULE_RANDOM. sim_chance is false under any other schedule. */
uint64_t sim_random(void);
bool sim_chance(unsigned one_in);

/* Blocks the running thread until sim_wake_all(). The thread or job that wakes it has made its
 * condition true, or the woken thread must check in a loop. */
void sim_block(struct sim_wait_queue *queue, const struct sim_wait *wait, const void *object);
/* Parks the running thread after a poll that failed (try_wait, test_wait, a word of memory): comes
 * back with true when woken, with false when the time is up: when nothing else could run, or at
 * random. */
bool sim_park(struct sim_wait_queue *queue, const struct sim_wait *wait, const void *object);
/* Wakes all threads in the queue; their clocks are raised to `time` (pass sim_now() or the job's
 * time). */
void sim_wake_all(struct sim_wait_queue *queue, uint64_t time);
/* Says that shared state changed (an arrival, a landed copy) although no thread was woken. */
static inline void sim_progress(void) { ++sim.progress; }
/* A point where SCHEDULE_RANDOM may run another thread. After every synchronizing instruction that
 * does not block. */
void sim_maybe_yield(void);

/* Simulated cycles: of the running thread's warp, or of the job being completed. Under other
 * schedules than SCHEDULE_TIME: the number of the scheduling step, so that it still orders events.
 */
uint64_t sim_now(void);
/* Charges the running thread. Its warp is charged what its slowest lane was: they run at the
 * same time. No effect except under SCHEDULE_TIME. */
void sim_advance(uint64_t cycles);

#endif
