/*
 * kind.c: attention as a kind of problem: what O and LSE must be, and how far from it a kernel
 * may be. Everything is computed in fp64 from the formula, query by query.
 *
 * The bounds of O and LSE. An exponential is off by a share of itself, in which the score's sum,
 * the fma of the exponent and ex2 have a part; where O is rescaled, because the maximum rises,
 * there is an ex2 more. (Where it stays, the factor is exactly 1: no error grows with the number of
 * blocks.) P is rounded to 16 bits besides. For O these errors know nothing of the signs of V,
 * which are coin flips, so their sum over the keys is like a random walk: it exceeds 8 times the
 * root of the sum of squares with a probability below 4 exp(-32) (Hoeffding). The products are
 * added as reference.h has it. LSE is never rounded to 16 bits and sees the mean of the scores'
 * errors under the softmax: the cut of the accumulator goes towards zero always, so its part
 * remains; that of the products' cuts is a random walk again.
 *
 * The sum of the exponentials is rounded at each addition by at most half a unit of the sum at that
 * time, uniformly: with 8 / sqrt(3) times the root of the sum of their squares the same probability
 * holds. Of numbers below such half a unit nothing is added, always.
 *
 * Whole numbers make the scores exact. With the scale 1 instead of log2(e) / sqrt(d) every
 * exponential is a power of two, and rounds to itself: the largest error is gone, and a mask that
 * is off by one shows. A steep scale makes the exponents large and the sums small whole numbers, so
 * LSE is known to a few units in its last place: what is a little wrong in each block shows there.
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

enum { BATCH, HEADS, KV_HEADS, MASK, SCALE, OPTIONS };
enum { MOST_HEADS = 1024, MOST_BATCH = 1024 };
enum { SCALE_OF_INPUT, USUAL, ONE, STEEP };
static const char *const masks[] = {"none", "causal"};
static const char *const scales[] = {"input", "usual", "one", "steep"};
static struct backend_setting options[OPTIONS] = {
    [BATCH] = {"--batch", "N", "sequences, each of m queries and n keys (default 1)", NULL, 1,
               MOST_BATCH, 1},
    [HEADS] = {"--heads", "N", "of queries (default " TEXT(USUAL_HEADS) ")", NULL, 1, MOST_HEADS,
               USUAL_HEADS},
    [KV_HEADS] = {"--kv-heads", "N", "of keys and values, a divisor of those; 0 (default): as many",
                  NULL, 0, MOST_HEADS, 0},
    [MASK] = {"--mask", "KIND",
              "none (default); causal: a query sees the keys up to its own, the\n"
              "last query all of them",
              masks, 0, 1, 0},
    [SCALE] = {"--scale", "KIND",
               "of the scores: usual: 1 / sqrt(d); one: ln 2, so whole numbers make\n"
               "exponentials that are powers of two; steep: 1024 / sqrt(d); input\n"
               "(default): one for whole numbers, else usual",
               scales, SCALE_OF_INPUT, STEEP, SCALE_OF_INPUT},
};

static const struct kind_choice choices[OPTIONS] = {
    [BATCH] = {.usual = {1}, .usuals = 1, .drawn = 3, .most = 3},
    [HEADS] = {.usual = {2}, .usuals = 1, .drawn = 4, .most = 17},
    [KV_HEADS] = {.usual = {1}, .usuals = 1, .drawn = 4, .most = 4},
    [MASK] = {.usual = {0, 1}, .usuals = 2},
    [SCALE] = {.usual = {ONE}, .usuals = 1},
};

/* A problem, and what the functions below need besides. */
struct attention_inputs {
    struct attention_problem problem;
    int q_rows, k_rows, v_rows, o_rows; /* from one sequence to the next */
    unsigned number;                    /* of all problems so far */
    bool whole_numbers;                 /* in Q and K */
};

static const struct attention_inputs *inputs(const struct kind_problem *p) { return p->of_kind; }
static const struct attention_problem *attention(const struct kind_problem *p) {
    return &inputs(p)->problem;
}

static int kv_heads(void) { return (int)options[options[KV_HEADS].value ? KV_HEADS : HEADS].value; }

/* Rows that belong to nothing, between two sequences of a matrix: none, unless pitches are drawn.
 * */
