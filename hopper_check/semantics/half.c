/*
 * half.c: PTX ISA, "Half Precision Floating Point Instructions": fp16 and bf16, one or two at a
 * time.
 *
 * A sum or product of two 16-bit numbers is exact in fp64, but for a sum of very different ones;
 * then it is rounded to odd, so that rounding it again to 16 bits gives what rounding once would
 * have.
 */
#include <math.h>
#include <string.h>

#include "semantics/define.h"
#include "semantics/floating.h"
#include "sim/models/element_values.h"

/* The exact sum p + c, rounded to odd. `p` is an exact product. */
static double sum_to_odd(double p, double c) {
    const double sum = p + c, of_c = sum - p, lost = (p - (sum - of_c)) + (c - of_c);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (isnan(lost) || lost == 0 || isinf(sum) || bits & 1) return sum;
    return nextafter(sum, lost > 0 ? INFINITY : -INFINITY);
}

/* To fp32, rounded to odd. */
static float narrow_to_odd(double x) {
    const float nearest = (float)x;
    uint32_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    if (isnan(x) || (double)nearest == x || bits & 1) return nearest;
    if (isinf(nearest)) return copysignf(0x1.fffffep127f, nearest);
    return nextafterf(nearest, x > nearest ? INFINITY : -INFINITY);
}

static uint16_t nearest(double x, bool bf16) { return element_nearest(narrow_to_odd(x), bf16); }

static uint16_t add(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)c;
    return nearest(sum_to_odd(element_value(a, bf16), element_value(b, bf16)), bf16);
}
uint16_t half_sum(uint16_t a, uint16_t b, bool bf16) { return add(a, b, 0, bf16); }

static uint16_t sub(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)c;
    return nearest(sum_to_odd(element_value(a, bf16), -(double)element_value(b, bf16)), bf16);
}
static uint16_t mul(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)c;
    return nearest((double)element_value(a, bf16) * element_value(b, bf16), bf16);
}
static uint16_t fma_(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    return nearest(
        sum_to_odd((double)element_value(a, bf16) * element_value(b, bf16), element_value(c, bf16)),
        bf16);
}
static uint16_t extreme(uint16_t a, uint16_t b, bool bf16, bool larger) {
    const float x = element_value(a, bf16), y = element_value(b, bf16);
    if (isnan(x)) return isnan(y) ? 0x7fff : b;
    if (isnan(y)) return a;
    return (x == y ? (signbit(x) != 0) != larger : (x < y) != larger) ? a : b;
}
static uint16_t min(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)c;
    return extreme(a, b, bf16, false);
}
static uint16_t max(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)c;
    return extreme(a, b, bf16, true);
}
/* .NaN: a NaN if one of the operands is. */
static uint16_t min_nan(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)c;
    return isunordered(element_value(a, bf16), element_value(b, bf16)) ? 0x7fff
                                                                       : extreme(a, b, bf16, false);
}
static uint16_t max_nan(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)c;
    return isunordered(element_value(a, bf16), element_value(b, bf16)) ? 0x7fff
                                                                       : extreme(a, b, bf16, true);
}
/* .xorsign.abs: of the operands' magnitudes, with the product of their signs. */
#define XORSIGN(f)                                                                                 \
    static uint16_t f##_xor(uint16_t a, uint16_t b, uint16_t c, bool bf16) {                       \
        const uint16_t magnitude = f(a & 0x7fff, b & 0x7fff, c, bf16);                             \
        const bool nan = isnan(element_value(magnitude, bf16));                                    \
        return nan ? magnitude : magnitude | ((a ^ b) & 0x8000);                                   \
    }
XORSIGN(min)
XORSIGN(max)
XORSIGN(min_nan)
XORSIGN(max_nan)
static bool is_nan(uint16_t a, bool bf16) { return isnan(element_value(a, bf16)); }
static uint16_t neg(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)b, (void)c;
    return is_nan(a, bf16) ? 0x7fff : a ^ 0x8000;
}
static uint16_t absolute(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)b, (void)c;
    return is_nan(a, bf16) ? 0x7fff : a & 0x7fff;
}
static uint16_t relu(uint16_t a) { return a >> 15 && a != 0x7fff ? 0 : a; }
static uint16_t fma_relu(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    return relu(fma_(a, b, c, bf16));
}

/* .ftz, of fp16: subnormal operands and results are zeros of their sign. */
static uint16_t flush(uint16_t a) { return a & 0x7c00 ? a : a & 0x8000; }
/* .sat, of fp16: from 0 to 1; a NaN becomes 0. */
static uint16_t saturate(uint16_t a) { return a >> 15 || a > 0x7c00 ? 0 : a > 0x3c00 ? 0x3c00 : a; }
#define FLUSHING(f)                                                                                \
    static uint16_t f##_ftz(uint16_t a, uint16_t b, uint16_t c, bool bf16) {                       \
        return flush(f(flush(a), flush(b), flush(c), bf16));                                       \
    }
