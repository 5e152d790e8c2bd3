/*
 * element.h: the 16-bit element types, of which GEMM_BF16_ELEMENTS chooses the one that a kernel
 * file is compiled for, and e4m3, whose products are stored as one of them.
 *
 * Conversions round to nearest even. PTX ISA: "Data Movement and Conversion Instructions: cvt".
 */
#ifndef HOPPER_ELEMENT_H
#define HOPPER_ELEMENT_H

#include "gemm.h"
#include "hopper/thread.h"

#if GEMM_BF16_ELEMENTS
#define ELEMENT_TYPE GEMM_BF16
#define ELEMENT_PTX "bf16"
#else
#define ELEMENT_TYPE GEMM_FP16
#define ELEMENT_PTX "f16"
#endif

#ifdef __CUDACC__

/* The value of an element, exactly. Any thread. */
DEVICE float element_to_float(element_t e) {
    float f;
#if GEMM_BF16_ELEMENTS
    asm("cvt.f32.bf16 %0, %1;" : "=f"(f) : "h"(e.bits));
#else
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(e.bits));
#endif
    return f;
}

/* The nearest element, ties to even. Any thread. */
DEVICE element_t float_to_element(float f) {
    element_t e;
    asm("cvt.rn." ELEMENT_PTX ".f32 %0, %1;" : "=h"(e.bits) : "f"(f));
    return e;
}

/* Two elements in one register, `low` in the lower half (the lower column). Any thread. */
DEVICE uint32_t pack_elements(float low, float high) {
    uint32_t pair;
    asm("cvt.rn." ELEMENT_PTX "x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

/* Two e4m3 in 16 bits, `low` in the lower half; what exceeds 448 becomes 448. Any thread. */
DEVICE uint16_t pack_e4m3(float low, float high) {
    uint16_t pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
    return pair;
}

/* The lower of two packed elements. Any thread. */
DEVICE element_t first_of_pair(uint32_t pair) {
    element_t e;
    e.bits = (uint16_t)pair;
    return e;
}

/* The upper of two packed elements. Any thread. */
DEVICE element_t second_of_pair(uint32_t pair) {
    element_t e;
    e.bits = (uint16_t)(pair >> 16);
    return e;
}

#else
#include "sim/hopper/element.h"
#endif

/* The bits of a float, for a store or a shuffle; and the float of such bits. Any thread. */
DEVICE uint32_t float_to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
DEVICE float bits_to_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
