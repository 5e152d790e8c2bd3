/*
 * harness_w4a8.c: 4-bit weights in blocks, their scales, and the reference, against their
 * definitions; sums that are cut as the Tensor Core's stay within the bound, and the wrong scale
 * does not.
 */
#include <math.h>
#include <stdlib.h>

#include "element_codec.h"
#include "scaled/formats.h"
#include "tests/harness/harness_command.h"
#include "scaled/w4_block.h"

enum { NO_GROUP = -1, ALL_GROUPS = -2 };

/* ---- the blocks, as the threads of a kernel take them ---- */

/* What a thread's register of e4m3 is made from: the first four weights of a word, or the others.
 */
static uint32_t register_of(const uint8_t *block, int half, int quarter, int thread, int i) {
    uint32_t word;
    memcpy(&word, block + half * W4_HALF_BYTES + (quarter * 128 + thread) * 16 + i / 2 * 4,
           sizeof word);
    return (i % 2 ? word >> 4 | word << 28 : word) & 0x87878787;
}

/* Puts a block's weights at their rows and columns: register i % 4 of step i / 4 of a thread, as
 * wgmma's m64nNk32 takes A from registers. */
static void read_block(const uint8_t *block, double weights[W4_BLOCK][W4_BLOCK]) {
    for (int half = 0; half < 2; ++half)
        for (int quarter = 0; quarter < 2; ++quarter)
            for (int thread = 0; thread < 128; ++thread)
                for (int i = 0; i < 8; ++i)
                    for (int byte = 0; byte < 4; ++byte) {
                        const int row = thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8;
                        const int column = i / 4 * 32 + i % 4 / 2 * 16 + thread % 4 * 4 + byte;
                        const uint32_t four = register_of(block, half, quarter, thread, i);
                        weights[half * 64 + row][quarter * 64 + column] =
                            512.0 * e4m3_to_float((uint8_t)(four >> 8 * byte));
                    }
}

/* The scale of a row, from the word in which a thread finds those of its two rows. */
static double read_scale(const uint8_t *block, int row) {
    uint32_t pair;
    const int thread = row % 64 / 16 * 32 + row % 8 * 4;
    const int word = thread / 32 * 8 + thread % 32 / 4;
    memcpy(&pair, block + row / 64 * W4_HALF_BYTES + W4_WEIGHT_BYTES + word * 4, sizeof pair);
    return bf16_to_float((uint16_t)(row / 8 % 2 ? pair >> 16 : pair));
}

/* The weights of a block are those of the reference and near to the real data; beyond n and k they
 * are zero. `group`: the real data of a row. */
static void check_block(const struct operands *o, int block_n, int block_k, float *real) {
    static double weights[W4_BLOCK][W4_BLOCK];
    const int k_blocks = ceil_div(o->k, W4_BLOCK), first = block_k * W4_BLOCK;
    const uint8_t *const block =
        (const uint8_t *)o->b + (size_t)(block_n * k_blocks + block_k) * W4_BLOCK_BYTES;
    const bool whole = o->input == INPUT_INTEGER || o->input == INPUT_ZEROS;
    int wrong = 0;
    read_block(block, weights);
    for (int row = 0; row < W4_BLOCK; ++row) {
        const int channel = block_n * W4_BLOCK + row;
        const double scale = read_scale(block, row);
        double greatest = 0;
        if (channel < o->n) real_row(o, 'B', channel, real);
        for (int i = 0; i < W4_BLOCK; ++i) {
            const double weight = weights[row][i];
            if (channel >= o->n || first + i >= o->k) {
                wrong += weight != 0;
                continue;
            }
            const double value = real[first + i];
            wrong += weight != scaled_of(o)->weights[(int64_t)channel * o->k + first + i];
            wrong += weight != w4_get(block, channel, first + i);
            wrong += fabs(weight) > 7 || (whole && weight != value);
            /* Half a step; a scale rounded down by 2^-9 leaves the greatest a little further out.
             */
            wrong += !whole && !(fabs(weight * scale - value) <= scale * (0.5 + 7 * 0x1p-8));
            greatest = fmax(greatest, fabs(value));
        }
        if (channel >= o->n) {
            wrong += scale != 0;
            continue;
        }
        const double nearest = bf16_to_float(float_to_bf16((float)greatest / 7));
        wrong += whole ? scale != 1 && scale != 2 : scale != nearest;
        wrong += (float)scale != scale_of(o, 'B', channel, block_k);
    }
    expect(wrong == 0, "%s, block (%d, %d): %d weights or scales are not what they ought to be",
           input_names[o->input], block_n, block_k, wrong);
}