static int draw_gap(const struct kind_problem *p, char matrix) {
    enum { MOST_GAP = 3 };
    return operand_pitches == PITCHES_DRAWN
               ? 1 + (int)(input_hash(p->seed, (uint64_t)matrix) % MOST_GAP)
               : 0;
}

static void prepare(const struct kind_problem *p, void *of_kind) {
    static unsigned problems;
    struct attention_inputs *const of = of_kind;
    const int scale = (int)options[SCALE].value;
    const double usual = M_LOG2E / sqrt(p->k);
    of->number = ++problems;
    of->q_rows = p->m + draw_gap(p, 'Q');
    of->k_rows = p->n + draw_gap(p, 'K');
    of->v_rows = p->n + draw_gap(p, 'V');
    of->o_rows = p->m + draw_gap(p, 'O');
    of->whole_numbers = p->input == INPUT_INTEGER;
    const bool one = scale == ONE || (scale == SCALE_OF_INPUT && of->whole_numbers);
    of->problem = (struct attention_problem){.batch = (int)options[BATCH].value,
                                             .heads = (int)options[HEADS].value,
                                             .kv_heads = kv_heads(),
                                             .causal = options[MASK].value != 0,
                                             .scale = (float)(one              ? 1
                                                              : scale == STEEP ? 1024 * usual
                                                                               : usual)};
}

static const char *refuse(void) {
    return (int)options[HEADS].value % kv_heads() ? "--heads must be a multiple of --kv-heads"
                                                  : NULL;
}

/* What the rows of one sequence after another come to: `rows` each, `apart` from first to first. */
static int64_t rows_of_all(const struct kind_problem *p, int rows, int apart) {
    return (int64_t)(attention(p)->batch - 1) * apart + rows;
}

static void extents(const struct kind_problem *p, struct kind_extents *extents) {
    extents->a_rows = rows_of_all(p, p->m, inputs(p)->q_rows);
    extents->b_rows = rows_of_all(p, p->n, inputs(p)->k_rows);
    extents->d_rows = rows_of_all(p, p->m, inputs(p)->o_rows);
    extents->k = extents->d_columns = (int64_t)attention(p)->heads * p->k;
}

static bool is_gap(const struct kind_problem *p, char matrix, int row) {
    const struct attention_inputs *const of = inputs(p);
    return matrix == 'B' ? row % of->k_rows >= p->n
                         : row % (matrix == 'A' ? of->q_rows : of->o_rows) >= p->m;
}

static int matrices(const struct kind_problem *p, struct kind_matrix *matrix) {
    const struct attention_problem *const of = attention(p);
    const int v_rows = (int)rows_of_all(p, p->n, inputs(p)->v_rows);
    matrix[VALUES] = (struct kind_matrix){"V", p->type, v_rows, of->kv_heads * p->k, false, false};
    matrix[LSE] = (struct kind_matrix){"LSE", GEMM_FP32, of->batch * of->heads, p->m, true, false};
    return ATTENTION_MATRICES;
}

static void locate(const struct kind_problem *p, void *of_kind) {
    struct attention_inputs *const of = of_kind;
    of->problem.strides = (struct attention_strides){.q = of->q_rows * p->operands->device_lda,
                                                     .k = of->k_rows * p->operands->device_ldb,
                                                     .v = of->v_rows * p->device_ld[VALUES],
                                                     .o = of->o_rows * p->operands->device_ldd};
}

static void fill(const struct kind_problem *p, int matrix, int row, void *elements) {
    const int columns = p->matrix[matrix].columns;
    if (row % inputs(p)->v_rows < p->n)
        input_fill_row(p->source, 'V', row, elements, columns);
    else
        for (int i = 0; i < columns; ++i)
            ((uint16_t *)elements)[i] = padding_of(p->type);
}

/* ---- what is right ---- */

/* Errors of a sum by the Tensor Core, in units of 2^-23 of its greatest partial sum: the cuts of
 * the accumulator in steps of 16 products, and 8 deviations of those of the products
 * (numerics.md). */
