#include "harness/problem_kind.h"

#include <stdlib.h>
#include <string.h>

#include "harness/allocate.h"
#include "harness/message.h"
#include "harness/parallel.h"

struct kind_extents kind_begin(struct kind_instance *instance, const struct problem_kind *kind,
                               int m, int n, int k, enum gemm_type type, enum input_kind input,
                               uint64_t seed) {
    struct kind_extents extents = {m, n, k, m, n};
    struct kind_problem *const p = &instance->problem;
    *p = (struct kind_problem){
        .kind = kind, .m = m, .n = n, .k = k, .type = type, .input = input, .seed = seed};
    if (kind->prepare) {
        p->of_kind = allocate(1, kind->of_kind_bytes, "a kind's problem");
        kind->prepare(p, p->of_kind);
    }
    if (kind->extents) kind->extents(p, &extents);
    return extents;
}

const struct operand_format *kind_format(const struct gemm_kernel *const *kernels, int count,
                                         enum gemm_type type) {
    const struct problem_kind *const kind = kind_of(kernels[0]);
    return kind->format ? kind->format(type, kernels, count) : &elements_format;
}

int kind_integer_limit(const struct gemm_kernel *const *kernels, int count, int k,
                       enum gemm_type type) {
    const struct problem_kind *const kind = kind_of(kernels[0]);
    const int terms = k + kind->further_terms;
    return kind->integer_limit ? kind->integer_limit(kernels, count, terms, type)
                               : kind_format(kernels, count, type)->integer_limit(terms, type);
}

/* ---- the matrices ---- */

static void fill_gaps(const struct kind_problem *p, char matrix, int rows, int64_t row_16_bits,
                      uint16_t *memory) {
    const uint16_t padding = padding_of(p->type);
    for (int row = 0; row < rows; ++row) {
        const bool gap = p->kind->is_gap(p, matrix, row);
        for (int64_t i = 0; gap && i < row_16_bits; ++i)
            memory[row * row_16_bits + i] = padding;
    }
}

void kind_fill_gaps(const struct kind_instance *instance, struct operands *o) {
    const struct kind_problem *const p = &instance->problem;
    if (!p->kind->is_gap) return;
    fill_gaps(p, 'A', o->m, operand_bytes(o, 'A') / o->m / 2, o->a);
    fill_gaps(p, 'B', o->n, operand_bytes(o, 'B') / o->n / 2, o->b);
}

static size_t matrix_bytes(const struct kind_problem *p, int matrix) {
    return (size_t)p->matrix[matrix].rows * (size_t)p->ld[matrix] *
           (size_t)gemm_type_bytes(p->matrix[matrix].type);
}

/* A row at a time, with padding behind it. */
static void fill(struct kind_problem *p, int matrix) {
    const struct kind_matrix *const of = &p->matrix[matrix];
    const size_t row = (size_t)p->ld[matrix] * (size_t)gemm_type_bytes(of->type);
    const uint16_t padding = padding_of(of->type);
    p->host[matrix] = allocate((size_t)of->rows, row, "a kind's inputs");
    uint16_t *const all = p->host[matrix];
    for (size_t i = 0; i < matrix_bytes(p, matrix) / sizeof *all; ++i)
        all[i] = padding;
    for (int i = 0; i < of->rows; ++i)
        p->kind->fill(p, matrix, i, (char *)p->host[matrix] + (size_t)i * row);
}

static bool alloc(const struct kind_problem *p, const struct buffers *buffers, int matrix,
                  struct slab *slab) {
    const struct kind_matrix *const of = &p->matrix[matrix];
    const int bytes = gemm_type_bytes(of->type);
    return slab_alloc_rows(slab, buffers, of->rows, p->ld[matrix] * bytes / 2,
                           p->device_ld[matrix] * bytes / 2, of->label, of->output);
}

static bool open_input(struct kind_instance *instance, const struct buffers *buffers, int matrix) {
    struct kind_problem *const p = &instance->problem;
    struct slab *const slab = &instance->input[matrix];
    fill(p, matrix);
    return alloc(p, buffers, matrix, slab) &&
           slab_fill(buffers, slab, p->host[matrix], padding_of(p->matrix[matrix].type));
}

