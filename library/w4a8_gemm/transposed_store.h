/*
 * transposed_store.h: 64 x 64 of a warpgroup's accumulators, of a product that is D transposed, on
 * their way to D.
 *
 * A row of accumulators is a column of D. stmatrix transposes 8 x 8 elements on the way to shared
 * memory, where a row of the epilogue tile then is 64 columns of D, in the 128 B swizzle. From
 * there the TMA stores it, as in epilogue_store.h, whose rules about the right edge and about the
 * staging memory hold here, too.
 */
#ifndef W4A8_TRANSPOSED_STORE_H
#define W4A8_TRANSPOSED_STORE_H

#include "building_blocks/epilogue_store.h"
#include "scaled/scales.h"

/* The scale of a row of A; 0 beyond m. Any thread. */
DEVICE float scale_of_row(const struct gemm_scaled_args *args, int row, float unit) {
    return bits_to_float(row < args->gemm.m ? ld_global_b32(&args->scales.a[row]) : 0) * unit;
}

/* Converts 64 x 64 accumulators, each row of D times its scale and `unit`, and writes them to
 * staging memory. acc[4 j + i] of a thread is of D's row 8 j + 2 t + i % 2, with t = lane % 4. One
 * warpgroup. */
DEVICE void transposed_stage_elements(element_t *staging, const struct gemm_scaled_args *args,
                                      int first_row, const float acc[32], float unit) {
    const int lane = threadIdx.x % 32;
    UNROLL for (int j = 0; j < 8; j += 2) {
        uint32_t pairs[4]; /* rows 8 j .. of D: the warp's first 8 columns, the next 8; 8 rows on */
        UNROLL for (int i = 0; i < 4; i += 2) {
            const int row = first_row + 8 * (j + i / 2) + lane % 4 * 2;
            const float scale[2] = {scale_of_row(args, row, unit),
                                    scale_of_row(args, row + 1, unit)};
            const float *f = &acc[4 * (j + i / 2)];
            pairs[i] = pack_elements(f[0] * scale[0], f[1] * scale[1]);
            pairs[i + 1] = pack_elements(f[2] * scale[0], f[3] * scale[1]);
        }
        const int row = 8 * (j + lane / 16) + lane % 8;
        const int chunk = (threadIdx.x % 128 / 32 * 2 + lane / 8 % 2) ^ row % 8;
        stmatrix_x4_trans(&staging[row * EPILOGUE_N + chunk * 8], pairs);
    }
}

/* Writes the part of the epilogue tile that lies in D with ordinary stores, element by element. One
 * warpgroup. */
DEVICE void transposed_store_elements(const struct gemm_scaled_args *args, int first_row,
                                      int first_column, const float acc[32], float unit) {
    UNROLL for (int i = 0; i < 32; ++i) {
        const int row = first_row + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        const int column = first_column + threadIdx.x % 128 / 32 * 16 + i % 4 / 2 * 8 +
                           threadIdx.x % 32 / 4;
        if (row < args->gemm.m && column < args->gemm.n)
            st_global_element(&args->gemm.d[row * args->gemm.ldd + column],
                              float_to_element(acc[i] * scale_of_row(args, row, unit)));
    }
}

/* Stores 64 rows x 64 columns of D; see epilogue_store_staged(). One warpgroup; its first thread
 * issues the store, and waits for all stores with bulk_wait_group(0) before it ends. */
DEVICE void transposed_store_staged(element_t *staging, const struct gemm_scaled_args *args,
                                    int first_row, int first_column, const float acc[32],
                                    float unit, int barrier) {
    const bool elected = threadIdx.x % 128 == 0;
    if (epilogue_at_edge(&args->gemm, first_column)) {
        transposed_store_elements(args, first_row, first_column, acc, unit);
    } else {
        /* The last store from this buffer has read it. cp.async.bulk.wait_group.read */
        if (elected) bulk_wait_group_read(BUFFERS - 1);
        /* The other threads must not overwrite the buffer before that wait. bar.sync */
        named_barrier_sync(barrier, 128);
        transposed_stage_elements(staging, args, first_row, acc, unit);
        /* What this thread has written comes before the TMA's reading of it. fence.proxy.async */
        fence_proxy_async();
        /* The same holds for every thread before the store is issued. bar.sync */
        named_barrier_sync(barrier, 128);
        if (elected) tma_store(&args->gemm.map_d, first_row, first_column, staging);
    }
    /* One group per epilogue tile, empty at the edge, so that the wait above counts them. */
    if (elected) bulk_commit_group();
}

#define transposed_store(staging, args, first_row, first_column, acc, unit, barrier)               \
    VERB(transposed_store_staged(staging, args, first_row, first_column, acc, unit, barrier))

#endif
