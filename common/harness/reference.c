#include "harness/reference.h"

#include <math.h>
#include <stdlib.h>

#include "element_codec.h"

/* Multiplications and additions that a complete reference may take, and about what a sampled one
 * takes. */
static const double complete_limit = 0x1p28;

int64_t leading_dimension(int columns) { return ((int64_t)columns + 7) / 8 * 8; }

static uint16_t *make_matrix(const struct input_source *source, char name, int rows, int columns) {
    const int64_t ld = leading_dimension(columns);
    uint16_t *matrix = malloc((size_t)rows * (size_t)ld * sizeof *matrix);
    if (!matrix) return NULL;
    for (int row = 0; row < rows; ++row) {
        uint16_t *elements = matrix + row * ld;
        input_fill_row(source, name, row, elements, columns);
        for (int64_t column = columns; column < ld; ++column)
            elements[column] = OPERAND_PADDING;
    }
    return matrix;
}

bool operands_make(struct operands *operands, int m, int n, int k, enum gemm_type type,
                   enum input_kind kind, uint64_t seed) {
    static struct input_source source; /* 128 KB, too large for a stack */
    *operands = (struct operands){.m = m, .n = n, .k = k, .type = type, .kind = kind, .seed = seed};
    operands->lda = operands->ldb = leading_dimension(k);
    operands->ldd = leading_dimension(n);
    input_prepare(&source, kind, type, k, seed);
    operands->a = make_matrix(&source, 'A', m, k);
    operands->b = operands->a ? make_matrix(&source, 'B', n, k) : NULL;
    if (operands->b) return true;
    operands_free(operands);
    return false;
}

void operands_free(struct operands *operands) {
    free(operands->a);
    free(operands->b);
    operands->a = operands->b = NULL;
}

double half_ulp(double magnitude, enum gemm_type type) {
    int exponent;
    frexp(magnitude, &exponent); /* magnitude = f * 2^exponent, 0.5 <= f < 1 */
    const int precision = element_precision(type);
    const int lowest = type == GEMM_FP16 ? -25 : -134; /* half the smallest subnormal */
    const int half = exponent - 1 - precision;
    return magnitude == 0 ? 0 : ldexp(1, half < lowest ? lowest : half);
}

static void decode_row(const uint16_t *elements, int count, enum gemm_type type, float *values) {
    if (type == GEMM_BF16)
        for (int i = 0; i < count; ++i)
            values[i] = bf16_to_float(elements[i]);
    else
        for (int i = 0; i < count; ++i)
            values[i] = fp16_to_float(elements[i]);
}

/* The products of 16-bit numbers are exact in fp64, and 2^28 additions leave an error far below any
 * bound here. Eight partial sums, so that the additions need not wait for one another. */
