/*
 * harness_fake_kernels.c: the fake chapter and its registry. GEMM on the host, right or broken in
 * one way.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"
#include "gemm_types.h"
#include "harness/registry.h"
#include "scaled/scales.h"
#include "scaled/w4_block.h"
#include "tests/harness/harness_fake.h"

enum { TILE_M = 64, TILE_N = 32 };

const char *const defect_names[DEFECTS] = {
    "none",          "truncating",   "unwritten-tile",  "nan-output",     "past-last-column",
    "guard-before",  "guard-after",  "k-tail-unmasked", "k-tail-dropped", "swapped",
    "only-zeros",    "only-square",  "one-element",     "one-ulp",        "hidden-element",
    "timed-wrong",   "timed-silent", "transposed",      "wrong-type",     "fp16-sum",
    "infinite",      "counter",      "launch-fails",    "hazard",         "cut-output",
    "other-block",   "other-row",    "other-columns",   "unscaled",       "first-scales",
    "tensor-scales", "rounded-sums", "e4m3-weights",    "pitch-of-a"};

/* Cuts a number to the `bits` below the place of `largest`. */
static double cut(double value, int exponent_of_largest, int bits) {
    const double unit = ldexp(1, exponent_of_largest - bits);
    return trunc(value / unit) * unit;
}

/* A group of products (16, or of e4m3 32) and the accumulator, aligned to the largest and cut off,
 * then added and cut off again. */
static float sum_truncating(const float *a, const float *b, int k, int group, int bits) {
    double sum = 0;
    for (int i = 0; i < k; i += group) {
        double largest = fabs(sum), total = 0;
        const int end = i + group < k ? i + group : k;
        for (int j = i; j < end; ++j)
            largest = fmax(largest, fabs((double)a[j] * b[j]));
        if (largest == 0) continue;
        int exponent;
        frexp(largest, &exponent);
        for (int j = i; j < end; ++j)
            total += cut((double)a[j] * b[j], exponent, bits);
        total += cut(sum, exponent, bits);
        frexp(total, &exponent);
        sum = cut(total, exponent, bits);
    }
    return (float)sum;
}

static float sum_plain(const float *a, const float *b, int k) {
    float part[4] = {0}; /* an order of its own, as kernels have */
    for (int i = 0; i < k; ++i)
        part[i % 4] += a[i] * b[i];
    return part[0] + part[1] + part[2] + part[3];
}

static float sum_fp16(const float *a, const float *b, int k) {
    float sum = 0;
    for (int i = 0; i < k; ++i)
        sum = fp16_to_float(float_to_fp16(sum + a[i] * b[i]));
    return sum;
}

static const uint8_t *block_of(const struct gemm_problem *p, int row, int k) {
    uint8_t *const blocks = (uint8_t *)(uintptr_t)p->b;
    return w4_block_of(blocks, ceil_div(p->k, W4_BLOCK), row, k / W4_BLOCK);
}

/* The scale of a sum of w4a8: of a row of A, and of a group of B. */
static float group_scale(const struct gemm_problem *p, int row, int column, int k,
                         enum defect defect) {
    if (defect == DEFECT_OTHER_BLOCK && k >= W4_BLOCK) k -= W4_BLOCK;
    if (defect == DEFECT_OTHER_ROW && row > 0) --row;
    if (defect == DEFECT_OTHER_COLUMNS && column > 0) --column;
    if (defect == DEFECT_FIRST_SCALES) row = column = k = 0;
    if (defect == DEFECT_UNSCALED) return 1;
    return gemm_scales_of(p->matrix).a[row] *
           bf16_to_float(w4_get_scale(block_of(p, column, k), column));
}

/* Of w4a8: each weight is rounded with its scale, and the sum is cut, not promoted. */
static float sum_e4m3_weights(const struct gemm_problem *p, int row, int column, const float *a,
                              const float *b, int k) {
    float *const scaled = malloc((size_t)k * sizeof *scaled);
    if (!scaled) abort();
    for (int i = 0; i < k; ++i) {
        const float scale = bf16_to_float(w4_get_scale(block_of(p, column, i), column));
        scaled[i] = e4m3_to_float(float_to_e4m3(b[i] * scale));
    }
    const float sum = sum_truncating(a, scaled, k, 32, 14);
    free(scaled);
    return sum * gemm_scales_of(p->matrix).a[row];
}

