/*
 * packed_store.h: a warpgroup's accumulators, converted and kept in half as many registers, and
 * stored to D piece by piece while the next tile's multiplications are under way.
 *
 * A piece is an epilogue tile of epilogue_store.h, and is stored in the same way: through staging
 * memory, then the TMA, or ordinary stores at the right edge of D. The accumulators are free as
 * soon as they are packed, so the next tile's main loop begins at once. The caller defines ROWS and
 * BN, what a warpgroup has of a tile.
 */
#ifndef PACKED_STORE_H
#define PACKED_STORE_H

#include "building_blocks/epilogue_store.h"

enum {
    PIECE_PAIRS = EPILOGUE_N / 4, /* of a thread */
    PIECE_COLUMNS = BN / EPILOGUE_N,
    PIECES = ROWS / EPILOGUE_M * PIECE_COLUMNS,
};

/* A tile on its way to D. */
struct packed_tile {
    uint32_t pairs[PIECES * PIECE_PAIRS]; /* of elements, in wgmma's order */
    int first_row, first_column;          /* in D */
    bool waits;                           /* it has not been stored yet */
};

/* Converts all accumulators of a tile. One warpgroup. */
DEVICE void packed_tile_fill(struct packed_tile *tile, const float *acc, int first_row,
                             int first_column) {
    UNROLL for (int i = 0; i < PIECES * PIECE_PAIRS; ++i)
        tile->pairs[i] = pack_elements(acc[2 * i], acc[2 * i + 1]);
    tile->first_row = first_row;
    tile->first_column = first_column;
    tile->waits = true;
}

/* Writes a piece to staging memory, as epilogue_stage_elements() does. One warpgroup. */
DEVICE void packed_stage(element_t *staging, const uint32_t pairs[PIECE_PAIRS]) {
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 16, half = threadIdx.x % 32 / 16;
    UNROLL for (int i = 0; i < EPILOGUE_CHUNKS / 2; ++i) {
        const int swizzle = EPILOGUE_CHUNKS % 2 ? 0 : row * EPILOGUE_N / 64 % EPILOGUE_CHUNKS;
        const int chunk = (2 * i + half) ^ swizzle;
        stmatrix_x4(&staging[row * EPILOGUE_N + chunk * 8], &pairs[4 * i]);
    }
    if (EPILOGUE_CHUNKS % 2) /* the last fragment is alone */
        stmatrix_x2(&staging[(row + 1) * EPILOGUE_N - 8], &pairs[2 * (EPILOGUE_CHUNKS - 1)]);
}

/* Writes the part of a piece that lies in D with ordinary stores. One warpgroup. */
DEVICE void packed_store_elements(const struct gemm_args *args, int first_row, int first_column,
                                  const uint32_t pairs[PIECE_PAIRS]) {
    UNROLL for (int i = 0; i < 2 * PIECE_PAIRS; ++i) {
        const int row =
            first_row + threadIdx.x % 128 / 32 * 16 + i % 4 / 2 * 8 + threadIdx.x % 32 / 4;
        const int column = first_column + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (row < args->m && column < args->n)
            st_global_element(&args->d[row * args->ldd + column],
                              i % 2 ? second_of_pair(pairs[i / 2]) : first_of_pair(pairs[i / 2]));
    }
}

/* Stores a piece by the TMA from `staging`, one of BUFFERS that a warpgroup uses in turn; or from
 * registers at the edge. `barrier`: a named barrier of this warpgroup alone. One warpgroup. */
DEVICE void packed_store_piece(element_t *staging, const struct gemm_args *args, int first_row,
                               int first_column, const uint32_t pairs[PIECE_PAIRS], int barrier) {
    const bool elected = threadIdx.x % 128 == 0;
    if (epilogue_at_edge(args, first_column)) {
        packed_store_elements(args, first_row, first_column, pairs);
    } else {
        /* The last store from this buffer has read it. cp.async.bulk.wait_group.read */
        if (elected) bulk_wait_group_read(BUFFERS - 1);
        /* The other threads must not overwrite the buffer before that wait. bar.sync */
        named_barrier_sync(barrier, 128);
        packed_stage(staging, pairs);
        /* What this thread has written comes before the TMA's reading of it. fence.proxy.async */
        fence_proxy_async();
        /* The same holds for every thread before the store is issued. bar.sync */
        named_barrier_sync(barrier, 128);
        if (elected) tma_store(&args->map_d, first_row, first_column, staging);
    }
    /* One group per piece, empty at the edge, so that the wait above counts them. */
    if (elected) bulk_commit_group();
}

/* Stores the pieces from `from` up to `end` of a tile that waits. One warpgroup. */
DEVICE void packed_store(element_t staging[BUFFERS][EPILOGUE_M * EPILOGUE_N],
                         const struct gemm_args *args, const struct packed_tile *tile, int from,
                         int end, int barrier) {
    if (!tile->waits) return;
    UNROLL for (int i = 0; i < PIECES; ++i) {
        if (i < from || i >= end) continue;
        packed_store_piece(staging[i % BUFFERS], args,
                           tile->first_row + i / PIECE_COLUMNS * EPILOGUE_M,
                           tile->first_column + i % PIECE_COLUMNS * EPILOGUE_N,
                           &tile->pairs[i * PIECE_PAIRS], barrier);
    }
}

#endif
