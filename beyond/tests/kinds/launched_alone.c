/*
 * launched_alone.c: 15's and 16's kernels in a program that has neither their kind nor the
 * harness's command line: each problem says itself what its kernel must know. Two problems with
 * different numbers are there at once, and the second is made before the first is launched.
 */
#include "15_grouped_gemm/grouped.h"
#include "attend.h"

extern const struct gemm_kernel kernel_15_grouped_gemm_bf16, kernel_15_grouped_gemm_one_map_bf16,
    kernel_15_grouped_gemm_host_maps_bf16, kernel_16_attention_bf16,
    kernel_16_attention_serial_bf16, kernel_16_attention_pingpong_bf16;

/* Launches both of the problems before it waits for one. */
static enum gemm_status enqueue_two(const struct contender *self, const struct gemm_problem *p,
                                    void *stream) {
    const enum gemm_status status = self->kernel->launch(&p[0], stream);
    return status ? status : self->kernel->launch(&p[1], stream);
}

static void run_two(const struct gemm_kernel *kernel, struct gemm_problem p[2]) {
    const struct contender both = {.name = kernel->name, .kernel = kernel, .enqueue = enqueue_two};
    double cycles;
    for (int i = 0; i < 2; ++i) {
        const size_t bytes = kernel->workspace_bytes ? kernel->workspace_bytes(&p[i]) : 0;
        p[i].workspace = bytes ? backend_alloc(bytes, "workspace", true) : NULL;
    }
    EXPECT(!kernel->kind, "the harness's kind is linked");
    EXPECT(backend_run(&both, p, &cycles) == RUN_OK, "%s fails", kernel->name);
    for (int i = 0; i < 2; ++i)
        if (p[i].workspace) backend_free(p[i].workspace);
}

/* ---- 15 ---- */

enum { ROWS = 190, COLUMNS = 136, DEPTH = 72 };

static void test_grouped(const struct gemm_kernel *kernel) {
    static const int first[2][7] = {{0, 60, 60, ROWS}, {0, 1, 2, 100, 150, 160, ROWS}};
    const struct grouped_problem of[2] = {{3, first[0]}, {6, first[1]}};
    struct matrix a[2], b[2], d[2];
    struct gemm_problem p[2];
    for (int i = 0; i < 2; ++i) {
        a[i] = matrix_of(ROWS, DEPTH, true);
        b[i] = matrix_of(of[i].groups * COLUMNS, DEPTH, true);
        d[i] = matrix_of(ROWS, COLUMNS, false);
        p[i] = (struct gemm_problem){.m = ROWS,
                                     .n = COLUMNS,
                                     .k = DEPTH,
                                     .lda = DEPTH,
                                     .ldb = DEPTH,
                                     .ldd = COLUMNS,
                                     .a = a[i].memory,
                                     .b = b[i].memory,
                                     .d = d[i].memory,
                                     .of_kind = &of[i]};
        p[i].matrix[FIRST_ROWS].memory = put(first[i], ((size_t)of[i].groups + 1) * sizeof(int));
    }
    run_two(kernel, p);
    for (int i = 0; i < 2; ++i) {
        int wrong = 0;
        fetch(&d[i]);
        for (int row = 0, group = 0; row < ROWS; ++row) {
            while (row >= first[i][group + 1])
                ++group;
            for (int column = 0; column < COLUMNS; ++column) {
                float sum = 0;
                for (int k = 0; k < DEPTH; ++k)
                    sum += at(&a[i], row, k) * at(&b[i], group * COLUMNS + column, k);
                wrong += at(&d[i], row, column) != bf16_to_float(float_to_bf16(sum));
            }
        }
        EXPECT(!wrong, "%s, problem %d: %d elements are wrong",
               kernel->variant ? kernel->variant : kernel->name, i, wrong);
        forget(&a[i]), forget(&b[i]), forget(&d[i]);
        backend_free(p[i].matrix[FIRST_ROWS].memory);
    }
}

/* ---- 16 ---- */

