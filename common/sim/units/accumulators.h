/*
 * accumulators.h: the tag that an accumulator holds while a wgmma owns it, and the watch over it.
 */
#ifndef SIM_UNITS_ACCUMULATORS_H
#define SIM_UNITS_ACCUMULATORS_H

#include <stdbool.h>
#include <stdint.h>

/* A NaN with this payload. The low bits count up to tell instances apart. */
#define SIM_ACCUMULATOR_TAG 0x7fd3a000u
#define SIM_ACCUMULATOR_TAG_MASK 0xfffff000u
static inline bool sim_is_tagged(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return (bits & SIM_ACCUMULATOR_TAG_MASK) == SIM_ACCUMULATOR_TAG;
}

/* Reports an accumulator that a wgmma still owns; every wrapper that packs or stores registers
 * asks. */
void sim_accumulator_in_use(void);
static inline void sim_check_register(uint32_t bits) {
    if ((bits & SIM_ACCUMULATOR_TAG_MASK) == SIM_ACCUMULATOR_TAG) sim_accumulator_in_use();
}

#endif
