#include "harness/verify.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element_codec.h"
#include "harness/allocate.h"
#include "harness/message.h"
#include "harness/parallel.h"

struct mismatch {
    int row, column;
    double expected, bound;
    const char *against; /* "fp64 reference", ... */
};

/* Sums over the samples, of e4m3 and real data. */
struct squares {
    double real, quantization, output, rounding;
};

struct check {
    const struct output_view *output;
    const struct reference *reference;
    const void *d;          /* [rows][ld] */
    const void *library;    /* [rows][ld], or NULL */
    unsigned char *suspect; /* [rows]: something in this row, padding included, is wrong */
    pthread_mutex_t mutex;  /* for the rest of the search's results: */
    bool samples_good;
    int64_t worst; /* the sample with the largest error */
    double max_error, error_bound;
    struct squares squares;
    uint64_t *wrong; /* [rows * columns] bits, once there is a mismatch: counts an element once */
    int64_t wrong_elements; /* in D */
    int64_t wrong_around;   /* in padding and guards */
    struct mismatch first;
};

static uint32_t got(const struct check *check, int row, int64_t column) {
    return stored_bits(check->d, row * check->output->ld + column, check->output->type);
}

static double library_value(const struct check *check, int row, int column) {
    const struct output_view *o = check->output;
    return stored_value(stored_bits(check->library, row * o->ld + column, o->type), o->type);
}

static const char mismatches[] = "the mismatches"; /* in a message */

static void note(struct check *check, struct mismatch mismatch) {
    const struct output_view *o = check->output;
    const int64_t index = (int64_t)mismatch.row * o->columns + mismatch.column;
    if (!check->wrong)
        check->wrong = allocate((size_t)((int64_t)o->rows * o->columns / 64 + 1),
                                sizeof *check->wrong, mismatches);
    uint64_t *word = &check->wrong[index / 64];
    if (*word >> (index % 64) & 1) return;
    *word |= (uint64_t)1 << (index % 64);
    const int64_t first = (int64_t)check->first.row * o->columns + check->first.column;
    if (check->wrong_elements++ == 0 || index < first) check->first = mismatch;
}

/* What rounding partial sums to D's type may add to an error: as if each of SPLITS_MOST parts of k
 * were rounded once at the greatest magnitude that its sum can have. No library splits k more
 * often; one that is known to round is not held to fp32's bound. */
enum { SPLITS_MOST = 32 };
static double rounding_of_parts(const struct check *check, int parts, int row, int column) {
    if (!parts) return 0;
    return parts *
           half_ulp(reference_partial_sum(check->reference, row, column), check->output->type);
}
static double rounding_of_sums(const struct check *check, int row, int column) {
    const int parts = check->output->rounded_sums ? SPLITS_MOST : check->output->rounded_parts;
    return rounding_of_parts(check, parts, row, column);
}

/* Is this the exact sum, correctly rounded (integers), or a number as close as the bound allows?
 * NaN is neither. */
static bool agrees_with_sample(const struct check *check, const struct sample *s, double *error,
                               double *bound) {
    const struct output_view *o = check->output;
    const enum gemm_type type = o->type;
    const double value = stored_value(got(check, s->row, s->column), type);
    if (reference_is_gap(check->reference, s->row)) { /* check_surroundings() */
        *error = *bound = 0;
        return true;
    }
    if (isinf(s->value)) {
        *error = *bound = 0;
        return value == s->value;
    }
    if (check->output->exact) {
        /* Exact: the sum fits fp32, and float comparison takes -0 for 0. */
        const double exact = stored_value(stored_rounded(s->value, type), type);
        *error = fabs(value - exact);
        *bound = 0;
        return value == exact;
    }
    const struct reference *const r = check->reference;
    const double of_kernel = r->sample_error ? r->sample_error[s - r->samples]
                                             : reference_error(r, s->row, s->column, s->value);
    const double accumulation = of_kernel + rounding_of_sums(check, s->row, s->column);
    *error = fabs(value - s->value);
    *bound = accumulation + half_ulp(fabs(s->value) + accumulation, type);
    return *error <= *bound;
}

