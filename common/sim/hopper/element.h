/*
 * element.h: the simulator's half of hopper/element.h.
 */
#ifndef SIM_HOPPER_ELEMENT_H
#define SIM_HOPPER_ELEMENT_H

#include "gemm.h"
#include "sim/hopper/thread.h"

/* All but the first report the use of an accumulator that a wgmma still owns. */
float sim_element_to_float(element_t e, int bf16);
element_t sim_float_to_element(float f, int bf16);
uint32_t sim_pack_elements(float low, float high, int bf16);
uint16_t sim_pack_e4m3(float low, float high);

/* ---- the wrappers ---- */

DEVICE element_t first_of_pair(uint32_t pair) { return (element_t){(uint16_t)pair}; }
DEVICE element_t second_of_pair(uint32_t pair) { return (element_t){(uint16_t)(pair >> 16)}; }
#define element_to_float(e) sim_element_to_float(e, GEMM_BF16_ELEMENTS)
#define float_to_element(f) SIM(sim_float_to_element(f, GEMM_BF16_ELEMENTS))
#define pack_elements(low, high) SIM(sim_pack_elements(low, high, GEMM_BF16_ELEMENTS))
#define pack_e4m3(low, high) SIM(sim_pack_e4m3(low, high))

#endif
