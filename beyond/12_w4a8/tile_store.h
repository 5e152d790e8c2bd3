/*
 * tile_store.h: a tile's sums, on their way from the shared memory of a cluster's CTAs to D.
 *
 * At the end of a kernel nothing hides a latency. So the scales of A's rows are fetched during the
 * main loop; a thread loads everything that it needs of a CTA at once; and it tells the peers that
 * it has read their memory before it stores to D, because an arrival waits for the stores before
 * it. Only the consumers' warps store. Those of the producer end earlier, and the cluster's
 * barriers do not count threads that have ended.
 */
#ifndef W4A8_TILE_STORE_H
#define W4A8_TILE_STORE_H

#include "building_blocks/column_sum.h"
#include "configuration.h"

enum {
    STORERS = 128 * CONSUMERS, /* threads */
    PITCH = COLUMN_SUM_PITCH(BN), /* floats, of a row of sums */
    CHUNKS = BN / SUM_CHUNK,      /* of a row, eight columns each */
    MOST_CHUNKS = (BM * CHUNKS + STORERS - 1) / STORERS, /* of a thread, in a CTA alone */
    /* Named barriers: the ring is free and the scales are there; the sums of a CTA alone are there.
     * The smaller numbers are the warpgroups'. */
    RING_DONE = 13, SUMS_DONE = 14,
};

/* Fetches the scales of the tile's rows of A. The warps of the producer's warpgroup that load
 * nothing. */
DEVICE void fetch_scales(float scale[BM], const struct gemm_args *args, struct place place) {
    NO_UNROLL for (int i = threadIdx.x - 32; i < BM && place.m * BM + i < args->m; i += 96)
        st_shared_b32(&scale[i], ld_global_b32(&args->scales.a[place.m * BM + i]));
}

/* Where this thread's i-th chunk lies in the tile: its number in D's order. A consumer's thread. */
DEVICE int chunk_number(const struct gemm_args *args, int i) {
    return (i * args->splits + (int)cluster_rank()) * STORERS + (int)threadIdx.x - 128;
}

/* Adds one CTA's sums of this thread's chunks, of `chunks` of the tile: those of `rank`, or with -1
 * those of a CTA alone. `sums` are of one team. A consumer's thread. */
DEVICE void add_chunks(float total[MOST_CHUNKS][SUM_CHUNK], const struct gemm_args *args,
                       int chunks, const float *sums, int rank) {
    struct b128 part[MOST_CHUNKS][2];
    UNROLL for (int i = 0; i < MOST_CHUNKS; ++i) {
        const int number = chunk_number(args, i);
        const float *from = &sums[number / CHUNKS * PITCH + number % CHUNKS * SUM_CHUNK];
        if (number < chunks)
            UNROLL for (int half = 0; half < 2; ++half)
                part[i][half] = rank >= 0 ? ld_shared_cluster_b128(from + 4 * half, rank)
                                          : ld_shared_b128(from + 4 * half);
    }
    UNROLL for (int i = 0; i < MOST_CHUNKS; ++i)
        if (chunk_number(args, i) < chunks) {
            float addend[SUM_CHUNK];
            memcpy(addend, part[i], sizeof addend);
            UNROLL for (int j = 0; j < SUM_CHUNK; ++j) total[i][j] += addend[j];
        }
}

/* Adds up this CTA's share of the tile over the cluster and its teams, always in the same order,
 * and stores it. `sums`: [team][row][column], which this CTA's consumers have written. All of
 * their threads. */
DEVICE void store_tile(const float sums[TEAMS][BM * PITCH], const float scale[BM],
                       const struct gemm_args *args, struct place place) {
    const int rows_left = args->m - place.m * BM;
    const int chunks = (rows_left < BM ? rows_left : BM) * CHUNKS;
    float total[MOST_CHUNKS][SUM_CHUNK];
    UNROLL for (int i = 0; i < MOST_CHUNKS * SUM_CHUNK; ++i)
        total[i / SUM_CHUNK][i % SUM_CHUNK] = 0;
    if (args->splits > 1) {
        /* The sums of all CTAs of the cluster are complete. barrier.cluster */
        cluster_sync();
        NO_UNROLL for (int rank = 0; rank < args->splits; ++rank)
            UNROLL for (int team = 0; team < TEAMS; ++team)
                add_chunks(total, args, chunks, sums[team], rank);
        /* This thread has read what it needs of the other CTAs. barrier.cluster.arrive */
        cluster_arrive();
    } else {
        /* The sums of all consumers are complete. bar.sync */
        named_barrier_sync(SUMS_DONE, STORERS);
        UNROLL for (int team = 0; team < TEAMS; ++team)
            add_chunks(total, args, chunks, sums[team], -1);
    }
    UNROLL for (int i = 0; i < MOST_CHUNKS; ++i) {
        const int number = chunk_number(args, i), row = number / CHUNKS;
        if (number >= chunks) continue;
        const uint32_t bits = ld_shared_b32(&scale[row]);
        float of_row;
        memcpy(&of_row, &bits, sizeof of_row);
        column_sum_store(args, place.m * BM + row, place.n * BN + number % CHUNKS * SUM_CHUNK,
                         of_row * UNIT, total[i]);
    }
    /* No CTA ends while another one may still read its sums. barrier.cluster.wait */
    if (args->splits > 1) cluster_wait();
}

#endif