/* Does an element agree with the library's? */
static bool agrees_with_library(const struct check *check, int row, int column, double *bound) {
    const struct output_view *o = check->output;
    const enum gemm_type type = o->type;
    const double value = stored_value(got(check, row, column), type);
    const double other = library_value(check, row, column);
    *bound = 0;
    if (value == other) return true;
    if (check->output->exact) return false;
    const double accumulation = reference_error(check->reference, row, column, other) +
                                rounding_of_parts(check, check->output->rounded_parts, row, column);
    /* Each of the two was rounded once. What was rounded is no larger than the library's result,
     * its own rounding undone, and both errors of accumulation. */
    const double largest = fabs(other) * (1 + 0x1p-7) + 2 * accumulation;
    *bound = 2 * accumulation + 2 * half_ulp(largest, type) + rounding_of_sums(check, row, column);
    return fabs(value - other) <= *bound;
}

/* ---- the search, in parallel: which rows and samples deserve a closer look ---- */

/* Written, and a number? Infinities count where the kind has some. */
static bool is_number(const struct check *check, uint32_t bits) {
    const enum gemm_type type = check->output->type;
    return stored_is_finite(bits, type) ||
           (check->output->infinite && isinf(stored_value(bits, type)));
}

/* What of the row is the output's. */
static int columns_of(const struct check *check, int row) {
    return reference_is_gap(check->reference, row) ? 0 : check->output->columns;
}

static bool row_is_good(const struct check *check, int row) {
    const struct output_view *o = check->output;
    const int columns = columns_of(check, row);
    double bound;
    for (int column = 0; column < columns; ++column) {
        const uint32_t bits = got(check, row, column);
        if (!is_number(check, bits)) return false;
        if (check->library && bits != stored_bits(check->library, row * o->ld + column, o->type) &&
            !agrees_with_library(check, row, column, &bound))
            return false;
    }
    for (int64_t column = columns; column < o->ld; ++column)
        if (got(check, row, column) != stored_poison(o->type)) return false;
    return true;
}

static void search_rows(void *context, int64_t begin, int64_t end) {
    struct check *check = context;
    for (int64_t row = begin; row < end; ++row)
        check->suspect[row] = !row_is_good(check, (int)row);
}

/* The parts of a sample's error. */
static void add_squares(const struct check *check, int64_t i, double error,
                        struct squares *squares) {
    if (!check->reference->real) return;
    const enum gemm_type type = check->output->type;
    const double meant = check->reference->samples[i].value, real = check->reference->real[i];
    const double rounding = stored_value(stored_rounded(meant, type), type) - meant;
    squares->real += real * real;
    squares->quantization += (meant - real) * (meant - real);
    squares->output += error * error;
    squares->rounding += rounding * rounding;
}

static void search_samples(void *context, int64_t begin, int64_t end) {
    struct check *check = context;
    bool good = true;
    int64_t worst = -1;
    struct squares squares = {0};
    double max_error = 0, error_bound = 0, error, bound;
    for (int64_t i = begin; i < end; ++i) {
        good &= agrees_with_sample(check, &check->reference->samples[i], &error, &bound);
        add_squares(check, i, error, &squares);
        if (!(error >= max_error)) continue;
        worst = i;
        max_error = error;
        error_bound = bound;
    }
    /* Of equal errors the last one counts, whatever the order of the parts. */
    pthread_mutex_lock(&check->mutex);
    check->samples_good &= good;
    check->squares.real += squares.real;
    check->squares.quantization += squares.quantization;
    check->squares.output += squares.output;
    check->squares.rounding += squares.rounding;
    if (worst >= 0 &&
        (max_error > check->max_error || (max_error == check->max_error && worst > check->worst))) {
        check->worst = worst;
        check->max_error = max_error;
        check->error_bound = error_bound;
    }
    pthread_mutex_unlock(&check->mutex);
}

/* ---- the closer look: what is wrong where ---- */

