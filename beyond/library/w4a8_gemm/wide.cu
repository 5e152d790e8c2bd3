/*
 * w4a8_gemm, wide.cu: many rows of A, where the Tensor Core sets the speed.
 *
 * The idea: with hundreds of rows each weight is used hundreds of times, so this is 11's kernel.cu:
 * persistent CTAs, two consumers whose promotions run under each other's multiplications, and two
 * CTAs that share the bytes of A. They do not share weights, which ordinary loads read; see
 * producer(). What it costs against FP8: the conversion. There are no registers for a second set of
 * fragments, so the conversion comes after the promotion. Both of them have to fit under the other
 * consumer's multiplications.
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
#define BM 128 /* of configuration.h, as the next three */
#define CONSUMERS 2
#define SLABS 2
#define STAGES 5
#include "configuration.h"
#include "fragments.h"

enum { CLUSTER = 2 /* CTAs, side by side: they share rows of A */ };

struct smem {
    e4m3_t a[STAGES][BM * BK];                  /* [stage][row][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][64 * 64];   /* [row][column] */
    uint8_t b[STAGES][BLOCKS * W4_BLOCK_BYTES]; /* [stage][block], as w4_block.h has it */
    struct pipeline_stage ring[STAGES]; /* released by the consumers of both CTAs: 16 warps */
};

/* Issues acc = weights * rows of A: 64 x BM x 32 at a time, four steps along k. `a` describes A's
 * tile. One warpgroup. */
DEVICE void multiply(float acc[BM / 2], const struct fragments *f, uint64_t a) {
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3_rs(BM, acc, f->a[step], a + along_k, step > 0);
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
            UNROLL for (int i = 0; i < BLOCKS; ++i)
                tma_load(&shared->b[state.index][i * W4_BLOCK_BYTES], &args->map_b,
                         block_row(args, tile.n * BLOCKS + i, k_tile), 0, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Releases the stage before this one, which this warp has read, to the producers of both CTAs:
 * lane r arrives at CTA r's barrier. A whole warp. */
DEVICE void release_previous(struct smem *shared, struct pipeline_state state) {
    const int lane = threadIdx.x % 32, index = (state.index ? state.index : STAGES) - 1;
    /* This lane has read its weights, before the TMA overwrites them. fence.proxy.async */
    fence_proxy_async();
    /* So have all lanes, before one arrives. bar.warp.sync */
    __syncwarp();
    /* mapa, mbarrier.arrive */
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[index].empty, lane);
}

/* Stores 64 channels of sums, 64 rows of D at a time, and clears the sums for the next tile. One
 * warpgroup. */
DEVICE void store_slab(struct smem *shared, const struct gemm_scaled_args *args, int number,
                       int consumer, int slab, float sum[BM / 2]) {
    const struct tile tile = cluster_tile(&args->gemm, number);
    const int column = tile.n * BN + (consumer * SLABS + slab) * 64;
    UNROLL for (int i = 0; i < BM / 64; ++i)
        transposed_store(shared->d[consumer][i % BUFFERS], args, tile.m * BM + i * 64, column,
                         &sum[i * 32], W4_UNIT, 1 + consumer);
    UNROLL for (int i = 0; i < BM / 2; ++i) sum[i] = 0;
}

/* Multiplies, promotes and stores its channels of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_scaled_args *args, int consumer) {
    const int first_slab = consumer * SLABS;
    /* Of the first stage. Rows are 128 bytes; eight of them make the swizzle's 1024-byte pattern,
     * hence the stride. */
    const uint64_t a_first =
        wgmma_descriptor(shared_address(shared->a[0]), 0, 1024, SWIZZLE_128B);
    uint64_t a = a_first; /* of the stage to multiply */
    float acc[BM / 2], sum[SLABS][BM / 2];
    UNROLL for (int i = 0; i < SLABS * BM / 2; ++i) sum[i / (BM / 2)][i % (BM / 2)] = 0;
    struct weights w;
    struct fragments f;
    struct pipeline_state state = {0, 0};
    const int step = gridDim.x / CLUSTER; /* from one tile's number to the next */
    int number = blockIdx.x / CLUSTER;
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, state);
    load_weights(&w, shared->b[0], first_slab);
    convert(&f, &w);
    for (; number < args->gemm.items; number += step) {
        /* In the first tile there is no stage to release yet and no slab to store. */
        const bool first = number < step;
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            UNROLL for (int slab = 0; slab < SLABS; ++slab) {
                /* The conversion's writing of the fragments, and the promotion's reading of the
                 * accumulators, come before the multiplications. wgmma.fence */
                wgmma_fence();
                multiply(acc, &f, a);
                /* They are one group, the unit that waits count. wgmma.commit_group */
                wgmma_commit_group();

                /* Under these multiplications: whatever is not the promotion or the conversion. */
                if (slab == 0 && (k_tile > 0 || !first)) release_previous(shared, state);
                /* The slab before this one is complete, if that was its last k-tile. */
                if (slab > 0 && k_tile == args->gemm.tiles_k - 1)
                    store_slab(shared, args, number, consumer, slab - 1, sum[slab - 1]);
                if (slab == 0 && k_tile == 0 && !first)
                    store_slab(shared, args, number - step, consumer, SLABS - 1,
                               sum[SLABS - 1]);
                const bool more = slab < SLABS - 1 || k_tile < args->gemm.tiles_k - 1 ||
                                  number + step < args->gemm.items;
                if (slab == SLABS - 1) {
                    pipeline_advance(&state, STAGES);
                    a = a_first + (unsigned)(state.index * sizeof shared->a[0] >> 4);
                    /* All bytes of the next k-tile have arrived. mbarrier.try_wait */
                    if (more) consumer_wait(shared->ring, state);
                }
                /* The sums of 128 products are complete. wgmma.wait_group */
                wgmma_wait_group(0);
                keep(&f);
                /* There are no registers for them earlier; they arrive under the promotion. */
                if (more)
                    load_weights(&w, shared->b[state.index], first_slab + (slab + 1) % SLABS);
                /* Adds them to the sums in fp32, times the scales of this thread's channels. */
                wgmma_promote(sum[slab], acc, f.scale, BM / 2);
                convert(&f, &w);
            }
        }
    }
    /* A CTA has at least one tile. */
    release_previous(shared, state);
    store_slab(shared, args, number - step, consumer, SLABS - 1, sum[SLABS - 1]);
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
        setmaxnreg_dec(24); /* 24 + 2 * 240 <= 3 * 168, those at launch */
        if (warp == 0 && elect_one()) producer(shared, &args.gemm);
    } else {
        setmaxnreg_inc(240);
        consumer(shared, &args, warpgroup - 1);
    }
    /* No CTA exits while the other may write to its memory or arrive at its barriers.
     * barrier.cluster */
    cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_scaled_args args = gemm_scaled_args_of(p, BM, BN, BK);
    struct gemm_args *gemm = &args.gemm;
    if (make_maps(gemm, p, BM / CLUSTER, BLOCK_LINES) ||
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
    .technique = "many rows: persistent clusters, conversion under the other warpgroup",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
