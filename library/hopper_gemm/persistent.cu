/*
 * hopper_gemm, persistent.cu: chapters 08 and 09 in one source, with their parameters as build-time
 * constants.
 *
 * The idea: no tile is the best for every problem. This source becomes the cooperative schedule
 * (both consumers on one tile, in clusters of two) or ping-pong (each on its own). select.c picks
 * one for a problem. What it costs: constants in place of the chapters' numbers. Each technique is
 * explained in its chapter.
 */
#include <assert.h>

#include "gemm.h"

#ifndef BN
#define BN 256 /* columns of the CTA's tile */
#endif
#ifndef STAGES
#define STAGES 4 /* depth of the ring */
#endif
#ifndef CLUSTER
#define CLUSTER 2 /* CTAs of a cluster, one above the other */
#endif
#ifndef PINGPONG
#define PINGPONG 0 /* 1: each consumer has a tile of its own; 0: each has half the rows of one */
#endif
#ifndef RASTER_GROUP
#define RASTER_GROUP (16 / CLUSTER) /* of tile_order.h; in clusters */
#endif

/* Registers per thread after the exchange: 40 + 2 * 232 <= 3 * 168, those at launch. */
#define PRODUCER_REGISTERS 40
#define CONSUMER_REGISTERS 232

enum {
    BM = 128, BK = 64,
    CONSUMERS = 2, /* warpgroups */
    THREADS = 128 * (1 + CONSUMERS),
    ROWS = PINGPONG ? BM : BM / CONSUMERS, /* of a consumer */
    RELEASES = CLUSTER * 4 * (PINGPONG ? 1 : CONSUMERS), /* warps that read a stage */
    /* Is a tile stored under the next one's main loop? Half as many registers again as those of the
     * accumulators have to be free, and with ping-pong the other consumer multiplies meanwhile. */
    PACKED = !PINGPONG,
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};

#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "packed_store.h"

static_assert(ROWS / EPILOGUE_M * (BN / EPILOGUE_N) % BUFFERS == 0, "buffers take turns in tiles");

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* staging: [row][column], swizzled */
    struct pipeline_stage ring[STAGES]; /* released by all warps of the cluster that read it */
    mbarrier_t order[CONSUMERS]; /* [c] phase n: consumer c may begin the main loop of its tile n */
};
static_assert(sizeof(struct smem) <= 232448, "the ring and the staging memory do not fit");

/* Issues acc += a * b for a k-tile: 64 x BN x 16 at a time, four steps along k for each 64
 * rows. Rows of a tile are 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence
 * the stride. One warpgroup. */
DEVICE void multiply(float acc[ROWS / 64][BN / 2], const element_t *a, const element_t *b,
                     bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step)
        UNROLL for (int i = 0; i < ROWS / 64; ++i) {
            const uint64_t a_step = a_tile + ((i * 64 * BK + step * 16) * sizeof(element_t) >> 4);
            const uint64_t b_step = b_tile + (step * 16 * sizeof(element_t) >> 4);
            wgmma_m64nNk16(BN, acc[i], a_step, b_step, accumulate || step > 0);
        }
}

/* This CTA's tile of the cluster's item `number`: the items are columns of CLUSTER tiles. */
DEVICE struct tile cluster_tile(const struct gemm_args *args, int number) {
    struct tile tile = tile_at(number, args->items / args->tiles_n, args->tiles_n);
    tile.m = tile.m * CLUSTER + cluster_rank();
    return tile;
}

/* Fills the ring with all k-tiles of tile after tile: the CTA's own rows of A, and its share of
 * the columns of B for the whole cluster. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    const int row = cluster_rank() * (BN / CLUSTER); /* of B */
    for (int number = blockIdx.x / CLUSTER; number < args->items; number += gridDim.x / CLUSTER) {
        const struct tile tile = cluster_tile(args, number);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* All consumer warps of the cluster have read the stage; then announces the bytes,
             * including those that its peers load. mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            tma_load(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
            tma_load_multicast(&shared->b[state.index][row * BK], &args->map_b, tile.n * BN + row,
                               k_tile * BK, full, (1 << CLUSTER) - 1);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, int first_row,
                         float acc[ROWS / 64][BN / 2], int k_tile) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, &shared->a[state->index][first_row * BK], shared->b[state->index], k_tile > 0);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Releases the stage, which this warp has read, to the producers of all CTAs: lane r arrives at
 * CTA r's barrier. mapa, mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    const int lane = threadIdx.x % 32;
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);
    pipeline_advance(state, STAGES);
}