/* ---- the references ---- */

/* Of one output. */
struct of_output {
    const struct kind_problem *problem;
    int matrix;
    struct reference *reference;
};

static double error_of(const void *context, int row, int column, double value) {
    const struct of_output *of = context;
    const struct kind_problem *const p = of->problem;
    return p->kind->error(p, of->matrix, row, column, value);
}

static bool is_gap(const void *context, int row) {
    const struct of_output *of = context;
    return of->problem->kind->is_gap(of->problem, 'D', row);
}

static void find_values(void *context, int64_t begin, int64_t end) {
    const struct of_output *of = context;
    const struct kind_problem *const p = of->problem;
    for (int64_t i = begin; i < end; ++i) {
        struct sample *const s = &of->reference->samples[i];
        if (reference_is_gap(of->reference, s->row)) continue;
        s->value = p->kind->value(p, of->matrix, s->row, s->column);
        of->reference->sample_error[i] = p->kind->error(p, of->matrix, s->row, s->column, s->value);
    }
}

static void make_reference(const struct kind_problem *p, int matrix, int rows, int columns,
                           struct reference *reference) {
    static const char what[] = "a kind's reference";
    const double cost = p->kind->cost ? p->kind->cost(p, matrix) : p->k;
    struct of_output *const of = allocate(1, sizeof *of, what);
    *of = (struct of_output){p, matrix, reference};
    *reference = (struct reference){.complete = samples_are_all(rows, columns, cost),
                                    .integers = p->input == INPUT_INTEGER,
                                    .error = error_of,
                                    .of = of,
                                    .is_gap = matrix == KIND_D && p->kind->is_gap ? is_gap : NULL,
                                    .product = p->product};
    reference->samples =
        allocate((size_t)samples_room(rows, columns, cost), sizeof *reference->samples, what);
    reference->count = samples_place(reference->samples, rows, columns, cost, p->seed);
    reference->sample_error =
        allocate((size_t)reference->count, sizeof *reference->sample_error, what);
    parallel_ranges(reference->count, 3 * cost * (double)reference->count, find_values, of);
}

static void free_reference(struct reference *reference) {
    free((void *)(uintptr_t)reference->of);
    reference_free(reference);
}

/* What D must be; `operands` are p's. False after a complaint. */
static bool open_reference(struct kind_instance *instance, struct operands *operands) {
    struct kind_problem *const p = &instance->problem;
    const bool whole = p->kind->reference != NULL;
    if (!whole) operands_decode(operands);
    if (whole ? p->kind->reference(p, &instance->d)
              : reference_make_bound(&instance->product, operands)) {
        if (!whole) make_reference(p, KIND_D, operands->d_rows, operands->d_columns, &instance->d);
        return true;
    }
    complain("no memory for the reference; choose smaller sizes");
    return false;
}

bool kind_open(struct kind_instance *instance, const struct buffers *buffers,
               struct operands *operands, int integer_limit) {
    struct kind_problem *const p = &instance->problem;
    const enum gemm_type drawn = gemm_output_type(p->type); /* 16 bits, whatever A and B are */
    if (p->kind->draws) input_prepare(&instance->source, p->input, drawn, integer_limit, p->seed);
    p->operands = operands;
    p->product = &instance->product;
    p->source = &instance->source;
    if (p->kind->matrices) p->count = p->kind->matrices(p, p->matrix);
    for (int i = 0; i < p->count; ++i) {
        const int per_row = 16 / gemm_type_bytes(p->matrix[i].type);
        p->ld[i] = ((int64_t)p->matrix[i].columns + per_row - 1) / per_row * per_row;
        p->device_ld[i] = p->matrix[i].near ? p->ld[i] : device_pitch(p->matrix[i].rows, p->ld[i]);
    }
    if (p->kind->locate) p->kind->locate(p, p->of_kind);
    for (int i = 0; i < p->count; ++i)
        if (!p->matrix[i].output && !open_input(instance, buffers, i)) return false;
    if (!open_reference(instance, operands)) return false;
    for (int i = 0; i < p->count; ++i)
        if (p->matrix[i].output)
            make_reference(p, i, p->matrix[i].rows, p->matrix[i].columns, &instance->reference[i]);
    return kind_poison(instance, buffers, 0);
}

