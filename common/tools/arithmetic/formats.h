/*
 * formats.h: the element types of the Tensor Core, as bits.
 *
 * PTX ISA: "Alternate Floating-Point Data Formats" (bf16, e4m3, e5m2). e4m3 has no infinities: its
 * largest exponent holds numbers, and NaN where the mantissa is all ones.
 */
#ifndef TOOLS_ARITHMETIC_FORMATS_H
#define TOOLS_ARITHMETIC_FORMATS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct element_format {
    const char *name;
    int bytes, exponent_bits, mantissa_bits, bias;
    bool infinities;
};

/* Of normal numbers. */
static inline int least_exponent(const struct element_format *f) { return 1 - f->bias; }
static inline int greatest_exponent(const struct element_format *f) {
    return (1 << f->exponent_bits) - 1 - f->bias - f->infinities;
}
/* Of the least subnormal number. */
static inline int tiniest_exponent(const struct element_format *f) {
    return least_exponent(f) - f->mantissa_bits;
}

static inline uint16_t sign_bit(const struct element_format *f) {
    return (uint16_t)(1 << (f->exponent_bits + f->mantissa_bits));
}
static inline uint16_t greatest_element(const struct element_format *f) {
    return (uint16_t)(sign_bit(f) - 1 - (f->infinities ? 1 << f->mantissa_bits : 1));
}

/* (1 + mantissa / 2^mantissa_bits) 2^exponent; below the normal numbers, what is left of it; above
 * them, the greatest number. */
static inline uint16_t encode_parts(const struct element_format *f, bool negative, int exponent,
                                    uint32_t mantissa) {
    const uint16_t sign = negative ? sign_bit(f) : 0;
    if (exponent > greatest_exponent(f)) return sign | greatest_element(f);
    const int below = least_exponent(f) - exponent;
    uint32_t bits = mantissa & ((1u << f->mantissa_bits) - 1);
    if (below > 0)
        bits = below > f->mantissa_bits ? 0 : (bits | 1u << f->mantissa_bits) >> below;
    else
        bits |= (uint32_t)(exponent + f->bias) << f->mantissa_bits;
    if (bits > greatest_element(f)) bits = greatest_element(f); /* e4m3's NaN */
    return sign | (uint16_t)bits;
}

/* Truncates. */
static inline uint16_t encode_value(const struct element_format *f, double value) {
    if (value == 0) return 0;
    int exponent;
    const double significand = frexp(fabs(value), &exponent) * 2;
    return encode_parts(f, value < 0, exponent - 1,
                        (uint32_t)((significand - 1) * (1 << f->mantissa_bits)));
}

static inline bool is_infinite_or_nan(const struct element_format *f, uint16_t bits) {
    return (bits & (sign_bit(f) - 1)) > greatest_element(f);
}

/* Of a finite number. */
static inline double decode_value(const struct element_format *f, uint16_t bits) {
    const int field = (bits & (sign_bit(f) - 1)) >> f->mantissa_bits;
    const int mantissa = bits & ((1 << f->mantissa_bits) - 1);
    const double magnitude =
        field ? ldexp((1 << f->mantissa_bits) + mantissa, field - f->bias - f->mantissa_bits)
              : ldexp(mantissa, tiniest_exponent(f));
    return bits & sign_bit(f) ? -magnitude : magnitude;
}

/* The same of fp32, the accumulators'. */
static inline uint32_t encode_accumulator(bool negative, int exponent, uint32_t mantissa) {
    const uint32_t sign = negative ? 0x80000000u : 0;
    if (exponent > 127) return sign | 0x7f7fffffu;
    mantissa &= 0x7fffff;
    if (exponent < -149) return sign;
    if (exponent < -126) return sign | (mantissa | 0x800000) >> (-126 - exponent);
    return sign | (uint32_t)(exponent + 127) << 23 | mantissa;
}

#endif
