/*
 * kind.c: attention as a kind of problem: what O and LSE must be, and how far from it a kernel
 * may be. Everything is computed in fp64 from the formula, query by query.
 *
 * The bound of O. A kernel's exponential is off by a share of itself, in which the score's sum,
 * the fma of the exponent and ex2 have a part; P is rounded to 16 bits besides. These errors
 * know nothing of the signs of V, which are coin flips, so their sum over the keys is like a
 * random walk: it exceeds 8 times the root of the sum of squares with a probability below 4
 * exp(-32) (Hoeffding). The accumulation of the products is bounded as reference.h has it; the
 * sum of the exponentials by the unit roundoff times the number of its additions, or 8 times its
 * root.
 *
 * Whole numbers make the scores exact. Their scale is 1 instead of log2(e) / sqrt(d), so every
 * exponential is a power of two, and rounds to itself: the largest error is gone. LSE is never
 * rounded to 16 bits and sees every key: a mask that is off by one, or a wrong scale, shows
 * there.
 */
#include <math.h>
#include <stdlib.h>

#include "attention.h"
#include "element_codec.h"
#include "harness/allocate.h"
#include "harness/problem_kind.h"

#if KIND_ON_GPU
#define USUAL_HEADS 16
#else /* the simulator times nothing */
#define USUAL_HEADS 2
#define attention_rivals NULL
#endif
#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)

enum { HEADS, KV_HEADS, MASK, OPTIONS };
enum { MOST_HEADS = 1024 };
static const char *const masks[] = {"none", "causal"};
static struct backend_setting options[OPTIONS] = {
    [HEADS] = {"--heads", "N", "of queries (default " TEXT(USUAL_HEADS) ")", NULL, 1, MOST_HEADS,
               USUAL_HEADS},
    [KV_HEADS] = {"--kv-heads", "N", "of keys and values, a divisor of those; 0 (default): as many",
                  NULL, 0, MOST_HEADS, 0},
    [MASK] = {"--mask", "KIND",
              "none (default); causal: a query sees the keys up to its own, the\n"
              "last query all of them",
              masks, 0, 1, 0},
};

static const struct kind_choice choices[OPTIONS] = {
    [HEADS] = {.usual = {2}, .usuals = 1, .drawn = 4, .most = 17},
    [KV_HEADS] = {.usual = {1}, .usuals = 1, .drawn = 4, .most = 4},
    [MASK] = {.usual = {0, 1}, .usuals = 2},
};

static unsigned problems;  /* so far */
static bool whole_numbers; /* of the one that the harness runs */
static int depth;          /* its d */

struct attention_options attention_options(void) {
    struct attention_options o;
    o.heads = (int)options[HEADS].value;
    o.kv_heads = options[KV_HEADS].value ? (int)options[KV_HEADS].value : o.heads;
    o.causal = options[MASK].value != 0;
    o.scale = whole_numbers ? 1 : (float)(M_LOG2E / sqrt(depth));
    return o;
}

static const char *refuse(void) {
    const struct attention_options o = attention_options();
    return o.heads % o.kv_heads ? "--heads must be a multiple of --kv-heads" : NULL;
}

static void extents(const struct kind_problem *p, struct kind_extents *extents) {
    const struct attention_options o = attention_options();
    ++problems;
    whole_numbers = p->input == INPUT_INTEGER;
    depth = p->k;
    extents->k = extents->d_columns = o.heads * p->k;
}

static int matrices(const struct kind_problem *p, struct kind_matrix *matrix) {
    const struct attention_options o = attention_options();
    matrix[VALUES] = (struct kind_matrix){"V", p->type, p->n, o.kv_heads * p->k, false};
    matrix[LSE] = (struct kind_matrix){"LSE", GEMM_FP32, o.heads, p->m, true};
    return ATTENTION_MATRICES;
}

static void fill(const struct kind_problem *p, int matrix, int row, void *elements) {
    input_fill_row(p->source, 'V', row, elements, p->matrix[matrix].columns);
}

/* ---- what is right ---- */

static double errors_of_sum(int terms) { return (1.25 * terms + 32) * 0x1p-23; }
static double deviations(int terms) { return fmin(8, sqrt(terms)); }

