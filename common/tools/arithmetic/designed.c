/*
 * designed.c: dot products that tell one way of adding from another.
 *
 * Each family varies what one question is about: how far an operand may lie below the greatest one
 * before its bits are lost, whether it is then cut or rounded and in which direction, which
 * products are added together, where the accumulator comes in, what exponent a zero or a subnormal
 * number has, what happens at the ends of fp32's range.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/arithmetic/tiles.h"

enum { EXACT = 0, FULL = 0xffffff /* a mantissa of ones */ };

/* The cases so far, and the one that is being put together. */
struct designer {
    const struct arithmetic_type *type;
    struct dot_case *cases, now;
    size_t count, capacity;
    uint64_t random;
    int k, low, high; /* elements; exponents of products that normal numbers have */
};

/* At most one call in an expression: C does not say which of two comes first. */
static uint32_t draw(struct designer *d) {
    d->random = d->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(d->random >> 33);
}

static int pick(struct designer *d, int low, int high) {
    return low + (int)(draw(d) % (uint32_t)(high - low + 1));
}

static void emit(struct designer *d) {
    if (d->count == d->capacity) {
        d->capacity = d->capacity ? 2 * d->capacity : 4096;
        d->cases = realloc(d->cases, d->capacity * sizeof *d->cases);
        if (!d->cases) {
            fprintf(stderr, "arithmetic: no memory for %zu cases\n", d->capacity);
            exit(1);
        }
    }
    d->cases[d->count++] = d->now;
    memset(&d->now, 0, sizeof d->now);
}

/* Element k: a product of this sign and these mantissas, with exponents that add up to `exponent`.
 */
static void product(struct designer *d, int k, bool negative, int exponent, uint32_t a_mantissa,
                    uint32_t b_mantissa) {
    const struct element_format *const a = &d->type->a, *const b = &d->type->b;
    int a_exponent = exponent / 2;
    const int a_top = greatest_exponent(a) - !a->infinities; /* all mantissas of e4m3, too */
    const int b_top = greatest_exponent(b) - !b->infinities;
    if (a_exponent > a_top) a_exponent = a_top;
    if (a_exponent < least_exponent(a)) a_exponent = least_exponent(a);
    int b_exponent = exponent - a_exponent;
    if (b_exponent > b_top) a_exponent += b_exponent - b_top;
    if (b_exponent < least_exponent(b)) a_exponent += b_exponent - least_exponent(b);
    b_exponent = exponent - a_exponent;
    const bool on_a = draw(d) & 1;
    d->now.a[k] = encode_parts(a, negative && on_a, a_exponent, a_mantissa);
    d->now.b[k] = encode_parts(b, negative && !on_a, b_exponent, b_mantissa);
}

static const uint32_t accumulator_mantissas[] = {0, 0x7fffff, 0x000001, 0x555555, 0x400000};

/* ---- families ---- */

/* No products: what becomes of every accumulator. And one product alone, of every exponent. */
static void alone(struct designer *d) {
    for (int e = -150; e <= 128; ++e)
        for (int i = 0; i < 5; ++i)
            for (int negative = 0; negative < 2; ++negative) {
                d->now.c = e > 127    ? 0x7f800000u + accumulator_mantissas[i]
                           : e < -149 ? 0
                                      : encode_accumulator(0, e, accumulator_mantissas[i]);
                d->now.c |= negative ? 0x80000000u : 0;
                emit(d);
            }
    const int least = tiniest_exponent(&d->type->a) + tiniest_exponent(&d->type->b);
    for (int e = least; e <= d->high + 2; ++e)
        for (int i = 0; i < 6; ++i) {
            product(d, pick(d, 0, d->k - 1), i & 1, e, i < 2 ? EXACT : FULL, i < 4 ? EXACT : FULL);
            if (i == 5) d->now.c = 0x80000000u;
            emit(d);
        }
}

