/*
 * collective.h: instructions that a whole warp, or a whole warpgroup, executes together.
 */
#ifndef SIM_CORE_COLLECTIVE_H
#define SIM_CORE_COLLECTIVE_H

#include "sim/core/threads.h"

/* Executes for the warp; operand[lane] is what each lane passed. Returns true if the lanes may go
 * on; false, after sim_warp_blocked_on(), leaves them blocked until sim_warp_wake(). Must not block
 * itself. sim_thread() is some lane of the warp. */
typedef bool sim_warp_execute(struct sim_warp *warp, void *const operand[WARP_SIZE]);
/* The same for the 128 threads of a warpgroup, in thread order; false leaves all four warps
 * blocked, and each of them needs its own sim_warp_blocked_on() and sim_warp_wake(). */
typedef bool sim_warpgroup_execute(struct sim_warpgroup *warpgroup,
                                   void *const operand[WARPGROUP_SIZE]);

/* What an instruction makes of lanes that have ended. */
enum sim_ended {
    ENDED_MISSING,  /* they had to come */
    ENDED_IN_DOUBT, /* the same, unless rules in doubt are off: then they are left out */
    ENDED_LEFT_OUT  /* it waits for the lanes that have not; operand[lane] of the others is NULL */
};

/* All 32 lanes must come with the same `name` and source line, else: hazard "diverged-warp", which
 * ends the launch. The last one executes. `name` is a literal such as "ldmatrix". */
void sim_warp_collective(const char *name, void *operand, sim_warp_execute *execute);
/* The same for lanes of which some may have ended. If they are left out, execute() may run in a
 * lane that ends, and must return true. */
void sim_warp_collective_of(enum sim_ended ended, const char *name, void *operand,
                            sim_warp_execute *execute);
/* All four warps, likewise ("diverged-warpgroup"). */
void sim_warpgroup_collective(const char *name, void *operand, sim_warpgroup_execute *execute);
/* While blocked by an execute() that returned false, the lanes show `wait` in a deadlock report.
 * Call in execute(). */
void sim_warp_blocked_on(struct sim_warp *warp, const struct sim_wait *wait, const void *object);
void sim_warp_wake(struct sim_warp *warp, uint64_t time);

/* A thread has ended: hazard "diverged-warp" if the rest of its warp waits for it; or it was the
 * last one that an instruction was waiting for, which is executed. */
void collective_thread_exit(struct sim_thread *thread);
/* Are ended lanes left out? */
bool collective_leaves_out(enum sim_ended ended);
/* Before the report that a lane which has ended is missing. */
void collective_in_doubt(enum sim_ended ended);

#endif
