/*
 * cluster_splits.h: how many CTAs of a cluster share the k loop of a tile, where every tile has a
 * cluster of its own and the kernel is not persistent.
 *
 * More CTAs have more loads under way, but only CTAs that run at the same time help. A cluster lies
 * in one GPC, and the GPCs of one GPU differ in size. So clusters of four may leave SMs idle that
 * clusters of three use, and a cluster that waits for a second wave doubles the time.
 */
#ifndef BUILDING_BLOCKS_CLUSTER_SPLITS_H
#define BUILDING_BLOCKS_CLUSTER_SPLITS_H

#include "building_blocks/divisor.h"
#include "gemm.h"
#include "hopper/cluster.h"

enum {
    MOST_CLUSTER_SPLITS = 8, /* the largest cluster that every GPU has */
    LEAST_SPLIT_K_TILES = 4  /* of a CTA: with fewer, the exchange costs about what it gains */
};

/* The number of CTAs, 1 to 8, for `tiles` tiles of `tiles_k` k-tiles each: the most with which all
 * clusters are resident at once; of several numbers with the same longest k loop, the smallest.
 * `launch`: the kernel, its threads and its shared memory; the rest is not used. Host thread. */
static inline int cluster_splits(struct gemm_launch launch, int64_t tiles, int tiles_k) {
    launch.cluster = launch.grid = 1;
    const int64_t room = gemm_resident_clusters(&launch) / tiles; /* CTAs for each tile */
    int splits = MOST_CLUSTER_SPLITS;
    if (splits > room) splits = (int)room;
    if (splits > tiles_k / LEAST_SPLIT_K_TILES) splits = tiles_k / LEAST_SPLIT_K_TILES;
    if (splits > gemm_sm_count()) splits = gemm_sm_count();
    for (; splits > 1; --splits) {
        launch.cluster = launch.grid = splits;
        if (ceil_div(tiles_k, splits - 1) > ceil_div(tiles_k, splits) &&
            gemm_resident_clusters(&launch) >= tiles)
            return splits;
    }
    return 1;
}

/* How the CTAs of a cluster share a k loop, in a kernel's parameter. */
struct cluster_parts {
    struct divisor ctas; /* of a cluster: each has a part */
    int k_tiles;         /* of a part */
    int longer;          /* so many of the first parts have a k-tile more */
};

/* How `splits` CTAs share a k loop of `tiles_k` k-tiles. The host divides here, so that the kernel
 * need not do so before its first load. Host thread. */
static inline struct cluster_parts cluster_parts_of(int splits, int tiles_k) {
    const struct cluster_parts parts = {divisor_of((uint32_t)splits), tiles_k / splits,
                                        tiles_k % splits};
    return parts;
}

/* The number of this CTA's cluster. Any thread. */
DEVICE int cluster_number(struct cluster_parts parts) {
    return (int)divided_by(blockIdx.x, parts.ctas);
}

/* k-tiles of this CTA, at least one. The cluster's CTAs take turns, because DRAM reads neighbouring
 * addresses faster together. Any thread. */
DEVICE int cluster_k_tiles(struct cluster_parts parts) {
    return parts.k_tiles + ((int)cluster_rank() < parts.longer);
}

#endif
