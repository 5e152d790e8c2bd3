/*
 * griddepcontrol.h: the simulator's half of hopper/griddepcontrol.h.
 */
#ifndef SIM_HOPPER_GRIDDEPCONTROL_H
#define SIM_HOPPER_GRIDDEPCONTROL_H

#include "sim/hopper/call.h"

void sim_griddepcontrol_wait(void);
void sim_griddepcontrol_launch_dependents(void);

/* ---- the wrappers ---- */

#define griddepcontrol_wait() SIM(sim_griddepcontrol_wait())
#define griddepcontrol_launch_dependents() SIM(sim_griddepcontrol_launch_dependents())

#endif
