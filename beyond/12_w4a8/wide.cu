/*
 * 12_w4a8, wide.cu: many rows of A, where the Tensor Core sets the speed.
 *
 * The idea: with hundreds of rows the weights are used often enough, and 11's kernel.cu is the one
 * to begin with: persistent CTAs, two consumers whose promotions run under each other's
 * multiplications, two CTAs that share the larger operand's bytes. That operand now is A, since
 * weights have half the bytes. What it costs against FP8: the conversion, which comes after a
 * promotion as it needs the registers of the fragments, and lies under the other consumer's
 * multiplications, too.
 */
#include "gemm.h"
#define BUFFERS 1 /* of epilogue_store.h */
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
#define BM 128 /* of configuration.h, as the next three */
#define CONSUMERS 2
#define SLABS 2
#define STAGES 6
#include "configuration.h"
#include "fragments.h"

enum { CLUSTER = 2 /* CTAs, side by side: they share rows of A */ };

struct smem {
    e4m3_t a[STAGES][BM * BK];                  /* [stage][row][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][64 * 64];   /* [row][column] */
    uint8_t b[STAGES][BLOCKS * W4_BLOCK_BYTES]; /* [stage][block], as w4_block.h has it */
    struct pipeline_stage ring[STAGES]; /* released by the consumers of both CTAs: 16 warps */
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
            /* Each CTA fetches its weights alone: what ordinary loads have read, a peer's TMA could
             * overwrite only after a release at the scope of the cluster, which is slow. */
            UNROLL for (int i = 0; i < BLOCKS; ++i)
                tma_load(&shared->b[state.index][i * W4_BLOCK_BYTES], &args->map_b,
                         block_row(args, tile.n * BLOCKS + i, k_tile), 0, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Tells the producers of both CTAs that this warp has read the stage: lane r arrives at CTA r's
 * barrier. mapa, mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, struct pipeline_state state) {
    const int lane = threadIdx.x % 32;
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[state.index].empty, lane);
}

/* Waits for a k-tile and loads the first slab of its weights. One warpgroup. */
DEVICE void take_weights(struct smem *shared, struct pipeline_state state, struct weights *w,
                         int slab) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, state);
    load_weights(w, shared->b[state.index], slab);
}

/* Multiplies a slab whose weights are in `f`, loads those of the next one meanwhile, promotes the
 * sums, and converts. The last slab of a k-tile releases the stage; `more`: there is another
 * k-tile. One warpgroup. */
DEVICE void multiply_slab(struct smem *shared, struct pipeline_state *state, float acc[BM / 2],
                          float sum[BM / 2], struct fragments *f, int slab, int first_slab,
                          bool more) {
    const bool last = slab == SLABS - 1;
    const struct pipeline_state release = *state;
    struct weights w;
    /* The conversion's writing of the fragments, and the promotion's reading of the accumulators,
     * come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, f, shared->a[state->index]);
    /* They are one group, for the wait to count. wgmma.commit_group */
    wgmma_commit_group();
    if (!last) load_weights(&w, shared->b[state->index], first_slab + slab + 1);
    if (last) pipeline_advance(state, STAGES);
    if (last && more) take_weights(shared, *state, &w, first_slab);
    /* This thread's reads of the weights come before the TMA's next write to their stage.
     * fence.proxy.async */
    if (last) fence_proxy_async();
    /* The sums of 128 products are complete. wgmma.wait_group */
    wgmma_wait_group(0);
    /* This warp has read the stage: all its lanes have, and then two arrive. bar.warp.sync,
     * mbarrier.arrive */
    if (last) {
        __syncwarp();
        release_stage(shared, release);
    }
    /* Added up in fp32, times the scales of this thread's two channels. */
    wgmma_promote(sum, acc, f->scale, BM / 2);
    if (!last || more) convert(f, &w);
}

/* Stores a consumer's channels of a tile, 64 rows x 64 columns of D at a time. One warpgroup. */
DEVICE void store_tile(struct smem *shared, const struct gemm_args *args, int first_row,
                       int first_column, float sum[SLABS][BM / 2], int consumer) {
    UNROLL for (int i = 0; i < BM / 64; ++i) {
        const int row = first_row + i * 64 + threadIdx.x % 4 * 2;
        float scale[16]; /* of rows 8 j + 2 t + e of D at 2 j + e */
        UNROLL for (int j = 0; j < 16; ++j) {
            const int of_row = row + j / 2 * 8 + j % 2;
            const uint32_t bits =
                of_row < args->m ? ld_global_b32(&args->scales.a[of_row]) : 0;
            memcpy(&scale[j], &bits, sizeof bits);
            scale[j] *= UNIT;
        }
        UNROLL for (int slab = 0; slab < SLABS; ++slab)
            transposed_store(shared->d[consumer][0], args, first_row + i * 64,
                             first_column + slab * 64, &sum[slab][i * 32], scale, 1 + consumer);
    }
}

/* Multiplies, promotes and stores its channels of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int consumer) {
    const bool elected = threadIdx.x % 128 == 0;
    const int first_slab = consumer * SLABS;
    float acc[BM / 2], sum[SLABS][BM / 2];
    struct weights w;
    struct fragments f;
    struct pipeline_state state = {0, 0};
    for (int number = blockIdx.x / CLUSTER; number < args->items; number += gridDim.x / CLUSTER) {
        const struct tile tile = cluster_tile(args, number);
        UNROLL for (int i = 0; i < SLABS * BM / 2; ++i) sum[i / (BM / 2)][i % (BM / 2)] = 0;
        take_weights(shared, state, &w, first_slab);
        convert(&f, &w);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile)
            UNROLL for (int slab = 0; slab < SLABS; ++slab)
                multiply_slab(shared, &state, acc, sum[slab], &f, slab, first_slab,
                              k_tile + 1 < args->tiles_k);
        store_tile(shared, args, tile.m * BM, tile.n * BN + first_slab * 64, sum, consumer);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
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
        setmaxnreg_dec(40); /* 40 + 2 * 232 <= 3 * 168, those at launch */
        if (warp == 0 && elect_one()) producer(shared, &args);
    } else {
        setmaxnreg_inc(232);
        consumer(shared, &args, warpgroup - 1);
    }
    /* No CTA leaves while the other may write to its memory or arrive at its barriers.
     * barrier.cluster */
    cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    if (make_maps(&args, p, BM / CLUSTER) ||
        gemm_tensor_map(&args.map_d, ELEMENT_TYPE, p->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        EPILOGUE_SWIZZLE))
        return GEMM_UNSUPPORTED;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, CLUSTER, stream);
    const int resident = gemm_resident_clusters(&launch);
    args.items = args.tiles_m * ceil_div(args.tiles_n, CLUSTER);
    launch.grid = (args.items < resident ? args.items : resident) * CLUSTER;
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "12_w4a8", .variant = GEMM_VARIANT,
    .technique = "many rows: persistent clusters, conversion under the other warpgroup",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