/* A row of A has one scale, the least that no element exceeds. */
static void check_rows(const struct operands *o, float *real) {
    const bool whole = o->input == INPUT_INTEGER || o->input == INPUT_ZEROS;
    int wrong = 0;
    for (int row = 0; row < o->m; ++row) {
        const uint8_t *const elements = (const uint8_t *)o->a + row * o->lda;
        const float scale = scaled_of(o)->scale_a[row];
        float greatest = 0;
        real_row(o, 'A', row, real);
        for (int i = 0; i < o->k; ++i) {
            wrong += elements[i] != float_to_e4m3(whole ? real[i] : real[i] / scale);
            wrong += scale_of(o, 'A', row, i / SCALE_BLOCK) != scale;
            greatest = fmaxf(greatest, fabsf(real[i]));
        }
        wrong += whole ? scale != 1 && scale != 2 : scale != greatest / 448;
        for (int64_t i = o->k; i < o->lda; ++i)
            wrong += elements[i] != E4M3_NAN;
    }
    for (int i = o->m; i < scaled_of(o)->scale_a_pitch; ++i)
        wrong += !isnan(scaled_of(o)->scale_a[i]);
    expect(wrong == 0, "%s, A: %d elements or scales are not what they ought to be",
           input_names[o->input], wrong);
}

static void check_operands(enum input_kind input, int m, int n, int k) {
    struct operands o;
    expect(operands_make(&o, &weights_format, m, n, k, GEMM_W4A8, input, 5,
                         weights_format.integer_limit(k, GEMM_W4A8)),
           "no memory");
    float *real = malloc((size_t)k * sizeof *real);
    if (!real) abort();
    expect(operand_bytes(&o, 'B') == (int64_t)ceil_div(n, 128) * ceil_div(k, 128) * 8448, "bytes");
    for (int block_n = 0; block_n < ceil_div(n, W4_BLOCK); ++block_n)
        for (int block_k = 0; block_k < ceil_div(k, W4_BLOCK); ++block_k)
            check_block(&o, block_n, block_k, real);
    check_rows(&o, real);
    free(real);
    operands_free(&o);
}

/* ---- sums ---- */

static double weight_at(const struct operands *o, int channel, int k) {
    return scaled_of(o)->weights[(int64_t)channel * o->k + k];
}

/* 32 products and the accumulator, aligned and cut as the Tensor Core's: a product has the exponent
 * of its e4m3 from A and the least, -6, of a subnormal weight. The weight is 2^-9 of what it
 * means. */
static double step(double sum, const double *a, const double *weight, int count) {
    double total = 0;
    int exponent = sum == 0 ? -1000 : ilogb(sum);
    for (int i = 0; i < count; ++i)
        if (a[i] * weight[i] != 0) {
            const int of_a = ilogb(a[i]) < -6 ? -6 : ilogb(a[i]);
            exponent = of_a - 6 > exponent ? of_a - 6 : exponent;
        }
    const double unit = ldexp(1, exponent - 13);
    for (int i = 0; i < count; ++i)
        total += trunc(a[i] * weight[i] * 0x1p-9 / unit) * unit;
    total += trunc(sum / unit) * unit;
    if (total == 0) return 0;
    const double last = ldexp(1, ilogb(total) - 13);
    return trunc(total / last) * last;
}

