/*
 * tensor_sum.h: how Hopper's Tensor Core adds, in every bit: the definition, one sum at a time.
 *
 * One instruction adds all its products (16 of 16-bit elements, 32 of 8-bit ones) and the
 * accumulator in one step. A product has the exponent that its operands' exponents add up to, and a
 * significand below 4, and from 1 if both are normal. All terms are aligned to the greatest
 * exponent among those that are not zero, and each is cut toward zero to `fraction` bits below it.
 * The sum of what is left is exact. The result is that sum, cut toward zero to `kept` bits after
 * its leading one.
 *
 * No document says so; a recorded GPU does, in every bit (docs/numerics.md).
 */
#ifndef SIM_MODELS_TENSOR_SUM_H
#define SIM_MODELS_TENSOR_SUM_H

#include <stdbool.h>
#include <stdint.h>

/* Element types. PTX ISA, "Alternate Floating-Point Data Formats". */
enum tensor_type {
    TENSOR_FP16,
    TENSOR_BF16,
    TENSOR_E4M3,
    TENSOR_E5M2,
    TENSOR_TYPES, /* of those above; the others are multiplied by tensor_other.c */
    TENSOR_TF32 = TENSOR_TYPES,
    TENSOR_S8,
    TENSOR_U8
};

struct tensor_format {
    const char *name;
    int exponent_bits, mantissa_bits, bias;
    uint16_t greatest; /* the finite element with the greatest magnitude */
    bool infinities;   /* without them, all that is above `greatest` is NaN */
};
extern const struct tensor_format tensor_formats[TENSOR_TYPES];

/* What one step of the Tensor Core keeps. */
struct tensor_precision {
    int fraction; /* bits of an aligned term below the greatest exponent */
    int kept;     /* bits of the result after the leading one */
};
/* 16-bit elements: 25 and 23; 8-bit elements: 13 and 13. Of tf32 nothing is recorded: as 16-bit
 * elements. */
struct tensor_precision tensor_precision(enum tensor_type type);

/* Elements of k of one instruction: 32 bytes. */
static inline int tensor_k(enum tensor_type type) {
    return type == TENSOR_TF32 ? 8 : type == TENSOR_FP16 || type == TENSOR_BF16 ? 16 : 32;
}

/* The value is exact; it may be infinite or NaN. Of a subnormal number the exponent is the least
 * one of its format, and its significand is below 1. */
struct tensor_term {
    double value;
    int exponent;
};

struct tensor_term tensor_element(enum tensor_type type, uint16_t bits);
struct tensor_term tensor_product(enum tensor_type a_type, uint16_t a, enum tensor_type b_type,
                                  uint16_t b);
/* Of an fp32 number. */
struct tensor_term tensor_accumulator(uint32_t bits);

/* The steps of a sum of finite terms. */
enum { TENSOR_LEAST_EXPONENT = -133 };
/* The greatest exponent of a term that is not zero, at least TENSOR_LEAST_EXPONENT. */
int tensor_sum_exponent(const struct tensor_term *terms, int count);
/* A term in units of 2^(exponent - fraction), cut toward zero. */
int64_t tensor_align(struct tensor_term term, int exponent, struct tensor_precision precision);
/* The bits of an fp32 number: `sum` of these units, cut toward zero. Zero is +0 always; beyond
 * fp32's range is infinity. */
uint32_t tensor_round(int64_t sum, int exponent, struct tensor_precision precision);

/* All of it: the bits of an fp32 number. NaN, or infinities of both signs, give NaN: 0x7fffffff. */
uint32_t tensor_sum(const struct tensor_term *terms, int count, struct tensor_precision precision);
/* Of sums that are kept as fp16: the exact sum of the aligned terms goes to the nearest fp16, which
 * the bits of the fp32 hold. No GPU is recorded here: these are the rules of MMA-Sim (arXiv
 * 2511.10909). An accumulator below 2^-14 has that exponent. */
enum { TENSOR_HALF_EXPONENT = -14 };
uint32_t tensor_sum_half(const struct tensor_term *terms, int count,
                         struct tensor_precision precision);

#endif
