/*
 * unit_tensor_core.c: fragments against the tables of the PTX ISA, element values against
 * arithmetic on their fields, and products of 64 x n x 16 or 32 against the definition.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"
#include "sim/models/element_values.h"
#include "sim/models/fragments.h"
#include "sim/models/tensor_core.h"
#include "tests/support/expect.h"

/* D, m64nNk16: row = 16 * (thread / 32) + (lane / 4) + 8 for the second pair of four, columns in
 * pairs of four threads. */
static void test_fragments_of_d(void) {
    for (int n = 8; n <= 256; n += 8) {
        static int owners[64][256];
        memset(owners, 0, sizeof owners);
        for (int thread = 0; thread < 128; ++thread)
            for (int i = 0; i < n / 2; ++i) {
                const struct fragment_position at = fragment_of_d(thread, i);
                if (at.row >= 0 && at.row < 64 && at.column >= 0 && at.column < n)
                    ++owners[at.row][at.column];
            }
        for (int row = 0; row < 64; ++row)
            for (int column = 0; column < n; ++column)
                EXPECT(owners[row][column] == 1, "n %d (%d, %d): %d owners", n, row, column,
                       owners[row][column]);
    }
    const struct {
        int thread, i, row, column;
    } table[] = {{0, 0, 0, 0},       {0, 1, 0, 1},       {0, 2, 8, 0},     {0, 3, 8, 1},
                 {0, 4, 0, 8},       {3, 1, 0, 7},       {4, 0, 1, 0},     {31, 3, 15, 7},
                 {32, 0, 16, 0},     {127, 3, 63, 7},    {127, 7, 63, 15}, {70, 5, 33, 13},
                 {64, 126, 40, 248}, {127, 127, 63, 255}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        const struct fragment_position at = fragment_of_d(table[i].thread, table[i].i);
        EXPECT(at.row == table[i].row && at.column == table[i].column,
               "thread %d register %d: (%d, %d), expected (%d, %d)", table[i].thread, table[i].i,
               at.row, at.column, table[i].row, table[i].column);
    }
}

static void test_fragments_of_a(void) {
    const struct {
        int thread, i, half, row, column;
    } table[] = {{0, 0, 0, 0, 0},     {0, 0, 1, 0, 1},   {0, 1, 0, 8, 0},    {0, 2, 0, 0, 8},
                 {0, 3, 1, 8, 9},     {5, 0, 0, 1, 2},   {31, 3, 1, 15, 15}, {32, 0, 0, 16, 0},
                 {127, 3, 1, 63, 15}, {98, 2, 0, 48, 12}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        const struct fragment_position at =
            fragment_of_a(table[i].thread, table[i].i, table[i].half);
        EXPECT(at.row == table[i].row && at.column == table[i].column,
               "thread %d register %d.%d: (%d, %d), expected (%d, %d)", table[i].thread, table[i].i,
               table[i].half, at.row, at.column, table[i].row, table[i].column);
    }
    int owners[64][16] = {{0}};
    for (int thread = 0; thread < 128; ++thread)
        for (int i = 0; i < 8; ++i) {
            const struct fragment_position at = fragment_of_a(thread, i / 2, i % 2);
            ++owners[at.row][at.column];
        }
    for (int i = 0; i < 64 * 16; ++i)
        EXPECT(owners[i / 16][i % 16] == 1, "element %d", i);
}

static void test_values(void) {
    for (int bf16 = 0; bf16 <= 1; ++bf16) {
        const int mantissa_bits = bf16 ? 7 : 10, bias = bf16 ? 127 : 15;
        const int exponents = bf16 ? 256 : 32;
        for (uint32_t bits = 0; bits < 65536; ++bits) {
            const int exponent = (int)(bits & 0x7fff) >> mantissa_bits;
            const int mantissa = (int)(bits & ((1u << mantissa_bits) - 1));
            const double sign = bits >> 15 ? -1 : 1, scale = ldexp(1, -mantissa_bits);
            const float got = element_value((uint16_t)bits, bf16);
            double expected;
            if (exponent == exponents - 1)
                expected = mantissa ? NAN : sign * INFINITY;
            else if (exponent == 0)
                expected = sign * ldexp(mantissa * scale, 1 - bias);
            else
                expected = sign * ldexp(1 + mantissa * scale, exponent - bias);
            EXPECT(isnan(expected) ? isnan(got) : got == (float)expected, "0x%04x: %g, expected %g",
                   bits, got, expected);
        }
    }
}

