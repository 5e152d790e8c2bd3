/*
 * column_sum.h: the sums of a transposed product, added up over the CTAs of a cluster and stored.
 *
 * Where the Tensor Core computes D transposed, a row of accumulators is a column of D, and a thread
 * holds single elements of many rows of D. Every CTA writes its sums to its own shared memory, in
 * D's order. After a cluster barrier each thread takes eight columns of a row from the memory of
 * all CTAs, adds them up in the order of the ranks, and stores 16 bytes. A second cluster barrier
 * keeps every CTA from exiting too early.
 */
#ifndef BUILDING_BLOCKS_COLUMN_SUM_H
#define BUILDING_BLOCKS_COLUMN_SUM_H

#include "hopper/cluster.h"
#include "hopper/element.h"

enum { SUM_CHUNK = 8 /* columns of D that a thread adds up: 16 bytes of it */ };

/* Floats from one row of sums in shared memory to the next, if a row has `columns`: four more, so
 * that the four lanes of a quad, two rows apart each, store to different banks. */
#define COLUMN_SUM_PITCH(columns) ((columns) + 4)

/* Writes 64 x 2 * count accumulators, transposed. `sums`: from the warpgroup's first column on.
 * One warpgroup. */
DEVICE void column_sum_leave(float *sums, int pitch, const float *acc, int count) {
    const int column = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    UNROLL for (int i = 0; i < count; ++i) {
        const int row = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        uint32_t bits;
        memcpy(&bits, &acc[i], sizeof bits);
        st_shared_b32(&sums[row * pitch + column + i % 4 / 2 * 8], bits);
    }
}

/* Adds up eight columns over the `ctas` CTAs of the cluster. Any thread. */
DEVICE void column_sum_collect(const float *sums, int ctas, float sum[SUM_CHUNK]) {
    UNROLL for (int i = 0; i < SUM_CHUNK; ++i) sum[i] = 0;
    NO_UNROLL for (int rank = 0; rank < ctas; ++rank)
        UNROLL for (int half = 0; half < 2; ++half) {
            const struct b128 four = ctas > 1 ? ld_shared_cluster_b128(sums + 4 * half, rank)
                                              : ld_shared_b128(sums + 4 * half);
            float addend[4];
            memcpy(addend, &four, sizeof addend);
            UNROLL for (int i = 0; i < 4; ++i) sum[4 * half + i] += addend[i];
        }
}

/* Stores eight columns of a row to D, times `scale`, and leaves out what lies beyond n. Any
 * thread. */
DEVICE void column_sum_to_d(const struct gemm_args *args, int row, int column, float scale,
                            const float sum[SUM_CHUNK]) {
    element_t *const d = &args->d[row * args->ldd + column];
    if (column + SUM_CHUNK <= args->n) {
        struct b128 chunk;
        UNROLL for (int i = 0; i < 4; ++i)
            chunk.word[i] = pack_elements(sum[2 * i] * scale, sum[2 * i + 1] * scale);
        st_global_b128(d, chunk);
    } else {
        UNROLL for (int i = 0; i < SUM_CHUNK; ++i)
            if (column + i < args->n) st_global_element(&d[i], float_to_element(sum[i] * scale));
    }
}

#define column_sum_put(sums, pitch, acc, count) VERB(column_sum_leave(sums, pitch, acc, count))
#define column_sum_get(sums, ctas, sum) VERB(column_sum_collect(sums, ctas, sum))
#define column_sum_store(args, row, column, scale, sum)                                            \
    VERB(column_sum_to_d(args, row, column, scale, sum))

#endif