static float sum_rounded(const float *a, const float *b, int k, enum gemm_type type) {
    const int part = (k + 3) / 4;
    float sum = 0;
    for (int i = 0; i < k; i += part) {
        const float of_part = sum_plain(a + i, b + i, k - i < part ? k - i : part);
        sum += decode_element(encode_element(of_part, type), type);
    }
    return sum;
}

/* The sum of a block of k, as it is scaled. */
static float scaled_sum(const struct gemm_problem *p, int row, int column, const float *a,
                        const float *b, int k, enum defect defect) {
    const struct gemm_scales scales = gemm_scales_of(p->matrix), *const s = &scales;
    if (defect == DEFECT_TENSOR_SCALES) return sum_truncating(a, b, k, 32, 14) * s->a[0] * s->b[0];
    if (defect == DEFECT_E4M3_WEIGHTS && !s->b) return sum_e4m3_weights(p, row, column, a, b, k);
    float sum = 0;
    for (int i = 0; i < k; i += SCALE_BLOCK) {
        const int count = k - i < SCALE_BLOCK ? k - i : SCALE_BLOCK;
        if (!s->b) {
            sum += group_scale(p, row, column, i, defect) *
                   (defect == DEFECT_TRUNCATING ? sum_truncating(a + i, b + i, count, 32, 14)
                                                : sum_plain(a + i, b + i, count));
            continue;
        }
        int block = i / SCALE_BLOCK, of_row = row, of_column = column / SCALE_BLOCK;
        if (defect == DEFECT_OTHER_BLOCK && block > 0) --block;
        if (defect == DEFECT_OTHER_ROW && of_row > 0) --of_row;
        float scale = s->a[(int64_t)block * s->pitch_a + of_row];
        if (defect == DEFECT_OTHER_COLUMNS && of_column > 0) --of_column;
        scale *= s->b[(int64_t)of_column * s->pitch_b + i / SCALE_BLOCK];
        if (defect == DEFECT_FIRST_SCALES) scale = s->a[0] * s->b[0];
        if (defect == DEFECT_UNSCALED) scale = 1;
        sum += scale * (defect == DEFECT_TRUNCATING ? sum_truncating(a + i, b + i, count, 32, 14)
                                                    : sum_plain(a + i, b + i, count));
    }
    return sum;
}

static float *decode(const element_t *matrix, int64_t ld, int rows, int k, enum gemm_type type) {
    float *values = malloc((size_t)rows * (size_t)k * sizeof *values);
    if (!values) abort();
    for (int row = 0; row < rows; ++row)
        for (int i = 0; i < k; ++i)
            values[(int64_t)row * k + i] =
                gemm_type_is_scaled(type)
                    ? e4m3_to_float(((const e4m3_t *)matrix)[row * ld + i].bits)
                    : decode_element(matrix[row * ld + i].bits, type);
    return values;
}

/* B of w4a8, or of another type. */
static float *decode_b(const struct gemm_problem *p, int k, enum gemm_type type, int64_t ldb) {
    if (type != GEMM_W4A8) return decode(p->b, ldb, p->n, k, type);
    float *values = malloc((size_t)p->n * (size_t)k * sizeof *values);
    if (!values) abort();
    for (int row = 0; row < p->n; ++row)
        for (int i = 0; i < k; ++i)
            values[(int64_t)row * k + i] =
                (float)w4_get(block_of(p, row, i < p->k ? i : p->k - 1), row, i);
    return values;
}

/* The extent of k that the defective kernel uses. */
static int used_k(const struct gemm_problem *p, enum defect defect) {
    if (defect == DEFECT_K_TAIL_UNMASKED) return (int)p->lda;
    if (defect == DEFECT_K_TAIL_DROPPED) return p->k - p->k % 32;
    return p->k;
}