static double accumulator_cuts(int terms) { return 1.25 * (terms / 16.0 + 2); }
static double product_cuts(int terms) { return 2 * sqrt(terms); }
static double deviations(int terms) { return fmin(8, sqrt(terms)); }

static int keys_seen(const struct kind_problem *p, int row) {
    const int seen = attention(p)->causal ? row + p->n - p->m + 1 : p->n;
    return seen < 0 ? 0 : seen < p->n ? seen : p->n;
}

/* The first column of a head, of Q and O and of K and V. Heads are numbered through all sequences.
 * */
static int column_of(const struct kind_problem *p, int head) {
    return head % attention(p)->heads * p->k;
}
static int kv_column_of(const struct kind_problem *p, int head) {
    const int sharing = attention(p)->heads / attention(p)->kv_heads;
    return head % attention(p)->heads / sharing * p->k;
}

/* A score, and what its error depends on. */
struct score {
    double sum;
    double squares; /* of its products */
    double partial; /* the greatest magnitude of a sum along the way */
};

/* Is every exponential a power of two, which rounds to itself? */
static bool whole_powers(const struct kind_problem *p) {
    return inputs(p)->whole_numbers && attention(p)->scale == 1;
}

/* The softmax of a query, and a column of V under it. */
struct attention {
    double max;           /* exponent of 2 */
    double sum;           /* of the exponentials, relative to the greatest, as are all below */
    double product;       /* of these and V */
    double squares;       /* of their products */
    double value_squares; /* of V */
    double farthest;      /* exponent from the greatest, |.| */
    double mean_distance; /* of the exponents from it, under the softmax */
    double greatest;      /* partial sum in a score */
    double mean, walk;    /* of these under the softmax; root of the sum of squares */
    double added;         /* how far the sum of the exponentials may be off */
    int rises;            /* at most so often the maximum rises behind the first block */
};

/* The last query's softmax, without V, for its other columns; and its last column, whose error is
 * asked for after its value. */
static _Thread_local struct {
    unsigned problem;
    int row, head, column;
    struct attention softmax, attended;
    double *power; /* [key]; until the greatest is known, its exponent */
} last;

/* fmax() of numbers, without a call. */
static inline double greater(double a, double b) { return a > b ? a : b; }

/* The product of rows of Q and K, in eight sums as in reference.c. */
static struct score score_of(const float *q, const float *k, int count) {
    enum { SUMS = 8, STEP = 16 };
    double square[SUMS] = {0};
    struct score s = {0};
    for (int first = 0; first < count; first += STEP) {
        double sum[SUMS] = {0};
        for (int i = first; i < first + STEP; i += SUMS)
            for (int j = 0; j < SUMS; ++j) {
                const double product = (double)q[i + j] * k[i + j];
                sum[j] += product;
                square[j] += product * product;
            }
        s.sum += ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
        s.partial = greater(s.partial, fabs(s.sum));
    }
    for (int j = 0; j < SUMS; ++j)
        s.squares += square[j];
    return s;
}

/* Of whole numbers: no sum is greater than fp32 holds, and none has an error. */
static struct score whole_score(const float *q, const float *k, int count) {
    enum { SUMS = 8 };
    float sum[SUMS] = {0};
    for (int i = 0; i < count; i += SUMS)
        for (int j = 0; j < SUMS; ++j)
            sum[j] += q[i + j] * k[i + j];
    for (int j = 1; j < SUMS; ++j)
        sum[0] += sum[j];
    return (struct score){.sum = sum[0]};
}

/* How far the sum of the exponentials, of which a thread adds up every fourth pair of keys from the
 * last block to the first, may be off. In which order those of a block are added is not known. */
static double error_of_additions(const double *power, int keys, bool whole_numbers) {
    enum { MOST_BLOCK = 256 };
    double sum[4] = {0}, squares = 0, lost = 0;
    for (int key = keys - 1, reach = keys; key >= 0; --key) {
        for (; reach > 0 && reach > key - MOST_BLOCK; --reach)
            sum[(reach - 1) % 8 / 2] += power[reach - 1];
        const double half_unit = 0x1p-24 * sum[key % 8 / 2];
        if (whole_numbers || power[key] < half_unit) /* few different numbers: no random walk */
            lost += power[key] < half_unit ? power[key] : half_unit;
        else
            squares += half_unit * half_unit;
    }
    return lost + 8 / sqrt(3) * sqrt(squares) + 2 * 0x1p-24 * (sum[0] + sum[1] + sum[2] + sum[3]);
}

