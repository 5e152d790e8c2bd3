/*
 * library.c: the library: weights are prepared, planned products are repeated.
 */
#include <stdio.h>
#include <stdlib.h>

#include "plan.h"
#include "scaled/w4_block.h"
#include "w4a8_gemm.h"
#include "w4a8_select.h"

struct w4a8_gemm_plan {
    struct gemm_plan plan;
    struct gemm_problem problem; /* extents and leading dimensions, when runs begin */
    const struct gemm_kernel *kernel;
};

/* ---- arguments ---- */

/* Reports on stderr which argument is wrong; false. */
static bool bad(const char *argument, long long value, const char *rule) {
    fprintf(stderr, "w4a8_gemm: %s = %lld: %s\n", argument, value, rule);
    return false;
}

static bool check_extent(const char *name, int extent) {
    enum { LARGEST = 2000000000 }; /* leaves room for rounding up to a tile */
    return (extent >= 1 && extent <= LARGEST) || bad(name, extent, "must be from 1 to 2000000000");
}

static bool check_ld(const char *name, int64_t ld, int columns, int multiple) {
    return (ld >= columns && ld % multiple == 0 && ld < INT64_C(1) << 39) ||
           bad(name, ld,
               multiple == 16  ? "must be a multiple of 16, at least a row's length, and below 2^39"
               : multiple == 8 ? "must be a multiple of 8, at least a row's length, and below 2^39"
                               : "must be at least a row's length, and below 2^39");
}

static bool check_pointer(const char *name, const void *pointer, unsigned multiple) {
    return (pointer && (uintptr_t)pointer % multiple == 0) ||
           bad(name, (long long)(uintptr_t)pointer,
               multiple == 16 ? "must be a multiple of 16 and not NULL"
               : multiple > 1 ? "must be a multiple of 4 and not NULL"
                              : "must not be NULL");
}

/* For the TMA the blocks are a matrix of lines, of which a tensor map counts 2^31 - 1 at most. */
static bool check_blocks(int n, int k) {
    if (!check_extent("n", n) || !check_extent("k", k)) return false;
    const size_t gigabytes = w4_bytes(n, k) >> 30;
    return gigabytes < 256 ||
           bad("blocks, in GB", (long long)gigabytes, "must be below 256: n or k is too large");
}

static bool check_shape(const struct gemm_problem *p) {
    return check_extent("m", p->m) && check_blocks(p->n, p->k) &&
           check_ld("lda", p->lda, p->k, 16) && check_ld("ldd", p->ldd, p->n, 8);
}

static bool check_pointers(const struct gemm_problem *p) {
    return check_pointer("a", p->a, 16) &&
           check_pointer("scale_a", p->matrix[MATRIX_SCALES_A].memory, 4) &&
           check_pointer("blocks", p->b, 16) && check_pointer("d", p->d, 16);
}

/* ---- weights ---- */

size_t w4a8_gemm_weight_bytes(int n, int k) { return check_blocks(n, k) ? w4_bytes(n, k) : 0; }

/* Puts a group of up to 128 weights and its scale at their places. */
static void put_group(uint8_t *block, int channel, int first, const int8_t *weights, int count,
                      uint16_t scale) {
    w4_put_scale(block, channel, scale);
    for (int i = 0; i < count; ++i)
        w4_put(block, channel, first + i, weights[i]);
}

static int group_size(int k, int group) {
    return k - group * W4_BLOCK < W4_BLOCK ? k - group * W4_BLOCK : W4_BLOCK;
}

int w4a8_gemm_quantize(int n, int k, const float *weights, int64_t ld, void *blocks) {
    if (!check_blocks(n, k) || !check_ld("ld", ld, k, 1) || !check_pointer("weights", weights, 4) ||
        !check_pointer("blocks", blocks, 1))
        return W4A8_GEMM_BAD_ARGUMENT;
    for (int channel = 0; channel < n; ++channel)
        for (int i = 0; i < k; ++i)
            if (!isfinite(weights[channel * ld + i]))
                return bad("weights, column", channel, "holds an infinity or a NaN"),
                       W4A8_GEMM_BAD_ARGUMENT;
    const int groups = ceil_div(k, W4_BLOCK);
    memset(blocks, 0, w4_bytes(n, k));
    for (int channel = 0; channel < n; ++channel)
        for (int group = 0; group < groups; ++group) {
            const float *const real = weights + channel * ld + group * W4_BLOCK;
            const int count = group_size(k, group);
            const uint16_t scale = w4_scale(real, count);
            int8_t whole[W4_BLOCK];
            for (int i = 0; i < count; ++i)
                whole[i] = (int8_t)w4_weight(real[i], bf16_to_float(scale));
            put_group(w4_block_of(blocks, groups, channel, group), channel, group * W4_BLOCK, whole,
                      count, scale);
        }
    return W4A8_GEMM_OK;
}

