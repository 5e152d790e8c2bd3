/*
 * w4a8_gemm.c: the library w4a8_gemm: how it prepares weights, what it computes, and what it
 * refuses.
 */
#include "w4a8_gemm.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "element_codec.h"
#include "sim/core/simulation.h"
#include "tests/support/expect.h"

enum { GROUP = 128, NAN_16 = 0x7fff };

static void *memory_of(size_t bytes) {
    void *memory = calloc(bytes, 1);
    if (!memory) exit(1);
    return memory;
}

/* ---- weights: read back by the header's words alone ---- */

/* Where w4_block.h puts a weight: the block, its half (64 channels), 64 of k, the thread, the word,
 * and the bits of the word after the rotation that the second four weights need. */
static int weight_in(const uint8_t *blocks, int k, int channel, int column) {
    const int groups = (k + GROUP - 1) / GROUP, row = channel % 64;
    const uint8_t *const block = blocks + (channel / GROUP * groups + column / GROUP) * 8448;
    const int thread = row / 16 * 32 + row % 8 * 4 + column % 16 / 4;
    const int half = channel / 64 % 2, chunk = column / 64 % 2;
    uint32_t word;
    memcpy(&word,
           block + half * 4224 + (chunk * 128 + thread) * 16 +
               (column / 32 % 2 * 2 + column / 16 % 2) * 4,
           sizeof word);
    if (row / 8 % 2) word = word >> 4 | word << 28;
    const int byte = (int)(word >> column % 4 * 8 & 0x87);
    return byte & 0x80 ? -(byte & 7) : byte;
}

static float scale_in(const uint8_t *blocks, int k, int channel, int group) {
    const int groups = (k + GROUP - 1) / GROUP, row = channel % 64;
    const int half = channel / 64 % 2, word = row / 16 * 8 + row % 8;
    uint16_t scale;
    memcpy(&scale,
           blocks + (channel / GROUP * groups + group) * 8448 + half * 4224 + 4096 + word * 4 +
               row / 8 % 2 * 2,
           sizeof scale);
    return bf16_to_float(scale);
}

static void expect_quantized(int n, int k) {
    const int64_t ld = k + 3;
    const int groups = (k + GROUP - 1) / GROUP;
    float *const real = memory_of((size_t)n * (size_t)ld * sizeof *real);
    float *const scales = memory_of((size_t)n * (size_t)groups * sizeof *scales);
    int8_t *const whole = memory_of((size_t)n * (size_t)ld);
    const size_t bytes = w4a8_gemm_weight_bytes(n, k);
    uint8_t *const blocks = memory_of(bytes), *const again = memory_of(bytes);
    for (int64_t i = 0; i < n * ld; ++i)
        real[i] = ldexpf((float)(rand() % 2001 - 1000), (int)(i / ld + i % ld / GROUP) % 9 - 12);
    memset(blocks, 0xff, bytes); /* whatever was there */
    memset(again, 0xff, bytes);
    EXPECT(w4a8_gemm_quantize(n, k, real, ld, blocks) == W4A8_GEMM_OK, "%d x %d", n, k);
    int wrong = 0;
    for (int channel = 0; channel < n; ++channel)
        for (int group = 0; group < groups; ++group) {
            const int end = (group + 1) * GROUP < k ? (group + 1) * GROUP : k;
            double greatest = 0;
            for (int i = group * GROUP; i < end; ++i)
                greatest = fmax(greatest, fabs((double)real[channel * ld + i]));
            const float scale = scale_in(blocks, k, channel, group);
            scales[channel * groups + group] = scale;
            wrong += scale != bf16_to_float(float_to_bf16((float)(greatest / 7)));
            for (int i = group * GROUP; i < end; ++i) {
                const int weight = weight_in(blocks, k, channel, i);
                const double quotient = (double)real[channel * ld + i] / scale;
                whole[channel * ld + i] = (int8_t)weight;
                wrong += !(fabs(weight - quotient) <= 0.5001 ||
                           (abs(weight) == 7 && fabs(quotient) > 7 && fabs(quotient) < 7.04));
            }
        }
    EXPECT(wrong == 0, "%d x %d: %d weights or scales are wrong", n, k, wrong);
    EXPECT(w4a8_gemm_arrange(n, k, whole, ld, scales, groups, again) == W4A8_GEMM_OK, "%d x %d", n,
           k);
    EXPECT(memcmp(blocks, again, bytes) == 0, "%d x %d: rearranged weights differ", n, k);
    free(again);
    free(blocks);
    free(whole);
    free(scales);
    free(real);
}

