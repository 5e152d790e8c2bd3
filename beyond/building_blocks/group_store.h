/*
 * group_store.h: an epilogue tile of a group on its way to D: epilogue_store.h, for a matrix that
 * ends with the group's last row, where another group's may begin.
 */
#ifndef BUILDING_BLOCKS_GROUP_STORE_H
#define BUILDING_BLOCKS_GROUP_STORE_H

#include "building_blocks/epilogue_store.h"
#include "building_blocks/wide_store.h"

/* Where a tile goes. */
struct group_output {
    const struct tensor_map *map;
    int map_row;    /* of the map's matrix: the tile's first row */
    int rows;       /* of the tile that belong to the group, perhaps more than it has */
    element_t *d;   /* [rows][ldd]: the tile's first row in D */
    bool map_clips; /* the map's matrix ends with the group */
    int n, column;  /* of D; the tile's first */
    int64_t ldd;
};

/* Stores 64 x 64 of the tile, from (row, column) on: by the TMA from `staging`, or from registers
 * where the TMA would write what is not the group's. `barrier`: a named barrier of this warpgroup
 * alone. One warpgroup; its first thread issues the store, and waits for all stores with
 * bulk_wait_group(0) before it ends. */
DEVICE void group_store_staged(element_t *staging, const struct group_output *to, int row,
                               int column, const float acc[EPILOGUE_N / 2], int barrier) {
    const bool elected = threadIdx.x % 128 == 0;
    const bool beyond_row = to->n % 8 != 0 && to->column + column + EPILOGUE_N > to->n;
    const bool beyond_group = !to->map_clips && row + EPILOGUE_M > to->rows;
    if (row >= to->rows) {
        /* Nothing of it is the group's. */
    } else if (beyond_row || beyond_group) {
        struct gemm_args tile;
        tile.d = to->d;
        tile.ldd = to->ldd;
        tile.m = to->rows;
        tile.n = to->n;
        store_64_rows(&tile, row, to->column + column, EPILOGUE_N, acc);
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
        if (elected) tma_store(to->map, to->map_row + row, to->column + column, staging);
    }
    /* One group per epilogue tile, empty where the TMA stores nothing, so that waits can count
     * them. */
    if (elected) bulk_commit_group();
}

/* Stores a warpgroup's rows x columns of accumulators (constants). One warpgroup. */
DEVICE void group_store_all(element_t staging[BUFFERS][EPILOGUE_M * EPILOGUE_N],
                            const struct group_output *to, int rows, int columns, const float *acc,
                            int barrier) {
    UNROLL for (int i = 0; i < rows / EPILOGUE_M; ++i) {
        UNROLL for (int j = 0; j < columns / EPILOGUE_N; ++j)
            group_store_staged(staging[(i * (columns / EPILOGUE_N) + j) % BUFFERS], to,
                               i * EPILOGUE_M, j * EPILOGUE_N,
                               &acc[(i * columns + j * EPILOGUE_N) / 2], barrier);
    }
}

#define group_store(staging, to, rows, columns, acc, barrier)                                      \
    VERB(group_store_all(staging, to, rows, columns, acc, barrier))

#endif