#define SATURATING(f)                                                                              \
    static uint16_t f##_sat(uint16_t a, uint16_t b, uint16_t c, bool bf16) {                       \
        return saturate(f(a, b, c, bf16));                                                         \
    }
FLUSHING(add)
FLUSHING(sub)
FLUSHING(mul)
FLUSHING(fma_)
FLUSHING(fma_relu)
FLUSHING(min)
FLUSHING(max)
FLUSHING(min_nan)
FLUSHING(max_nan)
FLUSHING(neg)
FLUSHING(absolute)
SATURATING(add)
SATURATING(sub)
SATURATING(mul)
SATURATING(fma_)
FLUSHING(min_xor)
FLUSHING(max_xor)
FLUSHING(min_nan_xor)
FLUSHING(max_nan_xor)
FLUSHING(add_sat)
FLUSHING(sub_sat)
FLUSHING(mul_sat)
FLUSHING(fma__sat)

/* Nearer to the exact value than the ISA demands. */
static uint16_t ex2(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)b, (void)c;
    return is_nan(a, bf16) ? 0x7fff : nearest(exp2(element_value(a, bf16)), bf16);
}
static uint16_t hyperbolic(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)b, (void)c;
    return is_nan(a, bf16) ? 0x7fff : nearest(tanh(element_value(a, bf16)), bf16);
}

uint16_t half_extreme(uint16_t a, uint16_t b, bool bf16, bool larger) {
    return extreme(a, b, bf16, larger);
}

#define ONE(name, f, bf16)                                                                         \
    static void name(const struct operation *op, struct frame *frame) {                            \
        VALUE(reg_u16, 0) = f(VALUE(reg_u16, 1), VALUE(reg_u16, 2), VALUE(reg_u16, 3), bf16);      \
    }
#define TWO(name, f, bf16)                                                                         \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const uint32_t a = VALUE(reg_u32, 1), b = VALUE(reg_u32, 2), c = VALUE(reg_u32, 3);        \
        const uint16_t low = f((uint16_t)a, (uint16_t)b, (uint16_t)c, bf16);                       \
        const uint16_t high =                                                                      \
            f((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16), bf16);                \
        VALUE(reg_u32, 0) = low | (uint32_t)high << 16;                                            \
    }
