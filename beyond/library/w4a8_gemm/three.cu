/*
 * w4a8_gemm, three.cu: many rows of A, and three consumers that take turns at the Tensor Core.
 *
 * The idea: in wide.cu a consumer waits, promotes and converts under the multiplications of one
 * other consumer, 256 cycles, and that is not enough. Here there are three consumers of 64 channels
 * each, so the multiplications of two others are queued meanwhile, 512 cycles. Then nothing else
 * has to be hidden: a consumer waits for a k-tile, converts its weights, multiplies, releases the
 * stage and promotes, one after the other. What it costs: there are 160 registers for a thread,
 * and the main loop takes them all, so a tile is stored with no multiplication of its consumer
 * under way. And a tile has 192 channels, which are three halves of blocks.
 */
#include "gemm_scaled_args.h"
#define BUFFERS 2 /* of epilogue_store.h */
#define RASTER_GROUP 8 /* of tile_order.h */
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "building_blocks/transposed_store.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#define BM 128 /* of configuration.h, as the next two */
#define CONSUMERS 3
#define STAGES 6
#include "configuration.h"
#include "fragments.h"

enum { CLUSTER = 2 /* CTAs, side by side: they share rows of A */ };

struct smem {
    e4m3_t a[STAGES][BM * BK];                  /* [stage][row][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][64 * 64];   /* [row][column] */
    uint8_t b[STAGES][CONSUMERS * W4_HALF_BYTES]; /* [stage][half], as w4_block.h has it */
    struct pipeline_stage ring[STAGES]; /* released by the consumers of both CTAs: 24 warps */
};

/* Issues acc = weights * rows of A: 64 x BM x 32 at a time, four steps along k. A's rows are 128
 * bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. One warpgroup. */
DEVICE void multiply(float acc[BM / 2], const struct fragments *f, const e4m3_t *a) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3_rs(BM, acc, f->a[step], a_tile + along_k, step > 0);
    }
}

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
            UNROLL for (int i = 0; i < CONSUMERS; ++i)
                tma_load(&shared->b[state.index][i * W4_HALF_BYTES], &args->map_b,
                         half_row(args, tile.n * CONSUMERS + i, k_tile), 0, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Releases a stage, which this warp has read, to the producers of both CTAs: lane r arrives at CTA
 * r's barrier. A whole warp. */
DEVICE void release(struct smem *shared, struct pipeline_state state) {
    const int lane = threadIdx.x % 32;
    /* All lanes have read their weights, before one arrives. bar.warp.sync */
    __syncwarp();
    /* mapa, mbarrier.arrive */
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[state.index].empty, lane);
}

/* Stores 64 channels of sums, 64 rows of D at a time. One warpgroup. */
DEVICE void store_slab(struct smem *shared, const struct gemm_scaled_args *args, int number,
                       int consumer, const float sum[BM / 2]) {
    const struct tile tile = cluster_tile(&args->gemm, number);
    UNROLL for (int i = 0; i < BM / 64; ++i)
        transposed_store(shared->d[consumer][i % BUFFERS], args, tile.m * BM + i * 64,
                         tile.n * BN + consumer * 64, &sum[i * 32], W4_UNIT, 1 + consumer);
}

/* Multiplies, promotes and stores its channels of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_scaled_args *args, int consumer) {
    struct pipeline_state state = {0, 0};
    for (int number = blockIdx.x / CLUSTER; number < args->gemm.items;
         number += gridDim.x / CLUSTER) {
        float acc[BM / 2], sum[BM / 2] = {0};
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            struct weights w;
            struct fragments f;
            /* All bytes of the k-tile have arrived. mbarrier.try_wait */
            consumer_wait(shared->ring, state);
            load_weights(&w, shared->b[state.index], consumer);
            convert(&f, &w);
            /* The conversion's writing of the fragments, and the promotion's reading of the
             * accumulators, come before the multiplications. wgmma.fence */
            wgmma_fence();
            multiply(acc, &f, shared->a[state.index]);
            /* They are one group, the unit that waits count. wgmma.commit_group */
            wgmma_commit_group();
            /* This thread's reads of the weights come before the TMA's next write to their stage.
             * fence.proxy.async */
            fence_proxy_async();
            /* The sums of 128 products are complete, and A's part of the stage has been read.
             * wgmma.wait_group */
            wgmma_wait_group(0);
            keep(&f);
            release(shared, state);
            /* Adds them to the sums in fp32, times the scales of this thread's channels. */
            wgmma_promote(sum, acc, f.scale, BM / 2);
            pipeline_advance(&state, STAGES);
        }
        store_slab(shared, args, number, consumer, sum);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (threadIdx.x % 128 == 0) bulk_wait_group(0);
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
        setmaxnreg_dec(24); /* 24 + 3 * 160 <= 4 * 128, those at launch */
        if (warp == 0 && elect_one()) producer(shared, &args.gemm);
    } else {
        setmaxnreg_inc(160);
        consumer(shared, &args, warpgroup - 1);
    }
    /* No CTA exits while the other may write to its memory or arrive at its barriers.
     * barrier.cluster */
    cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_scaled_args args = gemm_scaled_args_of(p, BM, BN, BK);
    struct gemm_args *gemm = &args.gemm;
    if (make_maps(gemm, p, BM / CLUSTER, HALF_LINES) ||
        gemm_tensor_map(&gemm->map_d, ELEMENT_TYPE, p->d, p->m, p->n, p->ldd, EPILOGUE_M,
                        EPILOGUE_N, EPILOGUE_SWIZZLE))
        return GEMM_UNSUPPORTED;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, CLUSTER, stream);
    const int resident = gemm_resident_clusters(&launch);
    gemm->items = gemm->tiles_m * ceil_div(gemm->tiles_n, CLUSTER);
    launch.grid = (gemm->items < resident ? gemm->items : resident) * CLUSTER;
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "w4a8_gemm", .variant = GEMM_VARIANT,
    .technique = "many rows: persistent clusters of three consumers that take turns",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
