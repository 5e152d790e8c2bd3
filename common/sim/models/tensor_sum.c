/* tensor_sum.c: every intermediate value is exact in double, or an integer. */
#include "sim/models/tensor_sum.h"

#include <math.h>
#include <string.h>

#include "sim/models/element_values.h"

const struct tensor_format tensor_formats[TENSOR_TYPES] = {
    {"fp16", 5, 10, 15, 0x7bff, true},
    {"bf16", 8, 7, 127, 0x7f7f, true},
    {"e4m3", 4, 3, 7, 0x7e, false},
    {"e5m2", 5, 2, 15, 0x7b, true},
};

struct tensor_precision tensor_precision(enum tensor_type type) {
    return tensor_k(type) <= 16 ? (struct tensor_precision){25, 23}
                                : (struct tensor_precision){13, 13};
}

/* 2^n, for the normal numbers' n. */
static double power_of_two(int n) {
    const uint64_t bits = (uint64_t)(1023 + n) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

struct tensor_term tensor_element(enum tensor_type type, uint16_t bits) {
    const struct tensor_format *const f = &tensor_formats[type];
    const int sign = 1 << (f->exponent_bits + f->mantissa_bits);
    const int magnitude = bits & (sign - 1), field = magnitude >> f->mantissa_bits;
    const int mantissa = magnitude & ((1 << f->mantissa_bits) - 1);
    struct tensor_term term = {0, (field ? field : 1) - f->bias};
    if (magnitude > f->greatest)
        term.value = f->infinities && mantissa == 0 ? INFINITY : NAN;
    else
        term.value = (mantissa + (field ? 1 << f->mantissa_bits : 0)) *
                     power_of_two(term.exponent - f->mantissa_bits);
    if (bits & sign) term.value = -term.value;
    return term;
}

struct tensor_term tensor_product(enum tensor_type a_type, uint16_t a, enum tensor_type b_type,
                                  uint16_t b) {
    const struct tensor_term x = tensor_element(a_type, a), y = tensor_element(b_type, b);
    return (struct tensor_term){x.value * y.value, x.exponent + y.exponent};
}

struct tensor_term tensor_accumulator(uint32_t bits) {
    const int field = bits >> 23 & 255;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (struct tensor_term){value, (field ? field : 1) - 127};
}

int tensor_sum_exponent(const struct tensor_term *terms, int count) {
    int greatest = TENSOR_LEAST_EXPONENT;
    for (int i = 0; i < count; ++i)
        if (terms[i].value != 0 && terms[i].exponent > greatest) greatest = terms[i].exponent;
    return greatest;
}

int64_t tensor_align(struct tensor_term term, int exponent, struct tensor_precision precision) {
    return (int64_t)(term.value * power_of_two(precision.fraction - exponent));
}

uint32_t tensor_round(int64_t sum, int exponent, struct tensor_precision precision) {
    const double value = (double)sum * power_of_two(exponent - precision.fraction);
    int above; /* |value| is below 2^above, and at least half of that */
    frexp(value, &above);
    const int leading = above - 1 < -126 ? -126 : above - 1;
    if (leading > 127) return sum < 0 ? 0xff800000 : 0x7f800000;
    const int last = leading - precision.kept;
    const float result = (float)(trunc(value * power_of_two(-last)) * power_of_two(last));
    uint32_t bits;
    memcpy(&bits, &result, sizeof bits);
    return result == 0 ? 0 : bits;
}

/* *lost: the bits are not all of the sum. */
static uint32_t sum_of(const struct tensor_term *terms, int count,
                       struct tensor_precision precision, bool *lost) {
    double special = 0; /* of infinities and NaNs, IEEE 754's sum is the Tensor Core's */
    for (int i = 0; i < count; ++i)
        if (!isfinite(terms[i].value)) special += terms[i].value;
    *lost = false;
    if (isnan(special)) return 0x7fffffff;
    if (special != 0) return special < 0 ? 0xff800000 : 0x7f800000;
    const int exponent = tensor_sum_exponent(terms, count);
    int64_t sum = 0;
    for (int i = 0; i < count; ++i)
        sum += tensor_align(terms[i], exponent, precision);
    const uint32_t bits = tensor_round(sum, exponent, precision);
    *lost =
        tensor_accumulator(bits).value != (double)sum * power_of_two(exponent - precision.fraction);
    return bits;
}

uint32_t tensor_sum(const struct tensor_term *terms, int count, struct tensor_precision precision) {
    bool lost;
    return sum_of(terms, count, precision, &lost);
}

/* Rounded to odd in fp32, the sum is rounded once. */
uint32_t tensor_sum_half(const struct tensor_term *terms, int count,
                         struct tensor_precision precision) {
    bool lost;
    uint32_t bits = sum_of(terms, count, (struct tensor_precision){precision.fraction, 23}, &lost);
    float value;
    if (lost && (bits & 0x7fffffff) < 0x7f800000) bits |= 1;
    memcpy(&value, &bits, sizeof value);
    value = element_value(element_nearest(value, false), false);
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