/* How many keys have a greater score than all that are before, or behind, them. */
static int count_rises(const double *exponent, int keys) {
    int up = 0, down = 0;
    double max = -INFINITY;
    for (int key = 0; key < keys; ++key)
        if (exponent[key] > max) max = exponent[key], ++up;
    max = -INFINITY;
    for (int key = keys - 1; key >= 0; --key)
        if (exponent[key] > max) max = exponent[key], ++down;
    return up > down ? up : down;
}

static void find_softmax(const struct kind_problem *p, int row, int head) {
    static const char what[] = "the softmax of a query";
    const struct operands *const of = p->operands;
    const bool whole_numbers = inputs(p)->whole_numbers;
    const int sequence = head / attention(p)->heads, keys = keys_seen(p, row);
    const int q_row = sequence * inputs(p)->q_rows + row, k_row = sequence * inputs(p)->k_rows;
    struct attention s = {.max = -INFINITY};
    float *const buffer = allocate(2 * (size_t)of->k, sizeof *buffer, what);
    double *const partial = allocate((size_t)p->n, sizeof *partial, what);
    const float *const q = operands_row(of, 'A', q_row, buffer) + column_of(p, head);
    free(last.power);
    last.power = allocate((size_t)p->n, sizeof *last.power, what);
    for (int key = 0; key < keys; ++key) {
        const float *const k =
            operands_row(of, 'B', k_row + key, buffer + of->k) + kv_column_of(p, head);
        const struct score score = whole_numbers ? whole_score(q, k, p->k) : score_of(q, k, p->k);
        last.power[key] = score.sum * attention(p)->scale;
        partial[key] = score.partial + sqrt(score.squares); /* in another order, a little more */
        s.max = greater(s.max, last.power[key]);
        s.greatest = greater(s.greatest, partial[key]);
    }
    s.rises = count_rises(last.power, keys);
    for (int key = 0; key < keys; ++key) {
        const double distance = s.max - last.power[key], power = exp2(-distance);
        last.power[key] = power;
        s.sum += power;
        s.farthest = greater(s.farthest, distance);
        s.mean_distance += power * distance;
        s.mean += power * partial[key];
        s.walk += power * power * partial[key] * partial[key];
    }
    s.walk = sqrt(s.walk);
    s.added = error_of_additions(last.power, keys, whole_numbers);
    free(buffer);
    free(partial);
    last.problem = inputs(p)->number;
    last.row = row;
    last.head = head;
    last.column = -1;
    last.softmax = s;
}

static const struct attention *softmax_of(const struct kind_problem *p, int row, int head) {
    if (last.problem != inputs(p)->number || last.row != row || last.head != head)
        find_softmax(p, row, head);
    return &last.softmax;
}

