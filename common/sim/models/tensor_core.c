/*
 * tensor_core.c: tensor_sum() for whole tiles, eight columns at a time.
 *
 * Where all numbers are whole and none of their sums needs more bits than the Tensor Core keeps,
 * nothing is cut, and fp32 adds as it does. Where no element is huge and no sum's exponent is
 * extreme, a product and its aligned term are exact in fp32 or cut to zero, and fit 32 bits, so
 * that what tensor_sum() does for one sum is a few instructions for four. All else goes through
 * tensor_sum() itself. Vector types of GCC and Clang.
 */
#include "sim/models/tensor_core.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "sim/models/element_values.h"

enum {
    GROUP = 8,
    /* Elements up to this exponent have products below infinity. A sum of twice its magnitude has a
     * normal scale, which takes a product or an accumulator that is not normal in fp32 to less than
     * half a unit: what fp32 rounds there is cut to zero. */
    USUAL_EXPONENT = 50,
    LEAST_SUM_EXPONENT = -2 * USUAL_EXPONENT,
    FLOAT_BIAS = 127,
    INFINITY_BITS = 255 << 23,
    ZERO_EXPONENT = -8192, /* with any other, below all products' exponents */
    LEAST_PRODUCT_EXPONENT = -512,
};

typedef float floats __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));
typedef int16_t shorts __attribute__((vector_size(16)));
typedef int16_t half_shorts __attribute__((vector_size(8)));
typedef uint16_t half_bits __attribute__((vector_size(8)));

/* An operand's elements: values, and exponents as in struct tensor_term. */
struct expanded {
    float value[TENSOR_MAX_K][WGMMA_MAX_N] __attribute__((aligned(16)));
    int16_t exponent[TENSOR_MAX_K][WGMMA_MAX_N] __attribute__((aligned(16)));
    /* By line, not 0: some element of it is huge, infinite or NaN; is not zero. */
    int16_t unusual[WGMMA_MAX_N] __attribute__((aligned(16)));
    int16_t present[WGMMA_MAX_N] __attribute__((aligned(16)));
    /* The bits of the greatest magnitude; of infinity, if not all are whole numbers. */
    ints greatest;
};

void wgmma_operand_chunk(struct wgmma_operand *operand, bool mn_major, int line, int chunk,
                         const void *bytes, enum tensor_type type) {
    if (type == TENSOR_TF32) {
        uint32_t word[4];
        memcpy(word, bytes, sizeof word);
        for (int i = 0; i < 4; ++i) {
            operand->bits[4 * chunk + i][line] = (uint16_t)(word[i] >> 16);
            operand->bits[8 + 4 * chunk + i][line] = (uint16_t)word[i];
        }
        return;
    }
    if (tensor_k(type) == TENSOR_MAX_K) {
        const uint8_t *const narrow = bytes;
        for (int i = 0; i < 16; ++i)
            operand->bits[16 * chunk + i][line] = narrow[i];
        return;
    }
    uint16_t bits[8];
    memcpy(bits, bytes, sizeof bits);
    if (mn_major)
        memcpy(operand->bits[line] + 8 * chunk, bits, sizeof bits);
    else
        for (int i = 0; i < 8; ++i)
            operand->bits[8 * chunk + i][line] = bits[i];
}

static inline ints select_ints(ints mask, ints yes, ints no) { return (mask & yes) | (~mask & no); }

static inline shorts greater_shorts(shorts a, shorts b) {
#if defined(__SSE2__)
    return (shorts)_mm_max_epi16((__m128i)a, (__m128i)b);
#else
    const shorts mask = a > b;
    return (mask & a) | (~mask & b);
#endif
}

/* Of magnitudes up to 2^23; of greater ones the answer may be no. */
static inline ints are_whole(floats magnitude) {
    return (magnitude + 0x1p23f) - 0x1p23f == magnitude;
}

/* Four elements. Their fields, read as those of an fp32, mean a number that is too small by a power
 * of two. */
