/*
 * 11_fp8_scaling: the promotion of one warpgroup's sums runs under the other's multiplications.
 *
 * The idea: while the Tensor Core works on 64 rows of one warpgroup, the other warpgroup promotes
 * its sums and issues its next multiplications. The Tensor Core stays busy if only the promotion
 * lies between the end of one group and the start of the next. So the scales arrive with the
 * operands, and everything else runs under the multiplications: reading the scales, testing for the
 * next stage, storing finished rows. The whole tile is staged, so that no store waits for another
 * of the same tile. What it costs: a stage of the ring for the staging memory, 1 KB of each other
 * one, and a proxy fence, because ordinary loads have read what the TMA will overwrite.
 */
#include "scaled/scales.h"
#define STAGED_PARTS 2 /* of part_store.h */
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

#ifndef STAGES
#define STAGES 3 /* depth of the ring, 2 or 3 */
#endif
#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BM = 256, BN = SCALE_BLOCK, BK = SCALE_BLOCK, /* the CTA's tile: one scale of B at a time */
    CLUSTER = 2,                                  /* CTAs, side by side */
    CONSUMERS = 2, /* warpgroups, each with BM / CONSUMERS rows of the tile, 64 at a time */
    ROWS = BM / CONSUMERS,
    PARTS = ROWS / 64, /* of a consumer's rows, multiplied one after the other */
    THREADS = 128 * (1 + CONSUMERS),
    SCALES_B = 4, /* scales that the TMA fetches, from a multiple of 16 bytes on; one is used */
    /* What the TMA delivers for one k-tile. */
    STAGE_BYTES = (BM + BN) * BK * sizeof(e4m3_t) + (BM + SCALES_B) * sizeof(float),
};
static_assert(PARTS == STAGED_PARTS, "a part is staged in memory of its own");

struct smem {
    e4m3_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    e4m3_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    /* [column / EPILOGUE_N][row][column % EPILOGUE_N], 128 B swizzle */
    element_t d[CONSUMERS][PARTS][64 * BN];
    float scale_a[STAGES][BM]; /* [stage][row] */
    float scale_b[STAGES][32]; /* 128 bytes each: the TMA writes to multiples of 128 bytes */
    struct pipeline_stage ring[STAGES]; /* released by the consumers of both CTAs: 16 warps */
};

/* Issues acc = a * b for 64 rows of a k-tile: 64 x 128 x 32 at a time, four steps along k. `a` and
 * `b` describe the first rows. A warpgroup. */
DEVICE void multiply(float acc[BN / 2], uint64_t a, uint64_t b) {
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3(128, acc, a + along_k, b + along_k, step > 0);
    }
}

/* This CTA's tile of the cluster's item `number`: the items are rows of CLUSTER tiles. */
DEVICE struct tile cluster_tile(const struct gemm_args *args, int number) {
    struct tile tile = tile_at(number, args->tiles_m, args->items / args->tiles_m);
    tile.n = tile.n * CLUSTER + cluster_rank();
    return tile;
}

/* Fills the ring with all k-tiles of tile after tile: the CTA's own columns of B, and in turns with
 * the other CTA the rows of A for both. A CTA whose columns lie beyond n takes its turns, too. One
 * thread. */
DEVICE void producer(struct smem *shared, const struct gemm_scaled_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    const int rank = cluster_rank();
    int turn = 0; /* the CTA that loads A */
    for (int number = blockIdx.x / CLUSTER; number < args->gemm.items;
         number += gridDim.x / CLUSTER) {
        const struct tile tile = cluster_tile(&args->gemm, number);
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* All consumer warps of the cluster have read the stage; then announces the bytes,
             * those that the other CTA sends included. mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            /* A first: both CTAs wait for it. */
            if (turn == rank)
                tma_load_multicast(shared->a[state.index], &args->gemm.map_a, tile.m * BM,
                                   k_tile * BK, full, (1 << CLUSTER) - 1);
            /* Each CTA fetches its own scales. Ordinary loads read them, so a peer's TMA could
             * overwrite them only after a release at the scope of the cluster, which is slow. */
            tma_load(shared->scale_a[state.index], &args->map_scale_a, k_tile, tile.m * BM, full);
            tma_load(shared->b[state.index], &args->gemm.map_b, tile.n * BN, k_tile * BK, full);
            tma_load(shared->scale_b[state.index], &args->map_scale_b, tile.n,
                     k_tile / SCALES_B * SCALES_B, full);
            pipeline_advance(&state, STAGES);
            turn ^= 1;
        }
    }
}

