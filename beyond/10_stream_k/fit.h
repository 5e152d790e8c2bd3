/*
 * fit.h: how fitted.cu cuts a problem: the choice of a tile, of a cluster and of the parts of k.
 *
 * For each way to cut the problem a formula predicts the cycles, and the smallest prediction is
 * taken. The formula has physical constants only: the rates and latencies below.
 */
#ifndef FIT_H
#define FIT_H

#include <math.h>

#include "gemm.h"

enum {
    BK = 64, /* of a k-tile: rows of 128 bytes */
    FIT_MOST_CLUSTER = 4,
    FIT_MOST_STAGES = 16,
    FIT_RING_BYTES = 226 * 1024, /* of 227 KB; the barriers take the rest */
    FIT_LEAST_K_TILES = 2,       /* of a part: fewer are not worth a part of their own */
    FIT_FEW_SPLITS = 4,          /* tried for every problem that fits */
    FIT_FEW_TILES = 8,           /* along the fitted side, tried with as many parts as fit */
};

/* The widest tile of `slabs` consumer warpgroups: wgmma's own limit, or that of the registers which
 * a thread has at launch. */
#define FIT_WIDEST(slabs) ((slabs) <= 2 ? 256 : (slabs) == 3 ? 200 : 136)

/*
 * Rates in bytes, latencies in cycles of the SM clock, of an H200.
 *
 * [probe]      docs/results/probe.txt
 * [fit]        select.c has the ratio of the two rates from the L2, fitted to runs
 * [predicted]  not measured by itself
 */
enum {
    FIT_TENSOR_CORE = 4096,  /* FLOPs per cycle of an SM: its peak */
    FIT_SHARED_BYTES = 128,  /* per cycle: wgmma reads both operands from shared memory [probe] */
    FIT_GAP = 55,            /* between the multiplications of two k-tiles [select.c] */
    FIT_ISSUE = 130,         /* a k-tile's wait, fence, issue and release [predicted] */
    FIT_L2_BYTES = 53,       /* per cycle from the L2 to one SM [probe] */
    FIT_L2_UNALIGNED = 23,   /* the same, if a row of a box lies in two lines [fit] */
    FIT_LINE_BYTES = 128,    /* of the L2 */
    FIT_MEMORY_BYTES = 2300, /* per cycle from DRAM to all SMs; as in select.c */
    FIT_TRIP = 1300,         /* from a load's issue to its bytes, from DRAM [probe] */
    FIT_NEXT_CTA = 1000,     /* from a CTA's end to the next one's first load [probe, predicted] */
    FIT_BARRIER = 200,       /* a cluster's barrier [probe: 410 for two CTAs' arrival and wait] */
    FIT_EPILOGUE = 600,      /* staging, copying, the way to the L2 [predicted] */
    FIT_STORE_BYTES = 32,    /* per cycle from an SM [predicted] */
    FIT_COUNT = 2500,        /* to store sums, count, and find that all are there [predicted] */
};

/* How a problem is cut. */
struct fit {
    int width;       /* columns of a CTA's product */
    int cluster;     /* CTAs that share the side operand */
    int splits;      /* parts of k */
    bool transposed; /* the side operand is B, and the product D transposed */
    double cycles;   /* predicted; infinite: the kernel does not fit the device */
};

/* Stages of the ring: those that fit, at most FIT_MOST_STAGES. */
static inline int fit_stages(int slabs, int width) {
    const int fitting = FIT_RING_BYTES / ((64 * slabs + width) * BK * 2);
    return fitting < FIT_MOST_STAGES ? fitting : FIT_MOST_STAGES;
}

/* Chunks of 16 bytes from one staged row of D to the next: an odd number, and at least one more than
 * the row has if that is odd, too. Host, or any thread. */
#define fit_staging_pitch(width, transposed) ((transposed) ? 9 : ((width) / 8 + 1) | 1)

/* CTAs of a part, those beyond D included. */
static inline int64_t fit_tiles(const struct gemm_problem *p, int slabs, const struct fit *fit) {
    const int side = fit->transposed ? p->n : p->m, fitted = fit->transposed ? p->m : p->n;
    return (int64_t)ceil_div(side, 64 * slabs) * ceil_div(fitted, fit->width * fit->cluster) *
           fit->cluster;
}

static inline double fit_most(double a, double b) { return a > b ? a : b; }

/* What a candidate is compared by, and the best so far. */
struct fit_search {
    const struct gemm_problem *problem;
    int slabs, k_tiles;
    int resident[3]; /* clusters of 1, 2 and 4 CTAs at once */
    double l2_bytes; /* per cycle, to an SM */
    double memory;   /* cycles to read the operands from DRAM, and to write D */
    struct fit best;
};

/* Cycles of a k-tile: of the slowest of what it needs. */
static inline double fit_k_tile(const struct fit_search *search, const struct fit *fit) {
    const int slabs = search->slabs, width = fit->width;
    const double multiply = 2.0 * 64 * slabs * width * BK / FIT_TENSOR_CORE;
    const double read = 2.0 * slabs * (64 + width) * BK / FIT_SHARED_BYTES;
    const double fetched = 2.0 * BK * (width + 64.0 * slabs / fit->cluster); /* by this CTA */
    return fit_most(
        fit_most(fit_most(multiply, read) + FIT_GAP, FIT_ISSUE),
        fit_most(fetched / search->l2_bytes, (double)FIT_TRIP / fit_stages(slabs, width)));
}

