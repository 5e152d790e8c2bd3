/*
 * special_function.h: the simulator's half of hopper/special_function.h.
 */
#ifndef SIM_HOPPER_SPECIAL_FUNCTION_H
#define SIM_HOPPER_SPECIAL_FUNCTION_H

#include "sim/hopper/call.h"

float sim_exp2(float x);
float sim_reciprocal(float x);

/* ---- the wrappers ---- */

#define exp2_approx(x) SIM(sim_exp2(x))
#define reciprocal_approx(x) SIM(sim_reciprocal(x))

#endif
