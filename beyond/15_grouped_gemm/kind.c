/*
 * kind.c: the grouped product as a kind of problem: how a router spreads m rows over the groups,
 * what D must be, and the libraries that compute it.
 */
#include "grouped.h"

#include <string.h>

#include "scaled/formats.h"
#include "splitmix64.h"

#if !KIND_ON_GPU /* the simulator times nothing */
#define grouped_rivals NULL
#endif

enum router { EVEN, SKEWED, ONE, EMPTY };
static const char *const routers[] = {"even", "skewed", "one", "empty"};
enum { GROUPS, ROUTER, OPTIONS };
static struct backend_setting options[OPTIONS] = {
    [GROUPS] = {"--groups", "N", "that the m rows are spread over (default 8)", NULL, 1,
                GROUPS_MOST, 8},
    [ROUTER] = {"--router", "KIND",
                "even: all groups have as many; skewed (default): drawn, group by\n"
                "group less likely, in an order that is drawn, too; one: one group\n"
                "has all of them; empty: none has any, and D has no rows",
                routers, EVEN, EMPTY, SKEWED},
};

static const struct kind_choice choices[OPTIONS] = {
    [GROUPS] = {.usual = {3}, .usuals = 1, .drawn = 9, .most = GROUPS_MOST},
    [ROUTER] = {.usual = {SKEWED, EVEN}, .usuals = 2},
};

/* A problem, and the groups' first rows. */
struct grouped {
    struct grouped_problem problem;
    int first_row[GROUPS_MOST + 1];
};

static const struct grouped *grouped(const struct kind_problem *p) { return p->of_kind; }
static int groups_of(const struct kind_problem *p) { return grouped(p)->problem.groups; }

/* Each row's group: number r in an order that is drawn, with a probability like 1 / (r + 1). */
static void draw_rows(int rows[], int groups, int m, uint64_t seed) {
    double total = 0;
    int order[GROUPS_MOST];
    for (int g = 0; g < groups; ++g) {
        const int other = (int)(splitmix64(&seed) % (uint64_t)(g + 1));
        order[g] = order[other];
        order[other] = g;
        total += 1.0 / (g + 1);
    }
    for (int row = 0; row < m; ++row) {
        double left = (double)(splitmix64(&seed) >> 11) * 0x1p-53 * total;
        int r = 0;
        while (r + 1 < groups && (left -= 1.0 / (r + 1)) >= 0)
            ++r;
        ++rows[order[r]];
    }
}

static void prepare(const struct kind_problem *p, void *of_kind) {
    struct grouped *const of = of_kind;
    const int groups = (int)options[GROUPS].value, m = p->m;
    uint64_t seed = p->seed;
    int rows[GROUPS_MOST] = {0};
    of->problem = (struct grouped_problem){groups, of->first_row};
    switch ((enum router)options[ROUTER].value) {
    case EVEN:
        for (int g = 0; g < groups; ++g)
            rows[g] = m / groups + (g < m % groups);
        break;
    case SKEWED:
        draw_rows(rows, groups, m, seed);
        break;
    case ONE:
        rows[splitmix64(&seed) % (uint64_t)groups] = m;
        break;
    case EMPTY:
        break;
    }
    for (int g = 0; g < groups; ++g)
        of->first_row[g + 1] = of->first_row[g] + rows[g];
}

static void extents(const struct kind_problem *p, struct kind_extents *extents) {
    extents->b_rows = groups_of(p) * grouped_rows_of_b(p->n, p->type);
    extents->d_rows = grouped(p)->first_row[groups_of(p)];
}

static int matrices(const struct kind_problem *p, struct kind_matrix *matrix) {
    matrix[FIRST_ROWS] = (struct kind_matrix){
        "the groups' first rows", GEMM_FP32, 1, groups_of(p) + 1, false, false};
    return GROUPED_SCALES +
           (p->type == GEMM_E4M3 ? scaled_matrices(p, &matrix[GROUPED_SCALES]) : 0);
}

static void fill(const struct kind_problem *p, int matrix, int row, void *words) {
    if (matrix == FIRST_ROWS)
        memcpy(words, grouped(p)->first_row, (size_t)(groups_of(p) + 1) * sizeof(int));
    else
        scaled_row(p->operands, matrix - GROUPED_SCALES, row, words);
}

static const struct operand_format *format(enum gemm_type type,
                                           const struct gemm_kernel *const *kernels, int count) {
    (void)kernels, (void)count;
    return type == GEMM_E4M3 ? &blocks_format : &elements_format;
}

/* The row of B that makes this element: its group's is the last that begins no later. */
static int row_of_b(const struct kind_problem *p, int row, int column) {
    const int *const first = grouped(p)->first_row;
    int group = 0, groups = groups_of(p);
    while (groups - group > 1) {
        const int middle = (group + groups) / 2;
        if (first[middle] <= row)
            group = middle;
        else
            groups = middle;
    }
    return (int)(group * grouped_rows_of_b(p->n, p->type)) + column;
}

static double value(const struct kind_problem *p, int matrix, int row, int column) {
    (void)matrix;
    return operands_product(p->operands, row, row_of_b(p, row, column));
}

static double error(const struct kind_problem *p, int matrix, int row, int column, double value) {
    (void)matrix, (void)value;
    return reference_accumulation(p->product, row, row_of_b(p, row, column));
}

/* Of a problem with rows; the empty one has none. */
static double flops(int m, int n, int k) {
    return options[ROUTER].value == EMPTY ? 0 : 2.0 * m * n * k;
}

const struct problem_kind grouped_kind = {.name = "grouped",
                                          .formula = "D_g = A_g * B_g",
                                          .options = options,
                                          .choices = choices,
                                          .option_count = OPTIONS,
                                          .prepare = prepare,
                                          .of_kind_bytes = sizeof(struct grouped),
                                          .format = format,
                                          .extents = extents,
                                          .matrices = matrices,
                                          .fill = fill,
                                          .value = value,
                                          .error = error,
                                          .flops = flops,
                                          .baselines = grouped_rivals};