/* A product and an accumulator with every distance between them. */
static void pair(struct designer *d) {
    static const int targets[] = {0, -20, 14};
    for (int t = 0; t < 3; ++t)
        for (int gap = -40; gap <= 40; ++gap)
            for (int mantissas = 0; mantissas < 4; ++mantissas)
                for (int i = 0; i < 5; ++i)
                    for (int same = 0; same < 2; ++same) {
                        if (targets[t] < d->low || targets[t] > d->high) continue;
                        const bool negative = draw(d) & 1;
                        const uint32_t b =
                            mantissas == 3 ? draw(d) : (mantissas & 2 ? FULL : EXACT);
                        const uint32_t a =
                            mantissas == 3 ? draw(d) : (mantissas & 1 ? FULL : EXACT);
                        product(d, pick(d, 0, d->k - 1), negative, targets[t], a, b);
                        d->now.c = encode_accumulator(negative ^ !same, targets[t] + gap,
                                                      accumulator_mantissas[i]);
                        emit(d);
                    }
}

/* Two that cancel, products or a product and the accumulator, and a small third one: it survives
 * only if the big ones have cancelled before it is added, or if it is not too far below. Position
 * -1 is the accumulator's. */
static void put_one(struct designer *d, int at, bool negative, int exponent) {
    if (at < 0)
        d->now.c = encode_accumulator(negative, exponent, 0);
    else
        product(d, at, negative, exponent, EXACT, EXACT);
}

static void triples(struct designer *d, int gap) {
    const int big = d->high < 14 ? d->high : 14;
    for (int one = -1; one < 1; ++one)
        for (int other = -1; other < d->k; ++other)
            for (int third = -1; third < d->k; ++third) {
                if (one == other || one == third || other == third) continue;
                const bool negative = draw(d) & 1;
                put_one(d, one, negative, big);
                put_one(d, other, !negative, big);
                put_one(d, third, draw(d) & 1, big - gap);
                emit(d);
            }
    for (int i = 0; i < 256; ++i) {
        const int one = pick(d, 0, d->k - 1), other = pick(d, -1, d->k - 1);
        const int third = pick(d, -1, d->k - 1);
        if (one == other || one == third || other == third) continue;
        put_one(d, one, 0, big);
        put_one(d, other, 1, big);
        put_one(d, third, draw(d) & 1, big - gap);
        emit(d);
    }
}

/* One big number and `count` small ones far below it: cut one by one, or added before. */
static void crowd(struct designer *d) {
    const int big = d->high < 14 ? d->high : 14;
    for (int gap = 0; gap <= 36; ++gap)
        for (int count = 1; count < d->k; count += count < 4 ? 1 : count / 2)
            for (int variant = 0; variant < 16; ++variant) {
                if (big - gap < d->low) continue;
                const bool in_c = variant & 1, negative = variant & 2, same = variant & 4;
                const int first = pick(d, 0, d->k - 1);
                for (int i = 0; i < count; ++i)
                    product(d, (first + 1 + i) % d->k, negative ^ !same, big - gap,
                            variant & 8 ? FULL : EXACT, EXACT);
                put_one(d, in_c ? -1 : first, negative, big);
                emit(d);
            }
}

/* `count` products as great as their exponents allow: how far does the sum carry? And what then
 * becomes of an accumulator at some distance. */
static void carry(struct designer *d) {
    const int e = d->high < 4 ? d->high : 4;
    for (int count = 1; count <= d->k; ++count)
        for (int gap = -30; gap <= 30; gap += 2) {
            const bool negative = draw(d) & 1, same = draw(d) & 1;
            for (int i = 0; i < count; ++i)
                product(d, i, negative, e, FULL, FULL);
            if (gap < 30)
                d->now.c = encode_accumulator(negative ^ !same, e + gap,
                                              accumulator_mantissas[draw(d) % 5]);
            emit(d);
        }
}

/* Zero times a great number beside small ones: has zero an exponent? The same of subnormal numbers,
 * whose leading bit is not where their exponent has it. */
