/*
 * 11_fp8_scaling, promoted.cu: a scale for every 128 of k, and sums in fp32 again.
 *
 * The idea: after each k-tile the Tensor Core's sums are multiplied by the scales of their row of A
 * and of the block of B, and added to a second set of accumulators on the CUDA cores. So each block
 * has the scale that fits it, and the Tensor Core's 14 bits hold only 128 products. What it costs:
 * registers for both sets, so that a warpgroup multiplies half of its rows at a time. And the
 * warpgroup has nothing in flight while it waits, fetches the scales and adds.
 */
#include "scaled/scales.h"
#define BUFFERS 1      /* of epilogue_store.h */
#define RASTER_GROUP 8 /* of tile_order.h; in clusters */
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 4 /* depth of the ring, 2 to 4 */
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
    STAGE_BYTES = (BM + BN) * BK * sizeof(e4m3_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    e4m3_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    e4m3_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the consumers of both CTAs: 16 warps */
};

/* Issues acc = a * b for 64 rows of a k-tile: 64 x 128 x 32 at a time, four steps along k. Rows are
 * 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. A warpgroup. */
DEVICE void multiply(float acc[BN / 2], const e4m3_t *a, const e4m3_t *b) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3(128, acc, a_tile + along_k, b_tile + along_k, step > 0);
    }
}

/* This CTA's tile of the cluster's item `number`: the items are rows of CLUSTER tiles. */
DEVICE struct tile cluster_tile(const struct gemm_args *args, int number) {
    struct tile tile = tile_at(number, args->tiles_m, args->items / args->tiles_m);
    tile.n = tile.n * CLUSTER + cluster_rank();
    return tile;
}

/* Fills the ring with all k-tiles of tile after tile: the CTA's own columns of B, and half of the
 * rows of A for both CTAs. One thread. */
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
            tma_load(shared->b[state.index], &args->map_b, tile.n * BN, k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
    }
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

/* The factors for the sums of this thread's two rows of 64: the scales of A for rows `row` and
 * row + 8 of the matrix, times the scale of B. Outside the matrix they are zero. Any thread. */
DEVICE void load_scales(const struct gemm_scaled_args *args, int row, int column, int k_tile,
                        float scale[2]) {
    const struct gemm_scales *s = &args->scales;
    const int64_t first = (int64_t)k_tile * s->pitch_a;
    const bool inside = column < args->gemm.n;
    const float b =
        inside ? load_scale(&s->b[(int64_t)(column / SCALE_BLOCK) * s->pitch_b + k_tile]) : 0;
    UNROLL for (int i = 0; i < 2; ++i)
        scale[i] = row + 8 * i < args->gemm.m ? load_scale(&s->a[first + row + 8 * i]) * b : 0;
}

/* Multiplies, promotes and stores its rows of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_scaled_args *args, int consumer) {
    const bool elected = threadIdx.x % 128 == 0;
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4; /* of 64 */
    float acc[BN / 2], sum[PARTS][BN / 2];
    struct pipeline_state state = {0, 0};
    for (int number = blockIdx.x / CLUSTER; number < args->gemm.items;
         number += gridDim.x / CLUSTER) {
        const struct tile tile = cluster_tile(&args->gemm, number);
        const int first_row = tile.m * BM + consumer * ROWS, first_column = tile.n * BN;
        UNROLL for (int i = 0; i < PARTS * BN / 2; ++i) sum[i / (BN / 2)][i % (BN / 2)] = 0;
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            /* All bytes of the k-tile have arrived. mbarrier.try_wait */
            consumer_wait(shared->ring, state);
            UNROLL for (int part = 0; part < PARTS; ++part) {
                const e4m3_t *a = &shared->a[state.index][(consumer * ROWS + part * 64) * BK];
                float scale[2];
                /* The promotion's reads of the accumulators come before the multiplications.
                 * wgmma.fence */
                wgmma_fence();
                multiply(acc, a, shared->b[state.index]);
                /* These multiplications are one group, the unit that waits count.
                 * wgmma.commit_group */
                wgmma_commit_group();
                /* The sums of 128 products are complete. wgmma.wait_group */
                wgmma_wait_group(0);
                load_scales(args, first_row + part * 64 + row, first_column, k_tile, scale);
                /* Adds them to the sums in fp32, times the scales of this thread's two rows. */
                wgmma_promote(sum[part], acc, scale, BN / 2);
            }
            /* This warp has read the stage. mbarrier.arrive */
            release_stage(shared, &state);
        }
        epilogue_store(shared->d[consumer], &args->gemm, first_row, first_column, ROWS, BN, sum[0],
                       1 + consumer);
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
        setmaxnreg_dec(PRODUCER_REGISTERS);
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
    if (gemm_tensor_map(&gemm->map_a, GEMM_E4M3, p->a, p->m, p->k, p->lda, BM / CLUSTER, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, GEMM_E4M3, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
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
    .technique = "a scale for every 128 of k: sums promoted to fp32",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &scaled_kind,
};
