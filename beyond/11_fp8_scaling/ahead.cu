/*
 * 11_fp8_scaling, ahead: a warpgroup promotes a k-tile under its own multiplications of the next.
 *
 * The idea: a consumer of 64 rows has registers for two sets of accumulators and its sums. It
 * issues the multiplications of the next k-tile before it waits for those of this one. So the
 * Tensor Core always has work of both warpgroups, however long a promotion takes. What it costs: 64
 * registers, so a smaller tile, and one stage more that is in use.
 */
#include "gemm.h"
#ifndef BM
#define BM 128 /* rows of the CTA's tile */
#endif
#ifndef BN
#define BN 128 /* its columns: a divisor of SCALE_BLOCK, so that it has one scale of B at a time */
#endif
#ifndef CLUSTER
#define CLUSTER 2 /* CTAs, side by side, which load a share of the rows of A each */
#endif
#ifndef STAGES
#define STAGES 6 /* depth of the ring */
#endif
#ifndef LOADERS
#define LOADERS 4 /* threads that issue the four loads of a k-tile, in a warp each: 1, 2 or 4 */
#endif
#define RASTER_GROUP 8 /* of tile_order.h; in clusters */
#include "building_blocks/part_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BK = SCALE_BLOCK, /* of the CTA's tile: one scale for each row of A at a time */
    CONSUMERS = 2,    /* warpgroups, each with 64 rows of the tile */
    THREADS = 128 * (1 + CONSUMERS),
    SCALES_B = 4, /* scales that the TMA fetches, from a multiple of 16 bytes on; one is used */
    /* What the TMA delivers for one k-tile. */
    STAGE_BYTES = (BM + BN) * BK * sizeof(e4m3_t) + (BM + SCALES_B) * sizeof(float),
};

struct smem {
    e4m3_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    e4m3_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    float scale_a[STAGES][BM]; /* [stage][row] */
    float scale_b[STAGES][32]; /* 128 bytes each: the TMA writes to multiples of 128 bytes */
    struct pipeline_stage ring[STAGES]; /* released by all consumer warps of the cluster */
};

static_assert(BM == CONSUMERS * 64, "a consumer has 64 rows");

/* Issues acc = a * b for 64 rows of a k-tile: 64 x BN x 32 at a time, four steps along k. Rows are
 * 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. A warpgroup. */
DEVICE void multiply(float acc[BN / 2], const e4m3_t *a_tile, const e4m3_t *b_tile) {
    const uint64_t a = wgmma_descriptor(shared_address(a_tile), 0, 1024, SWIZZLE_128B);
    const uint64_t b = wgmma_descriptor(shared_address(b_tile), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3(BN, acc, a + along_k, b + along_k, step > 0);
    }
}

/* This CTA's tile of the cluster's item `number`: the items are rows of CLUSTER tiles. */
DEVICE struct tile cluster_tile(const struct gemm_args *args, int number) {
    struct tile tile = tile_at(number, args->tiles_m, args->items / args->tiles_m);
    tile.n = tile.n * CLUSTER + cluster_rank();
    return tile;
}

/* Does this loader issue the load with this number? A constant if there is one loader. */
DEVICE bool issues(int loader, int load) { return loader == load % LOADERS; }

