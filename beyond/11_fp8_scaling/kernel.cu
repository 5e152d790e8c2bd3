/*
 * 11_fp8_scaling: the promotion of one warpgroup's sums runs under the other's multiplications.
 *
 * The idea: while the Tensor Core works on 64 rows of one warpgroup, the other warpgroup promotes
 * its sums and issues its next multiplications before the Tensor Core is idle. So only the
 * promotion may lie between the end of one group of multiplications and the start of the next. The
 * scales arrive with the operands. Under the multiplications a warpgroup reads them, makes the next
 * descriptors, waits for the next stage, releases the last one and stores finished rows. What it
 * costs: 1 KB of each stage, and a proxy fence, because ordinary loads have read what the TMA will
 * overwrite.
 */
#include "gemm_scaled_args.h"
#ifndef BM
#define BM 256 /* rows of the CTA's tile */
#endif
#ifndef BN
#define BN 128 /* its columns: a divisor of SCALE_BLOCK, so that it has one scale of B at a time */
#endif
#ifndef CLUSTER
#define CLUSTER 2 /* CTAs, side by side; each loads a share of the rows of A */
#endif
#ifndef STAGES
#define STAGES 4 /* depth of the ring */
#endif
#ifndef LOADERS
#define LOADERS 1 /* threads, each in its own warp, for the four loads of a k-tile: 1, 2 or 4 */
#endif
#ifndef ORDERED
#define ORDERED 0 /* 1: named barriers make the warpgroups issue in strict turns */
#endif
#ifndef BUFFERS
#define BUFFERS 2 /* of epilogue_store.h */
#endif
#ifndef EPILOGUE_N
#define EPILOGUE_N 32 /* of epilogue_store.h: two buffers fit beside four stages */
#endif
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

#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BK = SCALE_BLOCK, /* of the CTA's tile: one scale for each row of A at a time */
    CONSUMERS = 2,    /* warpgroups, each with BM / CONSUMERS rows of the tile, 64 at a time */
    PARTS = BM / CONSUMERS / 64, /* times that a consumer multiplies 64 rows of a k-tile */
    ORDER = 1 + CONSUMERS,       /* named barriers after those of the epilogue */
    THREADS = 128 * (1 + CONSUMERS),
    SCALES_B = 4, /* scales that the TMA fetches, from a multiple of 16 bytes on; one is used */
    /* What the TMA delivers for one k-tile. */
    STAGE_BYTES = (BM + BN) * BK * sizeof(e4m3_t) + (BM + SCALES_B) * sizeof(float),
};

struct smem {
    e4m3_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    e4m3_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column] */
    float scale_a[STAGES][BM]; /* [stage][row] */
    float scale_b[STAGES][32]; /* 128 bytes each: the TMA writes to multiples of 128 bytes */
    struct pipeline_stage ring[STAGES]; /* released by all consumer warps of the cluster */
};

/* Issues acc = a * b for 64 rows of a k-tile: 64 x BN x 32 at a time, four steps along k. `a` and
 * `b` describe the first rows. A warpgroup. */