/* e4m3: 256 values by their fields, and the nearest one of many numbers by looking at all. The
 * simulator's conversions and the harness's are two. */
static void test_e4m3(void) {
    double values[256];
    for (int bits = 0; bits < 256; ++bits) {
        const int exponent = bits >> 3 & 15, mantissa = bits & 7;
        const double sign = bits >> 7 ? -1 : 1;
        values[bits] = exponent ? sign * ldexp(1 + mantissa / 8.0, exponent - 7)
                                : sign * ldexp(mantissa / 8.0, -6);
        if ((bits & 0x7f) == 0x7f) values[bits] = NAN;
        const float got[] = {e4m3_value((uint8_t)bits), e4m3_to_float((uint8_t)bits)};
        for (int i = 0; i < 2; ++i)
            EXPECT(isnan(values[bits]) ? isnan(got[i]) : got[i] == (float)values[bits],
                   "0x%02x: %g, expected %g", bits, got[i], values[bits]);
    }
    srand(11);
    for (int i = 0; i < 100000; ++i) {
        /* Numbers of all sizes, those half way between two elements, and their neighbours. */
        const int low = rand() % 126;
        float x = (float)ldexp(rand() / (double)RAND_MAX, rand() % 24 - 13);
        if (i % 4 == 0) x = (float)((values[low] + values[low + 1]) / 2);
        if (i % 4 == 1)
            x = nextafterf((float)((values[low] + values[low + 1]) / 2), (float)(i % 8));
        if (i % 2 && rand() % 2) x = -x;
        int nearest = 0;
        for (int bits = 1; bits < 0x7f; ++bits) {
            const double better = fabs(fabs(x) - values[nearest]) - fabs(fabs(x) - values[bits]);
            if (better > 0 || (better == 0 && bits % 2 == 0)) nearest = bits;
        }
        if (signbit(x)) nearest |= 0x80;
        const int got[] = {e4m3_nearest(x), float_to_e4m3(x)};
        for (int j = 0; j < 2; ++j)
            EXPECT(got[j] == nearest, "%.9g: 0x%02x, expected 0x%02x", x, got[j], nearest);
    }
    const struct {
        float x;
        int bits;
    } table[] = {{448, 0x7e},   {464, 0x7e},     {1e30f, 0x7e}, {-INFINITY, 0xfe},
                 {NAN, 0x7f},   {0, 0},          {-0.0f, 0x80}, {0x1p-9f, 1},
                 {0x1p-10f, 0}, {0x1.8p-10f, 1}, {0x1p-6f, 8},  {-0x1.ep-7f, 0x88}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        EXPECT(e4m3_nearest(table[i].x) == table[i].bits &&
                   float_to_e4m3(table[i].x) == table[i].bits,
               "%g: 0x%02x and 0x%02x, expected 0x%02x", table[i].x, e4m3_nearest(table[i].x),
               float_to_e4m3(table[i].x), table[i].bits);
}

/* A whole number's element, and the value of an element. */
static uint16_t element_of(enum tensor_type type, int number) {
    return type == TENSOR_E4M3 ? e4m3_nearest((float)number)
                               : element_nearest((float)number, type == TENSOR_BF16);
}
static double value_of(enum tensor_type type, uint16_t bits) {
    return type == TENSOR_E4M3 ? e4m3_value((uint8_t)bits)
                               : element_value(bits, type == TENSOR_BF16);
}

/* Small whole numbers: exact in any order. */
static void test_products(enum tensor_type type) {
    static struct wgmma_operand a, b;
    static float d[64 * 256], start[64 * 256];
    const int depth = type == TENSOR_E4M3 ? 32 : 16;
    srand(7);
    for (int n = 8; n <= 256; n += 8)
        for (int accumulate = 0; accumulate <= 1; ++accumulate) {
            for (int k = 0; k < depth; ++k) {
                for (int i = 0; i < 64; ++i)
                    a.bits[k][i] = element_of(type, rand() % 15 - 7);
                for (int i = 0; i < n; ++i)
                    b.bits[k][i] = element_of(type, rand() % 15 - 7);
            }
            for (int i = 0; i < 64 * n; ++i)
                d[i] = start[i] = accumulate ? (float)(rand() % 100) : NAN;
            tensor_core_multiply(d, &a, &b, (struct tensor_shape){64, n, type, type, accumulate});
            for (int row = 0; row < 64; ++row)
                for (int column = 0; column < n; ++column) {
                    double sum = accumulate ? start[row * n + column] : 0;
                    for (int k = 0; k < depth; ++k)
                        sum += value_of(type, a.bits[k][row]) * value_of(type, b.bits[k][column]);
                    EXPECT(d[row * n + column] == sum, "%s, n %d (%d, %d): %g, expected %g",
                           tensor_formats[type].name, n, row, column, d[row * n + column], sum);
                }
        }
}

/* 8 elements along k or along mn, or 16 of e4m3 along k. */
static void test_chunks(void) {
    static struct wgmma_operand a, b;
    const uint16_t bits[8] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800};
    wgmma_operand_chunk(&a, false, 5, 1, bits, TENSOR_FP16);
    wgmma_operand_chunk(&b, true, 5, 1, bits, TENSOR_FP16);
    for (int i = 0; i < 8; ++i) {
        EXPECT(a.bits[8 + i][5] == bits[i], "K-major %d: 0x%04x", i, a.bits[8 + i][5]);
        EXPECT(b.bits[5][8 + i] == bits[i], "MN-major %d: 0x%04x", i, b.bits[5][8 + i]);
    }
    uint8_t bytes[16];
    for (int i = 0; i < 16; ++i)
        bytes[i] = (uint8_t)(0x81 + 7 * i);
    wgmma_operand_chunk(&a, false, 7, 1, bytes, TENSOR_E4M3);
    for (int i = 0; i < 16; ++i)
        EXPECT(a.bits[16 + i][7] == bytes[i], "e4m3, %d: 0x%04x", i, a.bits[16 + i][7]);
}

