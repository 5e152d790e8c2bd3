/*
 * stored.h: elements of any type as they lie in memory, and the NaN that outputs are filled with.
 */
#ifndef HARNESS_STORED_H
#define HARNESS_STORED_H

#include "element_codec.h"
#include "gemm_types.h"

/* What an output and its surroundings are filled with, 16 bits at a time: a NaN in the type, and
 * not the one that arithmetic makes. */
enum { OUTPUT_POISON = 0xffad, OUTPUT_POISON_E4M3 = 0xffff };

static inline uint16_t output_poison(enum gemm_type type) {
    return type == GEMM_E4M3 ? OUTPUT_POISON_E4M3 : OUTPUT_POISON;
}

/* The bits of an element. */
static inline uint32_t stored_bits(const void *memory, int64_t index, enum gemm_type type) {
    switch (gemm_type_bytes(type)) {
    case 1:
        return ((const uint8_t *)memory)[index];
    case 2:
        return ((const uint16_t *)memory)[index];
    default:
        return ((const uint32_t *)memory)[index];
    }
}

/* Those of an element that nobody has written. */
static inline uint32_t stored_poison(enum gemm_type type) {
    const uint32_t pattern = output_poison(type);
    const int bytes = gemm_type_bytes(type);
    return bytes == 1 ? pattern & 0xff : bytes == 2 ? pattern : pattern << 16 | pattern;
}

static inline double stored_value(uint32_t bits, enum gemm_type type) {
    return type == GEMM_FP32   ? bits_float(bits)
           : type == GEMM_E4M3 ? e4m3_to_float((uint8_t)bits)
                               : decode_element((uint16_t)bits, type);
}

/* A number, rounded to the type. */
static inline uint32_t stored_rounded(double value, enum gemm_type type) {
    return type == GEMM_FP32   ? float_bits((float)value)
           : type == GEMM_E4M3 ? float_to_e4m3((float)value)
                               : encode_element((float)value, type);
}

static inline bool stored_is_finite(uint32_t bits, enum gemm_type type) {
    return type == GEMM_FP32   ? (bits & 0x7f800000) != 0x7f800000
           : type == GEMM_E4M3 ? (bits & 0x7f) != 0x7f
                               : element_is_finite((uint16_t)bits, type);
}

#endif