/* A sample as a kernel makes it; `wrong`: a group with the scale of the one before. */
static double kernel_sum(const struct operands *o, const struct sample *s, int wrong) {
    float total = 0;
    double sum = 0;
    for (int i = 0; i < o->k; i += 32) {
        double a[32], weight[32];
        const int count = o->k - i < 32 ? o->k - i : 32, group = i / SCALE_BLOCK;
        for (int j = 0; j < count; ++j) {
            a[j] = e4m3_to_float(((const uint8_t *)o->a)[s->row * o->lda + i + j]);
            weight[j] = weight_at(o, s->column, i + j);
        }
        sum = step(sum, a, weight, count);
        if (i + 32 < o->k && (i + 32) % SCALE_BLOCK) continue;
        const bool before = group > 0 && (wrong == group || wrong == ALL_GROUPS);
        total += (float)sum * scale_of(o, 'B', s->column, group - before);
        sum = 0;
    }
    return total * (512 * scaled_of(o)->scale_a[s->row]);
}

static void check_bound(int m, int n, int k, enum input_kind input) {
    struct operands o;
    struct reference r;
    expect(operands_make(&o, &weights_format, m, n, k, GEMM_W4A8, input, 3,
                         weights_format.integer_limit(k, GEMM_W4A8)) &&
               reference_make(&r, &o),
           "no memory");
    double off = 0, ratio = 0, squares = 0, quantization = 0;
    int exact = 0, missed = 0;
    const int groups = ceil_div(k, SCALE_BLOCK), wrong = groups > 8 ? ALL_GROUPS : groups / 2;
    for (int64_t i = 0; i < r.count; ++i) {
        const struct sample *s = &r.samples[i];
        long double sum = 0;
        for (int j = 0; j < k; ++j)
            sum += (long double)e4m3_to_float(((const uint8_t *)o.a)[s->row * o.lda + j]) *
                   scaled_of(&o)->scale_a[s->row] * weight_at(&o, s->column, j) *
                   scale_of(&o, 'B', s->column, j / SCALE_BLOCK);
        off = fmax(off, fabs((double)(sum - s->value)));
        squares += r.real[i] * r.real[i];
        quantization += (r.real[i] - s->value) * (r.real[i] - s->value);
        const double bound = reference_accumulation(&r, s->row, s->column);
        const double got = kernel_sum(&o, s, NO_GROUP);
        exact += got == s->value;
        ratio = fmax(ratio, fabs(got - s->value) / bound);
        if (groups > 1) missed += fabs(kernel_sum(&o, s, wrong) - s->value) <= bound;
    }
    const double relative = sqrt(quantization / squares);
    expect(off < 1e-9, "%d x %d x %d: the reference is off by %g", m, n, k, off);
    if (input == INPUT_INTEGER) {
        expect(exact == r.count, "%d x %d x %d: %lld sums of integers are not exact", m, n, k,
               (long long)(r.count - exact));
    } else {
        expect(ratio <= 1 && ratio > 1e-4, "%d x %d x %d: the greatest error is %g of the bound", m,
               n, k, ratio);
        expect(relative > 0.05 && relative < 0.2, "%d x %d x %d: quantization costs %g", m, n, k,
               relative);
        /* Not every element has a group that matters so much; a kernel has many elements. */
        expect(groups == 1 || missed < 0.9 * (double)r.count,
               "%d x %d x %d: the wrong scale passes in %d of %lld elements", m, n, k, missed,
               (long long)r.count);
    }
    reference_free(&r);
    operands_free(&o);
}

/* ---- weights that are rounded with their scales ---- */

static double rounded_weight(const struct operands *o, int channel, int k) {
    const double product = weight_at(o, channel, k) * scale_of(o, 'B', channel, k / SCALE_BLOCK);
    return e4m3_to_float(float_to_e4m3((float)product));
}

