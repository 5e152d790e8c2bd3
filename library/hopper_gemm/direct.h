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
    DIRECT_START = 1540,        /* addresses, sums and D; */
    DIRECT_SUMS = 25,           /* of these, more for each column of the tile */
    DIRECT_WAVE = 2120,         /* each further wave of CTAs */
    DIRECT_TRIP = 291,          /* a warp's loads, from one step to the next, at the least */
    DIRECT_HALF = 229,          /* D, if a tile's rows of it are half a sector */
    DIRECT_MEMORY_BYTES = 2540, /* from DRAM to all SMs, by loads in this order */
    DIRECT_L2_BYTES = 39,       /* from the L2 to an SM, by ordinary loads */
    DIRECT_PARTIAL = 23, /* percent by which these take longer, if a row begins in a sector */
};
static const double direct_column = 20.9; /* a step of a warp, for each column of the tile */

/* The most warps of the kernel for so many: direct.cu has one each for 2, 4, 8 and 16. */
static inline int direct_room(int warps) {
    return warps <= 2 ? 2 : warps <= 4 ? 4 : warps <= 8 ? 8 : DIRECT_MOST_WARPS;
}

/* Predicts direct.cu: trips to memory, one after another; beside them the bytes of the busiest SM
 * from the L2, and all bytes from DRAM. */
static inline struct cost direct_cost(const struct gemm_problem *p, int side_rows, int fitted_rows,
                                      int sms, struct gemm_rates rates) {
    const struct direct_cut cut = direct_cut_of(p, side_rows, fitted_rows, sms);
    const int64_t tiles = (int64_t)cut.tiles_side * cut.tiles_fitted;
    const int64_t at_once = (int64_t)sms * (DIRECT_MOST_WARPS / direct_room(cut.warps));
    const double waves = (double)((tiles + at_once - 1) / at_once);
    const double trips =
        direct_column * fitted_rows * ceil_div(ceil_div(p->k, DIRECT_STEP), cut.warps);
    const double elements = (double)p->m * p->k + (double)p->n * p->k + (double)p->m * p->n;
    const double memory = elements * 2 / (rates.memory * DIRECT_MEMORY_BYTES);
    /* Of the SM with the most tiles. */
    const double share = (double)((tiles + sms - 1) / sms) / (double)tiles;
    const bool whole = cost_operands_begin_at(p, COST_SECTOR_BYTES);
    const double l2 = cut.rows * share * p->k * 2 * (whole ? 1 : 1 + DIRECT_PARTIAL / 100.0) /
                      (rates.l2 * DIRECT_L2_BYTES);
    const bool half = !cut.transposed && fitted_rows * 2 < COST_SECTOR_BYTES;
    return (struct cost){
        .work = waves * cost_most(trips, DIRECT_TRIP),
        .memory = DIRECT_TRIP + cost_both(l2, memory),
        .rest = DIRECT_START + DIRECT_SUMS * fitted_rows + (waves - 1) * DIRECT_WAVE +
                (half ? DIRECT_HALF : 0),
    };
}

#endif
