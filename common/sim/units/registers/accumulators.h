/*
 * accumulators.h: the tag that an accumulator holds while a wgmma owns it, the pattern of a
 * register that the kernel has not initialized, and the watch over both.
 */
#ifndef SIM_UNITS_REGISTERS_ACCUMULATORS_H
#define SIM_UNITS_REGISTERS_ACCUMULATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/units/registers/watch.h"

/* A signalling NaN: copies keep its bits, and any arithmetic sets the quiet bit. Below it: which
 * array, counted up, and which register. */
#define SIM_ACCUMULATOR_TAG 0x7f93a000u
#define SIM_QUIET_BIT 0x00400000u
#define SIM_ACCUMULATOR_TAG_MASK (0xfffff000u & ~SIM_QUIET_BIT)
enum { SIM_TAG_REGISTERS = 128, SIM_TAGS = 32 };
static inline uint32_t sim_accumulator_tag(uint32_t count, int index) {
    return SIM_ACCUMULATOR_TAG | count % SIM_TAGS * SIM_TAG_REGISTERS | (uint32_t)index;
}

/* What a variable holds that the kernel has not initialized: its compiler is told to
 * (-ftrivial-auto-var-init=pattern, cmake/Toolchain.cmake). */
#ifdef __clang__
#define SIM_UNSET_FLOAT 0xffffffffu
#define SIM_UNSET_WORD 0xaaaaaaaau
#else
#define SIM_UNSET_FLOAT 0xfefefefeu
#define SIM_UNSET_WORD 0xfefefefeu
#endif

static inline bool sim_is_unset(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits == SIM_UNSET_FLOAT;
}

/* Reports an accumulator that a wgmma still owns. */
void sim_accumulator_in_use(void);
/* Every wrapper that packs, converts or stores a register calls this with its value. */
static inline void sim_check_register(uint32_t bits) {
    register_watch_read(sim_thread(), bits);
    if ((bits & SIM_ACCUMULATOR_TAG_MASK) == SIM_ACCUMULATOR_TAG) sim_accumulator_in_use();
}

#endif
