/*
 * harness_units.c: the harness's parts: 16-bit codecs, inputs, the error bound, rows that belong to
 * nothing, statistics, and the JSON reader of these tests.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"
#include "harness/inputs.h"
#include "harness/reference.h"
#include "harness/statistics.h"
#include "harness/verify.h"
#include "tests/harness/harness_command.h"
#include "tools/json/json.h"

/* Rounding by definition: scale so that the last place is 1, round to even, scale back. */
static float round_to(double value, int precision, int lowest_exponent, double overflow) {
    if (value == 0 || !isfinite(value)) return (float)value;
    int exponent;
    frexp(value, &exponent);
    int unit = exponent - precision;
    if (unit < lowest_exponent) unit = lowest_exponent;
    const double rounded = ldexp(nearbyint(ldexp(value, -unit)), unit);
    return fabs(rounded) >= overflow ? copysignf(INFINITY, (float)value) : (float)rounded;
}

static int codec_failures(uint32_t bits) {
    const float f = bits_float(bits);
    const uint16_t half = float_to_fp16(f), brain = float_to_bf16(f);
    if (isnan(f)) return !isnan(fp16_to_float(half)) + !isnan(bf16_to_float(brain));
    int failures = 0;
    failures += float_bits(fp16_to_float(half)) != float_bits(round_to(f, 11, -24, 65536.0));
    failures += float_bits(bf16_to_float(brain)) != float_bits(round_to(f, 8, -133, 0x1p128));
#ifdef __FLT16_MANT_DIG__
    const _Float16 compiler = (_Float16)f;
    uint16_t expected;
    memcpy(&expected, &compiler, sizeof expected);
    failures += half != expected;
#endif
    return failures;
}

/* Every 16-bit number, every tie between two of them and its neighbours, and many others. */
static void check_codecs(void) {
    int failures = 0;
    for (uint32_t e = 0; e < 65536; ++e) {
        const uint16_t bits = (uint16_t)e;
        const float half = fp16_to_float(bits), brain = bf16_to_float(bits);
        const bool half_nan = (bits & 0x7fff) > 0x7c00, brain_nan = (bits & 0x7fff) > 0x7f80;
        failures += half_nan ? !isnan(half) : float_to_fp16(half) != bits;
        failures += brain_nan ? !isnan(brain) : float_to_bf16(brain) != bits;
        failures += element_is_finite(bits, GEMM_FP16) != (bool)isfinite(half);
        failures += element_is_finite(bits, GEMM_BF16) != (bool)isfinite(brain);
#ifdef __FLT16_MANT_DIG__
        _Float16 compiler;
        memcpy(&compiler, &bits, sizeof compiler);
        if (!half_nan) failures += float_bits((float)compiler) != float_bits(half);
#endif
        if (!half_nan && (bits & 0x7fff) < 0x7bff) { /* between this and the next */
            const uint32_t tie = float_bits((half + fp16_to_float(bits + 1)) / 2);
            for (uint32_t b = tie - 2; b <= tie + 2; ++b)
                failures += codec_failures(b);
        }
        for (int64_t b = -2; b <= 2; ++b)
            failures += codec_failures((uint32_t)((e << 16 | 0x8000) + b));
    }
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 997)
        failures += codec_failures((uint32_t)bits);
    expect(failures == 0, "codecs: %d conversions are wrong", failures);
    expect(float_to_fp16(65519.996f) == 0x7bff && float_to_fp16(65520.0f) == 0x7c00,
           "fp16 overflow");
    expect(float_to_fp16(0x1p-25f) == 0 && float_to_fp16(0x1.000002p-25f) == 1, "fp16 underflow");
}

/* Rows of A and B whose values are all tiny: about an eighth, and some of each. */
static void check_outliers(const struct operands *o) {
    const double tiny = o->type == GEMM_FP16 ? 0x1p-11 : 0x1p-113;
    for (int matrix = 0; matrix < 2; ++matrix) {
        const int rows = matrix ? o->n : o->m;
        int found = 0;
        for (int row = 0; row < rows; ++row) {
            double largest = 0;
            for (int i = 0; i < o->k; ++i) {
                const uint16_t bits = matrix ? o->b[row * o->ldb + i] : o->a[row * o->lda + i];
                largest = fmax(largest, fabs(decode_element(bits, o->type)));
            }
            found += largest < tiny;
        }
        expect(found > 0 && found < rows / 2, "outliers: %d of %d rows are tiny", found, rows);
    }
}

