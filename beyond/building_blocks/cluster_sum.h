/*
 * cluster_sum.h: adds up a tile's partial sums over the CTAs of a cluster, or in a single CTA.
 *
 * Every CTA writes the accumulators of its warpgroups, in wgmma's order, to its own shared memory.
 * A cluster barrier follows. Then each warp adds up patches of 16 x 32 sums from the memory of all
 * CTAs, and a second cluster barrier keeps every CTA from exiting too early. A single CTA needs
 * only one CTA barrier, before the sums are read.
 */
#ifndef BUILDING_BLOCKS_CLUSTER_SUM_H
#define BUILDING_BLOCKS_CLUSTER_SUM_H

#include "hopper/cluster.h"

enum { PATCH_ROWS = 16, PATCH_COLUMNS = 32 };

/* Writes the accumulators of 64 rows to shared memory, four at a time: columns 8 i + 2 t and the
 * next, of rows g and g + 8, where g = lane / 4 and t = lane % 4. In this layout cluster_sum_get(),
 * which reads row by row, finds columns 8 t to 8 t + 7 in lane 4 g + t. The exclusive or keeps the
 * lanes' stores in different banks. `partial`: [columns / 8][threads of all warpgroups]. One
 * warpgroup. */
DEVICE void cluster_sum_leave(struct b128 *partial, int threads, int columns, const float *acc) {
    const int t = threadIdx.x % 4;
    UNROLL for (int i = 0; i < columns / 8; ++i) {
        struct b128 sums;
        memcpy(&sums, &acc[4 * i], sizeof sums);
        st_shared_b128(&partial[(i - i % 4 + t) * threads + threadIdx.x - t + (i % 4 ^ t)], sums);
    }
}

/* Adds up a patch of the tile, `down` and `across` its number, over `ctas` CTAs, its own first, so
 * that the CTAs do not all read the same memory at once. Gives each lane eight columns, from
 * lane % 4 * 8 on, of two rows: sum[0] of row lane / 4, sum[1] of row lane / 4 + 8. A warp. */
DEVICE void cluster_sum_collect(const struct b128 *partial, int threads, int ctas, int down,
                                int across, float sum[2][8]) {
    const int lane = threadIdx.x % 32;
    UNROLL for (int i = 0; i < 16; ++i) sum[i / 8][i % 8] = 0;
    UNROLL for (int i = 0; i < ctas; ++i) {
        const uint32_t rank = (cluster_rank() + i) % ctas;
        UNROLL for (int j = 0; j < 4; ++j) {
            const struct b128 *from =
                &partial[(4 * across + j) * threads + down * 32 + (lane ^ j)];
            const struct b128 sums =
                ctas > 1 ? ld_shared_cluster_b128(from, rank) : ld_shared_b128(from);
            float addend[4]; /* columns 2 j and 2 j + 1, first of the one row, then of the other */
            memcpy(addend, &sums, sizeof sums);
            UNROLL for (int e = 0; e < 4; ++e) sum[e / 2][2 * j + e % 2] += addend[e];
        }
    }
}

#define cluster_sum_put(partial, threads, columns, acc)                                            \
    VERB(cluster_sum_leave(partial, threads, columns, acc))
#define cluster_sum_get(partial, threads, ctas, down, across, sum)                                 \
    VERB(cluster_sum_collect(partial, threads, ctas, down, across, sum))

#endif