int w4a8_gemm_arrange(int n, int k, const int8_t *weights, int64_t ld, const float *scales,
                      int64_t scale_ld, void *blocks) {
    const int groups = ceil_div(k > 0 ? k : 1, W4_BLOCK);
    if (!check_blocks(n, k) || !check_ld("ld", ld, k, 1) ||
        !check_ld("scale_ld", scale_ld, groups, 1) || !check_pointer("weights", weights, 1) ||
        !check_pointer("scales", scales, 4) || !check_pointer("blocks", blocks, 1))
        return W4A8_GEMM_BAD_ARGUMENT;
    for (int channel = 0; channel < n; ++channel)
        for (int i = 0; i < k; ++i)
            if (abs(weights[channel * ld + i]) > W4_GREATEST)
                return bad("weights, an element", weights[channel * ld + i],
                           "must be from -7 to 7: scale a group with -8 anew"),
                       W4A8_GEMM_BAD_ARGUMENT;
    for (int channel = 0; channel < n; ++channel)
        for (int group = 0; group < groups; ++group)
            if (!isfinite(bf16_to_float(float_to_bf16(scales[channel * scale_ld + group]))))
                return bad("scales, column", channel, "holds an infinity or a NaN as a bf16"),
                       W4A8_GEMM_BAD_ARGUMENT;
    memset(blocks, 0, w4_bytes(n, k));
    for (int channel = 0; channel < n; ++channel)
        for (int group = 0; group < groups; ++group)
            put_group(w4_block_of(blocks, groups, channel, group), channel, group * W4_BLOCK,
                      weights + channel * ld + group * W4_BLOCK, group_size(k, group),
                      float_to_bf16(scales[channel * scale_ld + group]));
    return W4A8_GEMM_OK;
}

/* ---- without a plan ---- */

static int launch(const struct gemm_kernel *kernel, const struct gemm_problem *p, void *stream) {
    return kernel->launch(p, stream) == GEMM_OK ? W4A8_GEMM_OK : W4A8_GEMM_FAILED;
}

int w4a8_gemm(void *stream, int m, int n, int k, const void *a, int64_t lda, const float *scale_a,
              const void *blocks, void *d, int64_t ldd) {
    const struct gemm_problem problem = {.m = m,
                                         .n = n,
                                         .k = k,
                                         .lda = lda,
                                         .ldd = ldd,
                                         .a = a,
                                         .b = blocks,
                                         .d = d,
                                         .matrix = {{(void *)(uintptr_t)scale_a, m}}};
    if (!check_shape(&problem) || !check_pointers(&problem)) return W4A8_GEMM_BAD_ARGUMENT;
    const struct gemm_kernel *kernel = w4a8_selected_kernel(&problem);
    return kernel ? launch(kernel, &problem, stream) : W4A8_GEMM_FAILED;
}

/* ---- plans ---- */

/* Stores the kernel's launch in the plan, which begins as early as the kernel allows, but not
 * before `early`; if that fails, the plan is as before. */
static bool store_launch(struct w4a8_gemm_plan *plan, enum gemm_early early) {
    struct gemm_plan stored;
    struct gemm_problem problem = plan->problem;
    problem.early = early < plan->kernel->earliest ? early : plan->kernel->earliest;
    if (!gemm_plan_store(&stored, plan->kernel, problem) || stored.count != 1) {
        fprintf(stderr, "w4a8_gemm: there is no plan for the configuration %s\n",
                plan->kernel->variant);
        return false;
    }
    plan->plan = stored;
    plan->problem = problem;
    return true;
}

int w4a8_gemm_plan_create(struct w4a8_gemm_plan **result, int m, int n, int k, int64_t lda,
                          int64_t ldd) {
    if (!result) return bad("plan", 0, "is NULL"), W4A8_GEMM_BAD_ARGUMENT;
    *result = NULL;
    const struct gemm_problem problem = {.m = m, .n = n, .k = k, .lda = lda, .ldd = ldd};
    if (!check_shape(&problem)) return W4A8_GEMM_BAD_ARGUMENT;
    const struct gemm_kernel *kernel = w4a8_selected_kernel(&problem);
    if (!kernel) return W4A8_GEMM_FAILED;
    struct w4a8_gemm_plan *plan = aligned_alloc(_Alignof(struct w4a8_gemm_plan), sizeof *plan);
    if (!plan) {
        fprintf(stderr, "w4a8_gemm: there is no memory for a plan\n");
        return W4A8_GEMM_FAILED;
    }
    memset(plan, 0, sizeof *plan);
    plan->problem = problem;
    plan->kernel = kernel;
    if (!store_launch(plan, GEMM_IN_ORDER)) {
        free(plan);
        return W4A8_GEMM_FAILED;
    }
    *result = plan;
    return W4A8_GEMM_OK;
}

int w4a8_gemm_plan_set_early(struct w4a8_gemm_plan *plan, int early) {
    if (!plan) return bad("plan", 0, "is NULL"), W4A8_GEMM_BAD_ARGUMENT;
    if (early != W4A8_GEMM_IN_ORDER && early != W4A8_GEMM_EARLY)
        return bad("early", early, "must be an enum w4a8_gemm_early"), W4A8_GEMM_BAD_ARGUMENT;
    return store_launch(plan, early ? GEMM_EARLY_B : GEMM_IN_ORDER) ? W4A8_GEMM_OK
                                                                    : W4A8_GEMM_FAILED;
}

int w4a8_gemm_plan_run(const struct w4a8_gemm_plan *plan, void *stream, const void *a,
                       const float *scale_a, const void *blocks, void *d) {
    if (!plan) return bad("plan", 0, "is NULL"), W4A8_GEMM_BAD_ARGUMENT;
    struct gemm_problem problem = plan->problem;
    problem.a = a;
    problem.b = blocks;
    problem.d = d;
    problem.matrix[MATRIX_SCALES_A].memory = (void *)(uintptr_t)scale_a;
    if (!check_pointers(&problem)) return W4A8_GEMM_BAD_ARGUMENT;
    return gemm_plan_run(&plan->plan, plan->kernel, &problem, stream) == GEMM_OK ? W4A8_GEMM_OK
                                                                                 : W4A8_GEMM_FAILED;
}

void w4a8_gemm_plan_destroy(struct w4a8_gemm_plan *plan) { free(plan); }