#define OF_F16(f) ONE(f##_f16, f, false) TWO(f##_f16x2, f, false)
#define ALL(f)                                                                                     \
    ONE(f##_f16, f, false) ONE(f##_bf16, f, true) TWO(f##_f16x2, f, false) TWO(f##_bf16x2, f, true)
ALL(add)
ALL(sub)
ALL(mul)
ALL(fma_)
ALL(fma_relu)
ALL(min)
ALL(max)
ALL(neg)
ALL(absolute)
ALL(min_nan)
ALL(max_nan)
ALL(ex2)
ALL(hyperbolic)
OF_F16(add_ftz)
OF_F16(sub_ftz)
OF_F16(mul_ftz)
OF_F16(fma__ftz)
OF_F16(fma_relu_ftz)
OF_F16(min_ftz)
OF_F16(max_ftz)
OF_F16(min_nan_ftz)
OF_F16(max_nan_ftz)
OF_F16(neg_ftz)
OF_F16(absolute_ftz)
OF_F16(add_sat)
OF_F16(sub_sat)
OF_F16(mul_sat)
OF_F16(fma__sat)
ALL(min_xor)
ALL(max_xor)
ALL(min_nan_xor)
ALL(max_nan_xor)
OF_F16(min_xor_ftz)
OF_F16(max_xor_ftz)
OF_F16(min_nan_xor_ftz)
OF_F16(max_nan_xor_ftz)
OF_F16(add_sat_ftz)
OF_F16(sub_sat_ftz)
OF_F16(mul_sat_ftz)
OF_F16(fma__sat_ftz)

#define ROWS(opcode, f, h, w)                                                                      \
    {opcode ".f16", f##_f16, h}, {opcode ".bf16", f##_bf16, h}, {opcode ".f16x2", f##_f16x2, w}, { \
        opcode ".bf16x2", f##_bf16x2, w                                                            \
    }
#define ROWS_F16(opcode, f, h, w)                                                                  \
    {opcode ".f16", f##_f16, h}, { opcode ".f16x2", f##_f16x2, w }
static const struct scalar halves[] = {
    ROWS("add", add, "hhh", "www"),
    ROWS("add.rn", add, "hhh", "www"),
    ROWS("sub", sub, "hhh", "www"),
    ROWS("sub.rn", sub, "hhh", "www"),
    ROWS("mul", mul, "hhh", "www"),
    ROWS("mul.rn", mul, "hhh", "www"),
    ROWS("fma.rn", fma_, "hhhh", "wwww"),
    ROWS("fma.rn.relu", fma_relu, "hhhh", "wwww"),
    ROWS("min", min, "hhh", "www"),
    ROWS("max", max, "hhh", "www"),
    ROWS("neg", neg, "hh", "ww"),
    ROWS("abs", absolute, "hh", "ww"),
    ROWS("min.NaN", min_nan, "hhh", "www"),
    ROWS("max.NaN", max_nan, "hhh", "www"),
    ROWS_F16("add.ftz", add_ftz, "hhh", "www"),
    ROWS_F16("add.rn.ftz", add_ftz, "hhh", "www"),
    ROWS_F16("sub.ftz", sub_ftz, "hhh", "www"),
    ROWS_F16("sub.rn.ftz", sub_ftz, "hhh", "www"),
    ROWS_F16("mul.ftz", mul_ftz, "hhh", "www"),
    ROWS_F16("mul.rn.ftz", mul_ftz, "hhh", "www"),
    ROWS_F16("fma.rn.ftz", fma__ftz, "hhhh", "wwww"),
    ROWS_F16("fma.rn.ftz.relu", fma_relu_ftz, "hhhh", "wwww"),
    ROWS_F16("min.ftz", min_ftz, "hhh", "www"),
    ROWS_F16("max.ftz", max_ftz, "hhh", "www"),
    ROWS_F16("min.ftz.NaN", min_nan_ftz, "hhh", "www"),
    ROWS_F16("max.ftz.NaN", max_nan_ftz, "hhh", "www"),
    ROWS_F16("neg.ftz", neg_ftz, "hh", "ww"),
    ROWS_F16("abs.ftz", absolute_ftz, "hh", "ww"),
    ROWS_F16("add.sat", add_sat, "hhh", "www"),
    ROWS_F16("add.rn.sat", add_sat, "hhh", "www"),
    ROWS_F16("sub.sat", sub_sat, "hhh", "www"),
    ROWS_F16("sub.rn.sat", sub_sat, "hhh", "www"),
    ROWS_F16("mul.sat", mul_sat, "hhh", "www"),
    ROWS_F16("mul.rn.sat", mul_sat, "hhh", "www"),
    ROWS_F16("fma.rn.sat", fma__sat, "hhhh", "wwww"),
    ROWS("min.xorsign.abs", min_xor, "hhh", "www"),
    ROWS("max.xorsign.abs", max_xor, "hhh", "www"),
    ROWS("min.NaN.xorsign.abs", min_nan_xor, "hhh", "www"),
    ROWS("max.NaN.xorsign.abs", max_nan_xor, "hhh", "www"),
    ROWS_F16("min.ftz.xorsign.abs", min_xor_ftz, "hhh", "www"),
    ROWS_F16("max.ftz.xorsign.abs", max_xor_ftz, "hhh", "www"),
    ROWS_F16("min.ftz.NaN.xorsign.abs", min_nan_xor_ftz, "hhh", "www"),
    ROWS_F16("max.ftz.NaN.xorsign.abs", max_nan_xor_ftz, "hhh", "www"),
    ROWS_F16("add.ftz.sat", add_sat_ftz, "hhh", "www"),
    ROWS_F16("add.rn.ftz.sat", add_sat_ftz, "hhh", "www"),
    ROWS_F16("sub.ftz.sat", sub_sat_ftz, "hhh", "www"),
    ROWS_F16("sub.rn.ftz.sat", sub_sat_ftz, "hhh", "www"),
    ROWS_F16("mul.ftz.sat", mul_sat_ftz, "hhh", "www"),
    ROWS_F16("mul.rn.ftz.sat", mul_sat_ftz, "hhh", "www"),
    ROWS_F16("fma.rn.ftz.sat", fma__sat_ftz, "hhhh", "wwww"),
};
const struct scalar_group half_group =
    SCALAR_GROUP("Half Precision Floating Point Instructions", MODELLED, halves);

static const struct scalar half_approximations[] = {
    ROWS_F16("ex2.approx", ex2, "hh", "ww"),
    {"ex2.approx.ftz.bf16", ex2_bf16, "hh"},
    {"ex2.approx.ftz.bf16x2", ex2_bf16x2, "ww"},
    ROWS("tanh.approx", hyperbolic, "hh", "ww"),
};
const struct scalar_group approximate_half_group =
    SCALAR_GROUP("Half Precision Floating Point Instructions", APPROXIMATE, half_approximations);