/* Element (row, column) of a product, as tensor_sum.h defines it. */
static uint32_t defined_sum(const struct wgmma_operand *a, int row, const struct wgmma_operand *b,
                            int column, enum tensor_type type, float accumulator) {
    struct tensor_term terms[TENSOR_MAX_K + 1];
    const int depth = tensor_k(type);
    uint32_t bits;
    for (int k = 0; k < depth; ++k)
        terms[k] = tensor_product(type, a->bits[k][row], type, b->bits[k][column]);
    memcpy(&bits, &accumulator, sizeof bits);
    terms[depth] = tensor_accumulator(bits);
    return tensor_sum(terms, depth + 1, tensor_precision(type));
}

enum { ELEMENTS = 10 };

/* Where the sum of many columns at once leaves the usual path, and that it is the definition's
 * wherever it does not: all products as great as their exponents allow, and sums near 2^31 units;
 * accumulators at the ends of what is usual. */
static void test_the_usual_path_ends(enum tensor_type type, const uint16_t elements[ELEMENTS]) {
    static struct wgmma_operand a, b;
    static const float accumulators[] = {0,        0x1p-100f, 0x1p-101f,     0x1.8p100f,
                                         0x1p101f, -0x1p3f,   0x1.fffffep1f, -0x1.fffffep1f,
                                         INFINITY, -0.0f,     0x1p-149f,     0x1.fffffep127f};
    for (int c = 0; c < (int)(sizeof accumulators / sizeof *accumulators); ++c) {
        float d[ELEMENTS * 16];
        for (int k = 0; k < tensor_k(type); ++k)
            for (int i = 0; i < 16; ++i) {
                a.bits[k][i] = elements[i % ELEMENTS];
                b.bits[k][i] = elements[(i + (k % 5 == 4 && i > 9)) % ELEMENTS];
            }
        for (int i = 0; i < ELEMENTS * 16; ++i)
            d[i] = accumulators[c];
        tensor_core_multiply(d, &a, &b, (struct tensor_shape){ELEMENTS, 16, type, type, true});
        for (int i = 0; i < ELEMENTS * 16; ++i) {
            const uint32_t bits = defined_sum(&a, i / 16, &b, i % 16, type, accumulators[c]);
            uint32_t got;
            memcpy(&got, &d[i], sizeof got);
            EXPECT(got == bits, "%s, accumulator %a, row %d, column %d: 0x%08x, not 0x%08x",
                   tensor_formats[type].name, accumulators[c], i / 16, i % 16, got, bits);
        }
    }
}

