#include "scaled/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"
#include "scaled/w4_block.h"

/* ---- whole numbers ---- */

static int limit_of(int terms, int added) {
    const double limit =
        fmin(sqrt((double)E4M3_EXACT_SUM / added), sqrt(0x1p24 / MOST_INTEGER_SCALE / terms));
    return limit < 16 ? (int)limit : 16; /* greater ones have no e4m3 */
}

/* The Tensor Core's own sums are of a block of k, or of all k. */
static int limit_of_blocks(int terms, enum gemm_type type) {
    (void)type;
    return limit_of(terms, terms < SCALE_BLOCK ? terms : SCALE_BLOCK);
}

static int limit_of_tensors(int terms, enum gemm_type type) {
    (void)type;
    return limit_of(terms, terms);
}

/* ---- elements ---- */

static void free_scaled(struct operands *o) {
    struct scaled_operands *const of = o->of_format;
    free(of->scale_a);
    free(of->scale_b);
    free(of->weights);
    free(of);
}

static int64_t weight_bytes(const struct operands *o) { return (int64_t)w4_bytes(o->n, o->k); }

static void decode_e4m3(const struct operands *o, char matrix, int row, float *values) {
    const uint8_t *const elements =
        (const uint8_t *)(matrix == 'A' ? o->a : o->b) + row * (matrix == 'A' ? o->lda : o->ldb);
    for (int i = 0; i < o->k; ++i)
        values[i] = e4m3_to_float(elements[i]);
}

static void decode_weights(const struct operands *o, char matrix, int row, float *values) {
    if (matrix == 'A')
        decode_e4m3(o, matrix, row, values);
    else
        for (int i = 0; i < o->k; ++i)
            values[i] = scaled_of(o)->weights[(int64_t)row * o->k + i];
}

/* Each weight times its scale, rounded. */
static void decode_e4m3_weights(const struct operands *o, char matrix, int row, float *values) {
    decode_weights(o, matrix, row, values);
    for (int i = 0; matrix == 'B' && i < o->k; ++i)
        values[i] =
            e4m3_to_float(float_to_e4m3(values[i] * scale_of(o, 'B', row, i / SCALE_BLOCK)));
}

static double product_of(const struct operands *o, int row, int column, const float *a,
                         const float *b, dot_function *dot, bool scaled_b) {
    double sum = 0;
    for (int i = 0; i < o->k; i += SCALE_BLOCK) {
        const float scale_b = scaled_b ? scale_of(o, 'B', column, i / SCALE_BLOCK) : 1;
        sum += (double)scale_of(o, 'A', row, i / SCALE_BLOCK) * scale_b * /* it is exact */
               dot(a + i, b + i, o->k - i < SCALE_BLOCK ? o->k - i : SCALE_BLOCK);
    }
    return sum;
}

static double scaled_product(const struct operands *o, int row, int column, const float *a,
                             const float *b, dot_function *dot) {
    return product_of(o, row, column, a, b, dot, true);
}

static double e4m3_weights_product(const struct operands *o, int row, int column, const float *a,
                                   const float *b, dot_function *dot) {
    return product_of(o, row, column, a, b, dot, false);
}

/* ---- the bound ---- */

static float factor_of(const struct operands *o, char matrix, int row, int first) {
    return scale_of(o, matrix, row, first / SCALE_BLOCK);
}

/* What a weight counts as, because the Tensor Core may take a greater exponent. */
static void weigh_weights(const struct operands *o, char matrix, float *values) {
    for (int i = 0; matrix == 'B' && i < o->k; ++i)
        if (values[i] != 0) values[i] = W4_GREATEST + 1;
}

static void weigh_e4m3_weights(const struct operands *o, char matrix, float *values) {
    for (int i = 0; matrix == 'B' && i < o->k; ++i)
        if (values[i] != 0) values[i] = fmaxf(fabsf(values[i]), 0x1p-6f);
}

static bool make_bound_of(struct reference *reference, const struct operands *o, int chain,
                          struct norm_terms a, struct norm_terms b) {
    const double steps = ceil(chain / 32.0);
    reference->chains = ceil_div(o->k, chain);
    const double walk = fmin(8, sqrt(reference->chains));
    reference->addition_errors = reference_addition_errors(o->k);
    reference->chain_errors = (8 * sqrt(chain) + walk * 2 * steps) * 0x1p-13;
    reference->promotion_errors = (reference->chains + 2) * 0x1p-23 * fmin(8, sqrt(o->k));
    a.chain = b.chain = chain;
    reference->row_norm = reference_norms(o, 'A', a);
    reference->column_norm = reference_norms(o, 'B', b);
    return reference->row_norm && reference->column_norm;
}

