/*
 * harness_e4m3.c: the operands, scales and reference of e4m3 problems, against their definitions;
 * sums that are cut as the Tensor Core's stay within the bound, and the wrong scale does not.
 */
#include <math.h>
#include <stdlib.h>

#include "element_codec.h"
#include "scaled/formats.h"
#include "tests/harness/harness_command.h"

static uint8_t element(const struct operands *o, char matrix, int row, int column) {
    return ((const uint8_t *)(matrix == 'A' ? o->a : o->b))[row * o->lda + column];
}

static double meaning(const struct operands *o, char matrix, int row, int column) {
    return (double)e4m3_to_float(element(o, matrix, row, column)) *
           scale_of(o, matrix, row, column / SCALE_BLOCK);
}

/* Half the distance of neighbouring e4m3 at this magnitude. */
static double half_step(double magnitude) {
    int exponent;
    frexp(magnitude, &exponent);
    return ldexp(1, (exponent - 1 < -6 ? -6 : exponent - 1) - 4);
}

/* What the padding holds, how near an element is to what it stands for, and that each scale is the
 * smallest that no element of its block exceeds. */
static void check_operand(const struct operands *o, char matrix, int rows) {
    const int group = matrix == 'A' ? 1 : SCALE_BLOCK;
    const bool whole = o->input == INPUT_INTEGER || o->input == INPUT_ZEROS;
    float *real = malloc((size_t)o->k * sizeof *real);
    double all = 0;
    int far = 0, padded = 0, different = 0;
    double *greatest = calloc((size_t)rows * (size_t)o->k, sizeof *greatest);
    if (!real || !greatest) abort();
    for (int row = 0; row < rows; ++row) {
        real_row(o, matrix, row, real);
        for (int i = 0; i < o->lda; ++i) {
            if (i >= o->k) {
                padded += element(o, matrix, row, i) == E4M3_NAN;
                continue;
            }
            const float scale = scale_of(o, matrix, row, i / SCALE_BLOCK);
            const double error = fabs(meaning(o, matrix, row, i) - real[i]) / scale;
            far += !whole && !(error <= half_step(fabs(real[i]) / scale) * 1.0001);
            double *of_block = &greatest[row / group * o->k + i / SCALE_BLOCK];
            *of_block = fmax(*of_block, fabs(real[i]));
            all = fmax(all, fabs(real[i]));
            if (whole) far += e4m3_to_float(element(o, matrix, row, i)) != real[i];
        }
    }
    for (int row = 0; row < rows; ++row)
        for (int block = 0; block * SCALE_BLOCK < o->k; ++block) {
            const double most =
                (o->format == &tensors_format) ? all : greatest[row / group * o->k + block];
            const float scale = scale_of(o, matrix, row, block);
            far += whole ? scale != 1 && scale != 2 && scale != 0.5f : scale != (float)most / 448;
            different += scale != scale_of(o, matrix, 0, 0);
        }
    expect(far == 0, "%s, %c: %d elements or scales are not what they ought to be",
           input_names[o->input], matrix, far);
    expect(padded == rows * (int)(o->lda - o->k), "%s, %c: the padding is not NaN",
           input_names[o->input], matrix);
    expect((o->format == &tensors_format) == (different == 0),
           "%s, %c: %d scales differ from the first", input_names[o->input], matrix, different);
    free(greatest);
    free(real);
}

static void check_operands(enum input_kind input, const struct operand_format *format) {
    struct operands o;
    expect(operands_make(&o, format, 50, 300, 333, GEMM_E4M3, input, 5,
                         format->integer_limit(333, GEMM_E4M3)),
           "no memory");
    expect(o.lda == 336 && scaled_of(&o)->scale_a_pitch == 52 && scaled_of(&o)->scale_b_pitch == 4,
           "pitches");
    check_operand(&o, 'A', o.m);
    check_operand(&o, 'B', o.n);
    int padding = 0;
    for (int block = 0; block < 3; ++block)
        for (int i = o.m; i < scaled_of(&o)->scale_a_pitch; ++i)
            padding += isnan(scaled_of(&o)->scale_a[block * scaled_of(&o)->scale_a_pitch + i]);
    for (int block = 0; block < 3; ++block)
        padding += isnan(scaled_of(&o)->scale_b[block * scaled_of(&o)->scale_b_pitch + 3]);
    expect(padding == 9, "the padding of the scales is not NaN");
    operands_free(&o);
}

/* 32 products and the accumulator, aligned to the greatest exponent and cut 13 bits below it; the
 * sum is cut 13 bits behind its first. */
static double step(double sum, const double *a, const double *b, int count) {
    double greatest = fabs(sum), total = 0;
    int exponent;
    for (int i = 0; i < count; ++i)
        greatest = fmax(greatest, fabs(a[i] * b[i]));
    if (greatest == 0) return 0;
    frexp(greatest, &exponent);
    const double unit = ldexp(1, exponent - 1 - 13);
    for (int i = 0; i < count; ++i)
        total += trunc(a[i] * b[i] / unit) * unit;
    total += trunc(sum / unit) * unit;
    frexp(total, &exponent);
    const double last = ldexp(1, exponent - 1 - 13);
    return trunc(total / last) * last;
}