/* A scale in shared memory. */
DEVICE float load_scale(const float *scale) { return bits_to_float(ld_shared_b32(scale)); }

/* Goes on to the next stage. Returns whether all its bytes have arrived, as far as this thread has
 * tested it. A whole warp, which has read the scales in the stage before. */
DEVICE bool next_stage(struct smem *shared, struct pipeline_state *state) {
    /* This lane has read its scales, before the TMA overwrites them. fence.proxy.async */
    fence_proxy_async();
    /* So have all lanes, before one arrives in release_stage(). bar.warp.sync */
    __syncwarp();
    pipeline_advance(state, STAGES);
    /* mbarrier.test_wait */
    return consumer_test_wait(shared->ring, *state);
}

/* Releases a stage, which this warp has read, to the producers of both CTAs: lane r arrives at
 * CTA r's barrier. mapa, mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, int index) {
    const int lane = threadIdx.x % 32;
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[index].empty, lane);
}

/* Stores 64 rows of sums, and clears the sums for the next tile. One warpgroup. */
DEVICE void store_part(struct smem *shared, const struct gemm_args *args, struct tile tile,
                       int consumer, int part, float sum[BN / 2]) {
    const int row = tile.m * BM + consumer * ROWS + part * 64;
    part_store(shared->d[consumer][part], args, row, tile.n * BN, BN, sum, 1 + consumer);
    UNROLL for (int i = 0; i < BN / 2; ++i) sum[i] = 0;
}