/* Multiplies and stores tile after tile, or its half of them. If PACKED, a tile is stored under the
 * next one's main loop, a piece after each k-tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int consumer) {
    const int step = gridDim.x / CLUSTER * (PINGPONG ? CONSUMERS : 1);
    const int first_row = PINGPONG ? 0 : consumer * ROWS; /* in the tile */
    const bool elected = threadIdx.x % 128 == 0;
    float acc[ROWS / 64][BN / 2] = {{0}};
    struct pipeline_state state = {0, 0};
    uint32_t order_phase = consumer == 0; /* consumer 0 begins: parity 1 passes at once */
    struct packed_tile packed; /* the tile before this one, if PACKED */
    packed.waits = false;
    int number = blockIdx.x / CLUSTER;
    if (PINGPONG && consumer == 1) {
        number += gridDim.x / CLUSTER;
        pipeline_skip(&state, args->tiles_k, STAGES);
    }
    for (; number < args->items; number += step) {
        const struct tile tile = cluster_tile(args, number);
        /* The other consumer has issued the last multiplication of its tile. mbarrier.try_wait */
        if (PINGPONG) mbarrier_wait(&shared->order[consumer], order_phase);
        order_phase ^= 1;
        struct pipeline_state release = state; /* the next k-tile to release */
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, first_row, acc, 0);
        NO_UNROLL for (int k_tile = 1; k_tile < args->tiles_k; ++k_tile) {
            issue_k_tile(shared, &state, first_row, acc, k_tile);
            if (PACKED)
                packed_store(shared->d[consumer], args, &packed, k_tile - 1, k_tile, 1 + consumer);
            /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
             * wgmma.wait_group, mbarrier.arrive */
            wgmma_wait_group(1);
            release_stage(shared, &release);
        }
        /* The other consumer may begin; its multiplications queue behind these. mbarrier.arrive */
        if (PINGPONG && threadIdx.x % 32 == 0) mbarrier_arrive(&shared->order[1 - consumer]);
        /* All accumulators are complete, the last stage read. wgmma.wait_group, mbarrier.arrive */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        if (PACKED) {
            /* What a main loop of few k-tiles has left of the tile before. */
            packed_store(shared->d[consumer], args, &packed, args->tiles_k - 1, PIECES,
                         1 + consumer);
            packed_tile_fill(&packed, acc[0], tile.m * BM + first_row, tile.n * BN);
        } else {
            epilogue_store(shared->d[consumer], args, tile.m * BM + first_row, tile.n * BN, ROWS,
                           BN, acc[0], 1 + consumer);
        }
        if (PINGPONG) pipeline_skip(&state, args->tiles_k, STAGES); /* the other consumer's tile */
    }
    if (PACKED) packed_store(shared->d[consumer], args, &packed, 0, PIECES, 1 + consumer);
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warpgroup = warp_index() / 4;
    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, RELEASES);
        for (int i = 0; i < CONSUMERS; ++i) mbarrier_init(&shared->order[i], 4);
        /* The initialized barriers are visible to the cluster. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* Every CTA's barriers are initialized before any peer uses one; nothing else is to be ordered.
     * Without a cluster the producer does not wait. barrier.cluster; bar.arrive, bar.sync */
    if (CLUSTER > 1) cluster_sync_relaxed();
    else if (warpgroup == 0) named_barrier_arrive(RING_BARRIER, THREADS);
    else named_barrier_sync(RING_BARRIER, THREADS);

    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (threadIdx.x == 0) producer(shared, &args);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
    /* No CTA exits while a peer may still write to its memory or arrive at its barriers.
     * barrier.cluster */
    if (CLUSTER > 1) cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    const enum gemm_type type = ELEMENT_TYPE;
    if (gemm_tensor_map(&args.map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, type, p->b, p->n, p->k, p->ldb, BN / CLUSTER, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, type, p->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, CLUSTER, stream);
    const int resident = gemm_resident_clusters(&launch);
    args.items = ceil_div(args.tiles_m, CLUSTER) * args.tiles_n;
    launch.grid = (args.items < resident ? args.items : resident) * CLUSTER;
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "hopper_gemm", .variant = GEMM_VARIANT,
    .technique = PINGPONG ? "08's ping-pong schedule, as a configuration"
                          : "the cooperative schedule, as a configuration",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