/* Written at all, and a number? */
static void check_written(struct check *check, int row) {
    const int columns = columns_of(check, row);
    for (int column = 0; column < columns; ++column)
        if (!is_number(check, got(check, row, column)))
            note(check, (struct mismatch){row, column, NAN, 0, NULL});
}

static void check_library(struct check *check, int row) {
    const int columns = columns_of(check, row);
    double bound;
    for (int column = 0; column < columns; ++column) {
        if (agrees_with_library(check, row, column, &bound)) continue;
        const double other = library_value(check, row, column);
        note(check, (struct mismatch){row, column, other, bound, "library's result"});
    }
}

static void check_samples(struct check *check) {
    const bool exact = check->output->exact;
    double error, bound;
    for (int64_t i = 0; i < check->reference->count; ++i) {
        const struct sample *s = &check->reference->samples[i];
        if (!agrees_with_sample(check, s, &error, &bound))
            note(check, (struct mismatch){s->row, s->column, s->value, bound,
                                          exact ? "exact sum" : "fp64 reference"});
    }
}

/* Complains about the first of `count` elements from D's element `begin` that has changed. */
static void check_poison(struct check *check, int64_t begin, int64_t count, const char *where,
                         int row) {
    const struct output_view *o = check->output;
    int64_t changed = 0, first = 0;
    for (int64_t i = 0; i < count; ++i)
        if (stored_bits(check->d, begin + i, o->type) != stored_poison(o->type) && changed++ == 0)
            first = i;
    if (changed && check->wrong_around == 0) {
        char of_row[48] = "";
        if (row >= 0) snprintf(of_row, sizeof of_row, " of row %d", row);
        complain("%s: wrote outside of %s: %lld elements of the %s%s, the first at +%lld (0x%04x)",
                 o->what, o->label, (long long)changed, where, of_row, (long long)first,
                 stored_bits(check->d, begin + first, o->type));
    }
    check->wrong_around += changed;
}

static void check_surroundings(struct check *check) {
    const struct output_view *o = check->output;
    const int64_t guard = o->guard * 2 / gemm_type_bytes(o->type);
    char before[48], after[48];
    snprintf(before, sizeof before, "guard before %s", o->label);
    snprintf(after, sizeof after, "guard after %s", o->label);
    check_poison(check, -guard, guard, before, -1);
    for (int row = 0; row < o->rows; ++row) {
        const int columns = columns_of(check, row);
        if (check->suspect[row])
            check_poison(check, row * o->ld + columns, o->ld - columns,
                         columns ? "padding after the last column" : "padding", row);
    }
    check_poison(check, o->rows * o->ld, guard, after, -1);
}

/* In how many of its tiles the output is wrong. */
static int64_t wrong_tiles(const struct check *check, int tile_m, int tile_n) {
    const struct output_view *o = check->output;
    const int tiles_n = ceil_div(o->columns, tile_n);
    char *touched = allocate((size_t)ceil_div(o->rows, tile_m) * (size_t)tiles_n, 1, mismatches);
    int64_t count = 0;
    for (int row = 0; row < o->rows; ++row)
        for (int column = 0; column < o->columns; ++column) {
            const int64_t index = (int64_t)row * o->columns + column;
            if (!(check->wrong[index / 64] >> (index % 64) & 1)) continue;
            char *tile = &touched[(int64_t)(row / tile_m) * tiles_n + column / tile_n];
            count += !*tile;
            *tile = 1;
        }
    free(touched);
    return count;
}

/* Where the element lies in the tile, and which register of which thread holds it in the layout
 * that the accumulators of wgmma have: rows 16 w .. 16 w + 15 of 64 belong to warp w; in 8 x 8
 * blocks lane 4 r + c / 2 holds row r, columns c and c + 1; blocks to the right and the block below
 * follow in the registers. PTX ISA: "Register Fragments for wgmma.mma_async.m64nNk16". */
