/*
 * element_codec.h: fp16, bf16 and e4m3 on the host, exactly.
 *
 * Both types are the top of a wider one: bf16 is the upper half of an fp32; fp16 has 5 bits of
 * exponent and 10 of mantissa. Conversion to 16 bits rounds to nearest, ties to even, overflows to
 * infinity, keeps subnormals, and makes every NaN quiet. Conversion from 16 bits is exact. IEEE
 * 754-2019, sections 3.4 and 4.3.
 *
 * e4m3 has 4 bits of exponent and 3 of mantissa, one NaN of either sign, and no infinities: what is
 * greater than 448 becomes 448. OCP 8-bit Floating Point Specification (OFP8), and PTX ISA,
 * cvt.rn.satfinite.e4m3x2.f32.
 */
#ifndef ELEMENT_CODEC_H
#define ELEMENT_CODEC_H

#include <stdint.h>
#include <string.h>

#include "gemm.h"

static inline uint32_t float_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline float bits_float(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline float bf16_to_float(uint16_t e) { return bits_float((uint32_t)e << 16); }

static inline uint16_t float_to_bf16(float f) {
    const uint32_t bits = float_bits(f);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    /* Just under half of the last place, and the other bit if that makes an odd mantissa even. */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float fp16_to_float(uint16_t e) {
    const uint32_t sign = (uint32_t)(e & 0x8000) << 16, magnitude = e & 0x7fff;
    if (magnitude >= 0x7c00) return bits_float(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    if (magnitude >= 0x400) return bits_float(sign | ((magnitude << 13) + ((127 - 15) << 23)));
    const float subnormal = (float)magnitude * 0x1p-24f;
    return sign ? -subnormal : subnormal;
}

static inline uint16_t float_to_fp16(float f) {
    const uint32_t bits = float_bits(f), magnitude = bits & 0x7fffffff;
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
    if (magnitude >= 0x477ff000) return sign | 0x7c00; /* from 65520 on: infinity */
    if (magnitude < 0x38800000) {                      /* below 2^-14: subnormal */
        /* The sum's last place is 2^-24, that of fp16's subnormals: the addition rounds for us. */
        return sign | (uint16_t)(float_bits(bits_float(magnitude) + 0.5f) - float_bits(0.5f));
    }
    const uint32_t rebased = magnitude - ((127 - 15) << 23);
    return sign | (uint16_t)((rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}

static inline float e4m3_to_float(uint8_t e) {
    const uint32_t sign = (uint32_t)(e & 0x80) << 24, magnitude = e & 0x7f;
    if (magnitude == 0x7f) return bits_float(sign | 0x7fc00000);
    /* Read as an fp32's fields it is too small by 2^120, subnormals included. */
    const float value = bits_float(magnitude << 20) * 0x1p120f;
    return sign ? -value : value;
}

enum { E4M3_NAN = 0x7f, E4M3_GREATEST = 448 };

static inline uint8_t float_to_e4m3(float f) {
    const uint32_t bits = float_bits(f), magnitude = bits & 0x7fffffff;
    const uint8_t sign = (uint8_t)(bits >> 24 & 0x80);
    if (magnitude > 0x7f800000) return E4M3_NAN;
    if (magnitude >= float_bits(E4M3_GREATEST)) return sign | 0x7e;
    if (magnitude < 0x3c800000) { /* below 2^-6: subnormal */
        /* The sum's last place is 2^-9, that of e4m3's subnormals. */
        return sign | (uint8_t)(float_bits(bits_float(magnitude) + 0x1p14f) - float_bits(0x1p14f));
    }
    const uint32_t rebased = magnitude - ((127 - 7) << 23);
    return sign | (uint8_t)((rebased + 0x7ffff + (rebased >> 20 & 1)) >> 20);
}

static inline float decode_element(uint16_t e, enum gemm_type type) {
    return type == GEMM_FP16 ? fp16_to_float(e) : bf16_to_float(e);
}

static inline uint16_t encode_element(float f, enum gemm_type type) {
    return type == GEMM_FP16 ? float_to_fp16(f) : float_to_bf16(f);
}

/* Bits of the mantissa, the hidden one included: half a unit in the last place of x is 2^(exponent
 * of x - this). */
static inline int element_precision(enum gemm_type type) {
    return type == GEMM_FP16 ? 11 : type == GEMM_E4M3 ? 4 : type == GEMM_FP32 ? 24 : 8;
}

/* Neither infinite nor NaN. */
static inline bool element_is_finite(uint16_t e, enum gemm_type type) {
    const uint16_t exponent = type == GEMM_FP16 ? 0x7c00 : 0x7f80;
    return (e & exponent) != exponent;
}

#endif