static void compute(const struct gemm_problem *p, enum gemm_type type, enum defect defect) {
    const enum gemm_type read_as = defect != DEFECT_WRONG_TYPE || gemm_type_is_scaled(type) ? type
                                   : type == GEMM_FP16 ? GEMM_BF16
                                                       : GEMM_FP16;
    const enum gemm_type output = gemm_output_type(type);
    const int k = used_k(p, defect);
    float *a = decode(p->a, p->lda, p->m, k, read_as);
    float *b = decode_b(p, k, read_as, defect == DEFECT_PITCH_OF_A ? p->lda : p->ldb);
    /* Taking the rows for as long as the other dimension is harmless only in square problems. */
    const int64_t apart = ((int64_t)p->m + 7) / 8 * 8 - ((int64_t)p->n + 7) / 8 * 8;
    const int64_t ldd = p->ldd + (defect == DEFECT_ONLY_SQUARE ? apart : 0);
    for (int row = 0; row < p->m; ++row)
        for (int column = 0; column < p->n; ++column) {
            int r = row, c = column;
            if (defect == DEFECT_UNWRITTEN_TILE && row / TILE_M == (p->m - 1) / TILE_M &&
                column / TILE_N == (p->n - 1) / TILE_N)
                continue;
            if (defect == DEFECT_ONLY_SQUARE && row * ldd + column >= p->m * p->ldd) continue;
            if (defect == DEFECT_SWAPPED && row < p->n && column < p->m) r = column, c = row;
            if (defect == DEFECT_TRANSPOSED) {
                r = row / 8 * 8 + column % 8;
                c = column / 8 * 8 + row % 8;
                if (r >= p->m || c >= p->n) r = row, c = column;
            }
            const float *x = a + (int64_t)r * k, *y = b + (int64_t)c * k;
            const float sum = gemm_type_is_scaled(type)       ? scaled_sum(p, r, c, x, y, k, defect)
                              : defect == DEFECT_TRUNCATING   ? sum_truncating(x, y, k, 16, 24)
                              : defect == DEFECT_FP16_SUM     ? sum_fp16(x, y, k)
                              : defect == DEFECT_ROUNDED_SUMS ? sum_rounded(x, y, k, type)
                                                              : sum_plain(x, y, k);
            uint16_t bits = encode_element(defect == DEFECT_ONLY_ZEROS ? 0 : sum, output);
            /* Rounds towards zero instead of to the nearest. */
            if (defect == DEFECT_CUT_OUTPUT && fabsf(decode_element(bits, output)) > fabsf(sum))
                --bits;
            p->d[row * ldd + column].bits = bits;
        }
    free(a);
    free(b);
}

enum defect fake_last_defect;

enum gemm_status fake_gemm(const struct gemm_problem *p, enum gemm_type type, enum defect defect) {
    static int launches[DEFECTS];
    fake_last_defect = defect;
    if (defect == DEFECT_LAUNCH_FAILS) return GEMM_LAUNCH_FAILED;
    const bool first = launches[defect]++ == 0;
    if (defect == DEFECT_TIMED_SILENT && !first) return GEMM_OK; /* the fastest kernel of all */
    compute(p, type, defect);
    element_t *const middle = &p->d[p->m / 2 * p->ldd + p->n / 2];
    switch (defect) {
    case DEFECT_NAN_OUTPUT:
        middle->bits = 0x7fff;
        break;
    case DEFECT_INFINITE:
        middle->bits = type == GEMM_FP16 ? 0x7c00 : 0x7f80;
        break;
    case DEFECT_PAST_LAST_COLUMN:
        p->d[p->m / 2 * p->ldd + p->n].bits = 0;
        break;
    case DEFECT_GUARD_BEFORE:
        p->d[-1].bits = 0;
        break;
    case DEFECT_GUARD_AFTER:
        p->d[p->m * p->ldd].bits = 0;
        break;
    case DEFECT_ONE_ELEMENT:
        middle->bits ^= 0x0100;
        break;
    case DEFECT_ONE_ULP:
        middle->bits ^= 1;
        break;
    case DEFECT_HIDDEN_ELEMENT:
        p->d[(p->m / 3 + 1) * p->ldd + p->n / 3 + 2].bits ^= 0x0400;
        break;
    case DEFECT_TIMED_WRONG:
        if (!first) middle->bits ^= 0x0100;
        break;
    case DEFECT_COUNTER:
        p->tile_counter[0]++;
        break;
    default:
        break;
    }
    return GEMM_OK;
}

/* A launch function carries no context: one per defect and type. The tour's registry uses only
 * some. */
