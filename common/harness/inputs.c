#include "harness/inputs.h"

#include <math.h>

#include "element_codec.h"

const char *const input_names[INPUT_KINDS] = {"uniform", "normal", "integer", "zeros", "outliers"};

enum padding operand_padding;
const char *const padding_names[PADDINGS] = {"nan", "finite"};

uint16_t padding_of(enum gemm_type type) {
    /* The finite ones: the greatest of e4m3 and of fp16. In bf16 and fp32, about 2^40: the square
     * is finite, too, so that no infinity turns into a NaN. */
    if (operand_padding == PADDING_NAN) return gemm_type_is_scaled(type) ? 0x7f7f : 0x7fa5;
    return gemm_type_is_scaled(type) ? 0x7e7e : type == GEMM_FP16 ? 0x7bff : 0x5380;
}

/* The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
 * 2014). */
static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static const uint64_t golden = 0x9e3779b97f4a7c15u;

uint64_t input_hash(uint64_t seed, uint64_t position) {
    return mix(mix(seed + golden) + (position + 1) * golden);
}

int input_integer_limit(int k, enum gemm_type type) {
    int limit = 0;
    while (limit < 256) {
        const double next = limit + 1;
        if (k * next * next > 0x1p24) break;
        /* Eight deviations of a sum, and the largest one product alone. */
        if (type == GEMM_FP16 && next * next * fmin(k, 8 * sqrt(k)) > 60000) break;
        ++limit;
    }
    return limit;
}

/* The x with P(X <= x) = p for a normal X, by Newton's method from a neighbour's x; 0.5 <= p < 1.
 */
static double normal_quantile(double p, double start) {
    double x = start;
    for (int i = 0; i < 20; ++i) {
        const double density = exp(-x * x / 2) / sqrt(2 * 3.14159265358979323846);
        const double step = (1 - 0.5 * erfc(x / sqrt(2.0)) - p) / density;
        x -= step;
        if (fabs(step) < 1e-12) break;
    }
    return x;
}

void input_prepare(struct input_source *source, enum input_kind input, enum gemm_type type,
                   int limit, uint64_t seed) {
    enum { COUNT = 65536, HALF = COUNT / 2 };
    source->seed = seed;
    source->input = input;
    source->type = type;
    double x = 0;
    /* Filled from the middle outwards, the negative half as the mirror of the positive one. */
    for (int i = 0; i < HALF; ++i) {
        double value = 0;
        switch (input) {
        case INPUT_UNIFORM:
            value = (i + 0.5) / HALF;
            break;
        case INPUT_NORMAL:
        case INPUT_OUTLIERS:
            value = x = normal_quantile(0.5 + (i + 0.5) / COUNT, x);
            break;
        case INPUT_INTEGER:
            value = floor((i + 0.5) / HALF * (limit + 0.5) + 0.5);
            break;
        default:
            break;
        }
        source->element[HALF + i] = encode_element((float)value, type);
        source->element[HALF - 1 - i] = encode_element(value == 0 ? 0.0f : (float)-value, type);
    }
}

/* bf16: the products of a tiny row are far below 2^-100, and no underflow with ordinary ones. A
 * score in attention, of a large row, is hundreds in either direction. */
float input_row_factor(const struct input_source *source, char matrix, int row) {
    if (source->input != INPUT_OUTLIERS) return 1;
    const uint64_t key = (uint64_t)(unsigned char)matrix << 32 | (uint32_t)row;
    const bool fp16 = source->type == GEMM_FP16;
    switch (input_hash(~source->seed, key) % 8) {
    case 0:
        return fp16 ? 0x1p-14f : 0x1p-116f;
    case 1:
        return matrix == 'A' && !fp16 ? 0x1p7f : 1;
    default:
        return 1;
    }
}

void input_fill_row(const struct input_source *source, char matrix, int row, uint16_t *elements,
                    int columns) {
    const uint64_t key =
        input_hash(source->seed, (uint64_t)(unsigned char)matrix << 32 | (uint32_t)row);
    /* One number serves four neighbouring elements. */
    for (int column = 0; column < columns; column += 4) {
        uint64_t random = mix(key + (uint64_t)(column / 4) * golden);
        const int end = column + 4 < columns ? column + 4 : columns;
        for (int c = column; c < end; ++c, random >>= 16)
            elements[c] = source->element[random & 0xffff];
    }
    const float factor = input_row_factor(source, matrix, row);
    for (int c = 0; c < columns && factor != 1; ++c)
        elements[c] =
            encode_element(factor * decode_element(elements[c], source->type), source->type);
}
