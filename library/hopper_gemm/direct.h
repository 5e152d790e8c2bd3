/*
 * direct.h: how direct.cu cuts a problem, and how many cycles that is predicted to take.
 */
#ifndef DIRECT_H
#define DIRECT_H

#include "cost.h"

enum {
    DIRECT_STEP = 32,       /* columns of k that a warp multiplies at once: 64 bytes of a row */
    DIRECT_MOST_WARPS = 16, /* of a CTA, and of an SM, which has registers for no more */
    DIRECT_LEAST_WARPS = 2, /* of a CTA, if k has as many steps */
};

/* How a problem is cut. */
struct direct_cut {
    int tiles_side, tiles_fitted; /* along the operand that is the tile's rows, and the other */
    int warps;                    /* of a CTA: each has every `warps`-th step of k */
    bool transposed;              /* the rows are B's, and the product is D transposed */
    double rows;                  /* that all CTAs together read */
};

/* A number of warps with which all tiles are on the device at once, if that is possible, and which
 * leaves no warp with fewer steps than another has, if that costs no time. */
static inline int direct_warps(int64_t tiles, int steps, int sms) {
    int64_t warps = (int64_t)DIRECT_MOST_WARPS * sms / tiles;
    if (warps > DIRECT_MOST_WARPS) warps = DIRECT_MOST_WARPS;
    if (warps < DIRECT_LEAST_WARPS) warps = DIRECT_LEAST_WARPS;
    return ceil_div(steps, ceil_div(steps, (int)warps));
}

/* One orientation. Every tile reads its rows of both operands. */
static inline struct direct_cut direct_cut_along(const struct gemm_problem *p, int side_rows,
                                                 int fitted_rows, bool transposed, int sms) {
    const int side = transposed ? p->n : p->m, fitted = transposed ? p->m : p->n;
    struct direct_cut cut;
    cut.tiles_side = ceil_div(side, side_rows);
    cut.tiles_fitted = ceil_div(fitted, fitted_rows);
    cut.warps =
        direct_warps((int64_t)cut.tiles_side * cut.tiles_fitted, ceil_div(p->k, DIRECT_STEP), sms);
    cut.transposed = transposed;
    cut.rows = (double)side * cut.tiles_fitted + (double)fitted * cut.tiles_side;
    return cut;
}

/* The orientation that reads fewer rows, for tiles of side_rows x fitted_rows. Host thread. */
static inline struct direct_cut direct_cut_of(const struct gemm_problem *p, int side_rows,
                                              int fitted_rows, int sms) {
    const struct direct_cut as_it_is = direct_cut_along(p, side_rows, fitted_rows, false, sms);
    const struct direct_cut transposed = direct_cut_along(p, side_rows, fitted_rows, true, sms);
    return transposed.rows < as_it_is.rows ? transposed : as_it_is;
}

/* ---- the prediction ---- */

/* Cycles, and bytes per cycle, of an H200; fitted with cost.h. */
enum {
    DIRECT_START = 1791,        /* addresses, the first loads, sums and D; */
    DIRECT_WAVE = 458,          /* more for each further wave of CTAs */
    DIRECT_STEP_ISSUE = 31,     /* a step of a warp takes its SM so long */
    DIRECT_MEMORY_BYTES = 1408, /* from DRAM to all SMs, by loads in this order */
    DIRECT_L2_BYTES = 44,       /* from the L2 to an SM, by ordinary loads */
    DIRECT_PARTIAL = 31, /* percent by which these take longer, if a row begins in a sector */
};
/* For each column of the tile: more for its sums, and for a step. */
static const double direct_sums = 11.8, direct_column = 1.67;

/* The most warps of the kernel for so many: direct.cu has one each for 2, 4, 8 and 16. */
static inline int direct_room(int warps) {
    return warps <= 2 ? 2 : warps <= 4 ? 4 : warps <= 8 ? 8 : DIRECT_MOST_WARPS;
}

/* Predicts direct.cu: the steps of the busiest SM; beside them its bytes from the L2, and all bytes
 * from DRAM. */
static inline struct cost direct_cost(const struct gemm_problem *p, int side_rows, int fitted_rows,
                                      int sms, struct gemm_rates rates) {
    const struct direct_cut cut = direct_cut_of(p, side_rows, fitted_rows, sms);
    const int64_t tiles = (int64_t)cut.tiles_side * cut.tiles_fitted;
    const int64_t at_once = (int64_t)sms * (DIRECT_MOST_WARPS / direct_room(cut.warps));
    const double waves = (double)((tiles + at_once - 1) / at_once);
    const double ctas = (double)((tiles + sms - 1) / sms); /* of the SM with the most */
    const double step = DIRECT_STEP_ISSUE + direct_column * fitted_rows;
    const double written = (double)p->m * p->n * 2 / (rates.memory * COST_READ_BYTES);
    const double memory =
        (cost_reading(p, rates) + written) * COST_READ_BYTES / DIRECT_MEMORY_BYTES;
    const bool whole = cost_operands_begin_at(p, COST_SECTOR_BYTES);
    const double l2 = cut.rows * ctas / (double)tiles * p->k * 2 *
                      (whole ? 1 : 1 + DIRECT_PARTIAL / 100.0) / (rates.l2 * DIRECT_L2_BYTES);
    return (struct cost){
        .work = ctas * ceil_div(p->k, DIRECT_STEP) * step,
        .memory = cost_both(l2, memory),
        .rest = DIRECT_START + direct_sums * fitted_rows + (waves - 1) * DIRECT_WAVE,
    };
}

#endif
