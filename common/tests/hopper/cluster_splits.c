/*
 * cluster_splits.c: how many CTAs share a k loop, against every other number, on GPUs with one and
 * with two CTAs per SM whose GPCs have 16 and 18 SMs.
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

static void expect_best(int tiles, int tiles_k) {
    const int splits = cluster_splits((struct gemm_launch){0}, tiles, tiles_k);
    EXPECT(splits >= 1 && splits <= MOST_CLUSTER_SPLITS, "%d tiles: %d", tiles, splits);
    if (splits > 1) {
        EXPECT(tiles <= resident(splits), "%d clusters of %d, %d fit", tiles, splits,
               resident(splits));
        EXPECT(tiles_k / splits >= LEAST_SPLIT_K_TILES, "%d k-tiles for %d", tiles_k, splits);
        EXPECT(ceil_div(tiles_k, splits - 1) > ceil_div(tiles_k, splits),
               "%d k-tiles: %d CTAs are as fast as %d", tiles_k, splits - 1, splits);
    }
    for (int more = splits + 1; more <= MOST_CLUSTER_SPLITS; ++more)
        EXPECT(tiles > resident(more) || tiles_k / more < LEAST_SPLIT_K_TILES ||
                   ceil_div(tiles_k, more) == ceil_div(tiles_k, splits),
               "%d tiles of %d k-tiles: %d CTAs, and %d fit", tiles, tiles_k, splits, more);
}

int main(void) {
    for (ctas_per_sm = 1; ctas_per_sm <= 2; ++ctas_per_sm)
        for (int tiles = 1; tiles <= 300; ++tiles)
            for (int tiles_k = 1; tiles_k <= 130; ++tiles_k)
                expect_best(tiles, tiles_k);
    /* 132 SMs are five for each of 26 tiles, but of clusters of five only 24 fit. */
    ctas_per_sm = 1;
    const int splits = cluster_splits((struct gemm_launch){0}, 26, 64);
    EXPECT(resident(5) == 24 && splits == 4, "%d clusters of 5; %d CTAs", resident(5), splits);
    return expect_result();
}
