/*
 * tiles.c: the random tiles.
 */
#include "tools/arithmetic/tiles.h"

#include <string.h>

#include "element_codec.h"
#include "splitmix64.h"

#define FP16                                                                                       \
    { "fp16", 2, 5, 10, 15, true }
#define BF16                                                                                       \
    { "bf16", 2, 8, 7, 127, true }
#define E4M3                                                                                       \
    { "e4m3", 1, 4, 3, 7, false }
#define E5M2                                                                                       \
    { "e5m2", 1, 5, 2, 15, true }
const struct arithmetic_type arithmetic_types[ARITHMETIC_TYPES] = {
    {"fp16", FP16, FP16, false},      {"bf16", BF16, BF16, false},
    {"e4m3", E4M3, E4M3, false},      {"e5m2", E5M2, E5M2, false},
    {"e4m3_e5m2", E4M3, E5M2, false}, {"e5m2_e4m3", E5M2, E4M3, false},
    {"mma_fp16", FP16, FP16, true},   {"mma_bf16", BF16, BF16, true},
};

/* ---- numbers ---- */

struct numbers {
    uint64_t state;
};

static uint64_t next(struct numbers *r) { return splitmix64(&r->state); }

/* From low to high. */
static int between(struct numbers *r, int low, int high) {
    return low + (int)((next(r) >> 32) * (uint64_t)(high - low + 1) >> 32);
}

static int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

/* Nearly normal, with variance 1. */
static double normal(struct numbers *r) {
    const uint64_t bits = next(r);
    int sum = -2 * 65535;
    for (int i = 0; i < 4; ++i)
        sum += (int)(bits >> 16 * i & 0xffff);
    return sum / 37837.0;
}

static uint16_t random_element(struct numbers *r, const struct element_format *f, int low,
                               int high) {
    const int exponent = between(r, low, high);
    const uint32_t bits = (uint32_t)next(r);
    return encode_parts(f, bits >> 31, exponent, bits);
}

static uint32_t random_accumulator(struct numbers *r, int low, int high) {
    const int exponent = between(r, low, high);
    const uint32_t bits = (uint32_t)next(r);
    return encode_accumulator(bits >> 31, exponent, bits);
}

static uint16_t special_element(struct numbers *r, const struct element_format *f) {
    const uint16_t sign = between(r, 0, 1) ? sign_bit(f) : 0;
    const uint16_t top = greatest_element(f);
    switch (between(r, 0, 6)) {
    case 0:
        return sign | (uint16_t)(top + 1); /* infinity, or e4m3's NaN */
    case 1:
        return sign | (uint16_t)(top + 1 + (f->infinities ? between(r, 0, 2) : 0));
    case 2:
        return sign | top;
    case 3:
        return sign | 1;
    case 4:
        return sign | (uint16_t)(1 << f->mantissa_bits); /* the least normal number */
    default:
        return sign;
    }
}

static uint32_t special_accumulator(struct numbers *r) {
    static const uint32_t special[] = {0,          0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff,
                                       0x7f7fffff, 0x00000001, 0x007fffff, 0x00800000, 0};
    const uint32_t magnitude = special[between(r, 0, 9)];
    return magnitude | (between(r, 0, 1) ? 0x80000000u : 0);
}

/* ---- classes ---- */

/* Exponents of a tile's elements and accumulators. */
struct windows {
    int a_low, a_high, b_low, b_high, c_low, c_high;
};

/* The products' exponents lie about a target of the tile's own, anywhere they can. */
static struct windows wide_windows(struct numbers *r, const struct arithmetic_type *type) {
    const int a_least = tiniest_exponent(&type->a), a_most = greatest_exponent(&type->a);
    const int b_least = tiniest_exponent(&type->b), b_most = greatest_exponent(&type->b);
    const int width = between(r, 0, clamp(a_most - a_least, 0, 40));
    const int target =
        between(r, clamp(a_least + b_least, -170, 0), clamp(a_most + b_most, 0, 130));
    struct windows w;
    w.a_low = between(r, clamp(target - b_most, a_least, a_most),
                      clamp(target - b_least, a_least, a_most));
    w.b_low = clamp(target - w.a_low, b_least, b_most);
    w.a_low = clamp(w.a_low - width / 2, a_least, a_most);
    w.b_low = clamp(w.b_low - width / 2, b_least, b_most);
    w.a_high = clamp(w.a_low + width, a_least, a_most);
    w.b_high = clamp(w.b_low + width, b_least, b_most);
    w.c_low = clamp(w.a_low + w.b_low - 4, -149, 127);
    w.c_high = clamp(w.a_high + w.b_high + 8, -149, 127);
    return w;
}

static struct windows windows_of(struct numbers *r, const struct arithmetic_type *type,
                                 enum tile_class class) {
    if (class == CLASS_MODERATE) return (struct windows){-4, 4, -4, 4, -10, 10};
    struct windows w = wide_windows(r, type);
    if (class == CLASS_SUBNORMAL) {
        w.a_low = tiniest_exponent(&type->a);
        w.a_high = least_exponent(&type->a) + 1;
        w.c_low = clamp(w.a_low + w.b_low - 2, -149, 127);
        w.c_high = clamp(w.a_high + w.b_high + 4, -149, 127);
    }
    return w;
}

static uint16_t element_of(struct numbers *r, const struct element_format *f, enum tile_class class,
                           int low, int high) {
    uint16_t bits;
    switch (class) {
    case CLASS_NORMAL:
    case CLASS_HEAVY:
    case CLASS_CHAIN:
        return encode_value(f, normal(r));
    case CLASS_INTEGERS:
        return encode_value(f, between(r, -2, 2));
    case CLASS_SPARSE:
        return between(r, 0, 7) ? 0 : random_element(r, f, low, high);
    case CLASS_SPECIAL:
        return between(r, 0, 255) ? random_element(r, f, low, high) : special_element(r, f);
    case CLASS_RAW:
        bits = (uint16_t)(next(r) & (2u * sign_bit(f) - 1));
        return is_infinite_or_nan(f, bits) && between(r, 0, 15) ? 0 : bits;
    default:
        return random_element(r, f, low, high);
    }
}