enum { NO_BLOCK = -1, ALL_BLOCKS = -2 };

/* A sample as a kernel makes it; `wrong`: a block of k with the scale of the one before. */
static double kernel_sum(const struct operands *o, const struct sample *s, int wrong) {
    float total = 0;
    double sum = 0;
    for (int i = 0; i < o->k; i += 32) {
        double a[32], b[32];
        const int count = o->k - i < 32 ? o->k - i : 32;
        for (int j = 0; j < count; ++j) {
            a[j] = e4m3_to_float(element(o, 'A', s->row, i + j));
            b[j] = e4m3_to_float(element(o, 'B', s->column, i + j));
        }
        sum = step(sum, a, b, count);
        const bool last = i + 32 >= o->k;
        if (!last && ((o->format == &tensors_format) || (i + 32) % SCALE_BLOCK)) continue;
        const int block = i / SCALE_BLOCK;
        const bool before = block > 0 && (wrong == block || wrong == ALL_BLOCKS);
        total += (float)sum * (scale_of(o, 'A', s->row, before ? block - 1 : block) *
                               scale_of(o, 'B', s->column, block));
        sum = 0;
    }
    return total;
}

static void check_bound(int m, int n, int k, enum input_kind input,
                        const struct operand_format *format) {
    struct operands o;
    struct reference r;
    expect(operands_make(&o, format, m, n, k, GEMM_E4M3, input, 3,
                         format->integer_limit(k, GEMM_E4M3)) &&
               reference_make(&r, &o),
           "no memory");
    double off = 0, ratio = 0, squares = 0, quantization = 0;
    int exact = 0, missed = 0;
    const int blocks = ceil_div(k, SCALE_BLOCK), wrong = blocks > 8 ? ALL_BLOCKS : blocks / 2;
    for (int64_t i = 0; i < r.count; ++i) {
        const struct sample *s = &r.samples[i];
        long double sum = 0;
        for (int j = 0; j < k; ++j)
            sum += (long double)meaning(&o, 'A', s->row, j) * meaning(&o, 'B', s->column, j);
        off = fmax(off, fabs((double)(sum - s->value)));
        squares += r.real[i] * r.real[i];
        quantization += (r.real[i] - s->value) * (r.real[i] - s->value);
        const double bound = reference_accumulation(&r, s->row, s->column);
        const double got = kernel_sum(&o, s, NO_BLOCK);
        exact += got == s->value;
        ratio = fmax(ratio, fabs(got - s->value) / bound);
        if (blocks > 1) missed += fabs(kernel_sum(&o, s, wrong) - s->value) <= bound;
    }
    const double relative = sqrt(quantization / squares);
    expect(off < 1e-9, "%d x %d x %d: the reference is off by %g", m, n, k, off);
    if (input == INPUT_INTEGER) {
        expect(exact == r.count, "%d x %d x %d: %lld sums of integers are not exact", m, n, k,
               (long long)(r.count - exact));
    } else {
        expect(ratio <= 1 && ratio > 1e-3, "%d x %d x %d: the greatest error is %g of the bound", m,
               n, k, ratio);
        expect(relative > 0.01 && relative < 0.06, "%d x %d x %d: quantization costs %g", m, n, k,
               relative);
        /* Not every element has a block that matters so much; a kernel has many elements. */
        expect(format == &tensors_format || blocks == 1 || missed < 0.9 * (double)r.count,
               "%d x %d x %d: the wrong scale passes in %d of %lld elements", m, n, k, missed,
               (long long)r.count);
    }
    reference_free(&r);
    operands_free(&o);
}

int main(void) {
    for (int input = 0; input < INPUT_KINDS; ++input) {
        check_operands((enum input_kind)input, &blocks_format);
        check_operands((enum input_kind)input, &tensors_format);
    }
    expect(blocks_format.integer_limit(4096, GEMM_E4M3) == 11 &&
               tensors_format.integer_limit(1, GEMM_E4M3) == 16 &&
               tensors_format.integer_limit(16384, GEMM_E4M3) == 1 &&
               tensors_format.integer_limit(16385, GEMM_E4M3) == 0 &&
               blocks_format.integer_limit(1 << 22, GEMM_E4M3) == 1 &&
               blocks_format.integer_limit((1 << 22) + 1, GEMM_E4M3) == 0,
           "the limits of integers");
    const struct operand_format *const formats[] = {&blocks_format, &tensors_format};
    for (int i = 0; i < 2; ++i) {
        check_bound(60, 200, 100, INPUT_NORMAL, formats[i]);
        check_bound(60, 200, 700, INPUT_NORMAL, formats[i]);
        check_bound(60, 200, 700, INPUT_UNIFORM, formats[i]);
        check_bound(60, 200, 700, INPUT_INTEGER, formats[i]);
        check_bound(20, 30, 8192, INPUT_NORMAL, formats[i]);
        check_bound(20, 30, 8192, INPUT_INTEGER, formats[i]);
    }
    return expectations_met();
}