enum { QUERIES = 200, KEYS = 150, HEADS = 4 /* the most, of all sequences */ };

/* Sequences lie side by side in Q, K and O, and one after another in V. */
static void test_attention(const struct gemm_kernel *kernel) {
    const struct attention_problem of[2] = {{.batch = 1,
                                             .heads = 1,
                                             .kv_heads = 1,
                                             .strides = {HEAD, HEAD, KEYS * HEAD, HEAD},
                                             .causal = true,
                                             .scale = 0.0625f},
                                            {.batch = 2,
                                             .heads = 2,
                                             .kv_heads = 1,
                                             .strides = {2 * HEAD, HEAD, KEYS * HEAD, 2 * HEAD},
                                             .causal = false,
                                             .scale = 0.03125f}};
    struct matrix q[2], k[2], v[2], o[2];
    struct gemm_problem p[2];
    float *const lse = filled(sizeof(float[HEADS * QUERIES]), 0xff);
    for (int i = 0; i < 2; ++i) {
        q[i] = matrix_of(QUERIES, of[i].batch * of[i].heads * HEAD, true);
        k[i] = matrix_of(KEYS, of[i].batch * of[i].kv_heads * HEAD, true);
        v[i] = matrix_of(of[i].batch * KEYS, of[i].kv_heads * HEAD, true);
        o[i] = matrix_of(QUERIES, of[i].batch * of[i].heads * HEAD, false);
        p[i] = (struct gemm_problem){.m = QUERIES,
                                     .n = KEYS,
                                     .k = HEAD,
                                     .lda = q[i].columns,
                                     .ldb = k[i].columns,
                                     .ldd = o[i].columns,
                                     .a = q[i].memory,
                                     .b = k[i].memory,
                                     .d = o[i].memory,
                                     .of_kind = &of[i]};
        p[i].matrix[VALUES] = (struct gemm_matrix){v[i].memory, v[i].columns};
        p[i].matrix[LSE] = (struct gemm_matrix){put(lse, sizeof(float[HEADS * QUERIES])), QUERIES};
    }
    run_two(kernel, p);
    for (int i = 0; i < 2; ++i) {
        const int sharing = of[i].heads / of[i].kv_heads;
        struct difference difference = {0};
        fetch(&o[i]);
        if (!backend_copy_out(lse, p[i].matrix[LSE].memory, sizeof(float[HEADS * QUERIES])))
            exit(1);
        for (int number = 0; number < of[i].batch * of[i].heads; ++number) {
            const int sequence = number / of[i].heads, kv = number % of[i].heads / sharing;
            const struct attended_head head = {
                .q = {&q[i], 0, number * HEAD},
                .k = {&k[i], 0, (sequence * of[i].kv_heads + kv) * HEAD},
                .v = {&v[i], sequence * KEYS, kv * HEAD},
                .o = {&o[i], 0, number * HEAD},
                .queries = QUERIES,
                .keys = KEYS};
            compare_head(&of[i], &head, &lse[number * QUERIES], &difference);
        }
        EXPECT(is_right(&difference), "%s, problem %d: O is off by %g, LSE by %g",
               kernel->variant ? kernel->variant : kernel->name, i, difference.o, difference.lse);
        forget(&q[i]), forget(&k[i]), forget(&v[i]), forget(&o[i]);
        backend_free(p[i].matrix[LSE].memory);
    }
    free(lse);
}

int main(void) {
    const struct backend_options options = {.type = GEMM_BF16};
    struct backend_info device;
    if (backend_open(&options, &device) != EXIT_VERIFIED) return 1;
    test_grouped(&kernel_15_grouped_gemm_bf16);
    test_grouped(&kernel_15_grouped_gemm_one_map_bf16);
    test_grouped(&kernel_15_grouped_gemm_host_maps_bf16);
    test_attention(&kernel_16_attention_bf16);
    test_attention(&kernel_16_attention_serial_bf16);
    test_attention(&kernel_16_attention_pingpong_bf16);
    backend_close();
    return expect_result();
}
