/*
 * unit_tensor_core.c: fragments against the tables of the PTX ISA, element values against
 * arithmetic on their fields, and 64 x n x 16 products against the definition.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Small whole numbers: exact in any order. */
static void test_products(void) {
    static struct wgmma_operand a, b;
    static float d[64 * 256], start[64 * 256];
    srand(7);
    for (int n = 8; n <= 256; n += 8)
        for (int accumulate = 0; accumulate <= 1; ++accumulate) {
            for (int k = 0; k < 16; ++k) {
                for (int i = 0; i < 64; ++i)
                    a.bits[k][i] = element_nearest((float)(rand() % 15 - 7), true);
                for (int i = 0; i < n; ++i)
                    b.bits[k][i] = element_nearest((float)(rand() % 15 - 7), true);
            }
            for (int i = 0; i < 64 * n; ++i)
                d[i] = start[i] = accumulate ? (float)(rand() % 100) : NAN;
            tensor_core_multiply(
                d, &a, &b, (struct tensor_shape){64, n, TENSOR_BF16, TENSOR_BF16, accumulate});
            for (int row = 0; row < 64; ++row)
                for (int column = 0; column < n; ++column) {
                    double sum = accumulate ? start[row * n + column] : 0;
                    for (int k = 0; k < 16; ++k)
                        sum += (double)element_value(a.bits[k][row], true) *
                               element_value(b.bits[k][column], true);
                    EXPECT(d[row * n + column] == sum, "n %d (%d, %d): %g, expected %g", n, row,
                           column, d[row * n + column], sum);
                }
        }
    /* Chunks: 8 elements along k or along mn. */
    const uint16_t bits[8] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800};
    wgmma_operand_chunk(&a, false, 5, 1, bits);
    wgmma_operand_chunk(&b, true, 5, 1, bits);
    for (int i = 0; i < 8; ++i) {
        EXPECT(a.bits[8 + i][5] == bits[i], "K-major %d: 0x%04x", i, a.bits[8 + i][5]);
        EXPECT(b.bits[5][8 + i] == bits[i], "MN-major %d: 0x%04x", i, b.bits[5][8 + i]);
    }
}

/* Where the sum of many columns at once leaves the usual path, and that it is the definition's
 * wherever it does not: all products as great as their exponents allow, and sums near 2^31 units;
 * accumulators at the ends of what is usual. */
static void test_the_usual_path_ends(void) {
    static struct wgmma_operand a, b;
    static const float accumulators[] = {0,        0x1p-100f, 0x1p-101f,     0x1.8p100f,
                                         0x1p101f, -0x1p3f,   0x1.fffffep1f, -0x1.fffffep1f,
                                         INFINITY, -0.0f,     0x1p-149f,     0x1.fffffep127f};
    static const uint16_t elements[] = {0x3fff, 0xbfff, 0x3f80, 0x5880, 0x5900,
                                        0x2680, 0x2600, 0x0000, 0x0001, 0x7f80};
    enum { ELEMENTS = sizeof elements / sizeof *elements };
    for (int c = 0; c < (int)(sizeof accumulators / sizeof *accumulators); ++c) {
        float d[ELEMENTS * 16];
        for (int k = 0; k < 16; ++k)
            for (int i = 0; i < 16; ++i) {
                a.bits[k][i] = elements[i % ELEMENTS];
                b.bits[k][i] = elements[(i + (k % 5 == 4 && i > 9)) % ELEMENTS];
            }
        for (int i = 0; i < ELEMENTS * 16; ++i)
            d[i] = accumulators[c];
        tensor_core_multiply(d, &a, &b,
                             (struct tensor_shape){ELEMENTS, 16, TENSOR_BF16, TENSOR_BF16, true});
        for (int i = 0; i < ELEMENTS * 16; ++i) {
            struct tensor_term terms[17];
            uint32_t bits, got;
            for (int k = 0; k < 16; ++k)
                terms[k] =
                    tensor_product(TENSOR_BF16, a.bits[k][i / 16], TENSOR_BF16, b.bits[k][i % 16]);
            memcpy(&bits, &accumulators[c], sizeof bits);
            terms[16] = tensor_accumulator(bits);
            bits = tensor_sum(terms, 17, tensor_precision(TENSOR_BF16));
            memcpy(&got, &d[i], sizeof got);
            EXPECT(got == bits, "accumulator %a, row %d, column %d: 0x%08x, not 0x%08x",
                   accumulators[c], i / 16, i % 16, got, bits);
        }
    }
}

int main(void) {
    test_fragments_of_d();
    test_fragments_of_a();
    test_values();
    test_products();
    test_the_usual_path_ends();
    return expect_result();
}
