/*
 * many_rows.h: what wide.cu and three.cu share, the kernels for many rows of A: all but consumer(),
 * which each of them defines, as it does the constants of configuration.h and CONSUMER_REGISTERS.
 *
 * Persistent clusters of two CTAs, side by side, which share the bytes of A.
 */
#ifndef W4A8_MANY_ROWS_H
#define W4A8_MANY_ROWS_H

#include "scaled/scales.h"
#define BUFFERS 2 /* of epilogue_store.h */
#define RASTER_GROUP 8 /* of tile_order.h */
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#define BM 128 /* of configuration.h */
#include "configuration.h"
#include "fragments.h"
#include "transposed_store.h"

enum { CLUSTER = 2 /* CTAs, side by side: they share rows of A */ };

struct smem {
    e4m3_t a[STAGES][BM * BK];                /* [stage][row][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][64 * 64]; /* [row][column] */
    uint8_t b[STAGES][BOXES * BOX_BYTES];     /* [stage][box], as w4_block.h has it */
    struct pipeline_stage ring[STAGES];       /* released by the consumer warps of both CTAs */
};

/* This CTA's tile of the cluster's item `number`: the items are rows of CLUSTER tiles. */
DEVICE struct tile cluster_tile(const struct gemm_args *args, int number) {
    struct tile tile = tile_at(number, args->tiles_m, args->items / args->tiles_m);
    tile.n = tile.n * CLUSTER + cluster_rank();
    return tile;
}

/* Fills the ring with all k-tiles of tile after tile: the CTA's own weights, and half of the rows
 * of A for both CTAs. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    const int row = cluster_rank() * (BM / CLUSTER); /* of A */
    for (int number = blockIdx.x / CLUSTER; number < args->items; number += gridDim.x / CLUSTER) {
        const struct tile tile = cluster_tile(args, number);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* All consumer warps of the cluster have read the stage; then announces the bytes,
             * those that the other CTA sends included. mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            /* The half of A first: both CTAs wait for it. */
            tma_load_multicast(&shared->a[state.index][row * BK], &args->map_a, tile.m * BM + row,
                               k_tile * BK, full, (1 << CLUSTER) - 1);
            /* Each CTA fetches its own weights. Ordinary loads read them, so a peer's TMA could
             * overwrite them only after a release at the scope of the cluster, which is slow. */
            UNROLL for (int i = 0; i < BOXES; ++i)
                tma_load(&shared->b[state.index][i * BOX_BYTES], &args->map_b,
                         box_row(args, tile.n * BOXES + i, k_tile), 0, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Multiplies, promotes and stores its channels of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_scaled_args *args, int consumer);

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct gemm_scaled_args) args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, CLUSTER * CONSUMERS * 4);
        /* The TMA signals these barriers, and so does the other CTA. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any thread of the cluster uses one; nothing else is to be
     * ordered. barrier.cluster */
    cluster_sync_relaxed();

    if (warpgroup == 0) {
        setmaxnreg_dec(24);
        if (warp == 0 && elect_one()) producer(shared, &args.gemm);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
    /* No CTA exits while the other may write to its memory or arrive at its barriers.
     * barrier.cluster */
    cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_scaled_args args = gemm_scaled_args_of(p, BM, BN, BK);
    struct gemm_args *gemm = &args.gemm;
    if (make_maps(gemm, p, BM / CLUSTER, BOX_LINES) ||
        gemm_tensor_map(&gemm->map_d, ELEMENT_TYPE, p->d, p->m, p->n, p->ldd, EPILOGUE_M,
                        EPILOGUE_N, EPILOGUE_SWIZZLE))
        return GEMM_UNSUPPORTED;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, CLUSTER, stream);
    const int resident = gemm_resident_clusters(&launch);
    gemm->items = gemm->tiles_m * ceil_div(gemm->tiles_n, CLUSTER);
    launch.grid = (gemm->items < resident ? gemm->items : resident) * CLUSTER;
    return gemm_launch_kernel(&launch, &args);
}

#endif
