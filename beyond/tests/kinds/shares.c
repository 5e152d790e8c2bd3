/*
 * shares.c: what the kind of chapter 13 holds a kernel for several devices to. The kernels are
 * loops on the host in the simulated memory: one that is right for each layout, and others with one
 * mistake each, which has to be found.
 */
#include <stdlib.h>
#include <string.h>

#include "13_two_gpus/split.h"
#include "element_codec.h"
#include "harness/experiment.h"
#include "tests/support/expect.h"

enum { M = 300, N = 700, K = 200, GPUS = 3, WORDS = 5 };

/* What a kernel does wrong. */
static enum mistake {
    NONE,
    FLAG_STAYS,      /* leaves a flag at 1 */
    OTHERS_ROW,      /* device 0 writes a row of the last device */
    NOT_WRITTEN,     /* an element of the last device's slice */
    OWN_COPY_ONLY,   /* reads the whole of A in its own memory, where others' slices are NaN */
    PADDING_WRITTEN, /* behind the last column, on the last device */
    MISTAKES
} mistake;
static const char *const mistake_names[MISTAKES] = {"none",        "flag stays",    "others' row",
                                                    "not written", "own copy only", "padding"};

static float value_of(const element_t *at) { return decode_element(at->bits, GEMM_BF16); }

/* The device whose slice of `count` tiles contains the tile. */
static int owner_of(int tile, int count, int devices) {
    int device = 0;
    while (gemm_slice(count, device + 1, devices) <= tile)
        ++device;
    return device;
}

static bool rows_sliced; /* the layout is LAYOUT_SLICES_OF_ROWS */

/* One element, from the memory of those that have its operands. */
static float product(const struct gemm_problem *p, int row, int column, int self) {
    const int d = split_of(p)->devices;
    float sum = 0;
    for (int i = 0; i < p->k; ++i) {
        const int by_k = owner_of(i / SLICE_K, ceil_div(p->k, SLICE_K), d);
        const int a_on = rows_sliced ? owner_of(row / SLICE_M, ceil_div(p->m, SLICE_M), d) : by_k;
        const int b_on = rows_sliced ? self : by_k;
        const element_t *const a = split_of(p)->share[mistake == OWN_COPY_ONLY ? self : a_on].a;
        sum += value_of(&a[row * p->lda + i]) *
               value_of(&split_of(p)->share[b_on].b[column * p->ldb + i]);
    }
    return sum;
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    (void)stream;
    const int d = split_of(p)->devices;
    for (int row = 0; row < p->m; ++row)
        for (int column = 0; column < p->n; ++column) {
            const int owner = rows_sliced ? owner_of(column / SLICE_N, ceil_div(p->n, SLICE_N), d)
                                          : owner_of(row / SLICE_M, ceil_div(p->m, SLICE_M), d);
            if (mistake == NOT_WRITTEN && row == p->m - 1 && column == p->n - 1) continue;
            split_of(p)->share[owner].d[row * p->ldd + column].bits =
                encode_element(product(p, row, column, owner), GEMM_BF16);
        }
    if (mistake == OTHERS_ROW) split_of(p)->share[0].d[(p->m - 1) * p->ldd + p->n - 1].bits = 0;
    if (mistake == PADDING_WRITTEN)
        split_of(p)->share[d - 1].d[(p->m - 1) * p->ldd + p->n].bits = 0;
    memset(split_of(p)->share[d - 1].workspace, 0, WORDS); /* is there */
    if (mistake == FLAG_STAYS) split_of(p)->share[d - 1].flags[WORDS - 1] = 1;
    return GEMM_OK;
}

static size_t words(const struct gemm_problem *problem) {
    (void)problem;
    return WORDS;
}

static void no_kernel(void) {}

static struct gemm_kernel kernel = {.name = "13_fake",
                                    .tile_m = SLICE_M,
                                    .tile_n = SLICE_N,
                                    .tile_k = SLICE_K,
                                    .threads = 32,
                                    .cluster = 1,
                                    .launch = launch,
                                    .workspace_bytes = words,
                                    .several_devices = true};
static struct split_kernel split = {.flags = words};

static enum exit_code run(enum split_layout layout, enum mistake made) {
    struct backend_info device = {0};
    struct experiment experiment;
    struct kernel_result result;
    const struct gemm_kernel *const kernels = &kernel;
    split.layout = layout;
    kernel.kind = &split_kind;
    kernel.of_kind = &split;
    kernel.function = (const void *)(uintptr_t)no_kernel;
    rows_sliced = layout == LAYOUT_SLICES_OF_ROWS;
    mistake = made;
    if (backend_open(&(struct backend_options){.type = GEMM_BF16, .gpus = GPUS}, &device)) exit(1);
    enum exit_code code = experiment_open(&experiment, &device, (struct problem_size){M, N - 1, K},
                                          GEMM_BF16, INPUT_INTEGER, 1, &kernels, 1, false);
    EXPECT(code == EXIT_VERIFIED && experiment.kind.problem.devices == GPUS, "cannot begin");
    if (code == EXIT_VERIFIED) {
        experiment_verify(&experiment, &kernel, &result);
        code = result.code;
    }
    experiment_close(&experiment);
    backend_close();
    return code;
}

/* The largest whole number, where parts are rounded. */
static int limit_of_parts(int k, enum gemm_type type) {
    const struct gemm_kernel *const kernels = &kernel;
    split.rounds_parts = true;
    const int limit = split_kind.integer_limit(&kernels, 1, k, type);
    split.rounds_parts = false;
    return limit;
}

int main(void) {
    kernel.of_kind = &split;
    EXPECT(limit_of_parts(256, GEMM_BF16) == 2 && limit_of_parts(2304, GEMM_BF16) == 1 &&
               limit_of_parts(2305, GEMM_BF16) == 0 && limit_of_parts(2305, GEMM_FP16) == 3,
           "the limits of integers in parts: %d %d %d %d", limit_of_parts(256, GEMM_BF16),
           limit_of_parts(2304, GEMM_BF16), limit_of_parts(2305, GEMM_BF16),
           limit_of_parts(2305, GEMM_FP16));
    for (int layout = 0; layout < SPLIT_LAYOUTS; ++layout)
        for (int made = NONE; made < MISTAKES; ++made) {
            const enum exit_code code = run((enum split_layout)layout, (enum mistake)made);
            EXPECT(code == (made == NONE ? EXIT_VERIFIED : EXIT_WRONG), "layout %d, %s: code %d",
                   layout, mistake_names[made], code);
        }
    return expect_result();
}
