#include "harness/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"
#include "harness/allocate.h"
#include "harness/parallel.h"

/* A matrix that is being filled. */
struct filling {
    const struct input_source *source;
    char name;
    uint16_t *matrix;
    int64_t ld;
    int columns;
    uint16_t padding;
};

static void fill_rows(void *context, int64_t begin, int64_t end) {
    const struct filling *f = context;
    for (int64_t row = begin; row < end; ++row) {
        uint16_t *elements = f->matrix + row * f->ld;
        input_fill_row(f->source, f->name, (int)row, elements, f->columns);
        for (int64_t column = f->columns; column < f->ld; ++column)
            elements[column] = f->padding;
    }
}

static uint16_t *make_matrix(const struct input_source *source, char name, int rows, int columns,
                             int64_t ld, enum gemm_type type) {
    uint16_t *matrix = malloc((size_t)rows * (size_t)ld * sizeof *matrix);
    if (!matrix) return NULL;
    struct filling filling = {source, name, matrix, ld, columns, padding_of(type)};
    parallel_ranges(rows, (double)rows * (double)ld, fill_rows, &filling);
    return matrix;
}

static bool make_elements(struct operands *o, int limit) {
    static struct input_source source; /* 128 KB, too large for a stack */
    input_prepare(&source, o->input, o->type, limit, o->seed);
    o->a = make_matrix(&source, 'A', o->m, o->k, o->lda, o->type);
    o->b = o->a ? make_matrix(&source, 'B', o->n, o->k, o->ldb, o->type) : NULL;
    return o->b;
}

bool operands_make(struct operands *operands, const struct operand_format *format, int m, int n,
                   int k, enum gemm_type type, enum input_kind input, uint64_t seed, int limit) {
    *operands = (struct operands){
        .m = m, .n = n, .k = k, .type = type, .input = input, .seed = seed, .format = format};
    operands_set_pitches(operands);
    if (format->make(operands, limit)) return true;
    operands_free(operands);
    return false;
}

double half_ulp(double magnitude, enum gemm_type type) {
    int exponent;
    frexp(magnitude, &exponent); /* magnitude = f * 2^exponent, 0.5 <= f < 1 */
    const int precision = element_precision(type);
    const int lowest = type == GEMM_FP16   ? -25 /* half the smallest subnormal */
                       : type == GEMM_E4M3 ? -10
                       : type == GEMM_FP32 ? -150
                                           : -134;
    const int half = exponent - 1 - precision;
    return magnitude == 0 ? 0 : ldexp(1, half < lowest ? lowest : half);
}

/* bf16_to_float(), by vectors of GCC and Clang. */
static void decode_bf16(const uint16_t *elements, int count, float *values) {
    typedef uint16_t halves __attribute__((vector_size(16)));
    typedef uint32_t words __attribute__((vector_size(32)));
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        halves loaded;
        memcpy(&loaded, elements + i, sizeof loaded);
        const words wide = __builtin_convertvector(loaded, words) << 16;
        memcpy(values + i, &wide, sizeof wide);
    }
    for (; i < count; ++i)
        values[i] = bf16_to_float(elements[i]);
}

static void decode_elements(const struct operands *o, char matrix, int row, float *values) {
    const uint16_t *const elements = matrix == 'A' ? o->a + row * o->lda : o->b + row * o->ldb;
    if (o->type == GEMM_BF16)
        decode_bf16(elements, o->k, values);
    else
        for (int i = 0; i < o->k; ++i)
            values[i] = fp16_to_float(elements[i]);
}

enum { WHOLE_SUM = 1 << 24 }; /* fp32 has every whole number up to it */

/* The products of such numbers are exact in fp64, and 2^28 additions leave an error far below any
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

/* The greatest magnitude; infinite, if some value is no whole number. */
static float greatest_whole(const float *values, int64_t count) {
    float greatest = 0;
    for (int64_t i = 0; i < count; ++i) {
        const float magnitude = fabsf(values[i]);
        if (!(magnitude <= WHOLE_SUM) || (float)(int)magnitude != magnitude) return INFINITY;
        if (magnitude > greatest) greatest = magnitude;
    }
    return greatest;
}

/* Of whole numbers whose sums are all exact in fp32, too. Vectors of GCC and Clang. */
static double whole_dot(const float *a, const float *b, int count) {
    typedef float floats __attribute__((vector_size(16)));
    floats sum[2] = {{0}};
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        floats left[2], right[2];
        memcpy(left, a + i, sizeof left);
        memcpy(right, b + i, sizeof right);
        sum[0] += left[0] * right[0];
        sum[1] += left[1] * right[1];
    }
    sum[0] += sum[1];
    for (; i < count; ++i)
        sum[0][0] += a[i] * b[i];
    return (sum[0][0] + sum[0][1]) + (sum[0][2] + sum[0][3]);
}

