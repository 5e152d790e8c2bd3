/*
 * part_store.h: 64 rows of a warpgroup's accumulators on their way to D, staged at once.
 *
 * epilogue_store.h stores one epilogue tile after the other through one or two buffers, so an
 * epilogue tile may wait for the store of an earlier one. Here all epilogue tiles of the rows are
 * staged side by side, and their stores are one bulk group. At the right edge of D, where the TMA
 * would write into the padding, the elements are stored from staging memory by a loop. So its code
 * is small: a main loop that contains a store does not grow by the stores of all elements.
 */
#ifndef BUILDING_BLOCKS_PART_STORE_H
#define BUILDING_BLOCKS_PART_STORE_H

#include "building_blocks/epilogue_store.h"

#ifndef STAGED_PARTS
#define STAGED_PARTS 1 /* staging memories that a warpgroup uses in turn */
#endif
static_assert(EPILOGUE_CHUNKS % 2 == 0, "every row of staging memory is swizzled");

/* Stores 64 x columns elements from staging memory to D, one by one. One warpgroup. */
DEVICE void part_store_elements(const element_t *staging, const struct gemm_args *args,
                                int first_row, int first_column, int columns) {
    NO_UNROLL for (int i = threadIdx.x % 128; i < 64 * columns / 2; i += 128) {
        const int row = i / (columns / 2), column = i % (columns / 2) * 2; /* of a pair */
        const int swizzle = row * EPILOGUE_N / 64 % EPILOGUE_CHUNKS;
        const int in_tile = column % EPILOGUE_N ^ swizzle * 8;
        const uint32_t pair = ld_shared_b32(
            &staging[(column / EPILOGUE_N * EPILOGUE_M + row) * EPILOGUE_N + in_tile]);
        element_t *d = &args->d[(first_row + row) * args->ldd + first_column + column];
        if (first_row + row >= args->m) continue;
        if (first_column + column < args->n) st_global_element(d, first_of_pair(pair));
        if (first_column + column + 1 < args->n) st_global_element(d + 1, second_of_pair(pair));
    }
}

/* Stores 64 rows of `columns` columns of accumulators, a multiple of EPILOGUE_N and a constant, to
 * D. `staging`: one of STAGED_PARTS that a warpgroup uses in turn, with room for all of them,
 * [epilogue tile][row][column]. The stores before may still be under way. `barrier`: a named
 * barrier of this warpgroup alone. One warpgroup; its first thread issues the stores, one bulk
 * group, and waits for all with bulk_wait_group(0) before it ends. */
DEVICE void part_store_staged(element_t *staging, const struct gemm_args *args, int first_row,
                              int first_column, int columns, const float *acc, int barrier) {
    const bool elected = threadIdx.x % 128 == 0;
    /* The last stores from this memory have read it. cp.async.bulk.wait_group.read */
    if (elected) bulk_wait_group_read(STAGED_PARTS - 1);
    /* The other threads must not overwrite the memory before that wait. bar.sync */
    named_barrier_sync(barrier, 128);
    UNROLL for (int j = 0; j < columns / EPILOGUE_N; ++j)
        epilogue_stage_elements(&staging[j * EPILOGUE_M * EPILOGUE_N], &acc[j * EPILOGUE_N / 2]);
    /* What this thread has written comes before the TMA's reading of it. fence.proxy.async */
    fence_proxy_async();
    /* The same holds for every thread before the stores are issued, and before other threads read
     * what it has written. bar.sync */
    named_barrier_sync(barrier, 128);
    if (args->n % 8 != 0 && first_column + columns > args->n) {
        part_store_elements(staging, args, first_row, first_column, columns);
    } else if (elected) {
        UNROLL for (int j = 0; j < columns / EPILOGUE_N; ++j)
            tma_store(&args->map_d, first_row, first_column + j * EPILOGUE_N,
                      &staging[j * EPILOGUE_M * EPILOGUE_N]);
    }
    /* One group for each call, empty at the edge, so that the wait above counts them. */
    if (elected) bulk_commit_group();
}

#define part_store(staging, args, first_row, first_column, columns, acc, barrier)                  \
    VERB(part_store_staged(staging, args, first_row, first_column, columns, acc, barrier))

#endif
