/*
 * group_ends.c: 15's kernels with a table of groups that no router should leave: a word below the
 * one before it, words behind the last row of D. The first makes its group empty, the others count
 * as m, and what lies behind D keeps what it held.
 */
#include "15_grouped_gemm/grouped.h"
#include "element_codec.h"
#include "harness/problem_kind.h"
#include "memory.h"

extern const struct gemm_kernel kernel_15_grouped_gemm_bf16, kernel_15_grouped_gemm_one_map_bf16,
    kernel_15_grouped_gemm_host_maps_bf16;

enum { M = 150, N = 200, K = 24, GROUPS = 5, BEHIND = 300 /* rows behind D */, UNTOUCHED = 0x7fa5 };
static const int words[GROUPS + 1] = {0, 70, 40, 140, 400, 190};
static const int first[GROUPS + 1] = {0, 70, 70, 140, M, M}; /* that they mean */

/* Group g's row r of B is g + r % 7 for every k, and A's row is all ones. */
static float expected(int row, int column) {
    int g = 0;
    while (row >= first[g + 1])
        ++g;
    return (float)(K * (g + column % 7));
}

static void test_kernel(const struct gemm_kernel *kernel) {
    uint16_t *const a = filled(M * K * 2, 0), *const b = filled(GROUPS * N * K * 2, 0);
    uint16_t *const d = filled((M + BEHIND) * N * 2, 0);
    for (int i = 0; i < M * K; ++i)
        a[i] = float_to_bf16(1);
    for (int i = 0; i < GROUPS * N * K; ++i)
        b[i] = float_to_bf16((float)(i / K / N + i / K % N % 7));
    for (int i = 0; i < (M + BEHIND) * N; ++i)
        d[i] = UNTOUCHED;
    const struct grouped_problem of = {GROUPS, words};
    struct gemm_problem p = {.m = M, .n = N, .k = K, .lda = K, .ldb = K, .ldd = N, .of_kind = &of};
    p.a = put(a, M * K * 2);
    p.b = put(b, GROUPS * N * K * 2);
    p.d = put(d, (M + BEHIND) * N * 2);
    p.matrix[FIRST_ROWS] = (struct gemm_matrix){put(words, sizeof words), GROUPS + 1};
    const size_t bytes = kernel->workspace_bytes ? kernel->workspace_bytes(&p) : 0;
    p.workspace = bytes ? backend_alloc(bytes, "workspace", true) : NULL;
    run(kernel, &p);
    if (!backend_copy_out(d, p.d, (M + BEHIND) * N * 2)) exit(1);
    int wrong = 0, written = 0;
    for (int i = 0; i < (M + BEHIND) * N; ++i) {
        const int row = i / N;
        if (row >= M)
            written += d[i] != UNTOUCHED;
        else
            wrong += bf16_to_float(d[i]) != bf16_to_float(float_to_bf16(expected(row, i % N)));
    }
    EXPECT(!wrong, "%s: %d elements are wrong", kernel->variant ? kernel->variant : "kernel",
           wrong);
    EXPECT(!written, "%s: %d elements behind D were written",
           kernel->variant ? kernel->variant : "kernel", written);
    backend_free(p.workspace);
    backend_free(p.matrix[FIRST_ROWS].memory);
    backend_free(p.d);
    backend_free((void *)(uintptr_t)p.b);
    backend_free((void *)(uintptr_t)p.a);
    free(a), free(b), free(d);
}

int main(void) {
    const struct backend_options options = {.type = GEMM_BF16};
    struct backend_info device;
    if (backend_open(&options, &device) != EXIT_VERIFIED) return 1;
    test_kernel(&kernel_15_grouped_gemm_bf16);
    test_kernel(&kernel_15_grouped_gemm_one_map_bf16);
    test_kernel(&kernel_15_grouped_gemm_host_maps_bf16);
    backend_close();
    return expect_result();
}
