#include "harness/reference.h"

#include <math.h>
#include <stdlib.h>

#include "element_codec.h"
#include "harness/allocate.h"
#include "harness/parallel.h"
#include "harness/quantize.h"
#include "w4_block.h"

/* Multiplications and additions that a complete reference may take, and about what a sampled one
 * takes. */
static const double complete_limit = 0x1p28;

int64_t leading_dimension(int columns) { return ((int64_t)columns + 7) / 8 * 8; }

int64_t operand_leading_dimension(int columns, enum gemm_type type) {
    return gemm_type_is_scaled(type) ? ((int64_t)columns + 15) / 16 * 16
                                     : leading_dimension(columns);
}

int64_t operand_bytes(const struct operands *o, char matrix) {
    if (o->type == GEMM_W4A8) return matrix == 'A' ? o->m * o->lda : (int64_t)w4_bytes(o->n, o->k);
    return (matrix == 'A' ? o->m * o->lda : o->n * o->ldb) * gemm_type_bytes(o->type);
}

/* A matrix that is being filled. */
struct filling {
    const struct input_source *source;
    char name;
    uint16_t *matrix;
    int64_t ld;
    int columns;
};

static void fill_rows(void *context, int64_t begin, int64_t end) {
    const struct filling *f = context;
    for (int64_t row = begin; row < end; ++row) {
        uint16_t *elements = f->matrix + row * f->ld;
        input_fill_row(f->source, f->name, (int)row, elements, f->columns);
        for (int64_t column = f->columns; column < f->ld; ++column)
            elements[column] = OPERAND_PADDING;
    }
}

static uint16_t *make_matrix(const struct input_source *source, char name, int rows, int columns) {
    const int64_t ld = leading_dimension(columns);
    uint16_t *matrix = malloc((size_t)rows * (size_t)ld * sizeof *matrix);
    if (!matrix) return NULL;
    struct filling filling = {source, name, matrix, ld, columns};
    parallel_ranges(rows, (double)rows * (double)ld, fill_rows, &filling);
    return matrix;
}

bool operands_make_limited(struct operands *operands, int m, int n, int k, enum gemm_type type,
                           enum input_kind kind, uint64_t seed, int limit) {
    static struct input_source source; /* 128 KB, too large for a stack */
    *operands = (struct operands){.m = m, .n = n, .k = k, .type = type, .kind = kind, .seed = seed};
    operands->lda = operands->ldb = operand_leading_dimension(k, type);
    operands->ldd = leading_dimension(n);
    input_prepare(&source, kind, type, limit, seed);
    operands->a = make_matrix(&source, 'A', m, k);
    operands->b = operands->a ? make_matrix(&source, 'B', n, k) : NULL;
    if (operands->b) return true;
    operands_free(operands);
    return false;
}

bool operands_make(struct operands *operands, int m, int n, int k, enum gemm_type type,
                   enum input_kind kind, uint64_t seed, bool tensor_scales) {
    const int limit = input_integer_limit(k, type, tensor_scales);
    if (!gemm_type_is_scaled(type))
        return operands_make_limited(operands, m, n, k, type, kind, seed, limit);
    *operands = (struct operands){.m = m,
                                  .n = n,
                                  .k = k,
                                  .type = type,
                                  .kind = kind,
                                  .seed = seed,
                                  .tensor_scales = tensor_scales};
    operands->lda = operands->ldb = operand_leading_dimension(k, type);
    operands->ldd = leading_dimension(n);
    operands->source = malloc(sizeof *operands->source);
    if (operands->source) {
        input_prepare(operands->source, kind, GEMM_BF16, limit, seed);
        if (quantize_operands(operands)) return true;
    }
    operands_free(operands);
    return false;
}

void operands_free(struct operands *operands) {
    free(operands->a);
    free(operands->b);
    free(operands->scale_a);
    free(operands->scale_b);
    free(operands->weights);
    free(operands->source);
    operands->a = operands->b = NULL;
    operands->scale_a = operands->scale_b = NULL;
    operands->weights = NULL;
    operands->source = NULL;
}

double half_ulp(double magnitude, enum gemm_type type) {
    int exponent;
    frexp(magnitude, &exponent); /* magnitude = f * 2^exponent, 0.5 <= f < 1 */
    const int precision = element_precision(type);
    const int lowest = type == GEMM_FP16 ? -25 : -134; /* half the smallest subnormal */
    const int half = exponent - 1 - precision;
    return magnitude == 0 ? 0 : ldexp(1, half < lowest ? lowest : half);
}

