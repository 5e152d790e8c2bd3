/*
 * configuration.h: what the kernels of this library are built with, and how a problem is cut.
 * library/CMakeLists.txt has the configurations.
 *
 * The product is computed transposed. BM rows of A, few, are the N of wgmma; BN channels, columns
 * of D, are its M, 64 at a time.
 */
#ifndef W4A8_CONFIGURATION_H
#define W4A8_CONFIGURATION_H

#include "scaled/scales.h"
#include "hopper/thread.h"
#include "scaled/w4_block.h"

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

enum {
    MEMBERS = CONSUMERS / TEAMS,              /* warpgroups of a team */
    BN = 64 * MEMBERS * SLABS, BK = W4_BLOCK, /* one scale for each channel at a time */
    THREADS = 128 * (1 + CONSUMERS),
    /* What the TMA delivers for one k-tile. */
    STAGE_BYTES = BM * BK * sizeof(e4m3_t) + BN / W4_HALF * W4_HALF_BYTES,
    LINE = 128, /* bytes that the TMA moves as a row of blocks */
    BLOCK_LINES = W4_BLOCK_BYTES / LINE, HALF_LINES = W4_HALF_BYTES / LINE,
    /* The weights that are loaded at once: a block, or a half if a tile has half a block more. */
    BOX = BN % W4_BLOCK ? W4_HALF : W4_BLOCK, /* channels */
    BOXES = BN / BOX,                         /* in a stage */
    BOX_BYTES = BOX / W4_HALF * W4_HALF_BYTES, BOX_LINES = BOX_BYTES / LINE,
};

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

#endif