/* Of this query of a sequence, and of this column of O. */
static const struct attention *attend(const struct kind_problem *p, int sequence, int row,
                                      int column) {
    const int head = sequence * attention(p)->heads + column / p->k;
    const uint16_t *const v = (uint16_t *)p->host[VALUES] +
                              (int64_t)sequence * inputs(p)->v_rows * p->ld[VALUES] +
                              kv_column_of(p, head) + column % p->k;
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

/* What ex2 is off by, as a share; and it and two roundings, for each rise of the maximum. */
#define ERROR_OF_EX2 0x1p-22
#define ERROR_OF_RISE (1.5 * ERROR_OF_EX2)

/* How far an exponential in fp32 may be off, as a share of itself: the one whose exponent is the
 * worst. */
static double error_of_power(const struct kind_problem *p, const struct attention *a) {
    const double cuts = (accumulator_cuts(p->k) + product_cuts(p->k)) * 0x1p-23 * a->greatest;
    const double exponent = cuts * attention(p)->scale + a->farthest * 0x1p-24;
    return M_LN2 * exponent + ERROR_OF_EX2 + a->rises * ERROR_OF_RISE;
}

/* How far the sum of the exponentials may be off, as a share of itself. */
static double error_of_powers(const struct kind_problem *p, const struct attention *a) {
    const double cuts = accumulator_cuts(p->k) * a->mean + product_cuts(p->k) * a->walk;
    const double exponent = cuts * 0x1p-23 * attention(p)->scale + a->mean_distance * 0x1p-24;
    return (M_LN2 * exponent + a->added) / a->sum + ERROR_OF_EX2 + a->rises * ERROR_OF_RISE;
}

static double value(const struct kind_problem *p, int matrix, int row, int column) {
    if (matrix == LSE) { /* [head][query] */
        const struct attention *const of = softmax_of(p, column, row);
        return of->sum > 0 ? M_LN2 * (of->max + log2(of->sum)) : -INFINITY;
    }
    const int o_rows = inputs(p)->o_rows;
    const struct attention *const a = attend(p, row / o_rows, row % o_rows, column);
    return a->sum > 0 ? a->product / a->sum : 0;
}

static double error(const struct kind_problem *p, int matrix, int row, int column, double value) {
    const bool lse = matrix == LSE;
    const int o_rows = inputs(p)->o_rows, query = lse ? column : row % o_rows;
    const struct attention *const a =
        lse ? softmax_of(p, query, row) : attend(p, row / o_rows, query, column);
    if (a->sum == 0) return 0;
    /* Rounded are the logarithm, its sum with the greatest exponent, and their product with ln 2;
     * a library rounds the scale, too. */
    if (lse) return error_of_powers(p, a) + (2 * log2(a->sum) + 3 * fabs(value) + 4) * 0x1p-24;
    const int keys = keys_seen(p, query);
    const double rounding = whole_powers(p) ? 0 : p->type == GEMM_BF16 ? 0x1p-9 : 0x1p-12;
    /* Half of fp16's least number; the least of fp32 that ex2 makes. */
    const double least = p->type == GEMM_BF16 ? 0x1p-126 : 0x1p-25;
    const double partial = deviations(keys) * sqrt(a->squares);
    const double sums = (accumulator_cuts(keys) + product_cuts(keys)) * 0x1p-23 * partial;
    const double walk = error_of_power(p, a) * sqrt(a->squares) + least * sqrt(a->value_squares);
    /* A rounding is off by at most half a unit, 2 * rounding, and uniformly: 8 * rounding times the
     * root of the sum of squares is exceeded with a probability below 4 exp(-24). With
     * fewer than 16 keys the bound is what they are off by if each is off by half a unit. */
    const double rounded = fmin(8, 2 * sqrt(keys)) * rounding * sqrt(a->squares);
    return (deviations(keys) * walk + rounded + sums) / a->sum +
           fabs(value) * (error_of_powers(p, a) + 0x1p-22);
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
    return matrix == LSE && attention(p)->causal && p->m > p->n; /* some see no key */
}

static double flops(int m, int n, int k) {
    double seen = (double)m * n;
    if (options[MASK].value) { /* the last min(m, n) queries see n, n - 1, ... keys */
        const double rows = m < n ? m : n;
        seen = rows * n - rows * (rows - 1) / 2;
    }
    return 4 * seen * k * (double)(options[BATCH].value * options[HEADS].value);
}

/* So many terms leave whole numbers from -1 to 1. */
enum { TERMS_OF_ONES = 1 << 23 };

#define ATTENTION_KIND(d)                                                                          \
    {                                                                                              \
        .name = "attention", .formula = "O = softmax(Q * K^T / sqrt(d)) * V, d = " #d,             \
        .options = options, .choices = choices, .option_count = OPTIONS, .refuse = refuse,         \
        .depth = (d), .further_terms = TERMS_OF_ONES, .prepare = prepare,                          \
        .of_kind_bytes = sizeof(struct attention_inputs), .extents = extents, .is_gap = is_gap,    \
        .matrices = matrices, .locate = locate, .draws = true, .fill = fill,                       \
        .is_exact = is_exact, .value = value, .infinite = infinite, .error = error, .cost = cost,  \
        .flops = flops, .baselines = attention_rivals                                              \
    }
const struct problem_kind attention_128_kind = ATTENTION_KIND(128);
const struct problem_kind attention_64_kind = ATTENTION_KIND(64);