static void check_inputs(enum input_kind input, enum gemm_type type, int k) {
    struct operands o, again;
    const bool made = operands_make(&o, &elements_format, 40, 30, k, type, input, 7,
                                    elements_format.integer_limit(k, type)) &&
                      operands_make(&again, &elements_format, 17, 30, k, type, input, 7,
                                    elements_format.integer_limit(k, type));
    expect(made, "no memory");
    const int limit = input_integer_limit(k, type);
    int outside = 0, fractions = 0, different = 0;
    double sum = 0, squares = 0, largest = 0;
    for (int row = 0; row < o.m; ++row)
        for (int column = 0; column < o.lda; ++column) {
            const uint16_t bits = o.a[row * o.lda + column];
            if (column >= k) {
                outside += bits != padding_of(type);
                continue;
            }
            const double value = decode_element(bits, type);
            fractions += value != floor(value);
            sum += value;
            squares += value * value;
            largest = fmax(largest, fabs(value));
            different += row < again.m && bits != again.a[row * again.lda + column];
        }
    const double count = (double)o.m * k;
    const double deviation = input == INPUT_UNIFORM ? sqrt(1 / 3.0) : input == INPUT_NORMAL ? 1 : 0;
    expect(outside == 0, "%s: the padding is not --padding %s", input_names[input],
           padding_names[operand_padding]);
    expect(different == 0, "%s: an element depends on the matrix's size", input_names[input]);
    if (input == INPUT_INTEGER) {
        expect(fractions == 0 && largest == limit && squares > 0,
               "integer: |%g| <= %d, %d fractions", largest, limit, fractions);
        expect((double)k * limit * limit <= 0x1p24 && limit <= 256, "integer: limit %d", limit);
    } else if (input == INPUT_ZEROS) {
        expect(squares == 0, "zeros: not zero");
    } else if (input == INPUT_OUTLIERS) {
        expect((largest > 100) == (type == GEMM_BF16), "outliers: the greatest is %g", largest);
        check_outliers(&o);
    } else {
        expect(fabs(sum / count) < 5 * deviation / sqrt(count), "%s: mean %g", input_names[input],
               sum / count);
        expect(fabs(sqrt(squares / count) - deviation) < 5 / sqrt(count), "%s: deviation %g",
               input_names[input], sqrt(squares / count));
        if (input == INPUT_UNIFORM) expect(largest <= 1, "uniform: %g", largest);
    }
    operands_free(&o);
    operands_free(&again);
}

/* A NaN, or a number far above any operand, of which the square is finite, too. */
static void check_padding(void) {
    static const enum gemm_type types[] = {GEMM_FP16, GEMM_BF16, GEMM_E4M3, GEMM_FP32};
    for (int i = 0; i < 4; ++i) {
        const uint32_t half = (operand_padding = PADDING_NAN, padding_of(types[i]));
        const uint32_t nan = types[i] == GEMM_FP32 ? half << 16 | half : half;
        expect(isnan(stored_value(nan, types[i])), "padding nan is 0x%x", nan);
        const uint32_t other = (operand_padding = PADDING_FINITE, padding_of(types[i]));
        const uint32_t finite = types[i] == GEMM_FP32 ? other << 16 | other : other;
        const double value = stored_value(finite, types[i]);
        expect(value >= 448 && value * value < FLT_MAX, "padding finite is %g", value);
    }
    check_inputs(INPUT_NORMAL, GEMM_BF16, 21);
    operand_padding = PADDING_NAN;
}

/* The reference against plain sums, complete and sampled; fp32 sums stay within the bound, with
 * room but not with worlds. */
static void check_reference(int m, int n, int k, enum input_kind input) {
    struct operands o;
    struct reference r;
    const bool made = operands_make(&o, &elements_format, m, n, k, GEMM_BF16, input, 3,
                                    elements_format.integer_limit(k, GEMM_BF16)) &&
                      reference_make(&r, &o);
    expect(made, "no memory");
    expect(r.complete == samples_are_all(m, n, k), "completeness");
    expect(!r.complete || r.count == (int64_t)m * n, "a complete reference of %lld elements",
           (long long)r.count);
    double worst = 0, worst_ratio = 0;
    const int64_t step = r.count * k > 100000000 ? 101 : 1;
    for (int64_t i = 0; i < r.count; i += step) {
        const struct sample *s = &r.samples[i];
        long double exact = 0;
        float sum = 0;
        for (int j = 0; j < k; ++j) {
            const float a = bf16_to_float(o.a[s->row * o.lda + j]);
            const float b = bf16_to_float(o.b[s->column * o.ldb + j]);
            exact += (long double)a * b;
            sum += a * b;
        }
        worst = fmax(worst, fabs((double)(exact - s->value)));
        const double bound = (double)r.row_norm[s->row] * r.column_norm[s->column];
        worst_ratio = fmax(worst_ratio, fabs(sum - s->value) / bound);
    }
    expect(worst < 1e-9, "%d x %d x %d: the reference is off by %g", m, n, k, worst);
    expect(worst_ratio <= 1, "%d x %d x %d: an fp32 sum leaves the bound: %g", m, n, k,
           worst_ratio);
    expect(input != INPUT_NORMAL || worst_ratio > 1e-5, "%d x %d x %d: bound too loose: %g", m, n,
           k, worst_ratio);
    reference_free(&r);
    operands_free(&o);
}