/* Predicts the cycles of a candidate, and keeps the faster one. */
static inline void fit_try(struct fit_search *search, struct fit fit) {
    const int tile = 64 * search->slabs * fit.width;
    const int64_t clusters =
        fit_tiles(search->problem, search->slabs, &fit) / fit.cluster * fit.splits;
    const int resident = search->resident[fit.cluster / 2];
    if (resident == 0) return;
    const double waves = (double)((clusters + resident - 1) / resident);
    const double k_tiles = ceil_div(search->k_tiles, fit.splits);
    fit.cycles = waves * (FIT_TRIP + FIT_EPILOGUE + 2.0 * tile / FIT_STORE_BYTES) +
                 (waves - 1) * FIT_NEXT_CTA +
                 fit_most(waves * k_tiles * fit_k_tile(search, &fit), search->memory);
    if (fit.cluster > 1) fit.cycles += waves * 2 * FIT_BARRIER;
    if (fit.splits > 1) fit.cycles += FIT_COUNT + 4.0 * tile * fit.splits / FIT_L2_BYTES;
    if (fit.cycles < search->best.cycles) search->best = fit;
}

/* Tries the narrowest tile of which at most `tiles` clusters of tiles are needed. */
static inline void fit_try_tiles(struct fit_search *search, struct fit fit, int64_t tiles) {
    const int fitted = fit.transposed ? search->problem->m : search->problem->n;
    if (tiles < 1) return;
    if (tiles * fit.cluster > fitted)
        tiles = fitted;
    else
        tiles *= fit.cluster;
    fit.width = ceil_div(ceil_div(fitted, (int)tiles), 8) * 8;
    if (fit.width > FIT_WIDEST(search->slabs)) return;
    const int least = fit.splits > 1 ? FIT_LEAST_K_TILES : 1; /* of a part */
    if (fit.splits * least > search->k_tiles) fit.splits = search->k_tiles / least;
    if (fit.splits < 1) return;
    if (fit.splits > 8) { /* as many as the sums are worth */
        const double main_loop = search->k_tiles * fit_k_tile(search, &fit);
        const double sums = 4.0 * 64 * search->slabs * fit.width / FIT_L2_BYTES;
        if (sums * fit.splits * fit.splits > main_loop) fit.splits = (int)sqrt(main_loop / sums);
    }
    /* Fewer parts, of which the longest is as long. */
    if (fit.splits > 1)
        fit.splits = ceil_div(search->k_tiles, ceil_div(search->k_tiles, fit.splits));
    fit_try(search, fit);
}

/* Tries every orientation and number of tiles for clusters of this size. */
static inline void fit_try_cluster(struct fit_search *search, int cluster, bool splits) {
    const struct gemm_problem *p = search->problem;
    const int resident = search->resident[cluster / 2], slabs = search->slabs;
    for (int transposed = 0; transposed < 2; ++transposed) {
        const int fitted = transposed ? p->m : p->n;
        const int64_t tiles_side = ceil_div(transposed ? p->n : p->m, 64 * slabs);
        const int widest = ceil_div(fitted, FIT_WIDEST(slabs) * cluster);
        struct fit fit = {0, cluster, 1, transposed != 0, 0};
        /* The fewest waves, and one more; of a whole tile, and of parts. */
        for (fit.splits = 1; fit.splits <= (splits ? FIT_FEW_SPLITS : 1); ++fit.splits) {
            const int64_t waves = (tiles_side * widest * fit.splits + resident - 1) / resident;
            for (int more = 0; more < (fit.splits == 1 ? 2 : 1); ++more)
                fit_try_tiles(search, fit, (waves + more) * resident / (tiles_side * fit.splits));
        }
        /* Few tiles, and as many parts as pay. */
        for (int tiles = widest; splits && tiles < widest + FIT_FEW_TILES; ++tiles) {
            if (tiles_side * tiles * FIT_FEW_SPLITS >= resident) break;
            fit.splits = (int)(resident / (tiles_side * tiles));
            fit_try_tiles(search, fit, tiles);
        }
    }
}

/* The fastest way to cut the problem for this kernel, a record of fitted.cu; with `splits` also
 * into parts of k, which need a workspace. Host thread. */
static inline struct fit fit_of(const struct gemm_problem *p, const struct gemm_kernel *kernel,
                                bool splits) {
    const bool aligned = p->lda * 2 % FIT_LINE_BYTES == 0 && p->ldb * 2 % FIT_LINE_BYTES == 0;
    const double elements = (double)p->m * p->k + (double)p->n * p->k + (double)p->m * p->n;
    struct fit_search search = {p,
                                kernel->tile_m / 64,
                                ceil_div(p->k, BK),
                                {0, 0, 0},
                                (double)(aligned ? FIT_L2_BYTES : FIT_L2_UNALIGNED),
                                elements * 2 / FIT_MEMORY_BYTES,
                                {8, 1, 1, false, INFINITY}};
    for (int cluster = 1; cluster <= FIT_MOST_CLUSTER; cluster *= 2) {
        struct gemm_launch launch = gemm_launch_of(kernel, cluster, NULL);
        launch.cluster = cluster;
        if (cluster > gemm_sm_count()) break;
        search.resident[cluster / 2] = gemm_resident_clusters(&launch);
        if (search.resident[cluster / 2] > 0) fit_try_cluster(&search, cluster, splits);
    }
    return search.best;
}

#endif