static inline void expand_four(const struct tensor_format *f, const uint16_t *bits, float *value,
                               int16_t *exponent, int16_t *unusual, int16_t *present,
                               ints *greatest) {
    half_bits loaded;
    memcpy(&loaded, bits, sizeof loaded);
    const ints element = __builtin_convertvector(loaded, ints);
    const int sign_at = f->exponent_bits + f->mantissa_bits;
    const ints magnitude = element & ((1 << sign_at) - 1), zero = magnitude == 0;
    const ints field = magnitude >> f->mantissa_bits;
    const ints e = field - f->bias - (field == 0); /* a comparison that holds is -1 */
    const floats v = (floats)(magnitude << (23 - f->mantissa_bits)) *
                     element_bits_as_float((uint32_t)(2 * FLOAT_BIAS - f->bias) << 23);
    const ints signed_value = (ints)v | (element & 1 << sign_at) << (31 - sign_at);
    const half_shorts chosen =
        __builtin_convertvector(select_ints(zero, (ints){0} + ZERO_EXPONENT, e), half_shorts);
    const half_shorts odd =
        __builtin_convertvector((magnitude > f->greatest) | (e > USUAL_EXPONENT), half_shorts);
    const ints counted = select_ints(are_whole(v), (ints)v, (ints){0} + INFINITY_BITS);
    *greatest = select_ints(counted > *greatest, counted, *greatest);
    half_shorts before, some;
    memcpy(&before, unusual, sizeof before);
    memcpy(&some, present, sizeof some);
    before |= odd;
    some |= ~__builtin_convertvector(zero, half_shorts);
    memcpy(value, &signed_value, sizeof signed_value);
    memcpy(exponent, &chosen, sizeof chosen);
    memcpy(unusual, &before, sizeof before);
    memcpy(present, &some, sizeof some);
}

/* The first `extent` lines of m or n, a multiple of 8. */
static void expand(struct expanded *to, const struct wgmma_operand *from, enum tensor_type type,
                   int extent) {
    const struct tensor_format *const f = &tensor_formats[type];
    memset(to->unusual, 0, sizeof to->unusual);
    memset(to->present, 0, sizeof to->present);
    to->greatest = (ints){0};
    for (int k = 0; k < tensor_k(type); ++k)
        for (int i = 0; i < extent; i += 4)
            expand_four(f, from->bits[k] + i, to->value[k] + i, to->exponent[k] + i,
                        to->unusual + i, to->present + i, &to->greatest);
}

static float greatest_of(const struct expanded *operand) {
    int most = 0;
    for (int i = 0; i < 4; ++i)
        if (most < operand->greatest[i]) most = operand->greatest[i];
    return element_bits_as_float((uint32_t)most);
}

/* A row of A in every lane. */
struct row {
    floats value[TENSOR_MAX_K];
    shorts exponent[TENSOR_MAX_K];
    int k;
    struct tensor_precision precision;
};

/* Eight columns of whole numbers, whose accumulators have to be whole and below `room` for that.
 * False where they are not: then nothing is stored. A sum of zeros is +0. */
static inline bool sum_whole(float *d, const struct row *a, const float *b, bool accumulate,
                             float room) {
    floats sum[2] = {{0}};
    ints good = {-1, -1, -1, -1};
    for (int half = 0; half < 2 && accumulate; ++half) {
        floats c;
        memcpy(&c, d + 4 * half, sizeof c);
        const floats magnitude = (floats)((ints)c & INT32_MAX);
        good &= (magnitude < room) & are_whole(magnitude);
        sum[half] += c;
    }
    uint64_t all[2];
    memcpy(all, &good, sizeof all);
    if (~(all[0] & all[1])) return false;
    for (int k = 0; k < a->k; ++k)
        for (int half = 0; half < 2; ++half) {
            floats factor;
            memcpy(&factor, b + k * WGMMA_MAX_N + 4 * half, sizeof factor);
            sum[half] += a->value[k] * factor;
        }
    memcpy(d, sum, sizeof sum);
    return true;
}

/* Four columns, once the greatest exponents of their products are known. False where a sum's
 * exponent is extreme, or it needs more than 32 bits: then nothing is stored. */
static inline bool sum_four(float *d, const struct row *a, const float *b, half_shorts products,
                            bool accumulate) {
    const int fraction = a->precision.fraction;
    words c = {0};
    if (accumulate) memcpy(&c, d, sizeof c);
    const ints field = (ints)(c >> 23 & 255); /* biased exponents, from here on */
    const ints least = (ints){0} + (LEAST_SUM_EXPONENT + FLOAT_BIAS);
    const ints wide = __builtin_convertvector(products, ints) + FLOAT_BIAS;
    const ints greatest = select_ints(field > wide, field, wide), tiny = greatest < least;
    const ints exponent = select_ints(tiny, least, greatest);
    const ints present = (ints)(c + c != 0) | (wide > LEAST_PRODUCT_EXPONENT);
    ints bad = (field > FLOAT_BIAS - LEAST_SUM_EXPONENT) | (tiny & present);
    const floats scale = (floats)((2 * FLOAT_BIAS + fraction - exponent) << 23);
    c &= (words)~bad;
    /* A conversion cuts toward zero. The halves fit 32 bits in any case. */
    words low = (words) __builtin_convertvector((floats)c * scale, ints), high = {0};
    for (int k = 0; k < a->k / 2; ++k) {
        floats first, second;
        memcpy(&first, b + k * WGMMA_MAX_N, sizeof first);
        memcpy(&second, b + (k + a->k / 2) * WGMMA_MAX_N, sizeof second);
        low += (words) __builtin_convertvector(a->value[k] * first * scale, ints);
        high += (words) __builtin_convertvector(a->value[k + a->k / 2] * second * scale, ints);
    }
    const words sum = low + high;
    const ints negative = (ints)sum >> 31;
    ints magnitude = ((ints)sum ^ negative) - negative;
    bad |= ((ints)((low ^ sum) & (high ^ sum)) | magnitude) < 0;
    uint64_t any[2];
    memcpy(any, &bad, sizeof any);
    if (any[0] | any[1]) return false;
    /* Clears the bit below the 24 that fp32 has, if there is one: rounding then goes down. */
    magnitude &= ~(magnitude >> 24);
    const floats unit = (floats)((exponent - fraction) << 23);
    ints result = (ints)(__builtin_convertvector(magnitude, floats) * unit);
    result &= -(1 << (23 - a->precision.kept));
    result |= negative & INT32_MIN;
    memcpy(d, &result, sizeof result);
    return true;
}

