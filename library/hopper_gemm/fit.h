/*
 * fit.h: how fitted.cu cuts a problem: the choice of a tile, of a cluster and of the parts of k. A
 * formula predicts the cycles of each way, from cost.h; the smallest prediction is taken.
 */
#ifndef FIT_H
#define FIT_H

#include "cost.h"

enum {
    BK = COST_BK,     /* of a k-tile: rows of 128 bytes */
    FIT_CLUSTERS = 4, /* CTAs of the largest cluster */
    FIT_MOST_STAGES = 16,
};

/* The ring of a CTA. With one consumer, two CTAs share an SM. The barriers take the rest of 227 KB,
 * or of 113. */
#define FIT_RING_BYTES(slabs) (((slabs) == 1 ? 112 : 226) * 1024)

/* The widest tile of `slabs` consumer warpgroups: as far as wider ones pay; wgmma's limit; that of
 * the registers which a thread has at launch. */
#define FIT_WIDEST(slabs) ((slabs) == 1 ? 128 : (slabs) == 2 ? 256 : 200)

/* How a problem is cut. */
struct fit {
    int width;          /* columns of a CTA's product */
    int sharing_side;   /* CTAs of a cluster that share side rows, along the fitted operand */
    int sharing_fitted; /* CTAs of a cluster that share fitted rows, along the side operand */
    int splits;         /* parts of k */
    bool transposed;    /* the side operand is B, and the product D transposed */
    struct cost cost;
    double cycles; /* predicted, without the launch; infinite: the device cannot run the kernel */
};

/* Stages of the ring: those that there is room for. */
static inline int fit_stages(int slabs, int width) {
    const int stages = FIT_RING_BYTES(slabs) / ((64 * slabs + width) * BK * 2);
    return stages < FIT_MOST_STAGES ? stages : FIT_MOST_STAGES;
}

/* Chunks of 16 bytes from one staged row of D to the next: an odd number, and more than the row
 * has. Host, or any thread. */
#define fit_staging_pitch(width, transposed) ((transposed) ? 9 : ((width) / 8 + 1) | 1)

/* The most bytes of sums that the last CTA of a tile adds up. */
#define FIT_LAST_ADDS (160 * 1024)

/* Does a second kernel add up the parts of the tiles, on all SMs? Host, or any thread. */
#define fit_added_apart(slabs, width, splits)                                                      \
    ((splits) > 1 && (splits) * ((width) * (slabs)*64 * (int)sizeof(float)) > FIT_LAST_ADDS)

/* Clusters along the side operand. */
static inline int fit_clusters_side(const struct gemm_problem *p, int slabs,
                                    const struct fit *fit) {
    return ceil_div(fit->transposed ? p->n : p->m, 64 * slabs * fit->sharing_fitted);
}

/* Tiles, those beyond D included. */
static inline int64_t fit_tiles(const struct gemm_problem *p, int slabs, const struct fit *fit) {
    const int fitted = fit->transposed ? p->m : p->n;
    const int lines = fit_clusters_side(p, slabs, fit) * fit->sharing_fitted;
    return (int64_t)lines * ceil_div(fitted, fit->width * fit->sharing_side) * fit->sharing_side;
}

/* Rows of the side operand in a tile: as many in each, up to the multiple of 8 that the swizzle
 * needs. For a row of a box that lies beyond the operand the TMA takes longer than for another. */
static inline int fit_rows(const struct gemm_problem *p, int slabs, const struct fit *fit) {
    const int side = fit->transposed ? p->n : p->m;
    const int tiles = fit_clusters_side(p, slabs, fit) * fit->sharing_fitted;
    return ceil_div(ceil_div(side, tiles), 8) * 8;
}

/* ---- the prediction ---- */

/* What a choice depends on. */
struct fit_question {
    int m, n, k;
    int64_t lda, ldb;
    int resident[FIT_CLUSTERS]; /* [CTAs - 1]: clusters of so many at once */
    int sms, slabs;
    struct gemm_rates rates;
};

/* One search for the best cut. */
struct fit_search {
    const struct gemm_problem *problem;
    int slabs, k_tiles, sms;
    double byte;        /* cycles until an SM has a byte from the L2 */
    double multicast;   /* the same, if it is for a cluster */
    double shared;      /* cycles until each SM has a byte, while all load */
    double contention;  /* of a row that several CTAs load: cycles for each of them */
    double reading;     /* cycles to read the operands from DRAM */
    int resident;       /* clusters at once */
    struct fit best[2]; /* of whole tiles; of all cuts */
};

