/*
 * block_store.h: a block of a warpgroup's accumulators, 64 x 64, on its way to D.
 *
 * The TMA stores a block from shared memory, where it lies row by row, 128 bytes each, in the 128
 * B swizzle. One thing it cannot do: it writes whole chunks of 16 bytes. If n is no multiple of 8,
 * the block at the right edge of D would spill into the row's padding, and is stored from
 * registers instead.
 *
 * Other widths are for tiles whose width is no multiple of 64. An odd number of chunks needs no
 * swizzle: eight rows one below the other begin in different banks anyway.
 */
#ifndef HOPPER_BLOCK_STORE_H
#define HOPPER_BLOCK_STORE_H

#include <assert.h>

#include "element.h"
#include "mma.h"
#include "tma.h"

#ifndef BUFFERS
#define BUFFERS 2 /* staging buffers per warpgroup, 1 or 2 */
#endif
#ifndef BLOCK_COLUMNS
#define BLOCK_COLUMNS 64 /* 64, 32 or 16, or an odd multiple of 8 */
#endif
enum {
    BLOCK = 64, /* rows; and columns, unless the tile wants narrower blocks */
    BLOCK_CHUNKS = BLOCK_COLUMNS / 8,
};
static_assert(BLOCK_CHUNKS % 2 == 1 || 64 % BLOCK_COLUMNS == 0, "rows would share banks");

/* A row of the block is as wide as the swizzle, if it has one. */
#define BLOCK_SWIZZLE                                                                              \
    (BLOCK_CHUNKS % 2        ? SWIZZLE_NONE                                                        \
     : BLOCK_COLUMNS == 64   ? SWIZZLE_128B                                                        \
     : BLOCK_COLUMNS == 32   ? SWIZZLE_64B                                                         \
                             : SWIZZLE_32B)

/* Converts the block's accumulators, 32 of each thread in wgmma's order, and writes them to
 * staging memory, [row][column] at a multiple of 1024 bytes. stmatrix writes two 16 x 8
 * fragments at once; the swizzle keeps it free of bank conflicts. One warpgroup. */
DEVICE void block_stage_elements(element_t *staging, const float acc[BLOCK_COLUMNS / 2]) {
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 16, half = threadIdx.x % 32 / 16;
    UNROLL for (int i = 0; i < BLOCK_CHUNKS / 2; ++i) {
        const float *f = &acc[8 * i];
        const uint32_t pairs[4] = {pack_elements(f[0], f[1]), pack_elements(f[2], f[3]),
                                   pack_elements(f[4], f[5]), pack_elements(f[6], f[7])};
        const int swizzle = BLOCK_CHUNKS % 2 ? 0 : row * BLOCK_COLUMNS / 64 % BLOCK_CHUNKS;
        const int chunk = (2 * i + half) ^ swizzle;
        stmatrix_x4(&staging[row * BLOCK_COLUMNS + chunk * 8], pairs);
    }
    if (BLOCK_CHUNKS % 2) { /* the last fragment is alone */
        const float *f = &acc[4 * (BLOCK_CHUNKS - 1)];
        const uint32_t pairs[2] = {pack_elements(f[0], f[1]), pack_elements(f[2], f[3])};
        stmatrix_x2(&staging[(row + 1) * BLOCK_COLUMNS - 8], pairs);
    }
}

/* Does the block need the other way? Any thread. */
DEVICE bool block_at_edge(const struct gemm_args *args, int first_column) {
    return args->n % 8 != 0 && first_column + BLOCK_COLUMNS > args->n;
}

/* Writes the part of the block that lies in D with ordinary stores, element by element. One
 * warpgroup. */
DEVICE void block_store_elements(const struct gemm_args *args, int first_row, int first_column,
                                 const float acc[BLOCK_COLUMNS / 2]) {
    UNROLL for (int i = 0; i < BLOCK_COLUMNS / 2; ++i) {
        const int row =
            first_row + threadIdx.x % 128 / 32 * 16 + i % 4 / 2 * 8 + threadIdx.x % 32 / 4;
        const int column = first_column + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (row < args->m && column < args->n)
            st_global_element(&args->d[row * args->ldd + column], float_to_element(acc[i]));
    }
}

/* Sends a block to D: through `staging`, one of BUFFERS that a warpgroup uses in turn, and the TMA;
 * or directly at the edge. The block before it may still be on its way. `barrier`: a named barrier
 * that nobody else uses. One warpgroup; its first thread issues, and waits for all stores with
 * bulk_wait_group(0) before it ends. */
DEVICE void block_store_staged(element_t *staging, const struct gemm_args *args, int first_row,
                               int first_column, const float acc[BLOCK_COLUMNS / 2], int barrier) {
    const bool elected = threadIdx.x % 128 == 0;
    if (block_at_edge(args, first_column)) {
        block_store_elements(args, first_row, first_column, acc);
    } else {
        /* The last store from this buffer has read it. cp.async.bulk.wait_group.read */
        if (elected) bulk_wait_group_read(BUFFERS - 1);
        /* Every thread knows, before it overwrites the buffer. bar.sync */
        named_barrier_sync(barrier, 128);
        block_stage_elements(staging, acc);
        /* What this thread has written comes before the TMA's reading of it. fence.proxy.async */
        fence_proxy_async();
        /* The same holds for every thread before the store is issued. bar.sync */
        named_barrier_sync(barrier, 128);
        if (elected) tma_store(&args->map_d, first_row, first_column, staging);
    }
    /* One group per block, empty at the edge, so that the wait above counts blocks. */
    if (elected) bulk_commit_group();
}

/* Sends a warpgroup's rows x columns of accumulators (constants) to D, block by block. One
 * warpgroup. */
DEVICE void block_store_all(element_t staging[BUFFERS][BLOCK * BLOCK_COLUMNS],
                            const struct gemm_args *args, int first_row, int first_column, int rows,
                            int columns, const float *acc, int barrier) {
    UNROLL for (int i = 0; i < rows / BLOCK; ++i)
        UNROLL for (int j = 0; j < columns / BLOCK_COLUMNS; ++j)
            block_store_staged(staging[(i * (columns / BLOCK_COLUMNS) + j) % BUFFERS], args,
                               first_row + i * BLOCK, first_column + j * BLOCK_COLUMNS,
                               &acc[(i * columns + j * BLOCK_COLUMNS) / 2], barrier);
}

#define blocks_store(staging, args, first_row, first_column, rows, columns, acc, barrier)          \
    VERB(block_store_all(staging, args, first_row, first_column, rows, columns, acc, barrier))

#endif