/* Multiplies, promotes and stores its rows of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int consumer) {
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4; /* of 64 */
    const e4m3_t *rows = &shared->a[0][consumer * ROWS * BK];
    /* Of the first stage. Rows are 128 bytes; eight of them make the swizzle's 1024-byte pattern,
     * hence the stride. */
    const uint64_t a_first = wgmma_descriptor(shared_address(rows), 0, 1024, SWIZZLE_128B);
    const uint64_t b_first =
        wgmma_descriptor(shared_address(shared->b[0]), 0, 1024, SWIZZLE_128B);
    uint64_t a = a_first, b = b_first; /* of the stage to read next */
    float acc[BN / 2], sum[PARTS][BN / 2];
    UNROLL for (int i = 0; i < PARTS * BN / 2; ++i) sum[i / (BN / 2)][i % (BN / 2)] = 0;
    struct pipeline_state state = {0, 0}; /* the next to read */
    struct tile tile = {0, 0}; /* whose last part is not stored yet */
    const int clusters = gridDim.x / CLUSTER;
    /* Stages that are read and then loaded again: before the load this CTA's producer waits for the
     * arrivals. Nothing arrives for the others, so no arrival is on its way to a CTA that ends. */
    int reloads = ((args->items - 1 - (int)blockIdx.x / CLUSTER) / clusters + 1) * args->tiles_k -
                  STAGES;
    /* All bytes of the first k-tile have arrived, its scales among them. mbarrier.try_wait */
    consumer_wait(shared->ring, state);
    for (int number = blockIdx.x / CLUSTER; number < args->items; number += clusters) {
        const bool first = number < clusters, last = number + clusters >= args->items;
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            const float *scale_a = &shared->scale_a[state.index][consumer * ROWS + row];
            const float *scale_b = &shared->scale_b[state.index][k_tile % SCALES_B];
            const int read = state.index; /* the stage of this k-tile */
            bool full = true; /* the next stage, as far as this thread has tested it */
            UNROLL for (int part = 0; part < PARTS; ++part) {
                const uint64_t down = part * 64 * BK * sizeof(e4m3_t) >> 4;
                /* The promotion's reads of the accumulators come before the multiplications.
                 * wgmma.fence */
                wgmma_fence();
                multiply(acc, a + down, b);
                /* These multiplications are one group, the unit that waits count.
                 * wgmma.commit_group */
                wgmma_commit_group();

                /* Under these multiplications: whatever is not the promotion. */
                const float s = load_scale(scale_b);
                const float scale[2] = {load_scale(&scale_a[part * 64]) * s,
                                        load_scale(&scale_a[part * 64 + 8]) * s};
                /* A part of a tile is stored under the multiplications after its last ones. */
                if (part == 0 && k_tile == 0 && !first)
                    store_part(shared, args, tile, consumer, PARTS - 1, sum[PARTS - 1]);
                if (part == PARTS - 1 && k_tile == 0) tile = cluster_tile(args, number);
                if (part > 0 && k_tile == args->tiles_k - 1)
                    store_part(shared, args, tile, consumer, part - 1, sum[part - 1]);
                if (part == PARTS - 1) {
                    full = next_stage(shared, &state);
                    a = a_first + (unsigned)(state.index * sizeof shared->a[0] >> 4);
                    b = b_first + (unsigned)(state.index * sizeof shared->b[0] >> 4);
                }

                /* The sums of 128 products are complete, and A and B have been read.
                 * wgmma.wait_group */
                wgmma_wait_group(0);
                if (part == PARTS - 1 && reloads-- > 0) release_stage(shared, read);
                /* Adds them to the sums in fp32, times the scales of this thread's two rows. */
                wgmma_promote(sum[part], acc, scale, BN / 2);
            }
            /* All bytes of the next k-tile have arrived, if there is one. mbarrier.try_wait */
            if (!full && (k_tile < args->tiles_k - 1 || !last)) consumer_wait(shared->ring, state);
        }
    }
    store_part(shared, args, tile, consumer, PARTS - 1, sum[PARTS - 1]);
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
    if (threadIdx.x == 32) { /* the TMA fetches its maps while the barriers are initialized */
        tma_prefetch_map(&args.gemm.map_a);
        tma_prefetch_map(&args.map_scale_a);
        tma_prefetch_map(&args.gemm.map_b);
        tma_prefetch_map(&args.map_scale_b);
        tma_prefetch_map(&args.gemm.map_d);
    }
    /* The barriers are initialized before any thread of the cluster uses one; nothing else is to be
     * ordered. barrier.cluster */
    cluster_sync_relaxed();

    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (warp == 0 && elect_one()) producer(shared, &args);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args.gemm, warpgroup - 1);
    }
    /* No barrier of the cluster: a CTA has waited for all bytes that the other sends, and there is
     * no arrival on its way to it (`reloads`). Its own last multicast may still be on its way to
     * the other. That this multicast needs the CTA no longer is an assumption: PTX is silent. */
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_scaled_args args = gemm_scaled_args_of(p, BM, BN, BK);
    struct gemm_args *gemm = &args.gemm;
    if (gemm_tensor_map(&gemm->map_a, GEMM_E4M3, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, GEMM_E4M3, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_scale_a, GEMM_FP32, args.scales.a, gemm->tiles_k, p->m,
                        args.scales.pitch_a, 1, BM, SWIZZLE_NONE) ||
        gemm_tensor_map(&args.map_scale_b, GEMM_FP32, args.scales.b, gemm->tiles_n, gemm->tiles_k,
                        args.scales.pitch_b, 1, SCALES_B, SWIZZLE_NONE) ||
        gemm_tensor_map(&gemm->map_d, ELEMENT_TYPE, p->d, p->m, p->n, p->ldd, EPILOGUE_M,
                        EPILOGUE_N, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, CLUSTER, stream);
    const int resident = gemm_resident_clusters(&launch);
    gemm->items = gemm->tiles_m * ceil_div(gemm->tiles_n, CLUSTER);
    launch.grid = (gemm->items < resident ? gemm->items : resident) * CLUSTER;
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "11_fp8_scaling", .variant = GEMM_VARIANT,
    .technique = "promotion under the other warpgroup's multiplications; scales in the stage",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &scaled_kind,
};
