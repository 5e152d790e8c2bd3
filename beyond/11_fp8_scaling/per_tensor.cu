/*
 * 11_fp8_scaling, per_tensor.cu: the kernel of chapter 09 for e4m3, one scale for each operand.
 *
 * The idea: an e4m3 has half the bytes, and the Tensor Core multiplies twice as many of them in the
 * same time. Bytes and cycles of a k-tile stay the same, and it is 128 deep instead of 64. Each
 * element of D is scaled once, at the end. What it costs: one scale has to fit the whole matrix,
 * and the Tensor Core adds e4m3 with 14 bits, so the error grows with k.
 */
#include "scaled/scales.h"
#define RASTER_GROUP 8 /* of tile_order.h; in clusters */
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 4 /* depth of the ring, 2 to 4 */
#endif

enum {
    BM = 128, BN = 256, BK = 128, /* the CTA's tile */
    CLUSTER = 2,                  /* CTAs, one above the other */
    CONSUMERS = 2,                /* warpgroups, each with BM / CONSUMERS rows of the tile */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(e4m3_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    e4m3_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    e4m3_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the consumers of both CTAs: 16 warps */
};

/* Issues acc += a * b for a k-tile: 64 x 256 x 32 at a time, four steps along k. Rows of a tile are
 * 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. A warpgroup. */
DEVICE void multiply(float acc[BN / 2], const e4m3_t *a, const e4m3_t *b, bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3(256, acc, a_tile + along_k, b_tile + along_k, accumulate || step > 0);
    }
}

/* This CTA's tile of the cluster's item `number`: the items are columns of CLUSTER tiles. */
DEVICE struct tile cluster_tile(const struct gemm_args *args, int number) {
    struct tile tile = tile_at(number, args->items / args->tiles_n, args->tiles_n);
    tile.m = tile.m * CLUSTER + cluster_rank();
    return tile;
}

/* Fills the ring with all k-tiles of tile after tile: the CTA's own rows of A, and half of the
 * columns of B for both CTAs. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    const int row = cluster_rank() * (BN / CLUSTER); /* of B */
    for (int number = blockIdx.x / CLUSTER; number < args->items; number += gridDim.x / CLUSTER) {
        const struct tile tile = cluster_tile(args, number);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* All consumer warps of the cluster have read the stage; then announces the bytes,
             * those that the other CTA sends included. mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            /* The half of B first: both CTAs wait for it. */
            tma_load_multicast(&shared->b[state.index][row * BK], &args->map_b, tile.n * BN + row,
                               k_tile * BK, full, (1 << CLUSTER) - 1);
            tma_load(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, int consumer,
                         float acc[BN / 2], int k_tile) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, &shared->a[state->index][consumer * 64 * BK], shared->b[state->index],
             k_tile > 0);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Releases the stage, which this warp has read, to the producers of both CTAs: lane r arrives at
 * CTA r's barrier. mapa, mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    const int lane = threadIdx.x % 32;
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);
    pipeline_advance(state, STAGES);
}

/* A scale in global memory. */
DEVICE float load_scale(const float *scale) { return bits_to_float(ld_global_b32(scale)); }

/* Multiplies and stores its 64 rows of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_scaled_args *args, int consumer) {
    const bool elected = threadIdx.x % 128 == 0;
    const float scale = load_scale(args->scales.a) * load_scale(args->scales.b);
    float acc[BN / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] = 0; /* to the compiler wgmma reads acc */
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    for (int number = blockIdx.x / CLUSTER; number < args->gemm.items;
         number += gridDim.x / CLUSTER) {
        const struct tile tile = cluster_tile(&args->gemm, number);
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, consumer, acc, 0);
        NO_UNROLL for (int k_tile = 1; k_tile < args->gemm.tiles_k; ++k_tile) {
            issue_k_tile(shared, &state, consumer, acc, k_tile);
            /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
             * wgmma.wait_group */
            wgmma_wait_group(1);
            release_stage(shared, &release);
        }
        /* The accumulators are complete, the last stage read. wgmma.wait_group, mbarrier.arrive */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] *= scale;
        epilogue_store(shared->d[consumer], &args->gemm, tile.m * BM + consumer * 64, tile.n * BN,
                       64, BN, acc, 1 + consumer);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

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
        if (warp == 0 && elect_one()) producer(shared, &args.gemm);
    } else {
        consumer(shared, &args, warpgroup - 1);
    }
    /* No CTA exits while the other may write to its memory or arrive at its barriers.
     * barrier.cluster */
    cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_scaled_args args = gemm_scaled_args_of(p, BM, BN, BK);
    struct gemm_args *gemm = &args.gemm;
    if (gemm_tensor_map(&gemm->map_a, GEMM_E4M3, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, GEMM_E4M3, p->b, p->n, p->k, p->ldb, BN / CLUSTER, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_d, ELEMENT_TYPE, p->d, p->m, p->n, p->ldd, EPILOGUE_M,
                        EPILOGUE_N, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, CLUSTER, stream);
    const int resident = gemm_resident_clusters(&launch);
    gemm->items = ceil_div(gemm->tiles_m, CLUSTER) * gemm->tiles_n;
    launch.grid = (gemm->items < resident ? gemm->items : resident) * CLUSTER;
    return gemm_launch_kernel(&launch, &args);
}

static const struct scaled_kernel scaled = {.tensor_scales = true};

const struct gemm_kernel GEMM_KERNEL = {
    .name = "11_fp8_scaling", .variant = GEMM_VARIANT,
    .technique = "e4m3: twice the k in the same bytes; one scale for each operand",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &scaled_kind, .of_kind = &scaled,
};