DEVICE void multiply(float acc[BN / 2], uint64_t a, uint64_t b) {
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
DEVICE void producer(struct smem *shared, const struct gemm_scaled_args *args, int loader) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    const int row = cluster_rank() * (BM / CLUSTER); /* of A */
    for (int number = blockIdx.x / CLUSTER; number < args->gemm.items;
         number += gridDim.x / CLUSTER) {
        const struct tile tile = cluster_tile(&args->gemm, number);
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* All consumer warps of the cluster have read the stage; then announces the bytes,
             * those of other loaders and CTAs included. mbarrier.try_wait, .arrive.expect_tx */
            if (loader == 0) producer_acquire(shared->ring, state, STAGE_BYTES);
            /* The same wait. Bytes may come before they are announced. mbarrier.try_wait */
            else mbarrier_wait(&shared->ring[state.index].empty, state.phase);
            /* The share of A first: all CTAs wait for it. */
            if (issues(loader, 0))
                tma_load_multicast(&shared->a[state.index][row * BK], &args->gemm.map_a,
                                   tile.m * BM + row, k_tile * BK, full, (1 << CLUSTER) - 1);
            /* Each CTA fetches its own scales. Ordinary loads read them, so a peer's TMA could
             * overwrite them only after a release at the scope of the cluster, which is slow. */
            if (issues(loader, 1))
                tma_load(shared->scale_a[state.index], &args->map_scale_a, k_tile, tile.m * BM,
                         full);
            if (issues(loader, 2))
                tma_load(shared->b[state.index], &args->gemm.map_b, tile.n * BN, k_tile * BK, full);
            if (issues(loader, 3))
                tma_load(shared->scale_b[state.index], &args->map_scale_b,
                         tile.n * BN / SCALE_BLOCK, k_tile / SCALES_B * SCALES_B, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* A scale in shared memory. */
DEVICE float load_scale(const float *scale) { return bits_to_float(ld_shared_b32(scale)); }

/* Releases the stage, which this warp has read, to the producers of all CTAs of the cluster: lane r
 * arrives at CTA r's barrier. A whole warp. */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    const int lane = threadIdx.x % 32;
    /* This lane has read its scales, before the TMA overwrites them. fence.proxy.async */
    fence_proxy_async();
    /* So have all lanes, before one arrives. bar.warp.sync */
    __syncwarp();
    /* mapa, mbarrier.arrive */
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);
    pipeline_advance(state, STAGES);
}

/* Stores 64 rows of sums, and clears the sums for the next tile. One warpgroup. */
DEVICE void store_part(struct smem *shared, const struct gemm_args *args, struct tile tile,
                       int consumer, int part, float sum[BN / 2]) {
    const int row = tile.m * BM + (consumer * PARTS + part) * 64;
    epilogue_store(shared->d[consumer], args, row, tile.n * BN, 64, BN, sum, 1 + consumer);
    UNROLL for (int i = 0; i < BN / 2; ++i) sum[i] = 0;
}

/* Multiplies, promotes and stores its rows of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int consumer) {
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4; /* of 64 */
    const e4m3_t *rows = &shared->a[0][consumer * PARTS * 64 * BK];
    /* Of the first stage. Rows are 128 bytes; eight of them make the swizzle's 1024-byte pattern,
     * hence the stride. */
    const uint64_t a_first = wgmma_descriptor(shared_address(rows), 0, 1024, SWIZZLE_128B);
    const uint64_t b_first =
        wgmma_descriptor(shared_address(shared->b[0]), 0, 1024, SWIZZLE_128B);
    uint64_t a = a_first, b = b_first; /* of the stage to read next */
    float acc[BN / 2], sum[PARTS][BN / 2];
    UNROLL for (int i = 0; i < PARTS * BN / 2; ++i) sum[i / (BN / 2)][i % (BN / 2)] = 0;
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    struct tile last = {0, 0}; /* the tile whose last part is not stored yet */
    bool first = true;         /* there is none, and no stage to release */
    /* The first to issue is consumer 0. bar.arrive */
    if (ORDERED && consumer == 1) named_barrier_arrive(ORDER, 128 * CONSUMERS);
    for (int number = blockIdx.x / CLUSTER; number < args->items; number += gridDim.x / CLUSTER) {
        const struct tile tile = cluster_tile(args, number);
        /* All bytes of the k-tile have arrived, its scales among them. mbarrier.try_wait */
        consumer_wait(shared->ring, state);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            const float *scale_a = &shared->scale_a[state.index][consumer * PARTS * 64 + row];
            const float *scale_b = &shared->scale_b[state.index][k_tile % SCALES_B];
            UNROLL for (int part = 0; part < PARTS; ++part) {
                /* The other consumer has issued its 64 rows. bar.sync */
                if (ORDERED) named_barrier_sync(ORDER + consumer, 128 * CONSUMERS);
                /* The promotion's reads of the accumulators come before the multiplications.
                 * wgmma.fence */
                wgmma_fence();
                multiply(acc, a + (part * 64 * BK * sizeof(e4m3_t) >> 4), b);
                wgmma_commit_group();
                /* The other may issue the next, which queue after these. bar.arrive */
                if (ORDERED) named_barrier_arrive(ORDER + 1 - consumer, 128 * CONSUMERS);

                /* Under these multiplications: whatever is not the promotion. */
                const float s = load_scale(scale_b);
                const float scale[2] = {load_scale(&scale_a[part * 64]) * s,
                                        load_scale(&scale_a[part * 64 + 8]) * s};
                if (part == 0 && (k_tile > 0 || !first)) release_stage(shared, &release);
                /* The part before this one is complete, if that was its last k-tile. */
                if (part > 0 && k_tile == args->tiles_k - 1)
                    store_part(shared, args, tile, consumer, part - 1, sum[part - 1]);
                if (part == 0 && k_tile == 0 && !first)
                    store_part(shared, args, last, consumer, PARTS - 1, sum[PARTS - 1]);
                if (part == PARTS - 1) {
                    pipeline_advance(&state, STAGES);
                    a = a_first + (unsigned)(state.index * sizeof shared->a[0] >> 4);
                    b = b_first + (unsigned)(state.index * sizeof shared->b[0] >> 4);
                    /* All bytes of the next k-tile have arrived. mbarrier.try_wait */
                    if (k_tile < args->tiles_k - 1) consumer_wait(shared->ring, state);
                }

                /* The sums of 128 products are complete. wgmma.wait_group */
                wgmma_wait_group(0);
                /* Adds them to the sums in fp32, times the scales of this thread's two rows. */
                wgmma_promote(sum[part], acc, scale, BN / 2);
            }
        }
        last = tile;
        first = false;
    }
    /* The stage read last is not released: no load follows. */
    if (!first) store_part(shared, args, last, consumer, PARTS - 1, sum[PARTS - 1]);
    /* Completes the barrier at which consumer 1 has arrived last. bar.sync */
    if (ORDERED && consumer == 0) named_barrier_sync(ORDER, 128 * CONSUMERS);
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (threadIdx.x % 128 == 0) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct gemm_scaled_args) args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, CLUSTER * CONSUMERS * 4);
        /* The TMA signals these barriers, and so do the other CTAs. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any thread of the cluster uses one; nothing else is to be
     * ordered. barrier.cluster */
    cluster_sync_relaxed();

    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (warp < LOADERS && elect_one()) producer(shared, &args, LOADERS > 1 ? warp : 0);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args.gemm, warpgroup - 1);
    }
    /* No CTA exits while another may write to its memory or arrive at its barriers.
     * barrier.cluster */
    cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_scaled_args args = gemm_scaled_args_of(p, BM, BN, BK);
    struct gemm_args *gemm = &args.gemm;
    if (gemm_tensor_map(&gemm->map_a, GEMM_E4M3, p->a, p->m, p->k, p->lda, BM / CLUSTER, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, GEMM_E4M3, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_scale_a, GEMM_FP32, p->scales.a, gemm->tiles_k, p->m,
                        p->scales.pitch_a, 1, BM, SWIZZLE_NONE) ||
        gemm_tensor_map(&args.map_scale_b, GEMM_FP32, p->scales.b, ceil_div(p->n, SCALE_BLOCK),
                        gemm->tiles_k, p->scales.pitch_b, 1, SCALES_B, SWIZZLE_NONE) ||
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
    .name = "11_fp8_scaling", .variant = GEMM_VARIANT,
    .technique = "promotion under the other warpgroup's multiplications; scales in the stage",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
