/*
 * epilogue_store.h: an epilogue tile, 64 x 64 of a warpgroup's accumulators, on its way to D.
 *
 * The TMA stores an epilogue tile from shared memory, where it lies row by row, 128 bytes each, in
 * the 128 B swizzle. The TMA writes whole chunks of 16 bytes only. If n is not a multiple of 8, the
 * epilogue tile at the right edge of D would spill into the row's padding, so it is stored from
 * registers instead.
 *
 * Other widths are for tiles whose width is not a multiple of 64. An odd number of chunks needs no
 * swizzle: eight consecutive rows then start in different banks.
 */
#ifndef BUILDING_BLOCKS_EPILOGUE_STORE_H
#define BUILDING_BLOCKS_EPILOGUE_STORE_H

#include <assert.h>

#include "hopper/element.h"
#include "hopper/mma.h"
#include "hopper/tma.h"

#ifndef BUFFERS
#define BUFFERS 2 /* staging buffers per warpgroup, 1 or 2 */
#endif
#ifndef EPILOGUE_N
#define EPILOGUE_N 64 /* its columns: 64, 32 or 16, or an odd multiple of 8 */
#endif
enum {
    EPILOGUE_M = 64, /* rows of an epilogue tile */
    EPILOGUE_CHUNKS = EPILOGUE_N / 8,
};
static_assert(EPILOGUE_CHUNKS % 2 == 1 || 64 % EPILOGUE_N == 0, "rows would share banks");

/* The swizzle is as wide as a row of the epilogue tile, if there is a swizzle. */
#define EPILOGUE_SWIZZLE                                                                           \
    (EPILOGUE_CHUNKS % 2 ? SWIZZLE_NONE                                                            \
     : EPILOGUE_N == 64  ? SWIZZLE_128B                                                            \
     : EPILOGUE_N == 32  ? SWIZZLE_64B                                                             \
                         : SWIZZLE_32B)

/* Converts the epilogue tile's accumulators, 32 of each thread in wgmma's order, and writes them to
 * staging memory, [row][column] at a multiple of 1024 bytes. stmatrix writes two 16 x 8
 * fragments at once; the swizzle keeps it free of bank conflicts. One warpgroup. */
DEVICE void epilogue_stage_elements(element_t *staging, const float acc[EPILOGUE_N / 2]) {
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 16, half = threadIdx.x % 32 / 16;
    UNROLL for (int i = 0; i < EPILOGUE_CHUNKS / 2; ++i) {
        const float *f = &acc[8 * i];
        const uint32_t pairs[4] = {pack_elements(f[0], f[1]), pack_elements(f[2], f[3]),
                                   pack_elements(f[4], f[5]), pack_elements(f[6], f[7])};
        const int swizzle = EPILOGUE_CHUNKS % 2 ? 0 : row * EPILOGUE_N / 64 % EPILOGUE_CHUNKS;
        const int chunk = (2 * i + half) ^ swizzle;
        stmatrix_x4(&staging[row * EPILOGUE_N + chunk * 8], pairs);
    }
    if (EPILOGUE_CHUNKS % 2) { /* the last fragment is alone */
        const float *f = &acc[4 * (EPILOGUE_CHUNKS - 1)];
        const uint32_t pairs[2] = {pack_elements(f[0], f[1]), pack_elements(f[2], f[3])};
        stmatrix_x2(&staging[(row + 1) * EPILOGUE_N - 8], pairs);
    }
}

/* Must the epilogue tile be stored from registers? Any thread. */
DEVICE bool epilogue_at_edge(const struct gemm_args *args, int first_column) {
    return args->n % 8 != 0 && first_column + EPILOGUE_N > args->n;
}

/* Writes the part of the epilogue tile that lies in D with ordinary stores, element by element. One
 * warpgroup. */
DEVICE void epilogue_store_elements(const struct gemm_args *args, int first_row, int first_column,
                                    const float acc[EPILOGUE_N / 2]) {
    UNROLL for (int i = 0; i < EPILOGUE_N / 2; ++i) {
        const int row =
            first_row + threadIdx.x % 128 / 32 * 16 + i % 4 / 2 * 8 + threadIdx.x % 32 / 4;
        const int column = first_column + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (row < args->m && column < args->n)
            st_global_element(&args->d[row * args->ldd + column], float_to_element(acc[i]));
    }
}

/* Stores an epilogue tile to D: by the TMA from `staging`, one of BUFFERS that a warpgroup uses in
 * turn; or from registers at the edge. The store before it may still be under way. `barrier`: a
 * named barrier of this warpgroup alone. One warpgroup; its first thread issues the store, and
 * waits for all stores with bulk_wait_group(0) before it ends. */
DEVICE void epilogue_store_staged(element_t *staging, const struct gemm_args *args, int first_row,
                                  int first_column, const float acc[EPILOGUE_N / 2], int barrier) {
    const bool elected = threadIdx.x % 128 == 0;
    if (epilogue_at_edge(args, first_column)) {
        epilogue_store_elements(args, first_row, first_column, acc);
    } else {
        /* The last store from this buffer has read it. cp.async.bulk.wait_group.read */
        if (elected) bulk_wait_group_read(BUFFERS - 1);
        /* The other threads must not overwrite the buffer before that wait. bar.sync */
        named_barrier_sync(barrier, 128);
        epilogue_stage_elements(staging, acc);
        /* What this thread has written comes before the TMA's reading of it. fence.proxy.async */
        fence_proxy_async();
        /* The same holds for every thread before the store is issued. bar.sync */
        named_barrier_sync(barrier, 128);
        if (elected) tma_store(&args->map_d, first_row, first_column, staging);
    }
    /* One group per epilogue tile, empty at the edge, so that the wait above counts them. */
    if (elected) bulk_commit_group();
}

/* Stores a warpgroup's rows x columns of accumulators (constants) to D, one epilogue tile after the
 * other. One warpgroup. */
DEVICE void epilogue_store_all(element_t staging[BUFFERS][EPILOGUE_M * EPILOGUE_N],
                               const struct gemm_args *args, int first_row, int first_column,
                               int rows, int columns, const float *acc, int barrier) {
    UNROLL for (int i = 0; i < rows / EPILOGUE_M; ++i)
        UNROLL for (int j = 0; j < columns / EPILOGUE_N; ++j)
            epilogue_store_staged(staging[(i * (columns / EPILOGUE_N) + j) % BUFFERS], args,
                                  first_row + i * EPILOGUE_M, first_column + j * EPILOGUE_N,
                                  &acc[(i * columns + j * EPILOGUE_N) / 2], barrier);
}

#define epilogue_store(staging, args, first_row, first_column, rows, columns, acc, barrier)        \
    VERB(epilogue_store_all(staging, args, first_row, first_column, rows, columns, acc, barrier))

#endif