static int keys_seen(const struct kind_problem *p, int row) {
    const int seen = options[MASK].value ? row + p->n - p->m + 1 : p->n;
    return seen < 0 ? 0 : seen < p->n ? seen : p->n;
}

/* The softmax of a query, and a column of V under it. */
struct attention {
    double max;            /* exponent of 2 */
    double sum;            /* of the exponentials, relative to the greatest, as are the next two */
    double product;        /* of these and V */
    double squares;        /* of their products */
    double value_squares;  /* of V */
    double greatest, norm; /* |exponent|; root of the squares of the products in a score */
};

/* The last query's softmax, without V, for its other columns; and its last column, whose error is
 * asked for after its value. */
static _Thread_local struct {
    unsigned problem;
    int row, head, column;
    struct attention softmax, attended;
    double *power; /* [key]; until the greatest is known, its exponent */
} last;

/* The product of rows of Q and K, and that of their squares, in eight sums as in reference.c. */
static double score_of(const float *q, const float *k, int count, double *squares) {
    enum { SUMS = 8 };
    double sum[SUMS] = {0}, square[SUMS] = {0};
    for (int i = 0; i < count; i += SUMS)
        for (int j = 0; j < SUMS; ++j) {
            const double product = (double)q[i + j] * k[i + j];
            sum[j] += product;
            square[j] += product * product;
        }
    for (int j = 1; j < SUMS; ++j) {
        sum[0] += sum[j];
        square[0] += square[j];
    }
    *squares = square[0];
    return sum[0];
}

/* Of whole numbers: no sum is greater than fp32 holds. */
static double whole_score(const float *q, const float *k, int count) {
    enum { SUMS = 8 };
    float sum[SUMS] = {0};
    for (int i = 0; i < count; i += SUMS)
        for (int j = 0; j < SUMS; ++j)
            sum[j] += q[i + j] * k[i + j];
    for (int j = 1; j < SUMS; ++j)
        sum[0] += sum[j];
    return sum[0];
}

static void find_softmax(const struct kind_problem *p, int row, int head) {
    static const char what[] = "the softmax of a query";
    const struct attention_options o = attention_options();
    const struct operands *const of = p->operands;
    const int kv_head = head / (o.heads / o.kv_heads), keys = keys_seen(p, row);
    const double scale = M_LOG2E / sqrt(p->k);
    struct attention s = {.max = -INFINITY};
    float *const buffer = allocate(2 * (size_t)of->k, sizeof *buffer, what);
    const float *const q = operands_row(of, 'A', row, buffer) + head * p->k;
    free(last.power);
    last.power = allocate((size_t)p->n, sizeof *last.power, what);
    for (int key = 0; key < keys; ++key) {
        const float *const k = operands_row(of, 'B', key, buffer + of->k) + kv_head * p->k;
        double squares = 0; /* which whole numbers do without */
        const double exponent =
            whole_numbers ? whole_score(q, k, p->k) : score_of(q, k, p->k, &squares) * scale;
        last.power[key] = exponent;
        s.max = fmax(s.max, exponent);
        s.greatest = fmax(s.greatest, fabs(exponent));
        s.norm = fmax(s.norm, sqrt(squares));
    }
    for (int key = 0; key < keys; ++key)
        s.sum += last.power[key] = exp2(last.power[key] - s.max);
    free(buffer);
    last.problem = problems;
    last.row = row;
    last.head = head;
    last.column = -1;
    last.softmax = s;
}

static const struct attention *softmax_of(const struct kind_problem *p, int row, int head) {
    if (last.problem != problems || last.row != row || last.head != head)
        find_softmax(p, row, head);
    return &last.softmax;
}

