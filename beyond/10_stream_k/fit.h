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
};

/* The widest tile that the registers of `slabs` consumer warpgroups allow. */
#define FIT_WIDEST(slabs) ((slabs) <= 2 ? 256 : (slabs) == 3 ? 192 : 128)

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
    FIT_ISSUE = 130,         /* a k-tile's wait, fence, issue and release [predicted] */
    FIT_L2_BYTES = 53,       /* per cycle from the L2 to one SM [probe] */
    FIT_L2_UNALIGNED = 23,   /* the same, if a row of a box lies in two lines [fit] */
    FIT_LINE_BYTES = 128,    /* of the L2 */
    FIT_MEMORY_BYTES = 2300, /* per cycle from DRAM to all SMs; as in select.c */
    FIT_TRIP = 1300,         /* from a load's issue to its bytes, from DRAM [probe] */
    FIT_LAUNCH = 2200,       /* a launch and the way to its first load [predicted] */
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

/* Predicted cycles. `resident`: clusters at once. */
static inline double fit_cycles(const struct gemm_problem *p, int slabs, const struct fit *fit,
                                int resident) {
    const int rows = 64 * slabs, cluster = fit->cluster, width = fit->width;
    const double clusters = (double)fit_tiles(p, slabs, fit) / cluster * fit->splits;
    const double waves = ceil(clusters / resident);
    const int k_tiles = ceil_div(ceil_div(p->k, BK), fit->splits);
    const bool aligned = p->lda * 2 % FIT_LINE_BYTES == 0 && p->ldb * 2 % FIT_LINE_BYTES == 0;

    const double multiply = 2.0 * rows * width * BK / FIT_TENSOR_CORE;
    const double read = 2.0 * slabs * (64 + width) * BK / FIT_SHARED_BYTES;
    const double fetched = 2.0 * BK * (width + (double)rows / cluster); /* by this CTA */
    const double load = fetched / (aligned ? FIT_L2_BYTES : FIT_L2_UNALIGNED);
    double k_tile = (double)FIT_TRIP / fit_stages(slabs, width);
    if (k_tile < FIT_ISSUE) k_tile = FIT_ISSUE;
    if (k_tile < multiply) k_tile = multiply;
    if (k_tile < read) k_tile = read;
    if (k_tile < load) k_tile = load;

    const double elements = (double)p->m * p->k + (double)p->n * p->k + (double)p->m * p->n;
    const double memory = elements * 2 / FIT_MEMORY_BYTES;
    double main_loops = waves * k_tiles * k_tile;
    if (main_loops < memory) main_loops = memory;

    double tile = FIT_TRIP + FIT_EPILOGUE + 2.0 * rows * width / FIT_STORE_BYTES;
    if (cluster > 1) tile += 2 * FIT_BARRIER;
    if (fit->splits > 1)
        tile += FIT_COUNT + 4.0 * rows * width * fit->splits / FIT_L2_BYTES;
    return FIT_LAUNCH + main_loops + waves * tile + (waves - 1) * FIT_NEXT_CTA;
}

/* The better of two: the one in `best`, or this. */
static inline void fit_try(const struct gemm_problem *p, int slabs, struct fit fit, int resident,
                           struct fit *best) {
    fit.cycles = fit_cycles(p, slabs, &fit, resident);
    if (fit.cycles < best->cycles) *best = fit;
}

/* The fastest way to cut the problem for this kernel, a record of fitted.cu; with `splits` also
 * into parts of k, which need a workspace. Host thread. */
static inline struct fit fit_of(const struct gemm_problem *p, const struct gemm_kernel *kernel,
                                bool splits) {
    const int slabs = kernel->tile_m / 64, k_tiles = ceil_div(p->k, BK);
    struct fit best = {8, 1, 1, false, INFINITY};
    for (int cluster = 1; cluster <= FIT_MOST_CLUSTER; cluster *= 2) {
        struct gemm_launch launch = gemm_launch_of(kernel, cluster, NULL);
        launch.cluster = cluster;
        const int resident = cluster <= gemm_sm_count() ? gemm_resident_clusters(&launch) : 0;
        if (resident == 0) continue;
        for (int transposed = 0; transposed < 2; ++transposed) {
            const int side = transposed ? p->n : p->m, fitted = transposed ? p->m : p->n;
            const int tiles_side = ceil_div(side, 64 * slabs);
            for (int width = FIT_WIDEST(slabs); width >= 8; width -= 8) {
                const int tiles = ceil_div(fitted, width * cluster);
                /* A narrower tile of which no more are needed is never slower. */
                if (width > 8 && ceil_div(fitted, (width - 8) * cluster) == tiles) continue;
                struct fit fit = {width, cluster, 1, transposed != 0, 0};
                fit_try(p, slabs, fit, resident, &best);
                const int64_t clusters = (int64_t)tiles_side * tiles;
                if (!splits || clusters * 2 > resident || clusters * cluster > GEMM_COUNTERS)
                    continue;
                int most = resident / (int)clusters;
                if (most > k_tiles / FIT_LEAST_K_TILES) most = k_tiles / FIT_LEAST_K_TILES;
                for (; most > 1; most /= 2) {
                    fit.splits = ceil_div(k_tiles, ceil_div(k_tiles, most));
                    fit_try(p, slabs, fit, resident, &best);
                }
            }
        }
    }
    return best;
}

#endif