static void phantom(struct designer *d) {
    const struct element_format *const formats[] = {&d->type->a, &d->type->b};
    for (int side = 0; side < 2; ++side) {
        const struct element_format *const f = formats[!side];
        const int most = greatest_exponent(f) - !f->infinities;
        for (int e = least_exponent(f); e <= most; e += most > 20 ? 6 : 1)
            for (int gap = 0; gap <= 40; gap += gap < 10 || gap > 30 ? 5 : 1)
                for (int variant = 0; variant < 6; ++variant) {
                    const int at = pick(d, 0, d->k - 1);
                    const int small = least_exponent(formats[side]) + e - gap;
                    uint16_t *const tiny = side ? d->now.b : d->now.a;
                    uint16_t *const great = side ? d->now.a : d->now.b;
                    if (variant % 2 == 0) {
                        const uint32_t mantissa = draw(d);
                        d->now.c = encode_accumulator(draw(d) & 1, small, mantissa);
                    } else if (small >= d->low)
                        product(d, (at + 1) % d->k, draw(d) & 1, small, FULL, FULL);
                    const uint16_t sub = (uint16_t)(draw(d) % (1u << formats[side]->mantissa_bits));
                    tiny[at] = variant < 2 ? 0 : variant < 4 ? 1 : sub;
                    great[at] = encode_parts(f, draw(d) & 1, e, variant == 5 ? FULL : EXACT);
                    emit(d);
                }
    }
}

/* Sums that leave fp32's range, or do so before something cancels. Only bf16's products reach its
 * upper end; every type's accumulators reach both. */
static void range(struct designer *d) {
    for (int e = d->high - 8 < 90 ? d->high - 40 : 90; e <= d->high + 2; ++e)
        for (int variant = 0; variant < 12; ++variant) {
            const bool negative = variant & 1;
            const int at = pick(d, 0, d->k - 3);
            product(d, at, negative, e, variant & 2 ? FULL : EXACT, variant & 2 ? FULL : EXACT);
            if (variant >= 4)
                d->now.c = variant < 8 ? 0x7f7fffffu : encode_accumulator(0, e, draw(d));
            if (variant >= 10) product(d, at + 1, !negative, e, EXACT, EXACT);
            if (variant == 11) product(d, at + 2, negative, e, FULL, EXACT);
            emit(d);
        }
    for (int e = -175; e <= -100; ++e) /* only bf16's products get here */
        for (int variant = 0; variant < 16; ++variant) {
            const int at = pick(d, 0, d->k - 2);
            if (e >= d->low) {
                const uint32_t b = draw(d), a = draw(d);
                product(d, at, variant & 1, e, a, b);
                if (variant & 2) {
                    const uint32_t mantissa = draw(d);
                    product(d, at + 1, !(variant & 1), e + pick(d, -3, 3), mantissa, 0);
                }
            }
            if (variant & 4) {
                const uint32_t mantissa = draw(d);
                d->now.c = encode_accumulator(variant & 1, pick(d, -149, -110), mantissa);
            }
            if (variant & 8) d->now.c = encode_accumulator(!(variant & 1), e, draw(d));
            emit(d);
        }
    for (int i = 0; i < 400; ++i) { /* an accumulator near zero, and products that cancel */
        const int e = pick(d, d->low, d->high), one = pick(d, 0, d->k / 2 - 1);
        const uint32_t a = draw(d), b = draw(d);
        const bool both = i % 4;
        product(d, one, 0, e, a, b);
        if (both) product(d, one + d->k / 2, 1, e, a, b);
        d->now.c = i % 2 ? 0x80000000u : 0;
        if (i % 3) {
            const uint32_t mantissa = draw(d);
            const int exponent = pick(d, -149, -120);
            d->now.c = encode_accumulator(draw(d) & 1, exponent, mantissa);
        }
        emit(d);
    }
}

/* Infinities, NaNs of every kind, zeros of both signs, in every combination. */
static int specials_of(const struct element_format *f, uint16_t *list) {
    const uint16_t one = (uint16_t)(f->bias << f->mantissa_bits), top = greatest_element(f);
    int count = 0;
    for (int negative = 0; negative < 2; ++negative) {
        const uint16_t s = negative ? sign_bit(f) : 0;
        const uint16_t values[] = {0, one, 1, top, (uint16_t)(top + 1), (uint16_t)(top + 2)};
        for (int i = 0; i < (f->infinities ? 6 : 5); ++i)
            list[count++] = s | values[i];
        list[count++] = s | (uint16_t)(sign_bit(f) - 1);
    }
    return count;
}

