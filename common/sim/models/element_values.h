/*
 * element_values.h: values of the element types.
 */
#ifndef SIM_MODELS_ELEMENT_VALUES_H
#define SIM_MODELS_ELEMENT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

static inline float element_bits_as_float(uint32_t bits) {
    float f;
    __builtin_memcpy(&f, &bits, sizeof f);
    return f;
}

/* The exact value of 16 bits as fp16 or bf16. An fp16 read as fp32 exponent and mantissa is too
 * small by 2^112; multiplying by that is exact, subnormals included. The largest exponent means
 * infinity or NaN in either format. */
static inline float element_value(uint16_t bits, bool bf16) {
    if (bf16) return element_bits_as_float((uint32_t)bits << 16);
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) return element_bits_as_float(sign | 0x7f800000 | magnitude << 13);
    const float f = element_bits_as_float(magnitude << 13) * 0x1p112f;
    return sign ? -f : f;
}

/* The exact value of an e4m3: read as fp32 it is too small by 2^120. It has no infinities. */
static inline float e4m3_value(uint8_t bits) {
    const uint32_t sign = (uint32_t)(bits & 0x80) << 24, magnitude = bits & 0x7f;
    if (magnitude == 0x7f) return element_bits_as_float(sign | 0x7fc00000);
    const float f = element_bits_as_float(magnitude << 20) * 0x1p120f;
    return sign ? -f : f;
}

/* The nearest element, ties to even, as cvt.rn gives it. */
uint16_t element_nearest(float value, bool bf16);
/* The nearest e4m3, at most 448, as cvt.rn.satfinite gives it. */
uint8_t e4m3_nearest(float value);

#endif
