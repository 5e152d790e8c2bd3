/*
 * w4.h: the simulator's half of hopper/w4.h.
 */
#ifndef SIM_HOPPER_W4_H
#define SIM_HOPPER_W4_H

#include "sim/hopper/call.h"

void sim_w4_to_e4m3(uint32_t *e4m3, const uint32_t *words, int count);

/* ---- the wrappers ---- */

#define w4_to_e4m3(e4m3, words, count) SIM(sim_w4_to_e4m3(e4m3, words, count))

#endif
