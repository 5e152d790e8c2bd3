/*
 * departures.h: other ways to add, each of which departs from tensor_sum() in one rule.
 */
#ifndef TESTS_SIM_MODELS_DEPARTURES_H
#define TESTS_SIM_MODELS_DEPARTURES_H

#include "sim/models/tensor_sum.h"

enum departure {
    NO_DEPARTURE,
    FRACTION_LESS,       /* one bit less below the greatest exponent */
    FRACTION_MORE,       /* one more */
    KEPT_LESS,           /* one bit less in the result */
    KEPT_MORE,           /* one more, if an fp32 has room for it */
    CUT_DOWN,            /* terms are cut toward minus infinity */
    CUT_NEAREST,         /* terms are rounded */
    RESULT_NEAREST,      /* the result is rounded */
    HALVES,              /* half of the products first, then the others */
    PAIRS_APART,         /* every second product first, then the others */
    ACCUMULATOR_LAST,    /* the products first, then the accumulator */
    PRODUCTS_NORMALIZED, /* a significand from 2 counts for the next exponent */
    ZEROS_COUNT,         /* a zero has an exponent like any number */
    SIGNED_ZERO,         /* nothing but negative zeros gives -0 */
    SUBNORMALS_FLUSHED,  /* a subnormal result is 0 */
    LEAST_LESS,          /* the least exponent is one less; this one and the next show in bf16 */
    LEAST_MORE,          /* one more */
    DEPARTURES
};
extern const char *const departure_names[DEPARTURES];

/* tensor_sum(), but for one rule. The last term is the accumulator; of the others a multiple of 4.
 */
uint32_t departed_sum(const struct tensor_term *terms, int count, struct tensor_precision precision,
                      enum departure departure);

#endif