static void explain_element(const struct gemm_kernel *kernel, int row, int column) {
    const int r = row % kernel->tile_m, c = column % kernel->tile_n;
    fprintf(stderr, "    tile (%d, %d) of %d x %d: row %d, column %d in the tile",
            row / kernel->tile_m, column / kernel->tile_n, kernel->tile_m, kernel->tile_n, r, c);
    if (kernel->tile_m % 64 == 0)
        fprintf(stderr, "; as an m64nN accumulator: rows %d..%d, warp %d, lane %d, register %d",
                r / 64 * 64, r / 64 * 64 + 63, r % 64 / 16, r % 8 * 4 + c % 8 / 2,
                c / 8 * 4 + r % 16 / 8 * 2 + c % 2);
    fputc('\n', stderr);
}

static void explain_first(const struct check *check) {
    const struct output_view *o = check->output;
    const enum gemm_type type = o->type;
    const struct mismatch *first = &check->first;
    const uint32_t bits = got(check, first->row, first->column);
    const struct gemm_kernel *kernel = check->output->kernel;
    char tiles[64] = "";
    if (kernel)
        snprintf(tiles, sizeof tiles, ", in %lld of %lld tiles",
                 (long long)wrong_tiles(check, kernel->tile_m, kernel->tile_n),
                 (long long)ceil_div(o->rows, kernel->tile_m) *
                     ceil_div(o->columns, kernel->tile_n));
    complain("%s: wrong result%s%s: %lld of %lld elements%s", o->what,
             strcmp(o->label, "D") ? " in " : "", strcmp(o->label, "D") ? o->label : "",
             (long long)check->wrong_elements, (long long)o->rows * o->columns, tiles);
    fprintf(stderr, "    first: row %d, column %d: ", first->row, first->column);
    if (bits == stored_poison(type))
        fprintf(stderr, "not written");
    else
        fprintf(stderr, "got %.9g (0x%04x)", stored_value(bits, type), bits);
    /* A mismatch without an expectation can still be looked up if the reference is complete. */
    const double expected =
        check->reference->complete
            ? check->reference->samples[(int64_t)first->row * o->columns + first->column].value
            : first->expected;
    if (!isnan(expected)) {
        const uint32_t rounded = stored_rounded(expected, type);
        fprintf(stderr, ", expected %.9g (0x%04x)", expected, rounded);
    }
    if (first->against)
        fprintf(stderr, ", which is the %s; allowed error %.3g", first->against, first->bound);
    fputc('\n', stderr);
    if (kernel) explain_element(kernel, first->row, first->column);
}

struct comparison verify_output(const struct output_view *output, const struct reference *reference,
                                const void *library) {
    struct check check = {.output = output,
                          .reference = reference,
                          .d = (const uint16_t *)output->memory + output->guard,
                          .library = library,
                          .suspect =
                              allocate((size_t)output->rows, sizeof *check.suspect, mismatches),
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .samples_good = true,
                          .worst = -1};
    const double elements = (double)output->rows * (double)output->ld;
    parallel_ranges(output->rows, 3.0 * elements, search_rows, &check);
    parallel_ranges(reference->count, 30.0 * (double)reference->count, search_samples, &check);
    for (int row = 0; row < output->rows; ++row)
        if (check.suspect[row]) check_written(&check, row);
    const bool finite = check.wrong_elements == 0;
    if (!check.samples_good) check_samples(&check);
    for (int row = 0; row < output->rows && library; ++row)
        if (check.suspect[row]) check_library(&check, row);
    check_surroundings(&check);
    if (check.wrong_elements) explain_first(&check);
    free(check.wrong);
    free(check.suspect);
    const struct squares *const of = &check.squares;
    const double unit = of->real > 0 ? 1 / of->real : 0;
    return (struct comparison){
        .verified = check.wrong_elements == 0 && check.wrong_around == 0,
        .mismatches = check.wrong_elements + check.wrong_around,
        .max_error = finite ? check.max_error : NAN,
        .error_bound = check.error_bound,
        .has_parts = reference->real && of->real > 0 && !reference->integers,
        .quantization = sqrt(of->quantization * unit),
        .accumulation = sqrt(fmax(0, of->output - of->rounding) * unit),
        .rounding = sqrt(of->rounding * unit),
    };
}
