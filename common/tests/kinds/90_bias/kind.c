/*
 * kind.c: the problem D = A * B + bias. The bias is a row of n elements. Column 0 of D is also
 * wanted in fp32, unrounded.
 *
 * BROKEN_KIND makes mistakes in the reference, which the right kernel must uncover: 1 takes the
 * bias of the neighbouring column, 2 accepts any error; 3 does not say which values of the option
 * the runs of --check take.
 */
#include "tests/kinds/90_bias/bias.h"

#include <math.h>
#include <string.h>

#include "harness/problem_kind.h"

#ifndef BROKEN_KIND
#define BROKEN_KIND 0
#endif

static const char *const biases[] = {"drawn", "zero"};
static struct backend_setting options[] = {
    {"--bias", "KIND", "drawn (default) like A and B, or zero", biases, 0, 1, 0}};
static const struct kind_choice choices[] = {{.usual = {0}, .usuals = BROKEN_KIND != 3}};

static int matrices(const struct kind_problem *p, struct kind_matrix *matrix) {
    matrix[BIAS] = (struct kind_matrix){"bias", p->type, 1, p->n, false, false};
    matrix[FIRST] = (struct kind_matrix){"column 0", GEMM_FP32, p->m, 1, true, false};
    return BIAS_MATRICES;
}

static void fill(const struct kind_problem *p, int matrix, int row, void *elements) {
    (void)matrix;
    input_fill_row(p->source, 'b', row, elements, p->n);
    if (options[0].value) memset(elements, 0, (size_t)p->n * sizeof(element_t));
}

static double bias_of(const struct kind_problem *p, int column) {
    if (BROKEN_KIND == 1) column = (column + 1) % p->n;
    return stored_value(stored_bits(p->host[BIAS], column, p->type), p->type);
}

static double value(const struct kind_problem *p, int matrix, int row, int column) {
    (void)matrix; /* of both outputs */
    return operands_product(p->operands, row, column) + bias_of(p, column);
}

/* One more addition in fp32, of numbers that are at most so large; of the unrounded output, it is
 * the last. */
static double error(const struct kind_problem *p, int matrix, int row, int column, double value) {
    (void)matrix;
    const double product = reference_accumulation(p->product, row, column);
    return BROKEN_KIND == 2 ? 1e30 : product + (fabs(value) + product) * 0x1p-23;
}

static double flops(int m, int n, int k) { return (2.0 * k + 1) * m * n; }

const struct problem_kind bias_kind = {.name = "bias",
                                       .formula = "D = A * B + bias",
                                       .options = options,
                                       .choices = choices,
                                       .option_count = 1,
                                       .further_terms = 1,
                                       .matrices = matrices,
                                       .draws = true,
                                       .fill = fill,
                                       .value = value,
                                       .error = error,
                                       .flops = flops};