/* Cycles and bytes of fitted.cu. */
enum {
    FIT_TILE = 2129,         /* the first bytes of a tile, and the way to the store, ... */
    FIT_NEXT_TILE = 3828,    /* ... of each in a further wave */
    FIT_CONTENTION = 4,      /* a row that begins in a sector, for each cluster that loads it */
    FIT_ROW = 25,            /* what the address of a row takes in a store, in bytes */
    FIT_COUNT = 1272,        /* sums are counted, and found to be there, ... */
    FIT_PART = 31,           /* ... more for each part of a tile */
    FIT_ROUND = 688,         /* FIT_FLIGHT loads of sums, on their way together */
    FIT_SUMS_BYTES = 230,    /* of sums, per cycle, to the CTA that adds them up */
    FIT_SUMS_ALL = 2869,     /* of sums, per cycle, from all CTAs that store them */
    FIT_SECOND = 714,        /* from the GEMM's end to the kernel that adds its sums */
    FIT_SECOND_CTAS = 2710,  /* its CTAs that are at work at once, from start to end; ... */
    FIT_SECOND_RESIDENT = 2, /* ... so many on an SM */
};
static const double fit_store_bytes = 14.3, fit_part_bytes = 9.7; /* from an SM: of D, of sums */

/* Cycles of a CTA's k-tiles: of all units that are busy meanwhile. Of `ctas` at once, each with so
 * many side rows, `share` run on an SM; `sharers` clusters load the same rows. */
static inline double fit_k_loop(const struct fit_search *search, const struct fit *fit, int k_tiles,
                                int rows, double share, double ctas, double sharers) {
    const int slabs = search->slabs, width = fit->width;
    const double row = 2 * BK; /* bytes */
    const double loaded =
        row * ((double)width / fit->sharing_fitted + (double)rows / fit->sharing_side);
    const int size = fit->sharing_side * fit->sharing_fitted, stages = fit_stages(slabs, width);
    const double fetch =
        size == 1 ? loaded * search->byte
                  : cost_most(loaded * search->multicast, row * (width + rows) / COST_MULTICAST);
    const double work = cost_most(cost_multiply(slabs, width), cost_read(slabs, width));
    const double units[] = {
        k_tiles * (double)COST_ISSUE,
        k_tiles * share * work,
        k_tiles * share * fetch,
        k_tiles * loaded * ctas * search->shared,
        k_tiles * search->contention * (sharers < ctas / size ? sharers : ctas / size),
        /* A stage is loaded again one trip after it is released. */
        cost_most(k_tiles - stages, 0) * COST_TRIP / stages,
    };
    return cost_units(units, sizeof units / sizeof *units);
}

/* Cycles to store a tile of D. */
static inline double fit_store(const struct fit_search *search, const struct fit *fit) {
    const int rows = fit->transposed ? fit->width * search->slabs : 64 * search->slabs;
    return (64 * search->slabs * fit->width * 2.0 + rows * FIT_ROW) / fit_store_bytes;
}

/* Loads of sums that a thread has on their way. Host, or any thread. */
#define FIT_FLIGHT(slabs) ((slabs) <= 2 ? 16 : 8)

/* Cycles to add up the parts of `tiles` tiles: those of a tile's last CTA, whose loads come in
 * rounds, or of the second kernel, in as many waves as its CTAs need. */
static inline double fit_parts_sum(const struct fit_search *search, const struct fit *fit,
                                   double tiles) {
    const int slabs = search->slabs, chunks = fit->width / 8, flight = FIT_FLIGHT(slabs);
    if (fit_added_apart(slabs, fit->width, fit->splits)) {
        const double waves = ceil(tiles * chunks / (search->sms * (double)FIT_SECOND_RESIDENT));
        return FIT_SECOND +
               waves * (FIT_SECOND_CTAS + ceil_div(fit->splits, flight) * (double)FIT_ROUND);
    }
    const int group = chunks < flight ? chunks : flight, parts = flight / group; /* at once */
    const double rounds = ceil_div(fit->splits, parts) * (double)ceil_div(chunks, group);
    return FIT_COUNT + fit->splits * FIT_PART + fit_store(search, fit) +
           rounds * (FIT_ROUND + group * parts * 128 * slabs * 16 / (double)FIT_SUMS_BYTES);
}

