/*
 * lanes.h: instructions that those lanes of a warp execute together which a mask names.
 */
#ifndef SIM_CORE_LANES_H
#define SIM_CORE_LANES_H

#include "sim/core/collective.h"

/* Like sim_warp_collective(), which it is for a mask of all lanes there are. Others gather, each
 * mask for itself; operand[lane] of lanes that the mask leaves out is NULL. execute() must not
 * block. Ends the launch where a lane names others and not itself, or, unless they are left out,
 * one that has ended. */
void sim_lanes_collective(enum sim_ended ended, const char *name, uint32_t mask, void *operand,
                          sim_warp_execute *execute);
/* `lane` is about to read a register of `from`, which has not come: ends the launch if it was ever
 * there. */
void sim_lanes_check_source(const struct sim_warp *warp, int lane, int from);
/* Those with an operand exchange registers, by shfl, vote, match or redux, or wait for wgmmas. */
void sim_lanes_exchanged(struct sim_warp *warp, void *const operand[WARP_SIZE]);
/* A thread has ended: what waits for no other lane is executed. */
void lanes_thread_exit(struct sim_thread *thread);

#endif