static double element_product(const struct operands *o, int row, int column, const float *a,
                              const float *b, dot_function *dot) {
    (void)row, (void)column;
    return dot(a, b, o->k);
}

/* A row on its way to fp64. */
static float *row_buffer(int k) {
    return allocate((size_t)k, sizeof(float), "a row of the reference");
}

struct norms {
    const struct operands *operands;
    char matrix;
    struct norm_terms terms;
    int chains;
    float *norms; /* [row][chain] */
};

static void norm_rows(void *context, int64_t begin, int64_t end) {
    const struct norms *n = context;
    const struct operands *const o = n->operands;
    const struct norm_terms *const terms = &n->terms;
    float *values = row_buffer(o->k);
    for (int64_t row = begin; row < end; ++row) {
        o->format->decode_row(o, n->matrix, (int)row, values);
        if (terms->weigh) terms->weigh(o, n->matrix, values);
        for (int c = 0; c < n->chains; ++c) {
            const int first = c * terms->chain;
            const int last = c + 1 < n->chains ? first + terms->chain : o->k;
            double sum[4] = {0};
            for (int i = first; i < last; ++i) {
                const double square = (double)values[i] * values[i];
                sum[i & 3] += square * square;
            }
            double norm = terms->scale * sqrt(sqrt(sum[0] + sum[1] + sum[2] + sum[3])) * 1.000001;
            if (terms->factor) norm *= terms->factor(o, n->matrix, (int)row, first);
            n->norms[row * n->chains + c] = (float)norm;
        }
    }
    free(values);
}

float *reference_norms(const struct operands *o, char matrix, struct norm_terms terms) {
    const int rows = matrix == 'A' ? o->m : o->n, chains = ceil_div(o->k, terms.chain);
    struct norms norms = {o, matrix, terms, chains,
                          malloc((size_t)rows * (size_t)chains * sizeof(float))};
    if (norms.norms) parallel_ranges(rows, 2.0 * rows * o->k, norm_rows, &norms);
    return norms.norms;
}

/* ---- the samples' values ---- */

struct products {
    const struct operands *operands;
    const struct sample *samples;
    bool real;      /* of the real data, if operands have scales */
    double *values; /* the sample's value goes here */
    int stride;     /* doubles from one to the next */
    float *b;       /* [n][k], or NULL */
    float greatest; /* of b; infinite: not all are whole numbers */
};

static void row_of(const struct products *p, char matrix, int row, float *values) {
    const struct operand_format *const format = p->operands->format;
    (p->real ? format->real_row : format->decode_row)(p->operands, matrix, row, values);
}

static void multiply_samples(void *context, int64_t begin, int64_t end) {
    const struct products *p = context;
    const struct operands *o = p->operands;
    float *a = row_buffer(o->k), *b = row_buffer(o->k);
    int row = -1;
    bool whole = false;
    for (int64_t i = begin; i < end; ++i) {
        const struct sample *s = &p->samples[i];
        const float *const of_b = p->b ? p->b + (int64_t)s->column * o->k : b;
        if (s->row != row) {
            row_of(p, 'A', row = s->row, a);
            whole = p->b && (double)o->k * greatest_whole(a, o->k) * p->greatest <= WHOLE_SUM;
        }
        if (!p->b) row_of(p, 'B', s->column, b);
        dot_function *const of_rows = whole ? whole_dot : dot;
        p->values[i * p->stride] = p->real
                                       ? of_rows(a, of_b, o->k)
                                       : o->format->product(o, row, s->column, a, of_b, of_rows);
    }
    free(a);
    free(b);
}

/* Computes all of them. If they are all elements, the rows of B are decoded once. */
static bool multiply_all(const struct reference *reference, const struct operands *o, bool real) {
    struct products p = {.operands = o,
                         .samples = reference->samples,
                         .real = real,
                         .values = real ? reference->real : &reference->samples[0].value,
                         .stride = real ? 1 : (int)(sizeof(struct sample) / sizeof(double))};
    if (reference->complete) p.b = malloc((size_t)o->n * (size_t)o->k * sizeof *p.b);
    if (reference->complete && !p.b) return false;
    for (int column = 0; column < o->n && p.b; ++column)
        row_of(&p, 'B', column, p.b + (int64_t)column * o->k);
    if (p.b) p.greatest = greatest_whole(p.b, (int64_t)o->n * o->k);
    parallel_ranges(reference->count, (p.b ? 1.0 : 3.0) * (double)reference->count * o->k,
                    multiply_samples, &p);
    free(p.b);
    return true;
}