/* Of this row and this column of Q and O. */
static const struct attention *attend(const struct kind_problem *p, int row, int column) {
    const struct attention_options o = attention_options();
    const int head = column / p->k, kv_head = head / (o.heads / o.kv_heads);
    const uint16_t *const v = (uint16_t *)p->host[VALUES] + kv_head * p->k + column % p->k;
    struct attention a = *softmax_of(p, row, head);
    if (last.column == column) return &last.attended;
    for (int key = 0; key < keys_seen(p, row); ++key) {
        const double power = last.power[key];
        const double value = decode_element(v[key * p->ld[VALUES]], p->type);
        a.product += power * value;
        a.squares += power * power * value * value;
        a.value_squares += value * value;
    }
    last.column = column;
    last.attended = a;
    return &last.attended;
}

/* How far an exponential in fp32 may be off, as a share of itself. */
static double error_of_power(const struct kind_problem *p, const struct attention *a) {
    const double score =
        whole_numbers ? 0 : errors_of_sum(p->k) * deviations(p->k) * a->norm * M_LOG2E / sqrt(p->k);
    return M_LN2 * (score + 4 * a->greatest * 0x1p-24) + 0x1p-22;
}

/* The same of the sum, of which a thread adds up every fourth key. */
static double error_of_powers(const struct kind_problem *p, const struct attention *a) {
    const double additions = 0.25 * p->n + p->n / 64.0 + 8;
    return error_of_power(p, a) + fmin(additions, 8 * sqrt(additions)) * 0x1p-24;
}

static double value(const struct kind_problem *p, int matrix, int row, int column) {
    if (matrix == LSE) { /* [head][query] */
        const struct attention *const of = softmax_of(p, column, row);
        return of->sum > 0 ? M_LN2 * (of->max + log2(of->sum)) : -INFINITY;
    }
    const struct attention *const a = attend(p, row, column);
    return a->sum > 0 ? a->product / a->sum : 0;
}

static double error(const struct kind_problem *p, int matrix, int row, int column, double value) {
    const bool lse = matrix == LSE;
    const struct attention *const a = lse ? softmax_of(p, column, row) : attend(p, row, column);
    if (a->sum == 0) return 0;
    if (lse) return error_of_powers(p, a) + (fabs(value) + a->greatest + 8) * 0x1p-22;
    const double rounding = whole_numbers ? 0 : p->type == GEMM_BF16 ? 0x1p-8 : 0x1p-11;
    const double least = p->type == GEMM_BF16 ? 0 : 0x1p-25; /* half of fp16's least number */
    const double share = error_of_power(p, a) + rounding + errors_of_sum(p->n);
    const double walk = share * sqrt(a->squares) + least * sqrt(a->value_squares);
    return deviations(p->n) * walk / a->sum + fabs(value) * (error_of_powers(p, a) + 0x1p-22);
}

static bool is_exact(const struct kind_problem *p, int matrix) {
    (void)p, (void)matrix;
    return false;
}

static double cost(const struct kind_problem *p, int matrix) {
    (void)matrix;
    return (double)p->n * p->k;
}

/* Of the keys that the queries see. */
static bool infinite(const struct kind_problem *p, int matrix) {
    return matrix == LSE && options[MASK].value && p->m > p->n; /* some see no key */
}

static double flops(int m, int n, int k) {
    double seen = (double)m * n;
    if (options[MASK].value) { /* the last min(m, n) queries see n, n - 1, ... keys */
        const double rows = m < n ? m : n;
        seen = rows * n - rows * (rows - 1) / 2;
    }
    return 4 * seen * k * (double)options[HEADS].value;
}

/* So many terms leave whole numbers from -1 to 1. */
enum { TERMS_OF_ONES = 1 << 23 };

#define ATTENTION_KIND(d)                                                                          \
    {                                                                                              \
        .name = "attention", .formula = "O = softmax(Q * K^T / sqrt(d)) * V, d = " #d,             \
        .options = options, .choices = choices, .option_count = OPTIONS, .refuse = refuse,         \
        .depth = (d), .further_terms = TERMS_OF_ONES, .extents = extents, .matrices = matrices,    \
        .fill = fill, .is_exact = is_exact, .value = value, .infinite = infinite, .error = error,  \
        .cost = cost, .flops = flops, .baselines = attention_rivals                                \
    }
const struct problem_kind attention_128_kind = ATTENTION_KIND(128);
const struct problem_kind attention_64_kind = ATTENTION_KIND(64);