/* bf16 has few bits near the least number that it holds; the weights must fit all the same. */
static void expect_least_scales(void) {
    for (int bits = 1; bits < 40000; bits += 7) {
        const float real[2] = {ldexpf((float)bits, -143), ldexpf((float)bits, -144)};
        uint8_t blocks[8448];
        EXPECT(w4a8_gemm_quantize(1, 2, real, 2, blocks) == W4A8_GEMM_OK, "%d", bits);
        const float scale = scale_in(blocks, 2, 0, 0);
        for (int i = 0; i < 2 && scale < 1; ++i)
            EXPECT(fabsf(real[i] / scale - (float)weight_in(blocks, 2, 0, i)) <= 0.5f,
                   "%g, the scale is %g: the weight is %d", (double)real[i], (double)scale,
                   weight_in(blocks, 2, 0, i));
    }
}

static void expect_weight_refusals(void) {
    float real[4] = {1, 2, 3, 4}, scale[1] = {1};
    int8_t whole[4] = {1, -7, 7, 0};
    uint8_t blocks[8448];
    memset(blocks, 0xaa, sizeof blocks);
    const float odd[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; ++i) {
        real[2] = odd[i];
        EXPECT(w4a8_gemm_quantize(1, 4, real, 4, blocks) == W4A8_GEMM_BAD_ARGUMENT, "%g", odd[i]);
    }
    const int8_t beyond[] = {-8, 8, 127, -128};
    for (int i = 0; i < 4; ++i) {
        whole[3] = beyond[i];
        EXPECT(w4a8_gemm_arrange(1, 4, whole, 4, scale, 1, blocks) == W4A8_GEMM_BAD_ARGUMENT, "%d",
               beyond[i]);
    }
    real[2] = 3, whole[3] = 0;
    const float too_large[] = {NAN, INFINITY, FLT_MAX}; /* the last one is infinite as a bf16 */
    for (int i = 0; i < 3; ++i)
        EXPECT(w4a8_gemm_arrange(1, 4, whole, 4, &too_large[i], 1, blocks) ==
                   W4A8_GEMM_BAD_ARGUMENT,
               "a scale of %g", too_large[i]);
    EXPECT(w4a8_gemm_quantize(0, 4, real, 4, blocks) == W4A8_GEMM_BAD_ARGUMENT &&
               w4a8_gemm_quantize(1, 4, real, 3, blocks) == W4A8_GEMM_BAD_ARGUMENT &&
               w4a8_gemm_quantize(1, 4, NULL, 4, blocks) == W4A8_GEMM_BAD_ARGUMENT &&
               w4a8_gemm_quantize(1, 4, real, 4, NULL) == W4A8_GEMM_BAD_ARGUMENT &&
               w4a8_gemm_arrange(1, -1, whole, 4, scale, 1, blocks) == W4A8_GEMM_BAD_ARGUMENT &&
               w4a8_gemm_arrange(1, 4, whole, 4, scale, 0, blocks) == W4A8_GEMM_BAD_ARGUMENT &&
               w4a8_gemm_arrange(1, 4, NULL, 4, scale, 1, blocks) == W4A8_GEMM_BAD_ARGUMENT &&
               w4a8_gemm_arrange(1, 4, whole, 4, NULL, 1, blocks) == W4A8_GEMM_BAD_ARGUMENT,
           "%s", "a wrong argument passes");
    for (size_t i = 0; i < sizeof blocks; ++i)
        EXPECT(blocks[i] == 0xaa, "%s", "refused, and written");
    EXPECT(w4a8_gemm_weight_bytes(0, 1) == 0 && w4a8_gemm_weight_bytes(2000000000, 300) == 0 &&
               w4a8_gemm_quantize(2000000000, 300, real, 300, blocks) == W4A8_GEMM_BAD_ARGUMENT &&
               w4a8_gemm_weight_bytes(129, 128) == 2 * 8448,
           "%s", "bytes of weights");
}

/* ---- products ---- */

