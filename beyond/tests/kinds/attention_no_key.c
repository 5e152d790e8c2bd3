/*
 * attention_no_key.c: a query that sees no key has O = 0 and LSE = -infinity, also where a value is
 * infinite or no number: 0 times that would be no number. A query that sees such a key has a result
 * that is no number.
 */
#include <math.h>

#include "16_attention/attention.h"
#include "element_codec.h"
#include "harness/problem_kind.h"
#include "memory.h"

extern const struct gemm_kernel kernel_16_attention_bf16, kernel_16_attention_serial_bf16,
    kernel_16_attention_pingpong_bf16, kernel_16_attention_d64_bf16;

enum { M = 300, N = 100, NO_KEY = M - N /* so many queries see none */ };

static void test_kernel(const struct gemm_kernel *kernel, int d) {
    uint16_t *const q = filled((size_t)(M * d * 2), 0), *const k = filled((size_t)(N * d * 2), 0);
    uint16_t *const v = filled((size_t)(N * d * 2), 0), *const o =
                                                            filled((size_t)(M * d * 2), 0xff);
    float *const lse = filled(M * sizeof *lse, 0xff);
    for (int i = 0; i < N * d; ++i)
        v[i] = float_to_bf16(i < d ? INFINITY : 1); /* key 0's */
    const struct attention_problem of = {
        .batch = 1, .heads = 1, .kv_heads = 1, .causal = true, .scale = 1};
    struct gemm_problem p = {.m = M, .n = N, .k = d, .lda = d, .ldb = d, .ldd = d, .of_kind = &of};
    p.a = put(q, (size_t)(M * d * 2));
    p.b = put(k, (size_t)(N * d * 2));
    p.d = put(o, (size_t)(M * d * 2));
    p.matrix[VALUES] = (struct gemm_matrix){put(v, (size_t)(N * d * 2)), d};
    p.matrix[LSE] = (struct gemm_matrix){put(lse, M * sizeof *lse), M};
    run(kernel, &p);
    if (!backend_copy_out(o, p.d, (size_t)(M * d * 2)) ||
        !backend_copy_out(lse, p.matrix[LSE].memory, M * sizeof *lse))
        exit(1);
    const char *const name = kernel->variant ? kernel->variant : "kernel";
    for (int row = 0; row < M; ++row) {
        const float got = bf16_to_float(o[row * d]);
        EXPECT(row < NO_KEY ? got == 0 : !isfinite(got), "%s, row %d: O = %g", name, row,
               (double)got);
        EXPECT(row < NO_KEY ? lse[row] == -INFINITY
                            : fabsf(lse[row] - logf((float)(row - NO_KEY + 1))) < 1e-6f * 8,
               "%s, row %d: LSE = %g", name, row, (double)lse[row]);
    }
    for (int i = 0; i < ATTENTION_MATRICES; ++i)
        backend_free(p.matrix[i].memory);
    backend_free(p.d);
    backend_free((void *)(uintptr_t)p.b);
    backend_free((void *)(uintptr_t)p.a);
    free(q), free(k), free(v), free(o), free(lse);
}

int main(void) {
    const struct backend_options options = {.type = GEMM_BF16};
    struct backend_info device;
    if (backend_open(&options, &device) != EXIT_VERIFIED) return 1;
    test_kernel(&kernel_16_attention_bf16, 128);
    test_kernel(&kernel_16_attention_serial_bf16, 128);
    test_kernel(&kernel_16_attention_pingpong_bf16, 128);
    test_kernel(&kernel_16_attention_d64_bf16, 64);
    backend_close();
    return expect_result();
}