/* A sample as such a kernel makes it, in a single chain; not `rounded`: of the exact products. */
static double chain_sum(const struct operands *o, const struct sample *s, bool rounded) {
    double sum = 0;
    for (int i = 0; i < o->k; i += 32) {
        double a[32], weight[32];
        const int count = o->k - i < 32 ? o->k - i : 32;
        for (int j = 0; j < count; ++j) {
            a[j] = e4m3_to_float(((const uint8_t *)o->a)[s->row * o->lda + i + j]);
            /* step() takes 2^-9 of it */
            weight[j] = 512 * (rounded ? rounded_weight(o, s->column, i + j)
                                       : weight_at(o, s->column, i + j) *
                                             scale_of(o, 'B', s->column, (i + j) / SCALE_BLOCK));
        }
        sum = step(sum, a, weight, count);
    }
    return sum * scaled_of(o)->scale_a[s->row];
}

/* The reference is what such a kernel computes, but for the cuts of the Tensor Core: a hundredth of
 * what the rounding of the weights changes is far more than these. */
static void check_rounded(int m, int n, int k, enum input_kind input) {
    struct operands o;
    struct reference r;
    expect(operands_make(&o, &weights_format, m, n, k, GEMM_W4A8, input, 3,
                         weights_format.integer_limit(k, GEMM_W4A8)),
           "no memory");
    o.format = &e4m3_weights_format;
    expect(reference_make(&r, &o), "no memory");
    expect(r.chains == 1, "%d chains, though nothing is promoted", r.chains);
    double off = 0, ratio = 0, size = 0, cuts = 0, roundings = 0;
    for (int64_t i = 0; i < r.count; ++i) {
        const struct sample *s = &r.samples[i];
        long double sum = 0;
        for (int j = 0; j < k; ++j)
            sum += (long double)e4m3_to_float(((const uint8_t *)o.a)[s->row * o.lda + j]) *
                   scaled_of(&o)->scale_a[s->row] * rounded_weight(&o, s->column, j);
        off = fmax(off, fabs((double)(sum - s->value)));
        const double got = chain_sum(&o, s, true), exact = chain_sum(&o, s, false);
        ratio = fmax(ratio, fabs(got - s->value) / reference_accumulation(&r, s->row, s->column));
        size += s->value * s->value;
        cuts += (got - s->value) * (got - s->value);
        roundings += (exact - s->value) * (exact - s->value);
    }
    expect(off < 1e-9, "%d x %d x %d: the reference of rounded weights is off by %g", m, n, k, off);
    expect(ratio <= 1, "%d x %d x %d, %s: the greatest error is %g of the bound", m, n, k,
           input_names[input], ratio);
    if (input == INPUT_INTEGER)
        expect(roundings == cuts, "whole multiples up to 14 are e4m3, but the products differ");
    else
        expect(sqrt(cuts / size) < 0.004 && sqrt(roundings / size) > 0.015,
               "%d x %d x %d: cuts make %g of the product, rounded weights %g", m, n, k,
               sqrt(cuts / size), sqrt(roundings / size));
    reference_free(&r);
    operands_free(&o);
}

int main(void) {
    for (int input = 0; input < INPUT_KINDS; ++input) {
        check_operands((enum input_kind)input, 50, 300, 333);
        check_operands((enum input_kind)input, 3, 128, 128);
        check_operands((enum input_kind)input, 1, 1, 1);
    }
    expect(weights_format.integer_limit(4096, GEMM_W4A8) == 11 &&
               weights_format.integer_limit((1 << 22) + 1, GEMM_W4A8) == 0,
           "the limits of integers");
    check_bound(60, 200, 100, INPUT_NORMAL);
    check_bound(60, 200, 700, INPUT_NORMAL);
    check_bound(60, 200, 700, INPUT_UNIFORM);
    check_bound(60, 200, 700, INPUT_INTEGER);
    check_bound(20, 30, 8192, INPUT_NORMAL);
    check_bound(20, 30, 8192, INPUT_INTEGER);
    check_rounded(60, 200, 100, INPUT_NORMAL);
    check_rounded(60, 200, 700, INPUT_UNIFORM);
    check_rounded(20, 30, 8192, INPUT_NORMAL);
    check_rounded(20, 30, 8192, INPUT_INTEGER);
    return expectations_met();
}
