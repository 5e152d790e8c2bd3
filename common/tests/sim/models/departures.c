/* departures.c: the definition's steps, with one of them exchanged. */
#include "tests/sim/models/departures.h"

#include <math.h>

enum { MOST_TERMS = 33 };

const char *const departure_names[DEPARTURES] = {
    "none",
    "one bit less",
    "one bit more",
    "a shorter result",
    "a longer result",
    "cut downward",
    "terms rounded",
    "result rounded",
    "two halves",
    "even and odd",
    "accumulator last",
    "products normalized",
    "zeros count",
    "a signed zero",
    "subnormals flushed",
    "least exponent -134",
    "least exponent -132",
};

static int greatest(const struct tensor_term *terms, int count, enum departure departure) {
    int exponent = TENSOR_LEAST_EXPONENT + (departure == LEAST_MORE) - (departure == LEAST_LESS);
    for (int i = 0; i < count; ++i)
        if ((terms[i].value != 0 || departure == ZEROS_COUNT) && terms[i].exponent > exponent)
            exponent = terms[i].exponent;
    return exponent;
}

static int64_t align(struct tensor_term term, int exponent, struct tensor_precision precision,
                     enum departure departure) {
    const double units = ldexp(term.value, precision.fraction - exponent);
    return (int64_t)(departure == CUT_DOWN      ? floor(units)
                     : departure == CUT_NEAREST ? nearbyint(units)
                                                : trunc(units));
}

static uint32_t finish(int64_t sum, int exponent, struct tensor_precision precision,
                       enum departure departure) {
    const uint32_t bits = tensor_round(sum, exponent, precision), field = bits >> 23 & 255;
    if (departure == SUBNORMALS_FLUSHED && field == 0) return 0;
    if (departure != RESULT_NEAREST || field == 0 || field == 255) return bits;
    /* To nearest: half a unit more, then cut. */
    const double value = ldexp((double)sum, exponent - precision.fraction);
    const double half = ldexp(1, (int)field - 127 - precision.kept - 1);
    const double whole = ldexp(fabs(value) + half, precision.kept - ((int)field - 127));
    const double rounded = ldexp(floor(whole), (int)field - 127 - precision.kept);
    const union {
        float value;
        uint32_t bits;
    } result = {(float)(sum < 0 ? -rounded : rounded)};
    return result.bits;
}

static uint32_t sum_once(const struct tensor_term *terms, int count,
                         struct tensor_precision precision, enum departure departure) {
    const int exponent = greatest(terms, count, departure);
    int64_t sum = 0;
    bool all_negative = true;
    for (int i = 0; i < count; ++i) {
        sum += align(terms[i], exponent, precision, departure);
        all_negative &= signbit(terms[i].value) != 0;
    }
    const uint32_t bits = finish(sum, exponent, precision, departure);
    return departure == SIGNED_ZERO && bits == 0 && all_negative ? 0x80000000 : bits;
}

/* Those products whose place has this bit are left for the second sum. */
static uint32_t sum_twice(const struct tensor_term *terms, int count,
                          struct tensor_precision precision, int bit) {
    const int products = count - 1;
    struct tensor_term some[MOST_TERMS];
    uint32_t bits = 0;
    for (int second = 0; second < 2; ++second) {
        int n = 0;
        for (int i = 0; i < products; ++i)
            if (!(i & bit) == !second) some[n++] = terms[i];
        some[n++] = second ? tensor_accumulator(bits) : terms[products];
        bits = tensor_sum(some, n, precision);
    }
    return bits;
}

uint32_t departed_sum(const struct tensor_term *terms, int count, struct tensor_precision precision,
                      enum departure departure) {
    for (int i = 0; i < count; ++i)
        if (!isfinite(terms[i].value)) return tensor_sum(terms, count, precision);
    struct tensor_term changed[MOST_TERMS];
    switch (departure) {
    case FRACTION_LESS:
        --precision.fraction;
        break;
    case FRACTION_MORE:
        ++precision.fraction;
        break;
    case KEPT_LESS:
        --precision.kept;
        break;
    case KEPT_MORE:
        ++precision.kept;
        break;
    case HALVES:
        return sum_twice(terms, count, precision, (count - 1) / 2);
    case PAIRS_APART:
        return sum_twice(terms, count, precision, 1);
    case ACCUMULATOR_LAST:
        changed[0] = terms[count - 1];
        changed[1] = tensor_accumulator(tensor_sum(terms, count - 1, precision));
        return tensor_sum(changed, 2, precision);
    case PRODUCTS_NORMALIZED:
        for (int i = 0; i < count; ++i) {
            changed[i] = terms[i];
            changed[i].exponent += fabs(terms[i].value) >= ldexp(2, terms[i].exponent);
        }
        terms = changed;
        break;
    default:
        break;
    }
    return sum_once(terms, count, precision, departure);
}
