/*
 * element.c: elements in a kernel's registers.
 */
#include "hopper/element.h"

#include <string.h>

#include "sim/core/events.h"
#include "sim/models/element_values.h"
#include "sim/units/registers/accumulators.h"

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float sim_element_to_float(element_t e, int bf16) { return element_value(e.bits, bf16 != 0); }

element_t sim_float_to_element(float f, int bf16) {
    sim_turn(SIM_EVENT_CUE_RESULT, TURN_RESULT, TURN_RESULT, 0);
    sim_check_register(bits_of(f));
    return (element_t){element_nearest(f, bf16 != 0)};
}

uint32_t sim_pack_elements(float low, float high, int bf16) {
    sim_turn(SIM_EVENT_CUE_RESULT, TURN_RESULT, TURN_RESULT, 0);
    sim_check_register(bits_of(low));
    sim_check_register(bits_of(high));
    return element_nearest(low, bf16 != 0) | (uint32_t)element_nearest(high, bf16 != 0) << 16;
}

uint16_t sim_pack_e4m3(float low, float high) {
    sim_check_register(bits_of(low));
    sim_check_register(bits_of(high));
    return (uint16_t)(e4m3_nearest(low) | e4m3_nearest(high) << 8);
}