/* A bf16 number below 2^(1 - least) of one of `exponents` exponents; a zero now and then. */
static uint16_t small_bf16(int exponents, int least) {
    const int field = 127 - least - rand() % exponents, sign = rand() % 2;
    return rand() % 8 ? (uint16_t)(sign << 15 | (field > 0 ? field : 0) << 7 | rand() % 128) : 0;
}

/* Elements, products and accumulators so small that fp32 rounds them, beside ones that are not. */
static void test_small_elements(void) {
    static struct wgmma_operand a, b;
    static float d[64 * 64], before[64 * 64];
    srand(23);
    for (int round = 0; round < 4; ++round) {
        for (int k = 0; k < WGMMA_K; ++k)
            for (int i = 0; i < 64; ++i) {
                /* Some rows are zeros; in the last ones, and columns, all are about as small. */
                a.bits[k][i] = i % 8 == 7 ? 0 : small_bf16(1 + 2 * i, i < 48 ? 0 : i);
                b.bits[k][i] = small_bf16(1 + 2 * i, i < 48 ? 0 : i);
            }
        for (int i = 0; i < 64 * 64; ++i)
            before[i] = d[i] = rand() % 4 ? ldexpf((float)(rand() % 4096), -rand() % 160) : 0;
        const bool accumulate = round % 2;
        tensor_core_multiply(d, &a, &b,
                             (struct tensor_shape){64, 64, TENSOR_BF16, TENSOR_BF16, accumulate});
        for (int i = 0; i < 64 * 64; ++i) {
            const float from = accumulate ? before[i] : 0;
            const uint32_t bits = defined_sum(&a, i / 64, &b, i % 64, TENSOR_BF16, from);
            uint32_t got;
            memcpy(&got, &d[i], sizeof got);
            EXPECT(got == bits, "round %d, (%d, %d): 0x%08x, not 0x%08x", round, i / 64, i % 64,
                   got, bits);
        }
    }
}

/* Where sums of whole numbers stop being exact: the greatest sum of products, and accumulators that
 * leave as much room as they need, or one less; that are no whole numbers, or lie between those
 * that a sum keeps. */
static void test_exact_sums_end(enum tensor_type type, int most) {
    static struct wgmma_operand a, b;
    const int depth = tensor_k(type), limit = 2 << tensor_precision(type).kept;
    const float left = (float)(limit - depth * most * most);
    const float accumulators[] = {
        0,           -0.0f, left - 1,         left,         left + 1,
        -left + 1,   -left, -left - 1,        left - 0.5f,  0.5f,
        0x1.8p-120f, 3,     (float)limit - 1, (float)limit, (float)limit + 2};
    srand(19);
    for (int c = 0; c < (int)(sizeof accumulators / sizeof *accumulators); ++c) {
        float d[16 * 16];
        for (int k = 0; k < depth; ++k)
            for (int i = 0; i < 16;
                 ++i) { /* rows and columns 0 and 1: all as great as they may be */
                a.bits[k][i] = element_of(type, i < 2 ? most : rand() % (2 * most + 1) - most);
                b.bits[k][i] = element_of(type, i == 0   ? most
                                                : i == 1 ? -most
                                                         : rand() % (2 * most + 1) - most);
            }
        for (int i = 0; i < 16 * 16; ++i)
            d[i] = accumulators[c];
        tensor_core_multiply(d, &a, &b, (struct tensor_shape){16, 16, type, type, true});
        for (int i = 0; i < 16 * 16; ++i) {
            const uint32_t bits = defined_sum(&a, i / 16, &b, i % 16, type, accumulators[c]);
            uint32_t got;
            memcpy(&got, &d[i], sizeof got);
            EXPECT(got == bits, "%s up to %d, accumulator %a, (%d, %d): 0x%08x, not 0x%08x",
                   tensor_formats[type].name, most, accumulators[c], i / 16, i % 16, got, bits);
        }
    }
}