struct call {
    int m, n, k;
    int64_t lda, ldd;
    const void *a, *blocks;
    const float *scale_a;
    void *d;
    const struct w4a8_gemm_plan *plan; /* NULL: w4a8_gemm() */
};

static int status_of_call;

static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *problem,
                                void *stream) {
    const struct call *c = self->state;
    (void)problem;
    status_of_call = c->plan
                         ? w4a8_gemm_plan_run(c->plan, stream, c->a, c->scale_a, c->blocks, c->d)
                         : w4a8_gemm(stream, c->m, c->n, c->k, c->a, c->lda, c->scale_a, c->blocks,
                                     c->d, c->ldd);
    return status_of_call == W4A8_GEMM_OK ? GEMM_OK : GEMM_LAUNCH_FAILED;
}

static enum run_status run(const struct call *call) {
    const struct contender contender = {
        .name = "w4a8_gemm", .enqueue = enqueue, .state = (void *)call};
    const struct gemm_problem problem = {.m = call->m, .n = call->n, .k = call->k};
    return backend_run(&contender, &problem, NULL);
}

/* Whole numbers and scales: exact sums, rounded once. */
static int count_wrong(const struct call *c, const int8_t *a, const int8_t *b,
                       const float *scales) {
    const int groups = (c->k + GROUP - 1) / GROUP;
    const uint16_t *const d = c->d;
    int wrong = 0;
    for (int row = 0; row < c->m; ++row)
        for (int64_t column = 0; column < c->ldd; ++column) {
            double sum = 0;
            for (int i = 0; i < c->k && column < c->n; ++i)
                sum +=
                    scales[column * groups + i / GROUP] * a[row * c->k + i] * b[column * c->k + i];
            wrong += d[row * c->ldd + column] !=
                     (column < c->n ? float_to_bf16((float)sum * c->scale_a[row]) : NAN_16);
        }
    return wrong;
}

/* `offset`: of all matrices, in bytes from a multiple of 256. */
static void expect_product(int m, int n, int k, int sms, int offset) {
    const struct backend_options options = {.type = GEMM_W4A8};
    sim_configure(sms, SCHEDULE_TIME, 1);
    struct backend_info info;
    if (backend_open(&options, &info)) exit(3);
    const int groups = (k + GROUP - 1) / GROUP;
    struct call c = {.m = m, .n = n, .k = k, .lda = (k + 15) / 16 * 16 + 16};
    c.ldd = (n + 7) / 8 * 8 + 8;
    const size_t bytes = w4a8_gemm_weight_bytes(n, k);
    uint8_t *const a = (uint8_t *)backend_alloc((size_t)(m * c.lda) + 64, "A", false) + offset;
    uint8_t *const blocks = (uint8_t *)backend_alloc(bytes + 64, "weights", false) + offset;
    float *const scale_a = backend_alloc((size_t)m * sizeof *scale_a, "scales of A", false);
    uint16_t *const d =
        (uint16_t *)backend_alloc((size_t)(m * c.ldd) * 2 + 64, "D", true) + offset / 2;
    int8_t *const a_values = memory_of((size_t)m * (size_t)k);
    int8_t *const b_values = memory_of((size_t)n * (size_t)k);
    float *const scales = memory_of((size_t)n * (size_t)groups * sizeof *scales);
    memset(a, E4M3_NAN, (size_t)(m * c.lda));
    for (int i = 0; i < m * k; ++i) {
        a_values[i] = (int8_t)(rand() % 7 - 3);
        a[i / k * c.lda + i % k] = float_to_e4m3(a_values[i]);
    }
    for (int i = 0; i < n * k; ++i)
        b_values[i] = (int8_t)(rand() % 15 - 7);
    for (int i = 0; i < n * groups; ++i)
        scales[i] = (float)(1 << rand() % 3);
    for (int i = 0; i < m; ++i)
        scale_a[i] = (float)(1 + rand() % 2);
    EXPECT(w4a8_gemm_arrange(n, k, b_values, k, scales, groups, blocks) == W4A8_GEMM_OK, "%d x %d",
           n, k);
    c.a = a, c.blocks = blocks, c.scale_a = scale_a, c.d = d;
    struct w4a8_gemm_plan *plan;
    EXPECT(w4a8_gemm_plan_create(&plan, m, n, k, c.lda, c.ldd) == W4A8_GEMM_OK, "%d x %d x %d", m,
           n, k);
    for (int i = 0; i < 3; ++i) { /* a plan runs more than once */
        backend_fill(d, NAN_16, (size_t)(m * c.ldd));
        c.plan = i ? plan : NULL;
        const enum run_status status = run(&c);
        EXPECT(status == RUN_OK && status_of_call == W4A8_GEMM_OK, "%d x %d x %d: status %d, %d", m,
               n, k, status, status_of_call);
        const int wrong = count_wrong(&c, a_values, b_values, scales);
        EXPECT(wrong == 0, "%d x %d x %d, %d SMs, offset %d, run %d: %d elements wrong", m, n, k,
               sms, offset, i, wrong);
    }
    w4a8_gemm_plan_destroy(plan);
    free(scales);
    free(b_values);
    free(a_values);
    backend_close();
}

