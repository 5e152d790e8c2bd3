/*
 * kind.c: what the kernels of this chapter compute, and how far they may be from it.
 *
 * gelu is the form with a hyperbolic tangent. Everything is computed in fp32 from the sum of the
 * products, and rounded once. So whole numbers make the activation's argument exact, and what is
 * left is the activation's own error: ex2 and rcp are off by at most 2^-22 each, the exponent by
 * some roundings of a number below 128. ACTIVATION_ERROR is more than all of them together, LEAST
 * what a power that overflows leaves out.
 */
#include <math.h>

#include "fused.h"
#include "harness/problem_kind.h"
#include "rivals.h"

#if !KIND_ON_GPU /* the simulator times nothing */
#define bias_gelu_rivals NULL
#define fused_rivals NULL
#define swiglu_rivals NULL
#define quantize_rivals NULL
#endif

#define ACTIVATION_ERROR 0x1p-15
#define LEAST 0x1p-120
#define STEEPEST 1.13 /* the greatest slope of gelu; silu's is 1.1 */

static double element(const struct kind_problem *p, int matrix, int64_t index) {
    return stored_value(stored_bits(p->host[matrix], index, p->type), p->type);
}

static double gelu_of(double x) {
    return x / (1 + exp(-2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/* How far a sum may be off that fp32 adds `terms` numbers to, of a column of the product: nothing
 * for whole numbers. The slope of gelu is so small where the sum is large and negative that its
 * rounding shows at most as if the sum were the value and 1. */
static double error_of_sum(const struct kind_problem *p, int row, int column, double value,
                           int terms) {
    if (p->input == INPUT_INTEGER || p->input == INPUT_ZEROS) return 0;
    const double product = reference_accumulation(p->product, row, column);
    return product + terms * (fabs(value) + product + 1) * 0x1p-23;
}

static bool is_exact(const struct kind_problem *p, int matrix) {
    return p->input == INPUT_ZEROS && (matrix == KIND_D || p->matrix[matrix].type != GEMM_E4M3);
}

/* ---- gelu(A * B + bias), and with C ---- */

static void fill(const struct kind_problem *p, int matrix, int row, void *elements) {
    input_fill_row(p->source, matrix == BIAS ? 'b' : 'C', row, elements, p->n);
}

static int bias_matrices(const struct kind_problem *p, struct kind_matrix *matrix) {
    matrix[BIAS] = (struct kind_matrix){"bias", p->type, 1, p->n, false, false};
    return BIAS + 1;
}

static int fused_matrices(const struct kind_problem *p, struct kind_matrix *matrix) {
    bias_matrices(p, matrix);
    matrix[C] = (struct kind_matrix){"C", p->type, p->m, p->n, false, false};
    return FUSED_MATRICES;
}

static double activated(const struct kind_problem *p, int row, int column) {
    double sum = operands_product(p->operands, row, column) + element(p, BIAS, column);
    if (p->kind == &fused_kind) sum += element(p, C, row * p->ld[C] + column);
    return gelu_of(sum);
}

static double value(const struct kind_problem *p, int matrix, int row, int column) {
    (void)matrix;
    return activated(p, row, column);
}

static double error(const struct kind_problem *p, int matrix, int row, int column, double value) {
    (void)matrix;
    return STEEPEST * error_of_sum(p, row, column, value, p->kind->further_terms) +
           fabs(value) * ACTIVATION_ERROR + LEAST;
}

const struct problem_kind bias_gelu_kind = {.name = "bias-gelu",
                                            .formula = "D = gelu(A * B + bias)",
                                            .further_terms = 1,
                                            .matrices = bias_matrices,
                                            .draws = true,
                                            .fill = fill,
                                            .is_exact = is_exact,
                                            .value = value,
                                            .error = error,
                                            .baselines = bias_gelu_rivals};

const struct problem_kind fused_kind = {.name = "fused",
                                        .formula = "D = gelu(A * B + bias + C)",
                                        .further_terms = 2,
                                        .matrices = fused_matrices,
                                        .draws = true,
                                        .fill = fill,
                                        .is_exact = is_exact,
                                        .value = value,
                                        .error = error,
                                        .baselines = fused_rivals};

/* ---- silu(A * G) * (A * U): G above U in B ---- */

static void swiglu_extents(const struct kind_problem *p, struct kind_extents *extents) {
    extents->b_rows = 2 * (int64_t)p->n;
}

/* So many terms keep whole numbers so small that the product of two sums is a number of fp16. */
enum { PRODUCT_TERMS = 1 << 22 };

static double silu_of(double x) { return x / (1 + exp(-x)); }

static double swiglu_value(const struct kind_problem *p, int matrix, int row, int column) {
    (void)matrix;
    return silu_of(operands_product(p->operands, row, column)) *
           operands_product(p->operands, row, column + p->n);
}

/* Takes both factors again, so it costs what the value does. No library's result is compared, so
 * it is asked for samples alone. */
static double swiglu_error(const struct kind_problem *p, int matrix, int row, int column,
                           double value) {
    (void)matrix;
    const double gate = silu_of(operands_product(p->operands, row, column));
    const double up = operands_product(p->operands, row, column + p->n);
    const double gate_error =
        STEEPEST * error_of_sum(p, row, column, gate, 0) + fabs(gate) * ACTIVATION_ERROR + LEAST;
    const double up_error = error_of_sum(p, row, column + p->n, up, 0);
    return fabs(up) * gate_error + fabs(gate) * up_error + gate_error * up_error +
           fabs(value) * 0x1p-23;
}

static double swiglu_cost(const struct kind_problem *p, int matrix) {
    (void)matrix;
    return 4.0 * p->k;
}

static double swiglu_flops(int m, int n, int k) { return 4.0 * m * n * k; }

const struct problem_kind swiglu_kind = {.name = "swiglu",
                                         .formula = "D = silu(A * G) * (A * U)",
                                         .further_terms = PRODUCT_TERMS,
                                         .extents = swiglu_extents,
                                         .is_exact = is_exact,
                                         .value = swiglu_value,
                                         .error = swiglu_error,
                                         .cost = swiglu_cost,
                                         .flops = swiglu_flops,
                                         .baselines = swiglu_rivals};

/* ---- gelu(A * B + bias) in e4m3, with scales ---- */

static void quantize_extents(const struct kind_problem *p, struct kind_extents *extents) {
    (void)p;
    extents->d_rows = extents->d_columns = 0; /* the outputs are matrices of the kind's own */
}

/* The scales lie as gemm_scales.h has those of A. */
static int quantize_matrices(const struct kind_problem *p, struct kind_matrix *matrix) {
    bias_matrices(p, matrix);
    matrix[QUANTIZED] = (struct kind_matrix){"quantized D", GEMM_E4M3, p->m, p->n, true, false};
    matrix[SCALES] =
        (struct kind_matrix){"scales", GEMM_FP32, ceil_div(p->n, SCALE_BLOCK), p->m, true, false};
    return QUANTIZE_MATRICES;
}

static double scale_of_block(const struct kind_problem *p, int row, int block) {
    const int first = block * SCALE_BLOCK;
    const int last = first + SCALE_BLOCK < p->n ? first + SCALE_BLOCK : p->n;
    double greatest = 0;
    for (int column = first; column < last; ++column)
        greatest = fmax(greatest, fabs(activated(p, row, column)));
    return greatest >= LEAST_GREATEST ? greatest / QUANTIZED_GREATEST : 1;
}

/* `row` of the scales is a block of columns, and `column` a row of D. */
static double quantize_value(const struct kind_problem *p, int matrix, int row, int column) {
    if (matrix == SCALES) return scale_of_block(p, column, row);
    return activated(p, row, column) / scale_of_block(p, row, column / SCALE_BLOCK);
}

/* How far the greatest of a block may be off, besides a share of itself. */
static double error_of_block(const struct kind_problem *p, int row, int block, double greatest) {
    const int first = block * SCALE_BLOCK;
    const int last = first + SCALE_BLOCK < p->n ? first + SCALE_BLOCK : p->n;
    double most = 0;
    for (int column = first; column < last; ++column)
        most = fmax(most, error_of_sum(p, row, column, greatest, 1));
    return STEEPEST * most;
}

/* Of a quantized element, in units of its scale: its own error, and that of the scale. Takes the
 * scale again; as above, it is asked for samples alone. */
static double quantize_error(const struct kind_problem *p, int matrix, int row, int column,
                             double value) {
    if (matrix == SCALES) {
        const double greatest = value * QUANTIZED_GREATEST;
        const double sums = error_of_block(p, column, row, greatest) / QUANTIZED_GREATEST;
        if (value == 1) return 0;
        /* gelu leaves a number from 8 on as it is. */
        return sums + value * (greatest >= 8 ? 0x1p-23 : ACTIVATION_ERROR);
    }
    if (p->input == INPUT_INTEGER || p->input == INPUT_ZEROS)
        return fabs(value) * 2 * ACTIVATION_ERROR;
    const int block = column / SCALE_BLOCK;
    const double scale = scale_of_block(p, row, block);
    const double sums = error_of_block(p, row, block, scale * QUANTIZED_GREATEST) / scale;
    const double share = sums / QUANTIZED_GREATEST + 2 * ACTIVATION_ERROR; /* of the scale */
    return share < 0.5 ? 2 * sums + 2 * fabs(value) * share : 2 * QUANTIZED_GREATEST;
}

static double quantize_cost(const struct kind_problem *p, int matrix) {
    (void)matrix;
    return 2.0 * SCALE_BLOCK * p->k;
}

const struct problem_kind quantize_kind = {.name = "quantize",
                                           .formula = "D = gelu(A * B + bias) in e4m3, with scales",
                                           .further_terms = 1,
                                           .extents = quantize_extents,
                                           .matrices = quantize_matrices,
                                           .draws = true,
                                           .fill = fill,
                                           .is_exact = is_exact,
                                           .value = quantize_value,
                                           .error = quantize_error,
                                           .cost = quantize_cost,
                                           .baselines = quantize_rivals};
