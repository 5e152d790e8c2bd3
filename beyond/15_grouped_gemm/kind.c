/*
 * kind.c: the grouped product as a kind of problem: how a router spreads m rows over the groups,
 * what D must be, and the libraries that compute it.
 */
#include "grouped.h"

#include <stdlib.h>
#include <string.h>

#include "harness/allocate.h"
#include "harness/problem_kind.h"
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

static int first_row[GROUPS_MOST + 1];
static uint8_t *group_of_row; /* [m] */

int grouped_groups(void) { return (int)options[GROUPS].value; }
const int *grouped_first_rows(void) { return first_row; }

/* Each row's group: number r in an order that is drawn, with a probability like 1 / (r + 1). */
static void draw_rows(int rows[], int groups, int m, uint64_t seed) {
    double total = 0;
    int place[GROUPS_MOST];
    for (int g = 0; g < groups; ++g) {
        const int other = (int)(splitmix64(&seed) % (uint64_t)(g + 1));
        place[g] = place[other];
        place[other] = g;
        total += 1.0 / (g + 1);
    }
    for (int row = 0; row < m; ++row) {
        double left = (double)(splitmix64(&seed) >> 11) * 0x1p-53 * total;
        int r = 0;
        while (r + 1 < groups && (left -= 1.0 / (r + 1)) >= 0)
            ++r;
        ++rows[place[r]];
    }
}

static void spread_rows(int m, uint64_t seed) {
    const int groups = grouped_groups();
    int rows[GROUPS_MOST] = {0};
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
    free(group_of_row);
    group_of_row = allocate((size_t)m, sizeof *group_of_row, "the groups of the rows");
    for (int g = 0; g < groups; ++g) {
        first_row[g + 1] = first_row[g] + rows[g];
        memset(group_of_row + first_row[g], g, (size_t)rows[g]);
    }
}

static void extents(const struct kind_problem *p, struct kind_extents *extents) {
    spread_rows(p->m, p->seed);
    extents->b_rows = grouped_groups() * grouped_rows_of_b(p->n, p->type);
    extents->d_rows = first_row[grouped_groups()];
}

static int matrices(const struct kind_problem *p, struct kind_matrix *matrix) {
    (void)p;
    matrix[FIRST_ROWS] =
        (struct kind_matrix){"the groups' first rows", GEMM_FP32, 1, grouped_groups() + 1, false};
    return GROUPED_MATRICES;
}

static void fill(const struct kind_problem *p, int matrix, int row, void *words) {
    (void)p, (void)matrix, (void)row;
    memcpy(words, first_row, (size_t)(grouped_groups() + 1) * sizeof *first_row);
}

/* The row of B that makes this element. */
static int row_of_b(const struct kind_problem *p, int row, int column) {
    return (int)(group_of_row[row] * grouped_rows_of_b(p->n, p->type)) + column;
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
                                          .extents = extents,
                                          .matrices = matrices,
                                          .fill = fill,
                                          .value = value,
                                          .error = error,
                                          .flops = flops,
                                          .baselines = grouped_rivals};