void kind_close(struct kind_instance *instance) {
    if (instance->problem.devices) instance->problem.kind->memory->close(&instance->problem);
    for (int i = 0; i < instance->problem.count; ++i) {
        if (instance->input[i].memory) backend_free(instance->input[i].memory);
        for (int output = 0; output < MAX_OUTPUTS; ++output)
            if (instance->output[i][output].memory)
                backend_free(instance->output[i][output].memory);
        free(instance->problem.host[i]);
        free_reference(&instance->reference[i]);
    }
    free_reference(&instance->d);
    reference_free(&instance->product);
    free(instance->problem.of_kind);
    instance->problem = (struct kind_problem){0};
}

/* ---- a run ---- */

void kind_fill_in(const struct kind_instance *instance, const struct buffers *buffers, int output,
                  int set, struct gemm_problem *problem) {
    const struct kind_problem *const p = &instance->problem;
    problem->m = p->m;
    problem->n = p->n;
    problem->k = p->k;
    problem->of_kind = p->of_kind;
    for (int i = 0; i < p->count; ++i) {
        const struct slab *const slab =
            p->matrix[i].output ? &instance->output[i][output] : &instance->input[i];
        problem->matrix[i] = (struct gemm_matrix){slab_matrix(buffers, slab, set), p->device_ld[i]};
    }
}

bool kind_poison(struct kind_instance *instance, const struct buffers *buffers, int output) {
    const struct kind_problem *const p = &instance->problem;
    for (int i = 0; i < p->count; ++i) {
        struct slab *const slab = &instance->output[i][output];
        if (!p->matrix[i].output) continue;
        if (!slab->memory && !alloc(p, buffers, i, slab)) return false;
        if (!slab_poison(slab, output_poison(p->matrix[i].type))) return false;
    }
    return true;
}

bool kind_is_exact(const struct kind_instance *instance, int matrix) {
    const struct kind_problem *const p = &instance->problem;
    return p->kind->is_exact ? p->kind->is_exact(p, matrix)
                             : p->input == INPUT_INTEGER || p->input == INPUT_ZEROS;
}

/* One of the outputs besides D. */
static bool check_matrix(const struct kind_instance *instance, const struct buffers *buffers,
                         int matrix, const char *what, int output, int set,
                         struct comparison *comparison) {
    const struct kind_matrix *const of = &instance->problem.matrix[matrix];
    const struct slab *const slab = &instance->output[matrix][output];
    uint16_t *const view =
        allocate((size_t)slab_view_elements(buffers, slab), sizeof *view, "a kind's output");
    const bool read = slab_read(buffers, slab, set, view);
    const struct output_view seen = {
        .what = what,
        .label = of->label,
        .memory = view,
        .guard = buffers->guard,
        .rows = of->rows,
        .columns = of->columns,
        .ld = instance->problem.ld[matrix],
        .type = of->type,
        .exact = kind_is_exact(instance, matrix),
        .infinite = instance->problem.kind->infinite &&
                    instance->problem.kind->infinite(&instance->problem, matrix)};
    if (read) *comparison = verify_output(&seen, &instance->reference[matrix], NULL);
    free(view);
    return read;
}

bool kind_check(const struct kind_instance *instance, const struct buffers *buffers,
                const char *what, int output, int set, struct comparison *comparison) {
    for (int i = 0; i < instance->problem.count; ++i) {
        struct comparison own;
        if (!instance->problem.matrix[i].output) continue;
        if (!check_matrix(instance, buffers, i, what, output, set, &own)) return false;
        comparison->verified &= own.verified;
        comparison->mismatches += own.mismatches;
    }
    return true;
}