static void specials(struct designer *d) {
    static const uint32_t accumulators[] = {0,          0x80000000, 0x3f800000, 0x7f800000,
                                            0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001};
    uint16_t a[16], b[16];
    const int a_count = specials_of(&d->type->a, a), b_count = specials_of(&d->type->b, b);
    for (int i = 0; i < a_count; ++i)
        for (int j = 0; j < b_count; ++j)
            for (int c = 0; c < 8; ++c) {
                const int at = pick(d, 0, d->k - 1);
                d->now.a[at] = a[i];
                d->now.b[at] = b[j];
                d->now.c = accumulators[c];
                emit(d);
            }
    for (int i = 0; i < 2000; ++i) { /* several at once */
        const int count = pick(d, 2, 4);
        for (int n = 0; n < count; ++n) {
            const int at = pick(d, 0, d->k - 1);
            d->now.a[at] = a[pick(d, 0, a_count - 1)];
            d->now.b[at] = b[pick(d, 0, b_count - 1)];
        }
        d->now.c = i % 2 ? 0 : accumulators[pick(d, 0, 2)];
        emit(d);
    }
    for (int zeros = 0; zeros < 64; ++zeros) { /* all products are zeros, of these signs */
        for (int i = 0; i < d->k; ++i)
            d->now.a[i] =
                zeros % 4 == 0 || (zeros % 4 == 1 && draw(d) % 2) ? sign_bit(&d->type->a) : 0;
        for (int i = 0; i < d->k; ++i)
            d->now.b[i] = zeros & 4 ? b[1] : 0;
        d->now.c = zeros & 8 ? 0x80000000u : 0;
        emit(d);
    }
}

/* A few products at random places, with exponents from a window, and an accumulator among them. */
static void scattered(struct designer *d) {
    for (int i = 0; i < 6000; ++i) {
        const int count = i % 3 ? pick(d, 1, 4) : pick(d, 1, d->k);
        const int width = pick(d, 0, 36);
        const int high = pick(d, d->low > -40 ? d->low : -40, d->high < 40 ? d->high : 40);
        for (int n = 0; n < count; ++n) {
            const int e = high - pick(d, 0, width);
            const uint32_t a = draw(d), b = draw(d);
            const bool negative = draw(d) & 1;
            product(d, pick(d, 0, d->k - 1), negative, e, a, b);
        }
        const bool negative = draw(d) & 1;
        if (i % 5) {
            const uint32_t mantissa = draw(d);
            d->now.c = encode_accumulator(negative, high + 4 - pick(d, 0, width + 4), mantissa);
        }
        emit(d);
    }
}

struct dot_case *designed_cases(const struct arithmetic_type *type, size_t *count) {
    struct designer d = {.type = type, .random = 20, .k = step_k(type)};
    d.low = least_exponent(&type->a) + least_exponent(&type->b);
    d.high = greatest_exponent(&type->a) - !type->a.infinities + greatest_exponent(&type->b) -
             !type->b.infinities;
    alone(&d);
    pair(&d);
    static const int gaps[] = {9, 13, 14, 22, 24, 25, 26, 27};
    for (int i = 0; i < 8; ++i)
        triples(&d, gaps[i]);
    crowd(&d);
    carry(&d);
    phantom(&d);
    range(&d);
    specials(&d);
    scattered(&d);
    while (d.count % CASES_OF_TILE)
        emit(&d);
    *count = d.count;
    return d.cases;
}

void designed_tile(const struct arithmetic_type *type, const struct dot_case *cases,
                   bool accumulate, struct tile *tile) {
    tile->shape = (struct tile_shape){CASES_OF_TILE, 1, accumulate};
    for (int i = 0; i < CASES_OF_TILE; ++i) {
        for (int k = 0; k < step_k(type); ++k) {
            put_element(tile->a + i * STEP_BYTES, k, type->a.bytes, cases[i].a[k]);
            put_element(tile->b + i * STEP_BYTES, k, type->b.bytes, cases[i].b[k]);
        }
        for (int j = 0; j < CASES_OF_TILE; ++j)
            tile->c[i * CASES_OF_TILE + j] = cases[i].c;
    }
}
