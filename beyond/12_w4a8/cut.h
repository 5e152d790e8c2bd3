/*
 * cut.h: how the kernels of this chapter cut a problem.
 *
 * The product is computed transposed. The rows of a tile are rows of A, few, and are the N of
 * wgmma; its columns are channels, columns of D, and are its M. A tile has the channels of a block
 * of weights (w4_block.h), so every k-tile takes one block. The CTAs of a cluster share the k loop
 * of a tile, so that all SMs load weights even if there are few tiles.
 */
#ifndef W4A8_CUT_H
#define W4A8_CUT_H

#include <assert.h>

#include "scaled/scales.h"
#include "building_blocks/cluster_splits.h"
#include "hopper/thread.h"
#include "scaled/w4_block.h"

enum {
    LINE = 128, /* bytes that the TMA moves as a row of blocks */
    BLOCK_LINES = W4_BLOCK_BYTES / LINE,
};

/* The kernel's parameter. */
struct w4a8_args {
    struct gemm_args gemm;
    struct gemm_scales scales;  /* of A */
    struct cluster_parts parts; /* of k */
    struct divisor rows;        /* tile rows */
};
static_assert(offsetof(struct w4a8_args, scales) == offsetof(struct gemm_scaled_args, scales),
              "it begins as that one, so plans find the scales");

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

/* The maps of A, in boxes of `rows` x 128 of k, and of the blocks as one matrix of LINE bytes a
 * row, in boxes of a block. Host. */
static inline enum gemm_status make_maps(struct gemm_args *args, const struct gemm_problem *p,
                                         int rows) {
    const int64_t lines = (int64_t)ceil_div(p->n, W4_BLOCK) * args->tiles_k * BLOCK_LINES;
    const int most = 2147483647; /* 275 GB; the TMA counts rows in 32 bits, and so does a map */
    const enum gemm_status status = gemm_tensor_map(&args->map_a, GEMM_E4M3, p->a, p->m, p->k,
                                                    p->lda, rows, W4_BLOCK, SWIZZLE_128B);
    if (status || lines > most) return status ? status : GEMM_UNSUPPORTED;
    return gemm_tensor_map(&args->map_b, GEMM_E4M3, p->b, (int)lines, LINE, LINE, BLOCK_LINES, LINE,
                           SWIZZLE_NONE);
}

/* Launches a kernel of this chapter whose tiles have `rows` rows of A, on a grid of a cluster for
 * every tile. Host. */
static inline enum gemm_status launch_tiles(const struct gemm_kernel *kernel,
                                            const struct gemm_problem *p, int rows, void *stream) {
    struct w4a8_args args;
    memset(&args, 0, sizeof args);
    args.gemm = gemm_args_of(p, rows, W4_BLOCK, W4_BLOCK);
    if (make_maps(&args.gemm, p, rows)) return GEMM_UNSUPPORTED;
    struct gemm_launch launch = gemm_launch_of(kernel, 1, stream);
    const int tiles = args.gemm.tiles_m * args.gemm.tiles_n;
    args.gemm.splits = cluster_splits(launch, tiles, args.gemm.tiles_k);
    args.scales = gemm_scales_of(p->matrix);
    args.parts = cluster_parts_of(args.gemm.splits, args.gemm.tiles_k);
    args.rows = divisor_of((uint32_t)args.gemm.tiles_m);
    launch.grid = tiles * args.gemm.splits;
    launch.cluster = args.gemm.splits;
    return gemm_launch_kernel(&launch, &args);
}

#endif