/* A row of 'A' or 'B', without its scales. */
static void decode_row(const struct operands *o, char matrix, int64_t row, float *values) {
    const int64_t first = row * (matrix == 'A' ? o->lda : o->ldb);
    const uint16_t *const all = matrix == 'A' ? o->a : o->b, *const elements = all + first;
    if (o->type == GEMM_W4A8 && matrix == 'B')
        for (int i = 0; i < o->k; ++i) {
            values[i] = o->weights[row * o->k + i];
            if (o->e4m3_weights)
                values[i] = e4m3_to_float(
                    float_to_e4m3(values[i] * scale_of(o, 'B', (int)row, i / SCALE_BLOCK)));
        }
    else if (gemm_type_is_scaled(o->type))
        for (int i = 0; i < o->k; ++i)
            values[i] = e4m3_to_float(((const uint8_t *)all)[first + i]);
    else if (o->type == GEMM_BF16)
        for (int i = 0; i < o->k; ++i)
            values[i] = bf16_to_float(elements[i]);
    else
        for (int i = 0; i < o->k; ++i)
            values[i] = fp16_to_float(elements[i]);
}

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

/* What the elements of decode_row() are multiplied by. */
static float factor_of(const struct operands *o, char matrix, int row, int block) {
    return matrix == 'B' && o->e4m3_weights ? 1 : scale_of(o, matrix, row, block);
}

/* A row of A times a row of B. The products of two scales are exact, too. */
static double scaled_dot(const struct operands *o, int row, int column, const float *a,
                         const float *b) {
    if (!gemm_type_is_scaled(o->type)) return dot(a, b, o->k);
    double sum = 0;
    for (int i = 0; i < o->k; i += SCALE_BLOCK)
        sum += (double)factor_of(o, 'A', row, i / SCALE_BLOCK) *
               factor_of(o, 'B', column, i / SCALE_BLOCK) *
               dot(a + i, b + i, o->k - i < SCALE_BLOCK ? o->k - i : SCALE_BLOCK);
    return sum;
}

/* A row on its way to fp64. */
static float *row_buffer(int k) {
    return allocate((size_t)k, sizeof(float), "a row of the reference");
}

/* What a weight counts as for the bound, because the Tensor Core may take a greater exponent. */
static float counted_weight(const struct operands *o, float weight) {
    if (weight == 0) return 0;
    return o->e4m3_weights ? fmaxf(fabsf(weight), 0x1p-6f) : W4_GREATEST + 1;
}

struct norms {
    const struct operands *operands;
    char matrix;
    int chain, chains; /* elements of k; how many of them */
    double scale;
    float *norms; /* [row][chain] */
};

static void norm_rows(void *context, int64_t begin, int64_t end) {
    const struct norms *n = context;
    const struct operands *const o = n->operands;
    float *values = row_buffer(o->k);
    for (int64_t row = begin; row < end; ++row) {
        decode_row(o, n->matrix, row, values);
        for (int i = 0; o->type == GEMM_W4A8 && n->matrix == 'B' && i < o->k; ++i)
            values[i] = counted_weight(o, values[i]);
        for (int c = 0; c < n->chains; ++c) {
            const int last = (c + 1 < n->chains ? (c + 1) * n->chain : o->k);
            double sum[4] = {0};
            for (int i = c * n->chain; i < last; ++i) {
                const double square = (double)values[i] * values[i];
                sum[i & 3] += square * square;
            }
            double norm = n->scale * sqrt(sqrt(sum[0] + sum[1] + sum[2] + sum[3])) * 1.000001;
            if (gemm_type_is_scaled(o->type)) /* with one chain, one scale */
                norm *= factor_of(o, n->matrix, (int)row, c * n->chain / SCALE_BLOCK);
            n->norms[row * n->chains + c] = (float)norm;
        }
    }
    free(values);
}

/* |x|_4 of each row and chain, times `scale`; rounded up a little, for the rounding here. */
static float *fourth_norms(const struct operands *o, char matrix, int chains, double scale) {
    const int rows = matrix == 'A' ? o->m : o->n;
    const int chain = chains == 1 ? o->k : SCALE_BLOCK;
    struct norms norms = {o,      matrix, chain,
                          chains, scale,  malloc((size_t)rows * (size_t)chains * sizeof(float))};
    if (norms.norms) parallel_ranges(rows, 2.0 * rows * o->k, norm_rows, &norms);
    return norms.norms;
}

bool reference_is_complete(int m, int n, int k) {
    return (double)m * n * ((double)k + 16) <= complete_limit;
}

/* What the parts of a reference work on. */
struct making {
    const struct operands *operands;
    struct sample *samples; /* the first of this round's */
    float *b;               /* complete: [n][k] */
    int index, step;        /* a line's row or column, and the distance of its samples */
    bool is_row;
    uint64_t seed, stride; /* blocks: of the random numbers; every stride-th is sampled */
};