/* e4m3 of all exponents, so that each sum loses bits; now and then a NaN. Three steps in a row. */
static void test_e4m3_sums(void) {
    static struct wgmma_operand a, b;
    static float d[64 * 64];
    int differ = 0; /* from what fp64 would have added */
    srand(13);
    for (int round = 0; round < 8; ++round) {
        for (int i = 0; i < 64 * 64; ++i)
            d[i] = ldexpf((float)(rand() % 4096 - 2048), rand() % 24 - 16);
        for (int step = 0; step < 3; ++step) {
            static float before[64 * 64];
            memcpy(before, d, sizeof d);
            for (int k = 0; k < 32; ++k)
                for (int i = 0; i < 64; ++i) {
                    a.bits[k][i] = (uint16_t)(rand() % 128 % 127 | rand() % 2 << 7);
                    b.bits[k][i] = (uint16_t)(rand() % 128 % 127 | rand() % 2 << 7);
                }
            if (round == 7) a.bits[rand() % 32][rand() % 64] = 0x7f;
            const bool accumulate = step || round % 2;
            tensor_core_multiply(
                d, &a, &b, (struct tensor_shape){64, 64, TENSOR_E4M3, TENSOR_E4M3, accumulate});
            for (int i = 0; i < 64 * 64; ++i) {
                const float from = accumulate ? before[i] : 0;
                const uint32_t bits = defined_sum(&a, i / 64, &b, i % 64, TENSOR_E4M3, from);
                uint32_t got;
                memcpy(&got, &d[i], sizeof got);
                EXPECT(got == bits, "round %d, step %d, (%d, %d): 0x%08x, not 0x%08x", round, step,
                       i / 64, i % 64, got, bits);
                double exact = from;
                for (int k = 0; k < 32; ++k)
                    exact += (double)e4m3_value((uint8_t)a.bits[k][i / 64]) *
                             e4m3_value((uint8_t)b.bits[k][i % 64]);
                differ += d[i] != (float)exact;
            }
        }
    }
    EXPECT(differ > 8 * 3 * 64 * 64 / 2, "only %d sums depend on how they are added", differ);
}

int main(void) {
    static const uint16_t bf16[ELEMENTS] = {0x3fff, 0xbfff, 0x3f80, 0x5880, 0x5900,
                                            0x2680, 0x2600, 0x0000, 0x0001, 0x7f80};
    static const uint16_t e4m3[ELEMENTS] = {0x7e, 0xfe, 0x38, 0x77, 0xf7,
                                            0x08, 0x81, 0x00, 0x01, 0x7f};
    test_fragments_of_d();
    test_fragments_of_a();
    test_values();
    test_e4m3();
    test_products(TENSOR_FP16);
    test_products(TENSOR_BF16);
    test_products(TENSOR_E4M3);
    test_chunks();
    test_the_usual_path_ends(TENSOR_BF16, bf16);
    test_the_usual_path_ends(TENSOR_E4M3, e4m3);
    test_small_elements();
    test_exact_sums_end(TENSOR_FP16, 256);
    test_exact_sums_end(TENSOR_FP16, 1024); /* no room at all */
    test_exact_sums_end(TENSOR_BF16, 256);
    test_exact_sums_end(TENSOR_E4M3, 16);
    test_exact_sums_end(TENSOR_E4M3, 22);
    test_e4m3_sums();
    return expect_result();
}
