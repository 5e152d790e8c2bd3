/*
 * unit_tensor_other.c: products of tf32 and of whole numbers, against sums in C; where the
 * registers of A's tf32 lie, against the PTX ISA's figure.
 */
#include <string.h>

#include "sim/models/fragments.h"
#include "sim/models/tensor_core.h"
#include "tests/support/expect.h"

enum { M = 64, N = 16 };

static int number(int line, int k, int of) { return (line * 7 + k * 5 + of) % 23 - 11; }

/* Lines of 32 bytes along k. */
static void fill(struct wgmma_operand *operand, int lines, enum tensor_type type, int of) {
    for (int line = 0; line < lines; ++line)
        for (int chunk = 0; chunk < 2; ++chunk) {
            unsigned char bytes[16];
            for (int i = 0; i < 16; ++i)
                bytes[i] = (unsigned char)number(line, 16 * chunk + i, of);
            for (int i = 0; i < 4 && type == TENSOR_TF32; ++i) {
                /* The lower 13 bits do not count. */
                float value = (float)number(line, 4 * chunk + i, of);
                uint32_t bits;
                memcpy(&bits, &value, sizeof bits);
                bits |= 0x1fff;
                memcpy(bytes + 4 * i, &bits, sizeof bits);
            }
            wgmma_operand_chunk(operand, false, line, chunk, bytes, type);
        }
}

static int64_t whole(int x, enum tensor_type type) {
    return type == TENSOR_U8 ? (unsigned char)x : x;
}

static void test_products(enum tensor_type a_type, enum tensor_type b_type) {
    static struct wgmma_operand a, b;
    static float d[M * N];
    const bool real = a_type == TENSOR_TF32;
    fill(&a, M, a_type, 1);
    fill(&b, N, b_type, 2);
    for (int i = 0; i < M * N; ++i) {
        const int32_t before = i - 500;
        if (real)
            d[i] = (float)before;
        else
            memcpy(&d[i], &before, sizeof before);
    }
    tensor_core_multiply(d, &a, &b, (struct tensor_shape){M, N, a_type, b_type, true});
    for (int i = 0; i < M * N; ++i) {
        int64_t sum = i - 500;
        int32_t got;
        for (int k = 0; k < tensor_k(a_type); ++k)
            sum += whole(number(i / N, k, 1), a_type) * whole(number(i % N, k, 2), b_type);
        memcpy(&got, &d[i], sizeof got);
        if (real) got = (int32_t)d[i];
        EXPECT(got == sum, "types %d and %d, (%d, %d): %d, expected %ld", a_type, b_type, i / N,
               i % N, got, (long)sum);
    }
}

/* 1 + 2^-11 lies halfway between two fp16, and 2^-25 beyond it decides: rounding to fp32 first,
 * which cuts that off, would go the other way. What is cut off when terms are aligned does not
 * count. */
static void test_halves(void) {
    static const struct {
        float least;
        enum tensor_type type;
        float wanted;
    } rows[] = {{0x1p-25f, TENSOR_FP16, 1 + 0x1p-10f},
                {-0x1p-25f, TENSOR_FP16, 1},
                {0x1p-26f, TENSOR_FP16, 1},
                {0x1p-13f, TENSOR_E4M3, 1 + 0x1p-10f},
                {0x1p-14f, TENSOR_E4M3, 1},
                {0, TENSOR_FP16, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const struct tensor_term terms[] = {
            {1, 0}, {0x1p-11, -11}, {rows[i].least, rows[i].least ? -25 : 0}};
        const uint32_t bits = tensor_sum_half(terms, 3, tensor_precision(rows[i].type));
        float got;
        memcpy(&got, &bits, sizeof got);
        EXPECT(got == rows[i].wanted, "row %zu: %a", i, (double)got);
    }
}

static void test_fragments(void) {
    int owners[M][8] = {{0}};
    for (int thread = 0; thread < 128; ++thread)
        for (int i = 0; i < 4; ++i) {
            const struct fragment_position at = fragment_of_a32(thread, i);
            ++owners[at.row][at.column];
        }
    for (int i = 0; i < M * 8; ++i)
        EXPECT(owners[i / 8][i % 8] == 1, "element %d", i);
    const struct fragment_position at = fragment_of_a32(37, 3);
    EXPECT(at.row == 25 && at.column == 5, "thread 37, register 3: (%d, %d)", at.row, at.column);
}

int main(void) {
    test_fragments();
    test_halves();
    test_products(TENSOR_TF32, TENSOR_TF32);
    test_products(TENSOR_S8, TENSOR_S8);
    test_products(TENSOR_U8, TENSOR_U8);
    test_products(TENSOR_S8, TENSOR_U8);
    return expect_result();
}