/* Fills the ring with all k-tiles of tile after tile: the CTA's own columns of B, and its share of
 * the rows of A for all CTAs of the cluster. A CTA whose columns lie beyond n loads its share, too.
 * LOADERS threads, numbered. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args, int loader) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    const int row = cluster_rank() * (BM / CLUSTER); /* of A */
    for (int number = blockIdx.x / CLUSTER; number < args->items; number += gridDim.x / CLUSTER) {
        const struct tile tile = cluster_tile(args, number);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* All consumer warps of the cluster have read the stage; then announces the bytes,
             * those of other loaders and CTAs included. mbarrier.try_wait, .arrive.expect_tx */
            if (loader == 0) producer_acquire(shared->ring, state, STAGE_BYTES);
            /* The same wait. Bytes may come before they are announced. mbarrier.try_wait */
            else mbarrier_wait(&shared->ring[state.index].empty, state.phase);
            /* The share of A first: all CTAs wait for it. */
            if (issues(loader, 0))
                tma_load_multicast(&shared->a[state.index][row * BK], &args->map_a,
                                   tile.m * BM + row, k_tile * BK, full, (1 << CLUSTER) - 1);
            /* Each CTA fetches its own scales. Ordinary loads read them, so a peer's TMA could
             * overwrite them only after a release at the scope of the cluster, which is slow. */
            if (issues(loader, 1))
                tma_load(shared->scale_a[state.index], &args->map_scale_a, k_tile, tile.m * BM,
                         full);
            if (issues(loader, 2))
                tma_load(shared->b[state.index], &args->map_b, tile.n * BN, k_tile * BK, full);
            if (issues(loader, 3))
                tma_load(shared->scale_b[state.index], &args->map_scale_b,
                         tile.n * BN / SCALE_BLOCK, k_tile / SCALES_B * SCALES_B, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* A scale in shared memory. */
DEVICE float load_scale(const float *scale) {
    const uint32_t bits = ld_shared_b32(scale);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Where a consumer is in its tiles, k-tile after k-tile. */
struct progress {
    int number, k_tile; /* the item and its k-tile to promote next */
    int reloads;        /* stages that it reads and that are then loaded again */
};

/* Waits for the next k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue(struct smem *shared, struct pipeline_state *state, int consumer,
                  float acc[BN / 2]) {
    /* All bytes of the k-tile have arrived, its scales among them. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* The promotion's reads of these accumulators come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, &shared->a[state->index][consumer * 64 * BK], shared->b[state->index]);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Loads the scales of this thread's two rows, times that of B, before the wait for the
 * multiplications of their k-tile. Whole warps. */
DEVICE void load_scales(struct smem *shared, struct pipeline_state release, int consumer,
                        int k_tile, float scale[2]) {
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4; /* of 64 */
    const float *scale_a = &shared->scale_a[release.index][consumer * 64 + row];
    const float s = load_scale(&shared->scale_b[release.index][k_tile % SCALES_B]);
    scale[0] = load_scale(scale_a) * s;
    scale[1] = load_scale(scale_a + 8) * s;
    /* This lane has read its scales, before the TMA overwrites them. fence.proxy.async */
    fence_proxy_async();
    /* So have all lanes, before one arrives. bar.warp.sync */
    __syncwarp();
}

/* Releases the stage of the k-tile whose multiplications are complete, to the producers of all CTAs
 * of the cluster: lane r arrives at CTA r's barrier. Adds the k-tile's sums to those in fp32; after
 * the last k-tile of a tile stores them. One warpgroup. */
DEVICE void finish(struct smem *shared, const struct gemm_args *args,
                   struct pipeline_state *release, struct progress *at, int consumer,
                   float acc[BN / 2], const float scale[2], float sum[BN / 2]) {
    const int lane = threadIdx.x % 32;
    /* mapa, mbarrier.arrive */
    if (at->reloads-- > 0 && lane < CLUSTER)
        mbarrier_arrive_remote(&shared->ring[release->index].empty, lane);
    pipeline_advance(release, STAGES);
    wgmma_promote(sum, acc, scale, BN / 2);
    if (++at->k_tile < args->tiles_k) return;
    const struct tile tile = cluster_tile(args, at->number);
    /* One half after the other: both do not fit beside six stages. */
    UNROLL for (int j = 0; j < BN; j += EPILOGUE_N)
        part_store(shared->d[consumer], args, tile.m * BM + consumer * 64, tile.n * BN + j,
                   EPILOGUE_N, &sum[j / 2], 1 + consumer);
    UNROLL for (int i = 0; i < BN / 2; ++i) sum[i] = 0;
    at->k_tile = 0;
    at->number += gridDim.x / CLUSTER;
}

/* Multiplies, promotes and stores its rows of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int consumer) {
    const int clusters = gridDim.x / CLUSTER, number = blockIdx.x / CLUSTER;
    const int k_tiles = ((args->items - 1 - number) / clusters + 1) * args->tiles_k;
    float acc[2][BN / 2], sum[BN / 2] = {0}, scale[2];
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    /* Nothing arrives for a stage that is not loaded again: when a CTA ends, no arrival is still on
     * its way to it. */
    struct progress at = {number, 0, k_tiles - STAGES};
    int issued = 1;
    issue(shared, &state, consumer, acc[0]);
    NO_UNROLL for (; issued + 1 < k_tiles; issued += 2) {
        UNROLL for (int set = 0; set < 2; ++set) {
            issue(shared, &state, consumer, acc[1 - set]);
            load_scales(shared, release, consumer, at.k_tile, scale);
            /* The group before the one just issued is complete. wgmma.wait_group */
            wgmma_wait_group(1);
            finish(shared, args, &release, &at, consumer, acc[set], scale, sum);
        }
    }
    if (issued < k_tiles) {
        issue(shared, &state, consumer, acc[1]);
        load_scales(shared, release, consumer, at.k_tile, scale);
        /* As above. wgmma.wait_group */
        wgmma_wait_group(1);
        finish(shared, args, &release, &at, consumer, acc[0], scale, sum);
        load_scales(shared, release, consumer, at.k_tile, scale);
        /* The last group is complete. wgmma.wait_group */
        wgmma_wait_group(0);
        finish(shared, args, &release, &at, consumer, acc[1], scale, sum);
    } else {
        load_scales(shared, release, consumer, at.k_tile, scale);
        /* The last group is complete. wgmma.wait_group */
        wgmma_wait_group(0);
        finish(shared, args, &release, &at, consumer, acc[0], scale, sum);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (threadIdx.x % 128 == 0) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, CLUSTER * CONSUMERS * 4);
        /* The TMA signals these barriers, and so do the other CTAs. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    if (threadIdx.x == 32) { /* the TMA fetches its maps while the barriers are initialized */
        tma_prefetch_map(&args.map_a);
        tma_prefetch_map(&args.map_scale_a);
        tma_prefetch_map(&args.map_b);
        tma_prefetch_map(&args.map_scale_b);
        tma_prefetch_map(&args.map_d);
    }
    /* The barriers are initialized before any thread of the cluster uses one; nothing else is to be
     * ordered. barrier.cluster */
    cluster_sync_relaxed();

    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (warp < LOADERS && elect_one()) producer(shared, &args, LOADERS > 1 ? warp : 0);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
    /* No barrier of the cluster: a CTA has waited for all bytes that others send, and they do not
     * arrive at its barriers any more (`reloads`). */
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    if (gemm_tensor_map(&args.map_a, GEMM_E4M3, p->a, p->m, p->k, p->lda, BM / CLUSTER, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, GEMM_E4M3, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_scale_a, GEMM_FP32, p->scales.a, args.tiles_k, p->m,
                        p->scales.pitch_a, 1, BM, SWIZZLE_NONE) ||
        gemm_tensor_map(&args.map_scale_b, GEMM_FP32, p->scales.b, ceil_div(p->n, SCALE_BLOCK),
                        args.tiles_k,
                        p->scales.pitch_b, 1, SCALES_B, SWIZZLE_NONE) ||
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
    .name = "11_fp8_scaling", .variant = GEMM_VARIANT,
    .technique = "promotion under the warpgroup's own multiplications of the next k-tile",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