static void check_statistics(void) {
    const double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
    expect(median(odd, 3) == 3 && median(even, 4) == 2.5 && median(one, 1) == 7, "median");
    expect(quantile(odd, 3, 0) == 1 && quantile(odd, 3, 1) == 5 && quantile(odd, 3, 0.25) == 2,
           "quantile");
    expect(fabs(quartile_spread(even, 4) - 1.5 / 2.5) < 1e-12 && quartile_spread(one, 1) == 0,
           "spread");
    expect(odd[0] == 5, "samples were changed");
    expect(half_ulp(1, GEMM_BF16) == 0x1p-8 && half_ulp(1.99, GEMM_BF16) == 0x1p-8 &&
               half_ulp(1, GEMM_FP16) == 0x1p-11 && half_ulp(1e-9, GEMM_FP16) == 0x1p-25 &&
               half_ulp(0, GEMM_BF16) == 0,
           "half_ulp");
}

/* Rows of an output that belong to nothing have to be as they were, whatever its samples say. */
enum { ROWS = 5, COLUMNS = 3, PITCH = 8, GAP = 2 };
static bool is_gap(const void *of, int row) {
    (void)of;
    return row == GAP;
}

static void check_gaps(void) {
    struct sample samples[ROWS * COLUMNS];
    uint16_t d[ROWS * PITCH];
    for (int i = 0; i < ROWS * COLUMNS; ++i)
        samples[i] = (struct sample){i / COLUMNS, i % COLUMNS, 1};
    const struct reference reference = {
        .complete = true, .samples = samples, .count = ROWS * COLUMNS, .is_gap = is_gap};
    const struct output_view view = {.what = "a test",
                                     .label = "D",
                                     .memory = d,
                                     .rows = ROWS,
                                     .columns = COLUMNS,
                                     .ld = PITCH,
                                     .type = GEMM_BF16,
                                     .exact = true};
    for (int broken = -1; broken < ROWS * PITCH; ++broken) {
        for (int i = 0; i < ROWS * PITCH; ++i) {
            const bool is_element = i % PITCH < COLUMNS && i / PITCH != GAP;
            d[i] = is_element ? float_to_bf16(1) : OUTPUT_POISON;
        }
        if (broken >= 0) d[broken] = float_to_bf16(2);
        const struct comparison comparison = verify_output(&view, &reference, NULL);
        expect(comparison.verified == (broken < 0) && comparison.mismatches == (broken >= 0),
               "element %d is broken: %lld mismatches", broken, (long long)comparison.mismatches);
    }
}

static bool is_json(const char *text) {
    struct json value;
    char error[128];
    if (!json_parse(text, &value, error, sizeof error)) return false;
    json_free(&value);
    return true;
}

/* What judges the harness's output must itself be strict. */
static void check_json_reader(void) {
    static const char *const good[] = {"{}", "[1, -2.5e+3, null]",
                                       "{\"a\": {\"b\": [true, \"\\u00e9\"]}}"};
    static const char *const bad[] = {
        "", "{", "{\"a\"}", "[1,]", "nan", "[01]", "{\"a\": 1} x", "\"\t\"", "[1 2]", "inf"};
    for (int i = 0; i < 3; ++i)
        expect(is_json(good[i]), "rejects %s", good[i]);
    for (int i = 0; i < 10; ++i)
        expect(!is_json(bad[i]), "accepts %s", bad[i]);
}

int main(void) {
    check_codecs();
    for (int input = 0; input < INPUT_KINDS; ++input)
        for (int type = GEMM_FP16; type <= GEMM_BF16; ++type) {
            check_inputs((enum input_kind)input, (enum gemm_type)type, 1001);
            check_inputs((enum input_kind)input, (enum gemm_type)type, 20000);
        }
    check_padding();
    expect(input_integer_limit(1, GEMM_BF16) == 256 &&
               input_integer_limit(1 << 24, GEMM_BF16) == 1 &&
               input_integer_limit((1 << 24) + 1, GEMM_BF16) == 0,
           "the limits of integers");
    check_reference(33, 65, 100, INPUT_NORMAL);
    check_reference(1, 1, 1, INPUT_UNIFORM);
    check_reference(40, 9, 5000, INPUT_UNIFORM);
    check_reference(40, 9, 5000, INPUT_NORMAL);
    check_reference(700, 900, 600, INPUT_NORMAL);
    check_gaps();
    check_statistics();
    check_json_reader();
    return expectations_met();
}
