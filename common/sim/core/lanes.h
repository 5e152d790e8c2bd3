/*
 * lanes.h: instructions that those lanes of a warp execute together which a mask names.
 */
#ifndef SIM_CORE_LANES_H
#define SIM_CORE_LANES_H

#include "sim/core/collective.h"

/* Like sim_warp_collective(), which it is for a mask of all lanes there are. Others gather, each
 * mask for itself; operand[lane] of lanes that the mask leaves out is NULL. execute() must not
 * block. Ends the launch where a lane names others and not itself, or names one that has ended. */
void sim_lanes_collective(const char *name, uint32_t mask, void *operand,
                          sim_warp_execute *execute);

#endif