/* Predicts the cycles of a cut, and keeps the faster one. `clusters`: of tiles. The last wave of
 * CTAs may be few, which have an SM, and the L2, for themselves. */
static inline void fit_try(struct fit_search *search, struct fit fit, int clusters) {
    const int slabs = search->slabs, size = fit.sharing_side * fit.sharing_fitted;
    const int rows = fit_rows(search->problem, slabs, &fit);
    const int k_tiles = ceil_div(search->k_tiles, fit.splits);
    const int full = clusters * fit.splits / search->resident; /* waves */
    const int left = clusters * fit.splits - full * search->resident;
    const int waves[] = {full, left > 0}, at_once[] = {search->resident * size, left * size};
    /* Most cuts are too slow even if only the Tensor Core and DRAM take time. */
    const double least =
        (full + (left > 0)) * (k_tiles * cost_multiply(slabs, fit.width) + FIT_TILE);
    if (cost_most(least, search->reading + FIT_TILE) > search->best[fit.splits > 1].cycles) return;
    const double along_side = fit_clusters_side(search->problem, slabs, &fit);
    const double sharers = cost_most(along_side, clusters / along_side);
    const double sums = 64 * slabs * fit.width * (double)sizeof(float);
    struct cost cost = {0, search->reading, FIT_TILE - FIT_NEXT_TILE};
    for (int i = 0; i < 2; ++i) {
        const double share = at_once[i] > search->sms ? 2 : 1; /* of an SM */
        if (waves[i] == 0) continue;
        cost.work += waves[i] * fit_k_loop(search, &fit, k_tiles, rows, share, at_once[i], sharers);
        const double parts = sums * (share / fit_part_bytes + at_once[i] / (double)FIT_SUMS_ALL);
        const double store = fit.splits > 1 ? parts : fit_store(search, &fit);
        cost.rest += waves[i] * (FIT_NEXT_TILE + store + (size > 1 ? COST_BARRIERS : 0));
    }
    if (fit.splits > 1) cost.rest += fit_parts_sum(search, &fit, (double)clusters * size);
    fit.cost = cost, fit.cycles = cost_cycles(cost);
    for (int i = fit.splits > 1; i < 2; ++i)
        if (fit.cycles < search->best[i].cycles) search->best[i] = fit;
}

/* ---- the cuts that are tried ---- */

enum { FIT_LEAST_K_TILES = 2 /* of a part: fewer are not worth a part of their own */ };

/* The narrowest tile of which `tiles` are enough along the fitted operand. */
static inline int fit_width(int fitted, int tiles) {
    return ceil_div(ceil_div(fitted, tiles), 8) * 8;
}

/* Tries the narrowest tile of which `clusters` clusters are enough along the fitted operand. */
static inline void fit_try_width(struct fit_search *search, struct fit fit, int tiles_side,
                                 int64_t clusters) {
    const int fitted = fit.transposed ? search->problem->m : search->problem->n;
    if (clusters < 1 || fit.splits * FIT_LEAST_K_TILES > search->k_tiles + 1) return;
    const int line = fit.sharing_side, size = line * fit.sharing_fitted;
    fit.width = fit_width(fitted, clusters < fitted / line ? (int)clusters * line : fitted);
    if (fit.width > FIT_WIDEST(search->slabs) || ceil_div(fitted, fit.width) < line) return;
    const int64_t all = (int64_t)tiles_side * ceil_div(fitted, fit.width * line);
    if (all * size * fit.splits > GEMM_MOST_TILES || (fit.splits > 1 && all * size > GEMM_COUNTERS))
        return;
    fit_try(search, fit, (int)all);
}

/* Tries every number of tiles that may be the best, for clusters of one form and one side, of which
 * there is room for `room` at once. */