static uint32_t accumulator_of(struct numbers *r, enum tile_class class, const struct windows *w,
                               int heavy) {
    switch (class) {
    case CLASS_NORMAL:
    case CLASS_CHAIN:
        return float_bits((float)(normal(r) * 4));
    case CLASS_HEAVY:
        return float_bits((float)ldexp(normal(r), heavy));
    case CLASS_INTEGERS:
        return float_bits((float)between(r, -100, 100));
    case CLASS_SPARSE:
        return between(r, 0, 3) ? random_accumulator(r, w->c_low, w->c_high) : 0;
    case CLASS_SPECIAL:
        return between(r, 0, 15) ? random_accumulator(r, w->c_low, w->c_high)
                                 : special_accumulator(r);
    case CLASS_RAW:
        return (uint32_t)next(r);
    default:
        return random_accumulator(r, w->c_low, w->c_high);
    }
}

/* Makes most products cancel each other within each dot product, and most accumulators cancel what
 * is left, up to a few units in the last place. */
static void cancel(struct numbers *r, const struct arithmetic_type *type, struct tile *tile) {
    const int k = step_k(type);
    const uint16_t sign = sign_bit(&type->a);
    for (int at = 0; at < k / 2; ++at) {
        const int one = at, other = k / 2 + (at * 5 + 3) % (k / 2);
        if (between(r, 0, 7) == 0) continue;
        for (int i = 0; i < TILE_M; ++i) {
            uint8_t *const row = tile->a + i * STEP_BYTES;
            put_element(row, other, type->a.bytes, get_element(row, one, type->a.bytes) ^ sign);
        }
        for (int j = 0; j < tile->shape.n; ++j) {
            uint8_t *const row = tile->b + j * STEP_BYTES;
            put_element(row, other, type->b.bytes, get_element(row, one, type->b.bytes));
        }
    }
    for (int i = 0; i < TILE_M; ++i)
        for (int j = 0; j < tile->shape.n; ++j) {
            double dot = 0; /* products are exact: a compiler that fuses changes nothing */
            for (int at = 0; at < k; ++at)
                dot += decode_value(&type->a,
                                    get_element(tile->a + i * STEP_BYTES, at, type->a.bytes)) *
                       decode_value(&type->b,
                                    get_element(tile->b + j * STEP_BYTES, at, type->b.bytes));
            uint32_t bits = float_bits((float)-dot);
            if (dot == 0 || between(r, 0, 3) == 0 || (bits & 0x7f800000) == 0x7f800000) continue;
            tile->c[i * tile->shape.n + j] = bits ^ (uint32_t)(between(r, 0, 1) ? next(r) & 7 : 0);
        }
}

struct tile_shape random_tile_shape(enum tile_class class, int index) {
    struct tile_shape shape = {8, class == CLASS_CHAIN ? MOST_STEPS : 1, true};
    if (index >= NARROW_TILES)
        shape.n = 8 + 8 * ((index - NARROW_TILES) / ((TILES_OF_CLASS - NARROW_TILES) / 32));
    else
        shape.accumulate = index < ACCUMULATING_TILES;
    return shape;
}

void random_tile(const struct arithmetic_type *type, enum tile_class class, int index,
                 struct tile *tile) {
    const uint64_t which = (uint64_t)(type - arithmetic_types);
    struct numbers r = {(which * TILE_CLASSES + class) * TILES_OF_CLASS + (uint64_t)index};
    r.state = next(&r); /* neighbours must not share their sequences */
    tile->shape = random_tile_shape(class, index);
    const int k = step_k(type) * tile->shape.steps;
    const struct windows w = windows_of(&r, type, class);
    const int heavy = between(&r, 2, 24);
    const bool wide_chain = class == CLASS_CHAIN && index % 2;
    const enum tile_class kind = wide_chain ? CLASS_WIDE : class;
    const int row_bytes = STEP_BYTES * tile->shape.steps;
    for (int i = 0; i < TILE_M * k; ++i)
        put_element(tile->a + i / k * row_bytes, i % k, type->a.bytes,
                    element_of(&r, &type->a, kind, w.a_low, w.a_high));
    for (int i = 0; i < tile->shape.n * k; ++i)
        put_element(tile->b + i / k * row_bytes, i % k, type->b.bytes,
                    element_of(&r, &type->b, kind, w.b_low, w.b_high));
    for (int i = 0; i < TILE_M * tile->shape.n; ++i)
        tile->c[i] = accumulator_of(&r, kind, &w, heavy);
    if (class == CLASS_CANCEL) cancel(&r, type, tile);
}

/* ---- sums ---- */

uint64_t hash_words(uint64_t hash, const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        hash = (hash ^ words[i]) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

uint64_t hash_operands(uint64_t hash, const struct arithmetic_type *type, const struct tile *tile) {
    (void)type;
    const int row_bytes = STEP_BYTES * tile->shape.steps;
    const uint8_t *const part[] = {tile->a, tile->b};
    const int rows[] = {TILE_M, tile->shape.n};
    for (int p = 0; p < 2; ++p)
        for (int i = 0; i < rows[p] * row_bytes; i += 4) {
            uint32_t word;
            memcpy(&word, part[p] + i, sizeof word);
            hash = hash_words(hash, &word, 1);
        }
    return hash_words(hash, tile->c, (size_t)TILE_M * (size_t)tile->shape.n);
}