#define LAUNCH(type, number)                                                                       \
    __attribute__((unused)) static enum gemm_status launch_##type##_##number(                      \
        const struct gemm_problem *problem, void *stream) {                                        \
        (void)stream;                                                                              \
        return fake_gemm(problem, GEMM_##type, (enum defect)number);                               \
    }
#define EACH_TYPE(number)                                                                          \
    LAUNCH(FP16, number) LAUNCH(BF16, number) LAUNCH(E4M3, number) LAUNCH(W4A8, number)
#define ALL(each)                                                                                  \
    each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8) each(9) each(10)       \
        each(11) each(12) each(13) each(14) each(15) each(16) each(17) each(18) each(19) each(20)  \
            each(21) each(22) each(23) each(24) each(25) each(26) each(27) each(28) each(29)       \
                each(30) each(31) each(32) each(33)
ALL(EACH_TYPE)

static size_t workspace_bytes(const struct gemm_problem *problem) {
    return (size_t)problem->m * sizeof(float);
}

/* Of the chapter's own kernel: itself, and then the variant behind it, which backend_time() finds
 * faster. */
static int ranked(const struct gemm_problem *problem, const struct gemm_kernel **kernels,
                  int most) {
    (void)problem;
    for (int i = 0; i < 2 && i < most; ++i)
        kernels[i] = kernel_of_type(&kernel_registry[i], GEMM_BF16);
    return most < 2 ? most : 2;
}

/* Two steps, so that a macro given as the number is expanded. */
#define LAUNCH_NAME(type, number) LAUNCH_NAME_(type, number)
#define LAUNCH_NAME_(type, number) launch_##type##_##number

enum { FAKE_SMEM_BYTES = 98304 }; /* that each says it needs */

#define KIND_FP16 NULL
#define KIND_BF16 NULL
#define KIND_E4M3 &scaled_kind
#define KIND_W4A8 &w4a8_kind
static const struct scaled_kernel tensor_scaled = {.tensor_scales = true};

#define KERNEL(chapter, variant_name, type, number)                                                \
    {.name = chapter,                                                                              \
     .variant = variant_name,                                                                      \
     .technique = "a \"fake\" kernel",                                                             \
     .tile_m = TILE_M,                                                                             \
     .tile_n = TILE_N,                                                                             \
     .tile_k = 32,                                                                                 \
     .stages = 0,                                                                                  \
     .threads = 128,                                                                               \
     .cluster = 1,                                                                                 \
     .smem_bytes = FAKE_SMEM_BYTES,                                                                \
     .launch = LAUNCH_NAME(type, number),                                                          \
     .workspace_bytes = workspace_bytes,                                                           \
     .ranked = (number) == 0 ? ranked : NULL,                                                      \
     .kind = KIND_##type,                                                                          \
     .of_kind = (number) == DEFECT_TENSOR_SCALES ? &tensor_scaled : NULL},

#if FAKE_TOUR
/* Four chapters of part one, and three of part two: one like those, one for fp16 alone, and one
 * that needs two GPUs. The second chapter has a step in between, and a variant that is no step. */
// clang-format off
#define CHAPTERS(type) \
    KERNEL("01_first", NULL, type, 0) \
    KERNEL("02_second", "between", type, 0) \
    KERNEL("02_second", NULL, type, 0) \
    KERNEL("02_second", "aside", type, 0) \
    KERNEL("03_third", NULL, type, FAKE_THIRD) \
    KERNEL("04_fourth", NULL, type, FAKE_FOURTH) \
    KERNEL("10_tenth", NULL, type, 0) \
    KERNEL("11_eleventh", NULL, type, 0) \
    KERNEL("13_thirteenth", NULL, type, 0)