/* ---- refusing ---- */

static void expect_refusals(void) {
    const struct backend_options options = {.type = GEMM_W4A8};
    sim_configure(2, SCHEDULE_TIME, 1);
    struct backend_info info;
    if (backend_open(&options, &info)) exit(3);
    enum { EXTENT = 16, LD = 32, CALLS = 16 };
    uint8_t *memory = backend_alloc(8448, "memory", true);
    backend_fill(memory, 0, 8448 / 2);
    const struct call good = {
        EXTENT, EXTENT, EXTENT, LD, LD, memory, memory, (float *)(void *)memory, memory, NULL};
    struct call bad[CALLS];
    for (int i = 0; i < CALLS; ++i)
        bad[i] = good;
    bad[0].m = 0;
    bad[1].n = -1;
    bad[2].k = 2000000001;
    bad[3].lda = LD - 8;
    bad[4].lda = 0;
    bad[5].ldd = 20;
    bad[6].ldd = 8;
    bad[7].a = memory + 8;
    bad[8].a = NULL;
    bad[9].blocks = memory + 4;
    bad[10].d = memory + 2;
    bad[11].scale_a = NULL;
    bad[12].scale_a = (float *)(void *)(memory + 2);
    bad[13].lda = INT64_C(1) << 39;
    bad[14].ldd = INT64_C(1) << 40;
    bad[15].n = 2000000000, bad[15].ldd = 2000000000; /* more lines than a tensor map counts */
    bad[15].k = 300, bad[15].lda = 304;
    for (int i = 0; i < CALLS; ++i) {
        struct w4a8_gemm_plan *plan = (struct w4a8_gemm_plan *)memory;
        const struct call *const c = &bad[i];
        EXPECT(run(c) == RUN_FAILED && status_of_call == W4A8_GEMM_BAD_ARGUMENT,
               "bad argument %d: status %d", i, status_of_call);
        const int made = w4a8_gemm_plan_create(&plan, c->m, c->n, c->k, c->lda, c->ldd);
        EXPECT((made == W4A8_GEMM_OK) == (plan != NULL), "plan %d: status %d", i, made);
        const int ran =
            plan ? w4a8_gemm_plan_run(plan, NULL, c->a, c->scale_a, c->blocks, c->d) : made;
        EXPECT(ran == W4A8_GEMM_BAD_ARGUMENT, "plan %d: status %d", i, ran);
        w4a8_gemm_plan_destroy(plan);
    }
    EXPECT(w4a8_gemm_plan_create(NULL, 8, 8, 8, 16, 8) == W4A8_GEMM_BAD_ARGUMENT &&
               w4a8_gemm_plan_run(NULL, NULL, memory, (float *)(void *)memory, memory, memory) ==
                   W4A8_GEMM_BAD_ARGUMENT,
           "%s", "no plan");
    w4a8_gemm_plan_destroy(NULL);
    backend_close();
}

int main(void) {
    expect_quantized(300, 333);
    expect_quantized(128, 128);
    expect_quantized(1, 1);
    expect_least_scales();
    expect_weight_refusals();
    expect_product(1, 300, 500, 4, 0);
    expect_product(20, 264, 2100, 4, 0);
    expect_product(20, 264, 300, 4, 16);
    expect_product(100, 130, 300, 2, 48);
    expect_product(500, 600, 200, 4, 0);
    expect_refusals();
    return expect_result();
}
