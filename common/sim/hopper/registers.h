/*
 * registers.h: the simulator's half of hopper/registers.h.
 */
#ifndef SIM_HOPPER_REGISTERS_H
#define SIM_HOPPER_REGISTERS_H

#include "sim/hopper/call.h"

void sim_setmaxnreg(int count, int increase);

/* ---- the wrappers ---- */

#define setmaxnreg_dec(count) SIM(sim_setmaxnreg(IMMEDIATE(count), 0))
#define setmaxnreg_inc(count) SIM(sim_setmaxnreg(IMMEDIATE(count), 1))

#endif