// clang-format on
static const struct gemm_kernel kernels_fp16[] = {CHAPTERS(FP16)};
static const struct gemm_kernel kernels_bf16[] = {CHAPTERS(BF16)};
enum { CHAPTER_OF_FP16 = 7, CHAPTER_OF_TWO_GPUS = 8 };
#define OF_E4M3(i) NULL
#define OF_W4A8(i) NULL
#define ENTRIES(each) each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8)
#define IS_STEP(i) ((i) != 3)
/* The first two chapters are for 8.0 and later, the third for 9.0 and later, the others for 9.0. */
#define PTX_OF(i) ((i) < 4 ? 80 : (i) == 4 ? 90 : 0)
const int kernel_registry_count = 9;
const bool program_is_tour = true;
#else
/* The names stand in defect_names, too; a test compares them. */
// clang-format off
#define VARIANTS(type) \
    KERNEL("01_fake", NULL, type, 0) \
    KERNEL("01_fake", "truncating", type, 1) \
    KERNEL("01_fake", "unwritten-tile", type, 2) \
    KERNEL("01_fake", "nan-output", type, 3) \
    KERNEL("01_fake", "past-last-column", type, 4) \
    KERNEL("01_fake", "guard-before", type, 5) \
    KERNEL("01_fake", "guard-after", type, 6) \
    KERNEL("01_fake", "k-tail-unmasked", type, 7) \
    KERNEL("01_fake", "k-tail-dropped", type, 8) \
    KERNEL("01_fake", "swapped", type, 9) \
    KERNEL("01_fake", "only-zeros", type, 10) \
    KERNEL("01_fake", "only-square", type, 11) \
    KERNEL("01_fake", "one-element", type, 12) \
    KERNEL("01_fake", "one-ulp", type, 13) \
    KERNEL("01_fake", "hidden-element", type, 14) \
    KERNEL("01_fake", "timed-wrong", type, 15) \
    KERNEL("01_fake", "timed-silent", type, 16) \
    KERNEL("01_fake", "transposed", type, 17) \
    KERNEL("01_fake", "wrong-type", type, 18) \
    KERNEL("01_fake", "fp16-sum", type, 19) \
    KERNEL("01_fake", "infinite", type, 20) \
    KERNEL("01_fake", "counter", type, 21) \
    KERNEL("01_fake", "launch-fails", type, 22) \
    KERNEL("01_fake", "hazard", type, 23) \
    KERNEL("01_fake", "cut-output", type, 24) \
    KERNEL("01_fake", "other-block", type, 25) \
    KERNEL("01_fake", "other-row", type, 26) \
    KERNEL("01_fake", "other-columns", type, 27) \
    KERNEL("01_fake", "unscaled", type, 28) \
    KERNEL("01_fake", "first-scales", type, 29) \
    KERNEL("01_fake", "tensor-scales", type, 30) \
    KERNEL("01_fake", "rounded-sums", type, 31) \
    KERNEL("01_fake", "e4m3-weights", type, 32) \
    KERNEL("01_fake", "pitch-of-a", type, 33)
// clang-format on
static const struct gemm_kernel kernels_fp16[] = {VARIANTS(FP16)};
static const struct gemm_kernel kernels_bf16[] = {VARIANTS(BF16)};
static const struct gemm_kernel kernels_e4m3[] = {VARIANTS(E4M3)};
static const struct gemm_kernel kernels_w4a8[] = {VARIANTS(W4A8)};
#define OF_E4M3(i) &kernels_e4m3[i]
#define OF_W4A8(i) &kernels_w4a8[i]
#define ENTRIES(each) ALL(each)
#define IS_STEP(i) ((i) == 0)
#define PTX_OF(i) 80
const int kernel_registry_count = DEFECTS;
const bool program_is_tour = false;
enum { CHAPTER_OF_FP16 = -1, CHAPTER_OF_TWO_GPUS = -1 };
#endif

#define ENTRY(i)                                                                                   \
    {{&kernels_fp16[i], (i) == CHAPTER_OF_FP16 ? NULL : &kernels_bf16[i], OF_E4M3(i), OF_W4A8(i)}, \
     (i) == CHAPTER_OF_TWO_GPUS ? 2 : 1,                                                           \
     IS_STEP(i),                                                                                   \
     NULL,                                                                                         \
     PTX_OF(i)},
/* The first can record; it leaves no records. */
#define TRACED(i)                                                                                  \
    {{i == 0 ? &kernels_fp16[i] : NULL, i == 0 ? &kernels_bf16[i] : NULL}, 1, IS_STEP(i), NULL, 0},
const struct kernel_entry kernel_registry[] = {ENTRIES(ENTRY)};
const char *const kernel_sources[sizeof kernel_registry / sizeof *kernel_registry];
const char *const program_target = NULL;
const struct kernel_entry kernel_trace_registry[] = {ENTRIES(TRACED)};
