/*
 * launched_alone.c: 15's and 16's kernels in a program that has neither their kind nor the
 * harness's command line: each problem says itself what its kernel must know. Two problems with
 * different numbers are there at once, and the second is made before the first is launched.
 */
#include <math.h>

#include "15_grouped_gemm/grouped.h"
#include "16_attention/attention.h"
#include "element_codec.h"
#include "memory.h"

extern const struct gemm_kernel kernel_15_grouped_gemm_bf16, kernel_15_grouped_gemm_one_map_bf16,
    kernel_15_grouped_gemm_host_maps_bf16, kernel_16_attention_bf16,
    kernel_16_attention_serial_bf16, kernel_16_attention_pingpong_bf16;

/* A matrix of small whole numbers, on the host and in the simulator's memory. */
struct matrix {
    int rows, columns;
    uint16_t *host;
    void *memory;
};

static struct matrix matrix_of(int rows, int columns, bool drawn) {
    const size_t bytes = (size_t)rows * (size_t)columns * 2;
    struct matrix x = {rows, columns, filled(bytes, 0xff), NULL};
    for (int i = 0; drawn && i < rows * columns; ++i)
        x.host[i] = float_to_bf16((float)(rand() % 5 - 2));
    x.memory = put(x.host, bytes);
    return x;
}

static float at(const struct matrix *x, int row, int column) {
    return bf16_to_float(x->host[row * x->columns + column]);
}

static void fetch(struct matrix *x) {
    if (!backend_copy_out(x->host, x->memory, (size_t)x->rows * (size_t)x->columns * 2)) exit(1);
}

static void forget(struct matrix *x) {
    backend_free(x->memory);
    free(x->host);
}

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

enum { QUERIES = 200, KEYS = 150, HEAD = 128, HEADS = 4 /* the most, of all sequences */ };

/* O and LSE of a query, in fp64. `head` counts those of all sequences, which lie side by side in Q,
 * K and O, and one after another in V. */
static double attend(const struct attention_problem *of, const struct matrix *q,
                     const struct matrix *k, const struct matrix *v, int row, int head,
                     double o[HEAD]) {
    const int sequence = head / of->heads, sharing = of->heads / of->kv_heads;
    const int kv = head % of->heads / sharing, kv_of_all = sequence * of->kv_heads + kv;
    const int seen = of->causal ? row + KEYS - QUERIES + 1 : KEYS;
    double exponent[KEYS], max = -INFINITY, sum = 0;
    memset(o, 0, HEAD * sizeof *o);
    for (int key = 0; key < seen; ++key) {
        double score = 0;
        for (int i = 0; i < HEAD; ++i)
            score += at(q, row, head * HEAD + i) * at(k, key, kv_of_all * HEAD + i);
        exponent[key] = score * (double)of->scale;
        max = fmax(max, exponent[key]);
    }
    for (int key = 0; key < seen; ++key) {
        const double power = exp2(exponent[key] - max);
        sum += power;
        for (int i = 0; i < HEAD; ++i)
            o[i] += power * at(v, sequence * KEYS + key, kv * HEAD + i);
    }
    for (int i = 0; i < HEAD && seen > 0; ++i)
        o[i] /= sum;
    return seen > 0 ? (max + log2(sum)) * log(2) : -INFINITY;
}

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
        double far = 0, lse_far = 0, row_of_o[HEAD];
        fetch(&o[i]);
        if (!backend_copy_out(lse, p[i].matrix[LSE].memory, sizeof(float[HEADS * QUERIES])))
            exit(1);
        for (int head = 0; head < of[i].batch * of[i].heads; ++head)
            for (int row = 0; row < QUERIES; ++row) {
                const double is = attend(&of[i], &q[i], &k[i], &v[i], row, head, row_of_o);
                const double got = lse[head * QUERIES + row];
                lse_far = fmax(lse_far, is == got ? 0 : isnan(got) ? INFINITY : fabs(is - got));
                for (int column = 0; column < HEAD; ++column) {
                    const double element = at(&o[i], row, head * HEAD + column);
                    far = fmax(far, isnan(element) ? INFINITY : fabs(element - row_of_o[column]));
                }
            }
        EXPECT(far < 0.02 && lse_far < 1e-5, "%s, problem %d: O is off by %g, LSE by %g",
               kernel->variant ? kernel->variant : kernel->name, i, far, lse_far);
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
