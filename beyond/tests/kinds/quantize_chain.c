/*
 * quantize_chain.c: what 14's quantize.cu leaves is what 11 takes as its A, without a copy: two
 * layers, D = gelu(A * B + bias), E = D * W, where a column of W has a single 1 and all its scales
 * are 1. So column j of E is a column of D, and has to be that e4m3 times its scale, in bf16, bit
 * for bit; and the scale has to make the greatest of each block 448.
 */
#include <math.h>

#include "14_fused_epilogue/fused.h"
#include "element_codec.h"
#include "memory.h"
#include "scaled/scales.h"

extern const struct gemm_kernel kernel_14_fused_epilogue_quantize_bf16;
extern const struct gemm_kernel kernel_11_fp8_scaling_e4m3;

/* The column of D that a column of E is. */
static int source_of(int column, int n) { return (5 * column + 1) % n; }

static void test_layers(int m, int n, int k, int columns) {
    const int blocks = ceil_div(n, SCALE_BLOCK), ld = (n + 15) / 16 * 16, lda = (k + 7) / 8 * 8;
    const int pitch_a = (m + 3) / 4 * 4, pitch_b = (blocks + 3) / 4 * 4;
    const size_t d_bytes = (size_t)m * (size_t)ld, e_ld = (size_t)(columns + 7) / 8 * 8;
    const size_t scale_bytes = (size_t)blocks * (size_t)pitch_a * sizeof(float);
    const size_t w_bytes = (size_t)columns * (size_t)ld;
    uint16_t *const a = filled((size_t)m * (size_t)lda * 2, 0);
    uint16_t *const b = filled((size_t)n * (size_t)lda * 2, 0);
    uint16_t *const bias = filled((size_t)ld * 2, 0);
    uint8_t *const d = filled(d_bytes, E4M3_NAN), *const w = filled(w_bytes, 0);
    float *const scales = filled(scale_bytes, 0xff);
    uint16_t *const e = filled((size_t)m * e_ld * 2, 0xff);
    const size_t ones = (size_t)ceil_div(columns, SCALE_BLOCK) * (size_t)pitch_b;
    float *const scale_b = filled(ones * sizeof(float), 0);
    for (int i = 0; i < m * lda; ++i)
        if (i % lda < k) a[i] = float_to_bf16((float)(rand() % 2001 - 1000) / 1000);
    for (int i = 0; i < n * lda; ++i)
        if (i % lda < k) b[i] = float_to_bf16((float)(rand() % 2001 - 1000) / 1000);
    for (int i = 0; i < n; ++i)
        bias[i] = float_to_bf16((float)(rand() % 2001 - 1000) / 1000);
    for (int i = 0; i < columns; ++i)
        w[(size_t)i * (size_t)ld + (size_t)source_of(i, n)] = float_to_e4m3(1);
    for (size_t i = 0; i < ones; ++i)
        scale_b[i] = 1;

    struct gemm_problem first = {.m = m, .n = n, .k = k, .lda = lda, .ldb = lda};
    first.a = put(a, (size_t)m * (size_t)lda * 2);
    first.b = put(b, (size_t)n * (size_t)lda * 2);
    first.matrix[BIAS] = (struct gemm_matrix){put(bias, (size_t)ld * 2), ld};
    first.matrix[QUANTIZED] = (struct gemm_matrix){put(d, d_bytes), ld};
    first.matrix[SCALES] = (struct gemm_matrix){put(scales, scale_bytes), pitch_a};
    run(&kernel_14_fused_epilogue_quantize_bf16, &first);

    struct gemm_problem second = {.m = m, .n = columns, .k = n, .lda = ld, .ldb = ld};
    second.ldd = (int64_t)e_ld;
    second.a = first.matrix[QUANTIZED].memory;
    second.b = put(w, w_bytes);
    second.d = put(e, (size_t)m * e_ld * 2);
    second.matrix[MATRIX_SCALES_A] = first.matrix[SCALES];
    second.matrix[MATRIX_SCALES_B] =
        (struct gemm_matrix){put(scale_b, ones * sizeof(float)), pitch_b};
    run(&kernel_11_fp8_scaling_e4m3, &second);

    if (!backend_copy_out(d, first.matrix[QUANTIZED].memory, d_bytes) ||
        !backend_copy_out(scales, first.matrix[SCALES].memory, scale_bytes) ||
        !backend_copy_out(e, second.d, (size_t)m * e_ld * 2))
        exit(1);
    for (int row = 0; row < m; ++row) {
        for (int j = 0; j < columns; ++j) {
            const int of = source_of(j, n);
            const float scale = scales[of / SCALE_BLOCK * pitch_a + row];
            const float value = scale * e4m3_to_float(d[(size_t)row * (size_t)ld + (size_t)of]);
            const float got = bf16_to_float(e[(size_t)row * e_ld + (size_t)j]);
            EXPECT(got == bf16_to_float(float_to_bf16(value)), "row %d, column %d: %g is not %g",
                   row, j, (double)got, (double)value);
        }
        for (int block = 0; block < blocks; ++block) {
            float greatest = 0;
            for (int i = block * SCALE_BLOCK; i < n && i < (block + 1) * SCALE_BLOCK; ++i)
                greatest =
                    fmaxf(greatest, fabsf(e4m3_to_float(d[(size_t)row * (size_t)ld + (size_t)i])));
            EXPECT(greatest == QUANTIZED_GREATEST, "row %d, block %d: the greatest is %g", row,
                   block, (double)greatest);
        }
    }
    backend_free((void *)(uintptr_t)first.a);
    backend_free((void *)(uintptr_t)first.b);
    backend_free((void *)(uintptr_t)second.b);
    backend_free(second.d);
    backend_free(second.matrix[MATRIX_SCALES_B].memory);
    for (int i = 0; i < QUANTIZE_MATRICES; ++i)
        backend_free(first.matrix[i].memory);
    free(a), free(b), free(bias), free(d), free(w), free(scales), free(e), free(scale_b);
}

int main(void) {
    const struct backend_options options = {.type = GEMM_E4M3};
    struct backend_info device;
    if (backend_open(&options, &device) != EXIT_VERIFIED) return 1;
    test_layers(200, 300, 130, 150); /* tails everywhere: D's rows end in a chunk of 16 bytes */
    test_layers(256, 256, 64, 128);
    test_layers(1, 5, 3, 9);
    backend_close();
    return expect_result();
}
