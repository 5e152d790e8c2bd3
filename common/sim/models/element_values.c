/*
 * element_values.c: rounding to the element types.
 */
#include "sim/models/element_values.h"

#include <string.h>

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint16_t nearest_bf16(uint32_t bits) {
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff; /* the NaN that cvt gives */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t nearest_fp16(uint32_t bits) {
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return 0x7fff;
    if (magnitude >= 0x477ff000) return sign | 0x7c00; /* 65520 and above round to infinity */
    if (magnitude < 0x38800000) {                      /* subnormal: below 2^-14 */
        /* Adding 0.5 moves the last bit of a subnormal, 2^-24, to the last bit of the sum, which
         * rounds. */
        float value;
        memcpy(&value, &magnitude, sizeof value);
        return sign | (uint16_t)(bits_of(value + 0.5f) - 0x3f000000);
    }
    const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    return sign | (uint16_t)((rounded - 0x38000000) >> 13);
}

uint16_t element_nearest(float value, bool bf16) {
    return bf16 ? nearest_bf16(bits_of(value)) : nearest_fp16(bits_of(value));
}

uint8_t e4m3_nearest(float value) {
    const uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
    const uint8_t sign = (uint8_t)(bits >> 24 & 0x80);
    if (magnitude > 0x7f800000) return 0x7f;
    if (magnitude >= 0x43e00000) return sign | 0x7e; /* 448 */
    if (magnitude < 0x3c800000) {                    /* subnormal: below 2^-6 */
        /* Adding 2^14 moves the last bit of a subnormal, 2^-9, to the last bit of the sum. */
        float absolute;
        memcpy(&absolute, &magnitude, sizeof absolute);
        return sign | (uint8_t)(bits_of(absolute + 16384) - 0x46800000);
    }
    const uint32_t rounded = magnitude + 0x7ffff + (magnitude >> 20 & 1);
    return sign | (uint8_t)((rounded - 0x3c000000) >> 20);
}