static const struct norm_terms scaled_terms = {.scale = 1, .factor = factor_of};

static int block_of_k(const struct operands *o) { return o->k < SCALE_BLOCK ? o->k : SCALE_BLOCK; }

static bool bound_of_blocks(struct reference *reference, const struct operands *o) {
    return make_bound_of(reference, o, block_of_k(o), scaled_terms, scaled_terms);
}

static bool bound_of_tensors(struct reference *reference, const struct operands *o) {
    return make_bound_of(reference, o, o->k, scaled_terms, scaled_terms);
}

static bool bound_of_weights(struct reference *reference, const struct operands *o) {
    return make_bound_of(
        reference, o, block_of_k(o), scaled_terms,
        (struct norm_terms){.scale = 1, .factor = factor_of, .weigh = weigh_weights});
}

static bool bound_of_e4m3_weights(struct reference *reference, const struct operands *o) {
    return make_bound_of(reference, o, o->k, scaled_terms,
                         (struct norm_terms){.scale = 1, .weigh = weigh_e4m3_weights});
}

static double accumulation(const struct reference *r, int row, int column) {
    const float *const a = r->row_norm + (int64_t)row * r->chains;
    const float *const b = r->column_norm + (int64_t)column * r->chains;
    double q = 0, s = 0;
    for (int c = 0; c < r->chains; ++c) {
        const double root = (double)a[c] * b[c], square = root * root;
        q += square;
        s = square > s ? square : s;
    }
    return r->chain_errors * sqrt(q + 2 * sqrt(32 * s * q) + 64 * s) +
           r->promotion_errors * sqrt(q);
}

const struct operand_format blocks_format = {.scales = "block",
                                             .integer_limit = limit_of_blocks,
                                             .make = quantize_operands,
                                             .free = free_scaled,
                                             .decode_row = decode_e4m3,
                                             .product = scaled_product,
                                             .real_row = real_row,
                                             .make_bound = bound_of_blocks,
                                             .accumulation = accumulation};

const struct operand_format tensors_format = {.scales = "tensor",
                                              .integer_limit = limit_of_tensors,
                                              .make = quantize_operands,
                                              .free = free_scaled,
                                              .decode_row = decode_e4m3,
                                              .product = scaled_product,
                                              .real_row = real_row,
                                              .make_bound = bound_of_tensors,
                                              .accumulation = accumulation};

const struct operand_format weights_format = {.scales = "group",
                                              .integer_limit = limit_of_blocks,
                                              .make = quantize_operands,
                                              .free = free_scaled,
                                              .packed_bytes = weight_bytes,
                                              .decode_row = decode_weights,
                                              .product = scaled_product,
                                              .real_row = real_row,
                                              .make_bound = bound_of_weights,
                                              .accumulation = accumulation};

const struct operand_format e4m3_weights_format = {.scales = "group",
                                                   .free = free_scaled,
                                                   .packed_bytes = weight_bytes,
                                                   .decode_row = decode_e4m3_weights,
                                                   .product = e4m3_weights_product,
                                                   .real_row = real_row,
                                                   .make_bound = bound_of_e4m3_weights,
                                                   .accumulation = accumulation};

/* ---- the scales as matrices ---- */

int scaled_matrices(const struct kind_problem *p, struct kind_matrix *matrix) {
    const struct operands *const o = p->operands;
    const int blocks = ceil_div(o->k, SCALE_BLOCK);
    matrix[MATRIX_SCALES_A] = (struct kind_matrix){.label = "scales of A",
                                                   .type = GEMM_FP32,
                                                   .rows = has_weights(o) ? 1 : blocks,
                                                   .columns = o->m,
                                                   .near = true};
    if (has_weights(o)) return MATRIX_SCALES_A + 1; /* the others lie in the blocks */
    matrix[MATRIX_SCALES_B] = (struct kind_matrix){.label = "scales of B",
                                                   .type = GEMM_FP32,
                                                   .rows = ceil_div(o->n, SCALE_BLOCK),
                                                   .columns = blocks,
                                                   .near = true};
    return SCALE_MATRICES;
}

void scaled_row(const struct operands *o, int matrix, int row, float *scales) {
    const struct scaled_operands *const of = scaled_of(o);
    if (matrix == MATRIX_SCALES_A)
        memcpy(scales, of->scale_a + (int64_t)row * of->scale_a_pitch,
               (size_t)o->m * sizeof *scales);
    else
        memcpy(scales, of->scale_b + (int64_t)row * of->scale_b_pitch,
               (size_t)ceil_div(o->k, SCALE_BLOCK) * sizeof *scales);
}

void scaled_fill(const struct kind_problem *p, int matrix, int row, void *elements) {
    scaled_row(p->operands, matrix, row, elements);
}
