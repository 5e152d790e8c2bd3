/*
 * column_store.h: a transposed tile, from the shared memory of a cluster's CTAs to D.
 *
 * column_sum.h has left the sums in D's order. Here each CTA of the cluster adds up its share of
 * the tile and stores it. At the end of a kernel nothing hides a latency. So the scales of A's rows
 * are fetched during the main loop; a thread loads everything that it needs of a CTA before it adds
 * any of it; and it tells the peers that it has read their memory before it stores to D, because an
 * arrival waits for the stores before it. Only the consumers' warps take part: those of the
 * producer end earlier, and the cluster's barriers do not count threads that have ended.
 *
 * Before this header is included, BM and BN are the tile's rows and columns of D, CONSUMERS the
 * warpgroups that multiply, warpgroup 0 being the producer's, LOADERS its warps that load, and
 * TEAMS the sums of each element in a CTA.
 */
#ifndef BUILDING_BLOCKS_COLUMN_STORE_H
#define BUILDING_BLOCKS_COLUMN_STORE_H

#include "building_blocks/column_sum.h"

enum {
    PITCH = COLUMN_SUM_PITCH(BN), /* floats, of a row of sums */
    ROW_CHUNKS = BN / SUM_CHUNK,  /* of eight columns, in a row */
    STORERS = 128 * CONSUMERS,    /* threads */
    MOST_CHUNKS = (BM * ROW_CHUNKS + STORERS - 1) / STORERS, /* of a thread, in a CTA alone */
    SUMS_BARRIER = 14, /* named barrier: the sums of a CTA alone are complete */
};

/* Fetches the scales of the tile's rows of A; `scales` has those of all rows. The warps of the
 * producer's warpgroup that load nothing. */
DEVICE void column_store_fetch(float scale[BM], const struct gemm_args *args, const float *scales,
                               int first_row) {
    const int first = 32 * LOADERS, step = 128 - first;
    NO_UNROLL for (int i = threadIdx.x - first; i < BM && first_row + i < args->m; i += step)
        st_shared_b32(&scale[i], ld_global_b32(&scales[first_row + i]));
}

/* The number, in D's order, of this thread's i-th chunk of the tile. A consumer's thread. */
DEVICE int column_store_chunk(const struct gemm_args *args, int i) {
    return (i * args->splits + (int)cluster_rank()) * STORERS + (int)threadIdx.x - 128;
}

/* Adds one CTA's sums of this thread's chunks, of the tile's first `chunks`: those of `rank`, or
 * with -1 those of a CTA alone. A consumer's thread. */
DEVICE void column_store_add(float total[MOST_CHUNKS][SUM_CHUNK], const struct gemm_args *args,
                             int chunks, const float *sums, int rank) {
    struct b128 part[MOST_CHUNKS][2];
    UNROLL for (int i = 0; i < MOST_CHUNKS; ++i) {
        const int number = column_store_chunk(args, i);
        const float *from =
            &sums[number / ROW_CHUNKS * PITCH + number % ROW_CHUNKS * SUM_CHUNK];
        if (number < chunks)
            UNROLL for (int half = 0; half < 2; ++half)
                part[i][half] = rank >= 0 ? ld_shared_cluster_b128(from + 4 * half, rank)
                                          : ld_shared_b128(from + 4 * half);
    }
    UNROLL for (int i = 0; i < MOST_CHUNKS; ++i)
        if (column_store_chunk(args, i) < chunks) {
            float addend[SUM_CHUNK];
            memcpy(addend, part[i], sizeof addend);
            UNROLL for (int j = 0; j < SUM_CHUNK; ++j) total[i][j] += addend[j];
        }
}

/* Adds up this CTA's share of the tile over the cluster and the teams, always in the same order,
 * and stores it, times the scale of its row and `unit`. `sums`: [team][row][column], which the
 * consumers of each CTA have left. All threads of the consumers. */
DEVICE void column_store_share(const float sums[TEAMS][BM * PITCH], const float scale[BM],
                               const struct gemm_args *args, int first_row, int first_column,
                               float unit) {
    const int rows_left = args->m - first_row;
    const int chunks = (rows_left < BM ? rows_left : BM) * ROW_CHUNKS;
    float total[MOST_CHUNKS][SUM_CHUNK];
    UNROLL for (int i = 0; i < MOST_CHUNKS * SUM_CHUNK; ++i)
        total[i / SUM_CHUNK][i % SUM_CHUNK] = 0;
    if (args->splits > 1) {
        /* The sums of all CTAs of the cluster are complete. barrier.cluster */
        cluster_sync();
        NO_UNROLL for (int rank = 0; rank < args->splits; ++rank)
            UNROLL for (int team = 0; team < TEAMS; ++team)
                column_store_add(total, args, chunks, sums[team], rank);
        /* This thread has read what it needs of the other CTAs. barrier.cluster.arrive */
        cluster_arrive();
    } else {
        /* The sums of all consumers are complete. bar.sync */
        named_barrier_sync(SUMS_BARRIER, STORERS);
        UNROLL for (int team = 0; team < TEAMS; ++team)
            column_store_add(total, args, chunks, sums[team], -1);
    }
    UNROLL for (int i = 0; i < MOST_CHUNKS; ++i) {
        const int number = column_store_chunk(args, i), row = number / ROW_CHUNKS;
        if (number >= chunks) continue;
        column_sum_store(args, first_row + row, first_column + number % ROW_CHUNKS * SUM_CHUNK,
                         bits_to_float(ld_shared_b32(&scale[row])) * unit, total[i]);
    }
    /* No CTA ends while another one may still read its sums. barrier.cluster.wait */
    if (args->splits > 1) cluster_wait();
}

#define fetch_scales(scale, args, scales, first_row)                                               \
    VERB(column_store_fetch(scale, args, scales, first_row))
#define column_store(sums, scale, args, first_row, first_column, unit)                             \
    VERB(column_store_share(sums, scale, args, first_row, first_column, unit))

#endif
