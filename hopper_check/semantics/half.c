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
    return (x == y ? signbit(x) != larger : (x < y) != larger) ? a : b;
}
static uint16_t min(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)c;
    return extreme(a, b, bf16, false);
}
static uint16_t max(uint16_t a, uint16_t b, uint16_t c, bool bf16) {
    (void)c;
    return extreme(a, b, bf16, true);
}
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

#define ROWS(opcode, f, h, w)                                                                      \
    {opcode ".f16", f##_f16, h}, {opcode ".bf16", f##_bf16, h}, {opcode ".f16x2", f##_f16x2, w}, { \
        opcode ".bf16x2", f##_bf16x2, w                                                            \
    }
static const struct scalar halves[] = {
    ROWS("add", add, "hhh", "www"),       ROWS("add.rn", add, "hhh", "www"),
    ROWS("sub", sub, "hhh", "www"),       ROWS("sub.rn", sub, "hhh", "www"),
    ROWS("mul", mul, "hhh", "www"),       ROWS("mul.rn", mul, "hhh", "www"),
    ROWS("fma.rn", fma_, "hhhh", "wwww"), ROWS("fma.rn.relu", fma_relu, "hhhh", "wwww"),
    ROWS("min", min, "hhh", "www"),       ROWS("max", max, "hhh", "www"),
    ROWS("neg", neg, "hh", "ww"),         ROWS("abs", absolute, "hh", "ww"),
};
const struct scalar_group half_group =
    SCALAR_GROUP("Half Precision Floating Point Instructions", MODELLED, halves);
