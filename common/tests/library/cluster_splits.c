/*
 * cluster_splits.c: how many CTAs share a k loop, against every other number, on GPUs with one and
 * with two CTAs per SM whose GPCs have 16 and 18 SMs; also where a cluster has two tiles.
 */
#include "building_blocks/cluster_splits.h"

#include "tests/support/expect.h"

enum { GPCS = 8 };

static const int sms_of_gpc[GPCS] = {16, 18, 16, 16, 16, 18, 16, 16};
static int ctas_per_sm;

int gemm_sm_count(void) {
    int sms = 0;
    for (int i = 0; i < GPCS; ++i)
        sms += sms_of_gpc[i];
    return sms;
}

int gemm_resident_clusters(const struct gemm_launch *launch) {
    int clusters = 0;
    for (int i = 0; i < GPCS; ++i)
        clusters += sms_of_gpc[i] * ctas_per_sm / launch->cluster;
    return clusters;
}

static int resident(int cluster) {
    const struct gemm_launch launch = {.cluster = cluster};
    return gemm_resident_clusters(&launch);
}

/* `clusters` of `side` tiles each. */
static void expect_best(int clusters, int tiles_k, int side) {
    const int splits = cluster_splits_of((struct gemm_launch){0}, clusters, tiles_k, side);
    EXPECT(splits >= 1 && splits * side <= MOST_CLUSTER_SPLITS, "%d clusters: %d", clusters,
           splits);
    if (side == 1)
        EXPECT(cluster_splits((struct gemm_launch){0}, clusters, tiles_k) == splits,
               "%d clusters: %d", clusters, splits);
    if (splits > 1) {
        EXPECT(clusters <= resident(splits * side), "%d clusters of %d, %d fit", clusters,
               splits * side, resident(splits * side));
        EXPECT(tiles_k / splits >= LEAST_SPLIT_K_TILES, "%d k-tiles for %d", tiles_k, splits);
        EXPECT(ceil_div(tiles_k, splits - 1) > ceil_div(tiles_k, splits),
               "%d k-tiles: %d CTAs are as fast as %d", tiles_k, splits - 1, splits);
    }
    for (int more = splits + 1; more * side <= MOST_CLUSTER_SPLITS; ++more)
        EXPECT(clusters > resident(more * side) || tiles_k / more < LEAST_SPLIT_K_TILES ||
                   ceil_div(tiles_k, more) == ceil_div(tiles_k, splits),
               "%d clusters of %d tiles of %d k-tiles: %d CTAs a tile, and %d fit", clusters, side,
               tiles_k, splits, more);
}

int main(void) {
    for (ctas_per_sm = 1; ctas_per_sm <= 2; ++ctas_per_sm)
        for (int clusters = 1; clusters <= 300; ++clusters)
            for (int tiles_k = 1; tiles_k <= 130; ++tiles_k)
                for (int side = 1; side <= 2; ++side)
                    expect_best(clusters, tiles_k, side);
    /* 132 SMs are five for each of 26 tiles, but of clusters of five only 24 fit. */
    ctas_per_sm = 1;
    const int splits = cluster_splits((struct gemm_launch){0}, 26, 64);
    EXPECT(resident(5) == 24 && splits == 4, "%d clusters of 5; %d CTAs", resident(5), splits);
    return expect_result();
}