/* Four columns, one sum at a time. */
static void sum_four_slowly(float *d, const struct wgmma_operand *a, int row,
                            const struct wgmma_operand *b, int column,
                            const struct tensor_shape *shape) {
    const int k = tensor_k(shape->a);
    struct tensor_term left[TENSOR_MAX_K], terms[TENSOR_MAX_K + 1];
    for (int i = 0; i < k; ++i)
        left[i] = tensor_element(shape->a, a->bits[i][row]);
    for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < k; ++i) {
            const struct tensor_term right = tensor_element(shape->b, b->bits[i][column + j]);
            terms[i] = (struct tensor_term){left[i].value * right.value,
                                            left[i].exponent + right.exponent};
        }
        uint32_t bits = 0;
        if (shape->accumulate) memcpy(&bits, d + j, sizeof bits);
        terms[k] = tensor_accumulator(bits);
        bits = tensor_sum(terms, k + 1, tensor_precision(shape->a));
        memcpy(d + j, &bits, sizeof bits);
    }
}

static inline void greatest_exponents(const struct row *a, const int16_t *b,
                                      half_shorts products[2]) {
    shorts greatest = (shorts){0} + 2 * ZERO_EXPONENT;
    for (int k = 0; k < a->k; ++k)
        greatest =
            greater_shorts(greatest, a->exponent[k] + *(const shorts *)(b + k * WGMMA_MAX_N));
    memcpy(products, &greatest, sizeof greatest);
}

static inline bool any_of_group(const int16_t *of_line) {
    uint64_t bits[2];
    memcpy(bits, of_line, sizeof bits);
    return bits[0] | bits[1];
}

static inline bool all_zero(const float *d) {
    static const float zeros[GROUP];
    return memcmp(d, zeros, sizeof zeros) == 0;
}

void tensor_core_multiply(float *d, const struct wgmma_operand *a, const struct wgmma_operand *b,
                          struct tensor_shape shape) {
    static struct expanded rows, columns;
    if (shape.a >= TENSOR_TYPES) {
        tensor_other_multiply(d, a, b, shape);
        return;
    }
    expand(&rows, a, shape.a, (shape.m + GROUP - 1) / GROUP * GROUP);
    expand(&columns, b, shape.b, shape.n);
    /* What the products leave of the sums that are exact, if it is above 0. */
    const float room = (float)(2 << tensor_precision(shape.a).kept) -
                       (float)tensor_k(shape.a) * greatest_of(&rows) * greatest_of(&columns);
    for (int i = 0; i < shape.m; ++i, d += shape.n) {
        struct row row = {.k = tensor_k(shape.a), .precision = tensor_precision(shape.a)};
        for (int k = 0; k < row.k; ++k) {
            row.value[k] = (floats){0} + rows.value[k][i];
            row.exponent[k] = (shorts){0} + rows.exponent[k][i];
        }
        for (int j = 0; j < shape.n; j += GROUP) {
            half_shorts products[2];
            const bool usual = !rows.unusual[i] && !any_of_group(columns.unusual + j);
            const bool products_are_zero = !rows.present[i] || !any_of_group(columns.present + j);
            if (usual && products_are_zero && (!shape.accumulate || all_zero(d + j))) {
                memset(d + j, 0, GROUP * sizeof *d); /* most of a tile that D cuts off */
                continue;
            }
            if (usual && room > 0 &&
                sum_whole(d + j, &row, columns.value[0] + j, shape.accumulate, room))
                continue;
            if (usual) greatest_exponents(&row, columns.exponent[0] + j, products);
            for (int half = 0; half < 2; ++half) {
                const int at = j + 4 * half;
                if (!usual || !sum_four(d + at, &row, columns.value[0] + at, products[half],
                                        shape.accumulate))
                    sum_four_slowly(d + at, a, i, b, at, &shape);
            }
        }
    }
}