static double dot(const float *a, const float *b, int count) {
    double sum[8] = {0};
    int i = 0;
    for (; i + 8 <= count; i += 8)
        for (int j = 0; j < 8; ++j)
            sum[j] += (double)a[i + j] * b[i + j];
    for (; i < count; ++i)
        sum[0] += (double)a[i] * b[i];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

/* |x|_4 of each row, times `scale`; rounded up a little, for the rounding here. */
static float *fourth_norms(const uint16_t *matrix, int64_t ld, int rows, const struct operands *o,
                           double scale, float *values) {
    float *norms = malloc((size_t)rows * sizeof *norms);
    if (!norms) return NULL;
    for (int row = 0; row < rows; ++row) {
        decode_row(matrix + row * ld, o->k, o->type, values);
        double sum[4] = {0};
        for (int i = 0; i < o->k; ++i) {
            const double square = (double)values[i] * values[i];
            sum[i & 3] += square * square;
        }
        norms[row] = (float)(scale * sqrt(sqrt(sum[0] + sum[1] + sum[2] + sum[3])) * 1.000001);
    }
    return norms;
}

bool reference_is_complete(int m, int n, int k) {
    return (double)m * n * ((double)k + 16) <= complete_limit;
}

static void add_sample(struct reference *reference, int row, int column, double value) {
    reference->samples[reference->count++] = (struct sample){row, column, value};
}

/* All elements. */
static bool make_complete(struct reference *reference, const struct operands *o, float *values) {
    float *b = malloc((size_t)o->n * (size_t)o->k * sizeof *b);
    if (!b) return false;
    for (int column = 0; column < o->n; ++column)
        decode_row(o->b + column * o->ldb, o->k, o->type, b + (int64_t)column * o->k);
    for (int row = 0; row < o->m; ++row) {
        decode_row(o->a + row * o->lda, o->k, o->type, values);
        for (int column = 0; column < o->n; ++column)
            add_sample(reference, row, column, dot(values, b + (int64_t)column * o->k, o->k));
    }
    free(b);
    return true;
}

enum { LINES = 3, BLOCK = 128 };

/* A row or column that would take too long is sampled in steps, odd so that they meet every
 * position in a tile. */
static int line_step(int length, int k) {
    const int step = (int)ceil((double)length * k / complete_limit);
    return step <= 1 ? 1 : step | 1;
}

/* Some rows and columns, and one element of every block. */
static void make_samples(struct reference *reference, const struct operands *o, float *fixed,
                         float *moving) {
    const uint64_t seed = input_hash(o->seed, 'S');
    const int rows[LINES] = {0, (int)(input_hash(seed, 0) % (uint64_t)o->m), o->m - 1};
    const int columns[LINES] = {0, (int)(input_hash(seed, 1) % (uint64_t)o->n), o->n - 1};
    const int row_step = line_step(o->n, o->k), column_step = line_step(o->m, o->k);
    for (int i = 0; i < LINES; ++i) {
        if (i > 0 && rows[i] == rows[i - 1]) continue;
        decode_row(o->a + rows[i] * o->lda, o->k, o->type, fixed);
        for (int64_t column = 0; column < o->n; column += row_step) {
            decode_row(o->b + column * o->ldb, o->k, o->type, moving);
            add_sample(reference, rows[i], (int)column, dot(fixed, moving, o->k));
        }
    }
    for (int i = 0; i < LINES; ++i) {
        if (i > 0 && columns[i] == columns[i - 1]) continue;
        decode_row(o->b + columns[i] * o->ldb, o->k, o->type, fixed);
        for (int64_t row = 0; row < o->m; row += column_step) {
            decode_row(o->a + row * o->lda, o->k, o->type, moving);
            add_sample(reference, (int)row, columns[i], dot(moving, fixed, o->k));
        }
    }
    /* Thinned out where blocks are so many or so deep that they would take longer than the rows and
     * columns. */
    const double blocks = ceil((double)o->m / BLOCK) * ceil((double)o->n / BLOCK);
    const double affordable = fmax(256, 2 * complete_limit / o->k);
    const int stride = blocks > affordable ? (int)ceil(blocks / affordable) : 1;
    uint64_t block = 0;
    for (int64_t row0 = 0; row0 < o->m; row0 += BLOCK)
        for (int64_t column0 = 0; column0 < o->n; column0 += BLOCK, ++block) {
            if (block % (uint64_t)stride) continue;
            const uint64_t random = input_hash(seed, 2 + block);
            const int64_t high = row0 + BLOCK < o->m ? BLOCK : o->m - row0;
            const int64_t wide = column0 + BLOCK < o->n ? BLOCK : o->n - column0;
            const int row = (int)(row0 + (int64_t)(random & 0xffff) % high);
            const int column = (int)(column0 + (int64_t)(random >> 16 & 0xffff) % wide);
            decode_row(o->a + row * o->lda, o->k, o->type, fixed);
            decode_row(o->b + column * o->ldb, o->k, o->type, moving);
            add_sample(reference, row, column, dot(fixed, moving, o->k));
        }
}

bool reference_make(struct reference *reference, const struct operands *o) {
    *reference = (struct reference){.complete = reference_is_complete(o->m, o->n, o->k)};
    const int64_t blocks = ((int64_t)o->m / BLOCK + 1) * ((int64_t)o->n / BLOCK + 1);
    const int64_t room =
        reference->complete ? (int64_t)o->m * o->n : LINES * ((int64_t)o->m + o->n) + blocks;
    const double steps = 1.25 * o->k + 32;
    const double partial = fmin(8, sqrt(o->k));
    float *fixed = malloc((size_t)o->k * sizeof *fixed);
    float *moving = malloc((size_t)o->k * sizeof *moving);
    reference->samples = malloc((size_t)room * sizeof *reference->samples);
    bool good = fixed && moving && reference->samples;
    if (good) {
        reference->row_norm = fourth_norms(o->a, o->lda, o->m, o, steps * 0x1p-23 * partial, fixed);
        reference->column_norm = fourth_norms(o->b, o->ldb, o->n, o, 1, fixed);
        good = reference->row_norm && reference->column_norm;
    }
    if (good && reference->complete)
        good = make_complete(reference, o, fixed);
    else if (good)
        make_samples(reference, o, fixed, moving);
    free(fixed);
    free(moving);
    if (!good) reference_free(reference);
    return good;
}

void reference_free(struct reference *reference) {
    free(reference->samples);
    free(reference->row_norm);
    free(reference->column_norm);
    *reference = (struct reference){0};
}
