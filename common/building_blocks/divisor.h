/*
 * divisor.h: division by a number that the host knows.
 *
 * The GPU has no instruction for the division of whole numbers: nvcc compiles one to about twenty
 * instructions, each of which waits for the one before. Before a kernel's first load, all of that
 * latency is exposed. With the divisor's inverse, which the host computes, it takes a
 * multiplication and one correction.
 */
#ifndef BUILDING_BLOCKS_DIVISOR_H
#define BUILDING_BLOCKS_DIVISOR_H

#include "hopper/thread.h"

/* A divisor in a kernel's parameter. */
struct divisor {
    uint32_t number, inverse;
};

/* `number` is at least 1. Host thread. */
static inline struct divisor divisor_of(uint32_t number) {
    const struct divisor divisor = {number, UINT32_MAX / number};
    return divisor;
}

/* dividend / divisor.number, rounded down, for every dividend. The inverse is smaller than 2^32 /
 * number by at most 1, and dividend < 2^32. So the product is smaller than the quotient by less
 * than 1, and after rounding one too few at most. Any thread. */
DEVICE uint32_t divided_by(uint32_t dividend, struct divisor divisor) {
    const uint32_t estimate = (uint32_t)((uint64_t)dividend * divisor.inverse >> 32);
    return estimate + (dividend - estimate * divisor.number >= divisor.number);
}

#endif