static void complete_rows(void *context, int64_t begin, int64_t end) {
    const struct making *making = context;
    const struct operands *o = making->operands;
    float *values = row_buffer(o->k);
    for (int64_t row = begin; row < end; ++row) {
        decode_row(o, 'A', row, values);
        for (int column = 0; column < o->n; ++column)
            making->samples[row * o->n + column] = (struct sample){
                (int)row, column,
                scaled_dot(o, (int)row, column, values, making->b + (int64_t)column * o->k)};
    }
    free(values);
}

/* All elements. */
static bool make_complete(struct reference *reference, const struct operands *o) {
    float *b = malloc((size_t)o->n * (size_t)o->k * sizeof *b);
    if (!b) return false;
    for (int column = 0; column < o->n; ++column)
        decode_row(o, 'B', column, b + (int64_t)column * o->k);
    struct making making = {.operands = o, .samples = reference->samples, .b = b};
    parallel_ranges(o->m, (double)o->m * o->n * o->k, complete_rows, &making);
    reference->count = (int64_t)o->m * o->n;
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

static struct sample sample_at(const struct operands *o, int row, int column, float *a, float *b) {
    decode_row(o, 'A', row, a);
    decode_row(o, 'B', column, b);
    return (struct sample){row, column, scaled_dot(o, row, column, a, b)};
}

/* Samples begin .. end - 1 of a row or column. */
static void line_samples(void *context, int64_t begin, int64_t end) {
    const struct making *making = context;
    float *a = row_buffer(making->operands->k), *b = row_buffer(making->operands->k);
    for (int64_t i = begin; i < end; ++i) {
        const int moving = (int)(i * making->step);
        making->samples[i] = sample_at(making->operands, making->is_row ? making->index : moving,
                                       making->is_row ? moving : making->index, a, b);
    }
    free(a);
    free(b);
}

/* One element of each of the blocks with these numbers, times the stride. */
static void block_samples(void *context, int64_t begin, int64_t end) {
    const struct making *making = context;
    const struct operands *o = making->operands;
    const int64_t blocks_n = ((int64_t)o->n + BLOCK - 1) / BLOCK;
    float *a = row_buffer(o->k), *b = row_buffer(o->k);
    for (int64_t i = begin; i < end; ++i) {
        const int64_t block = i * (int64_t)making->stride;
        const int64_t row0 = block / blocks_n * BLOCK, column0 = block % blocks_n * BLOCK;
        const uint64_t random = input_hash(making->seed, 2 + (uint64_t)block);
        const int64_t high = row0 + BLOCK < o->m ? BLOCK : o->m - row0;
        const int64_t wide = column0 + BLOCK < o->n ? BLOCK : o->n - column0;
        making->samples[i] =
            sample_at(o, (int)(row0 + (int64_t)(random & 0xffff) % high),
                      (int)(column0 + (int64_t)(random >> 16 & 0xffff) % wide), a, b);
    }
    free(a);
    free(b);
}

/* Has `count` samples made behind those that are there. */
static void add_samples(struct reference *reference, struct making *making, int64_t count,
                        parallel_part *part) {
    making->samples = reference->samples + reference->count;
    parallel_ranges(count, 3.0 * (double)count * making->operands->k, part, making);
    reference->count += count;
}

/* Some rows and columns, and one element of every block. */
static void make_samples(struct reference *reference, const struct operands *o) {
    const uint64_t seed = input_hash(o->seed, 'S');
    const int rows[LINES] = {0, (int)(input_hash(seed, 0) % (uint64_t)o->m), o->m - 1};
    const int columns[LINES] = {0, (int)(input_hash(seed, 1) % (uint64_t)o->n), o->n - 1};
    for (int i = 0; i < 2 * LINES; ++i) {
        const bool is_row = i < LINES;
        const int *lines = is_row ? rows : columns;
        const int length = is_row ? o->n : o->m, line = i % LINES;
        if (line > 0 && lines[line] == lines[line - 1]) continue;
        struct making making = {
            .operands = o, .is_row = is_row, .index = lines[line], .step = line_step(length, o->k)};
        add_samples(reference, &making, ((int64_t)length + making.step - 1) / making.step,
                    line_samples);
    }
    /* Thinned out where blocks are so many or so deep that they would take longer than the rows and
     * columns. */
    const double blocks = ceil((double)o->m / BLOCK) * ceil((double)o->n / BLOCK);
    const double affordable = fmax(256, 2 * complete_limit / o->k);
    const double stride = blocks > affordable ? ceil(blocks / affordable) : 1;
    struct making making = {.operands = o, .seed = seed, .stride = (uint64_t)stride};
    add_samples(reference, &making, (int64_t)ceil(blocks / stride), block_samples);
}

/* ---- operands with scales: the product of the real data ---- */

struct real_products {
    const struct operands *operands;
    const struct reference *reference;
    float *b; /* [n][k], or NULL */
};

static void real_products(void *context, int64_t begin, int64_t end) {
    const struct real_products *p = context;
    const struct operands *o = p->operands;
    float *a = row_buffer(o->k), *b = row_buffer(o->k);
    int row = -1;
    for (int64_t i = begin; i < end; ++i) {
        const struct sample *s = &p->reference->samples[i];
        if (s->row != row) real_row(o, 'A', row = s->row, a);
        if (!p->b) real_row(o, 'B', s->column, b);
        p->reference->real[i] = dot(a, p->b ? p->b + (int64_t)s->column * o->k : b, o->k);
    }
    free(a);
    free(b);
}

static bool make_real(struct reference *reference, const struct operands *o) {
    struct real_products p = {o, reference, NULL};
    reference->real = malloc((size_t)reference->count * sizeof *reference->real);
    if (reference->complete) p.b = malloc((size_t)o->n * (size_t)o->k * sizeof *p.b);
    if (!reference->real || (reference->complete && !p.b)) return false;
    for (int column = 0; column < o->n && p.b; ++column)
        real_row(o, 'B', column, p.b + (int64_t)column * o->k);
    parallel_ranges(reference->count, 3.0 * (double)reference->count * o->k, real_products, &p);
    free(p.b);
    return true;
}

double reference_accumulation(const struct reference *r, int row, int column) {
    const float *const a = r->row_norm + (int64_t)row * r->chains;
    const float *const b = r->column_norm + (int64_t)column * r->chains;
    if (!r->real) return (double)a[0] * b[0];
    double q = 0, s = 0;
    for (int c = 0; c < r->chains; ++c) {
        const double root = (double)a[c] * b[c], square = root * root;
        q += square;
        s = square > s ? square : s;
    }
    return r->chain_errors * sqrt(q + 2 * sqrt(32 * s * q) + 64 * s) +
           r->promotion_errors * sqrt(q);
}

double reference_partial_sum(const struct reference *r, int row, int column) {
    return reference_accumulation(r, row, column) / r->addition_errors;
}

/* What does not depend on the element, of the accumulation's errors. */
static void find_errors(struct reference *reference, const struct operands *o) {
    const double chain = reference->chains == 1 ? o->k : SCALE_BLOCK, steps = ceil(chain / 32);
    const double walk = fmin(8, sqrt(reference->chains));
    reference->chain_errors = (8 * sqrt(chain) + walk * 2 * steps) * 0x1p-13;
    reference->promotion_errors = (reference->chains + 2) * 0x1p-23 * fmin(8, sqrt(o->k));
}

bool reference_make(struct reference *reference, const struct operands *o) {
    *reference = (struct reference){.complete = reference_is_complete(o->m, o->n, o->k)};
    const int64_t blocks = ((int64_t)o->m / BLOCK + 1) * ((int64_t)o->n / BLOCK + 1);
    const int64_t room =
        reference->complete ? (int64_t)o->m * o->n : LINES * ((int64_t)o->m + o->n) + blocks;
    const double addition_errors = (1.25 * o->k + 32) * 0x1p-23;
    const double partial = fmin(8, sqrt(o->k));
    reference->samples = malloc((size_t)room * sizeof *reference->samples);
    bool good = reference->samples;
    if (good) {
        const bool scaled = gemm_type_is_scaled(o->type);
        const bool promoted = scaled && !o->tensor_scales && !o->e4m3_weights;
        reference->chains = promoted ? ceil_div(o->k, SCALE_BLOCK) : 1;
        reference->addition_errors = addition_errors;
        reference->row_norm =
            fourth_norms(o, 'A', reference->chains, scaled ? 1 : addition_errors * partial);
        reference->column_norm = fourth_norms(o, 'B', reference->chains, 1);
        good = reference->row_norm && reference->column_norm;
    }
    if (good && reference->complete)
        good = make_complete(reference, o);
    else if (good)
        make_samples(reference, o);
    if (good && gemm_type_is_scaled(o->type)) {
        find_errors(reference, o);
        good = make_real(reference, o);
    }
    if (!good) reference_free(reference);
    return good;
}

void reference_free(struct reference *reference) {
    free(reference->samples);
    free(reference->row_norm);
    free(reference->column_norm);
    free(reference->real);
    *reference = (struct reference){0};
}