static inline void fit_try_cluster(struct fit_search *search, struct fit fit, int room) {
    const struct gemm_problem *p = search->problem;
    const int slabs = search->slabs;
    const int side = fit.transposed ? p->n : p->m, fitted = fit.transposed ? p->m : p->n;
    const int line = fit.sharing_side;
    const int tiles_side = fit_clusters_side(p, slabs, &fit); /* of clusters */
    const int widest = ceil_div(fitted, FIT_WIDEST(slabs) * line);
    const int64_t least = (int64_t)tiles_side * widest;
    /* Fewer tiles than CTAs that would share: some had no work. */
    if (ceil_div(side, 64 * slabs) < fit.sharing_fitted) return;
    /* Whole tiles, in the fewest waves, and in one more. */
    const int64_t waves = (least + room - 1) / room;
    for (int more = 0; more < 2; ++more)
        fit_try_width(search, fit, tiles_side, (waves + more) * room / tiles_side);
    /* Parts in one wave: for each number of k-tiles that a part may have, the fewest parts. */
    for (fit.splits = 2; least * fit.splits <= room;) {
        fit_try_width(search, fit, tiles_side, room / ((int64_t)tiles_side * fit.splits));
        const int k_tiles = ceil_div(search->k_tiles, fit.splits) - 1; /* the next smaller ones */
        if (k_tiles < FIT_LEAST_K_TILES) return;
        fit.splits = ceil_div(search->k_tiles, k_tiles);
    }
}

/* A search that has tried nothing yet; it lacks the number of clusters at once. */
static inline struct fit_search fit_search_of(const struct gemm_problem *p, int slabs, int sms,
                                              struct gemm_rates rates) {
    const struct fit none = {FIT_WIDEST(slabs), 1, 1, 1, false, {0, 0, 0}, INFINITY};
    struct fit_search search = {.problem = p, .slabs = slabs, .k_tiles = ceil_div(p->k, BK)};
    search.sms = sms;
    search.byte = 1 / cost_l2_bytes(p);
    search.multicast = 1 / cost_multicast_bytes(p, rates);
    search.shared = 1 / (sms * rates.l2 * COST_L2_ALL);
    search.contention = cost_operands_begin_at(p, COST_SECTOR_BYTES) ? 0 : FIT_CONTENTION;
    search.reading = cost_reading(p, rates);
    search.best[0] = search.best[1] = none;
    return search;
}

/* Tries all of them. */
static inline struct fit_search fit_answer(const struct gemm_problem *p,
                                           const struct fit_question *question) {
    struct fit_search search = fit_search_of(p, question->slabs, question->sms, question->rates);
    /* CTAs that share side rows, and fitted rows; of each form two, with either side. */
    static const int forms[][2] = {{1, 1}, {2, 1}, {1, 2}, {4, 1}, {2, 2}};
    for (int i = 0; i < 2 * (int)(sizeof forms / sizeof *forms); ++i) {
        const int *of = forms[i / 2];
        const struct fit form = {0, of[0], of[1], 1, i % 2 != 0, {0, 0, 0}, 0};
        const int size = form.sharing_side * form.sharing_fitted;
        search.resident = question->resident[size - 1];
        /* All that fit, and, if two CTAs share an SM, as many as have one for themselves. */
        for (int room = search.resident; room > 0; room = room > search.sms / size ? room / 2 : 0)
            fit_try_cluster(&search, form, room);
    }
    return search;
}

/* The fastest ways to cut the problem for this kernel, a record of fitted.cu: [0] into whole tiles,
 * [1] also into parts of k, which need a workspace. Keeps the last answers. Host thread. */
static inline const struct fit *fits_of(const struct gemm_problem *p,
                                        const struct gemm_kernel *kernel) {
    static __thread struct {
        struct fit_question question;
        struct fit best[2];
    } last[3]; /* [slabs - 1] */
    struct fit_question question;
    memset(&question, 0, sizeof question);
    question.m = p->m, question.n = p->n, question.k = p->k;
    question.lda = p->lda, question.ldb = p->ldb;
    question.slabs = kernel->tile_m / 64, question.sms = gemm_sm_count();
    question.rates = gemm_device_rates();
    for (int size = 1; size <= FIT_CLUSTERS && size <= question.sms; size *= 2) {
        struct gemm_launch launch = gemm_launch_of(kernel, size, NULL);
        launch.cluster = size;
        question.resident[size - 1] = gemm_resident_clusters(&launch);
    }
    if (memcmp(&last[question.slabs - 1].question, &question, sizeof question) != 0) {
        const struct fit_search search = fit_answer(p, &question);
        memcpy(last[question.slabs - 1].best, search.best, sizeof search.best);
        last[question.slabs - 1].question = question;
    }
    return last[question.slabs - 1].best;
}
static inline struct fit fit_of(const struct gemm_problem *p, const struct gemm_kernel *kernel,
                                bool splits) {
    return fits_of(p, kernel)[splits];
}

#endif
