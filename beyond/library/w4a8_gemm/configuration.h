/*
 * configuration.h: what the kernels of this library are built with, and how a problem is cut.
 * beyond/CMakeLists.txt has the configurations.
 *
 * The product is computed transposed. BM rows of A, few, are the N of wgmma; BN channels, columns
 * of D, are its M, 64 at a time. In teams.cu and pairs.cu a cluster shares the k loop of a tile, so
 * that all SMs load weights even if there are few tiles.
 */
#ifndef W4A8_CONFIGURATION_H
#define W4A8_CONFIGURATION_H

#include <assert.h>

#include "gemm_scaled_args.h"
#include "gemm_selection.h"
#include "building_blocks/cluster_splits.h"
#include "hopper/thread.h"
#include "w4_block.h"

#ifndef BM
#define BM 16 /* rows of the CTA's tile: 8 to 128 in steps of 8 */
#endif
#ifndef CONSUMERS
#define CONSUMERS 2 /* warpgroups */
#endif
#ifndef TEAMS
#define TEAMS 1 /* of consumers, which take turns at the k-tiles */
#endif
#ifndef SLABS
#define SLABS 1 /* of 64 channels, that each consumer computes */
#endif
#ifndef STAGES
#define STAGES 10 /* depth of the ring */
#endif
#ifndef SHALLOW
#define SHALLOW STAGES /* stages in use where memory is slower than an H200's */
#endif
#ifndef FIRST_LOADS
#define FIRST_LOADS 2 /* k-tiles whose loads are under way before the consumers may begin */
#endif
#ifndef PAIRS
#define PAIRS 1 /* of slabs: pairs.cu unrolls as many before the Tensor Core drains */
#endif
/* Registers: at launch as many for all, then the producer's for the consumers. The producer's
 * warpgroup helps to store the tile; with teams, that takes more of them. */
#define PRODUCER_REGISTERS (TEAMS > 1 ? 40 : 32)
#if CONSUMERS == 4
#define CONSUMER_REGISTERS 104 /* 40 + 4 * 104 <= 5 * 96 */
#else
#define CONSUMER_REGISTERS 232 /* 32 + 2 * 232 <= 3 * 168 */
#endif

enum {
    LOADERS = 2, /* warps of which one thread loads: weights, and A */
    MEMBERS = CONSUMERS / TEAMS,              /* warpgroups of a team */
    BN = 64 * MEMBERS * SLABS, BK = W4_BLOCK, /* one scale for each channel at a time */
    BLOCKS = BN / W4_BLOCK,                     /* of weights, in a stage */
    THREADS = 128 * (1 + CONSUMERS),
    /* What the TMA delivers for one k-tile. */
    STAGE_BYTES = BM * BK * sizeof(e4m3_t) + BN / W4_HALF * W4_HALF_BYTES,
    LINE = 128, /* bytes that the TMA moves as a row of blocks */
    BLOCK_LINES = W4_BLOCK_BYTES / LINE, HALF_LINES = W4_HALF_BYTES / LINE,
    /* The weights that are loaded at once: a block, or a half if a tile has 64 channels. */
    BOX = BN % W4_BLOCK ? W4_HALF : W4_BLOCK, /* channels */
    BOXES = BN / BOX,                         /* in a stage */
    BOX_BYTES = BOX / W4_HALF * W4_HALF_BYTES, BOX_LINES = BOX_BYTES / LINE,
    DONE_BARRIER = 13, /* named barrier: the ring is free, and the scales of A are there */
};

/* The kernel's parameter. */
struct w4a8_args {
    struct gemm_args gemm;
    struct gemm_scales scales;  /* of A */
    struct cluster_parts parts; /* of k */
    struct divisor rows;        /* tile rows */
    int stages;                 /* of the ring that are in use */
};
static_assert(offsetof(struct w4a8_args, scales) == offsetof(struct gemm_scaled_args, scales),
              "it begins as that one, so plans find the scales");

/* When a launch of teams.cu or pairs.cu begins. It loads weights before it waits, so early only if
 * they are complete. Host. */
static inline enum gemm_early early_of(const struct gemm_problem *p) {
    return p->early == GEMM_EARLY_B ? GEMM_EARLY_B : GEMM_IN_ORDER;
}

/* Stages in use. With more bytes on their way than keep memory busy, the SMs that it serves first
 * run ahead, and the kernel ends with the others (12_w4a8/README.md). Behind a kernel that still
 * runs, the deep ring loads more weights in advance. Host. */
static inline int stages_of(const struct gemm_problem *p) {
    return gemm_device_rates().memory < 1 && early_of(p) == GEMM_IN_ORDER ? SHALLOW : STAGES;
}

/* A tile of D: its number down and across. */
struct place {
    int m, n;
};

/* The tile of this CTA's cluster. The rows of A change fastest: tiles that run at the same time
 * share their weights. No division: the first load waits for this. Any thread. */
DEVICE struct place place_of_cta(const struct w4a8_args *args) {
    const int number = cluster_number(args->parts);
    const int n = (int)divided_by((uint32_t)number, args->rows);
    const struct place place = {number - n * (int)args->rows.number, n};
    return place;
}

/* The first row of a block, as the TMA counts rows of LINE bytes. Beyond the last block the row
 * lies beyond the matrix, which reads as zeros. Any thread. */
DEVICE int block_row(const struct gemm_args *args, int block_n, int block_k) {
    return (block_n * args->tiles_k + block_k) * BLOCK_LINES;
}

/* The same of 64 channels, half a block. Any thread. */
DEVICE int half_row(const struct gemm_args *args, int half_n, int block_k) {
    return block_row(args, half_n / 2, block_k) + half_n % 2 * HALF_LINES;
}

/* The same of BOX channels. Any thread. */
DEVICE int box_row(const struct gemm_args *args, int box_n, int block_k) {
    return BN % W4_BLOCK ? half_row(args, box_n, block_k) : block_row(args, box_n, block_k);
}

/* The maps of A, in boxes of `rows`, and of the blocks as one matrix of LINE bytes a row, in boxes
 * of `box_lines`. Host. */
static inline enum gemm_status make_maps(struct gemm_args *args, const struct gemm_problem *p,
                                         int rows, int box_lines) {
    const int64_t lines = (int64_t)ceil_div(p->n, W4_BLOCK) * args->tiles_k * BLOCK_LINES;
    const int most = 2147483647; /* 275 GB; the TMA counts rows in 32 bits, and so does a map */
    const enum gemm_status status = gemm_tensor_map(&args->map_a, GEMM_E4M3, p->a, p->m, p->k,
                                                    p->lda, rows, BK, SWIZZLE_128B);
    if (status || lines > most) return status ? status : GEMM_UNSUPPORTED;
    return gemm_tensor_map(&args->map_b, GEMM_E4M3, p->b, (int)lines, LINE, LINE, box_lines,
                           LINE, SWIZZLE_NONE);
}

/* The parameter of a launch; its tensor maps are made. The cluster has `splits` CTAs. Host. */
static inline struct w4a8_args w4a8_args_of(const struct gemm_problem *p,
                                            const struct gemm_args *gemm, int splits) {
    struct w4a8_args args;
    memset(&args, 0, sizeof args);
    args.gemm = *gemm;
    args.gemm.splits = splits;
    args.scales = p->scales;
    args.parts = cluster_parts_of(splits, gemm->tiles_k);
    args.rows = divisor_of((uint32_t)gemm->tiles_m);
    args.stages = stages_of(p);
    return args;
}

#endif