/* ---- single elements, for other kinds of problems ---- */

enum { MOST_DECODED = 1 << 24 }; /* elements: 64 MB */

static float *decode_rows(const struct operands *o, char matrix, int rows) {
    float *const decoded = malloc((size_t)rows * (size_t)o->k * sizeof *decoded);
    for (int row = 0; row < rows && decoded; ++row)
        o->format->decode_row(o, matrix, row, decoded + (int64_t)row * o->k);
    return decoded;
}

void operands_decode(struct operands *o) {
    if (((int64_t)o->m + o->n) * o->k > MOST_DECODED) return;
    o->decoded_a = decode_rows(o, 'A', o->m);
    o->decoded_b = decode_rows(o, 'B', o->n);
    o->whole = o->decoded_a && o->decoded_b &&
               (double)o->k * greatest_whole(o->decoded_a, (int64_t)o->m * o->k) *
                       greatest_whole(o->decoded_b, (int64_t)o->n * o->k) <=
                   WHOLE_SUM;
}

const float *operands_row(const struct operands *o, char matrix, int row, float *buffer) {
    const float *const decoded = matrix == 'A' ? o->decoded_a : o->decoded_b;
    if (decoded) return decoded + (int64_t)row * o->k;
    o->format->decode_row(o, matrix, row, buffer);
    return buffer;
}

double operands_product(const struct operands *o, int row, int column) {
    float *const a = o->decoded_a ? NULL : row_buffer(o->k);
    float *const b = o->decoded_b ? NULL : row_buffer(o->k);
    const double product =
        o->format->product(o, row, column, operands_row(o, 'A', row, a),
                           operands_row(o, 'B', column, b), o->whole ? whole_dot : dot);
    free(a);
    free(b);
    return product;
}

/* ---- the bound ---- */

double reference_error(const struct reference *r, int row, int column, double value) {
    return r->error ? r->error(r->of, row, column, value) : reference_accumulation(r, row, column);
}

double reference_accumulation(const struct reference *r, int row, int column) {
    return r->format->accumulation(r, row, column);
}

double reference_partial_sum(const struct reference *r, int row, int column) {
    if (r->product) r = r->product;
    return reference_accumulation(r, row, column) / r->addition_errors;
}

double reference_addition_errors(int k) { return (4 * sqrt(k) + 1.25 * k / 8 + 32) * 0x1p-23; }

static bool make_bound(struct reference *reference, const struct operands *o) {
    const double partial = fmin(8, sqrt(o->k));
    reference->addition_errors = reference_addition_errors(o->k);
    reference->row_norm = reference_norms(
        o, 'A', (struct norm_terms){.chain = o->k, .scale = reference->addition_errors * partial});
    reference->column_norm =
        reference_norms(o, 'B', (struct norm_terms){.chain = o->k, .scale = 1});
    return reference->row_norm && reference->column_norm;
}

static double accumulation(const struct reference *r, int row, int column) {
    return (double)r->row_norm[row] * r->column_norm[column];
}

const struct operand_format elements_format = {.integer_limit = input_integer_limit,
                                               .make = make_elements,
                                               .decode_row = decode_elements,
                                               .product = element_product,
                                               .make_bound = make_bound,
                                               .accumulation = accumulation};

bool reference_make_bound(struct reference *reference, const struct operands *o) {
    *reference = (struct reference){.format = o->format};
    if (o->format->make_bound(reference, o)) return true;
    reference_free(reference);
    return false;
}

bool reference_make(struct reference *reference, const struct operands *o) {
    if (!reference_make_bound(reference, o)) return false;
    const bool is_real = o->format->real_row == NULL; /* what the elements are is what is meant */
    const int64_t room = samples_room(o->m, o->n, o->k);
    reference->complete = samples_are_all(o->m, o->n, o->k);
    reference->integers = o->input == INPUT_INTEGER;
    reference->samples = malloc((size_t)room * sizeof *reference->samples);
    if (!is_real) reference->real = malloc((size_t)room * sizeof *reference->real);
    bool good = reference->samples && (reference->real || is_real);
    if (good) {
        reference->count = samples_place(reference->samples, o->m, o->n, o->k, o->seed);
        good = multiply_all(reference, o, false) && (is_real || multiply_all(reference, o, true));
    }
    if (!good) reference_free(reference);
    return good;
}

void reference_free(struct reference *reference) {
    free(reference->samples);
    free(reference->sample_error);
    free(reference->row_norm);
    free(reference->column_norm);
    free(reference->real);
    *reference = (struct reference){0};
}
