/*
 * 10_stream_k, split_k.cu: where D has few tiles, a cluster computes one tile.
 *
 * The idea: a small D has fewer tiles than the GPU has SMs, and most of the memory's bandwidth
 * would lie idle. Each CTA of a cluster multiplies every SPLITS-th k-tile and writes its sums to
 * its shared memory. For its share of the tile, it adds up the sums of all CTAs, in a fixed order.
 * What it costs: the exchange, and two cluster barriers. With DEEP several clusters share a tile,
 * each has a stretch of k, and their sums are added in a workspace. BALANCED is for few rows,
 * without splits. (In split_reduce.cu the TMA adds the sums, in no fixed order.)
 */
#include "building_blocks/cluster_sum.h"
#include "building_blocks/partial_sums.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "split_configuration.h"

struct tiles {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; at multiples of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
};

struct smem {
    union {
        struct tiles tiles;                           /* in the main loop */
        struct b128 partial[BN / 8 * 128 * CONSUMERS]; /* after it, in cluster_sum.h's order */
    } memory;
    struct pipeline_stage ring[STAGES]; /* released by every consumer warp */
};

/* Clears the rows of all stages that no load writes, once. All consumer threads. */
DEVICE void clear_rows(element_t *tiles, int first, int rows) {
    enum { CHUNKS_OF_ROW = BK * sizeof(element_t) / 16 };
    const struct b128 zeros = {{0}};
    for (int stage = 0; stage < STAGES; ++stage)
        for (int i = first * CHUNKS_OF_ROW + threadIdx.x; i < rows * CHUNKS_OF_ROW;
             i += 128 * CONSUMERS)
            st_shared_b128((struct b128 *)tiles + stage * rows * CHUNKS_OF_ROW + i, zeros);
    /* This thread's zeros are written before wgmma reads them. fence.proxy.async */
    fence_proxy_async();
}

/* Issues acc += a * b for a k-tile: 64 x BN x 16 at a time, four steps along k. Rows of a tile
 * are 128 bytes; eight make the swizzle's 1024-byte pattern, hence the stride. One warpgroup. */
DEVICE void multiply(float acc[BN / 2], const element_t *a, const element_t *b, bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step) {
        const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
        wgmma_m64nNk16(BN, acc, a_tile + along_k, b_tile + along_k, accumulate || step > 0);
    }
}

/* Loads this CTA's k-tiles into the ring. The cluster's CTAs take turns, because DRAM reads
 * neighbouring addresses faster together. The TMA fills zeros in beyond k. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args, struct tile tile,
                     int part) {
    struct tiles *tiles = &shared->memory.tiles;
    const int columns = columns_loaded(args);
    const uint32_t bytes = (rows_loaded(args) + columns) * BK * sizeof(element_t);
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    NO_UNROLL for (int item = 0; item < args->items; ++item) {
        const int k_tile = (part * args->items + item) * SPLITS + cluster_rank();
        mbarrier_t *full = &shared->ring[state.index].full;
        /* All consumer warps have read the stage; then announces the bytes. mbarrier.try_wait */
        producer_acquire(shared->ring, state, bytes);
        tma_load(tiles->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
        tma_load(tiles->b[state.index], &args->map_b, tile.n * columns, k_tile * BK, full);
        pipeline_advance(&state, STAGES);
    }
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, int first_row,
                         float acc[BN / 2], bool accumulate) {
    struct tiles *tiles = &shared->memory.tiles;
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, &tiles->a[state->index][first_row * BK], tiles->b[state->index], accumulate);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Multiplies the CTA's part of the k-tiles into 64 rows of the tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int first_row) {
    float acc[BN / 2] = {0};
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* next to read, next to release */
    /* Prologue: a group that will stay in flight. There is nothing to release yet. */
    issue_k_tile(shared, &state, first_row, acc, false);
    NO_UNROLL for (int k_tile = 1; k_tile < args->items; ++k_tile) {
        issue_k_tile(shared, &state, first_row, acc, true);
        /* Group k_tile - 1 is complete: this warp has read its stage. wgmma.wait_group */
        wgmma_wait_group(1);
        if (threadIdx.x % 32 == 0) consumer_release(shared->ring, release);
        pipeline_advance(&release, STAGES);
    }
    /* The accumulators are complete. wgmma.wait_group */
    wgmma_wait_group(0);
    /* The same holds for every consumer warp. No wgmma still reads the ring and no load is under
     * way, so the sums may overwrite it. bar.sync */
    named_barrier_sync(1, 128 * CONSUMERS);
    cluster_sum_put(shared->memory.partial, 128 * CONSUMERS, BN, acc);
}

/* Adds up a patch of the tile over the cluster; stores it in D, or the workspace. A whole warp. */
DEVICE void store_patch(struct smem *shared, const struct gemm_args *args, struct tile tile,
                        int part, int patch) {
    const int slab = patch % (BM / PATCH_ROWS), group = patch / (BM / PATCH_ROWS);
    const int lane = threadIdx.x % 32, in_tile = group * PATCH_COLUMNS + lane % 4 * CHUNK;
    const int columns = columns_loaded(args), column = tile.n * columns + in_tile;
    float sum[2][CHUNK];
    cluster_sum_get(shared->memory.partial, 128 * CONSUMERS, SPLITS, slab, group, sum);
    if (in_tile >= columns) return;
    UNROLL for (int half = 0; half < 2; ++half) {
        const int row = tile.m * BM + slab * PATCH_ROWS + half * 8 + lane / 4;
        if (DEEP) store_partial_sums(args, part, row, column, sum[half]);
        else store_chunk(args, row, column, sum[half]);
    }
}

KERNEL(THREADS, 2) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int cluster = blockIdx.x / SPLITS, tiles = args.tiles_m * args.tiles_n;
    const int part = DEEP ? cluster / tiles : 0, warp = warp_index();
    const struct tile tile = tile_at(cluster - part * tiles, args.tiles_m, args.tiles_n);
    if (threadIdx.x == 128 * CONSUMERS) {
        pipeline_init(shared->ring, STAGES, CONSUMERS * 4);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    if (warp < 4 * CONSUMERS) {
        const int rows = rows_loaded(&args), columns = columns_loaded(&args);
        if (rows < BM) clear_rows(shared->memory.tiles.a[0], rows, BM);
        if (columns < BN) clear_rows(shared->memory.tiles.b[0], columns, BN);
        /* The barriers are initialized and the rows cleared before consumers use them. The producer
         * does not wait: its first loads are under way at once. bar.sync, bar.arrive */
        named_barrier_sync(RING_BARRIER, THREADS);
        consumer(shared, &args, warp / 4 * 64);
    } else {
        named_barrier_arrive(RING_BARRIER, THREADS);
        if (threadIdx.x == 128 * CONSUMERS) producer(shared, &args, tile, part);
    }
    /* The partial sums of all CTAs of the cluster are complete. barrier.cluster, bar.sync */
    if (SPLITS > 1) cluster_sync();
    if (SPLITS == 1) __syncthreads();
    NO_UNROLL for (int i = warp; cluster_rank() + SPLITS * i < PATCHES; i += THREADS / 32)
        store_patch(shared, &args, tile, part, cluster_rank() + SPLITS * i);
    /* No CTA exits while a peer may still read its memory. barrier.cluster */
    if (SPLITS > 1) cluster_sync();
}

/* Clusters that share a tile: all that are resident at once, if DEEP. */
static int parts(const struct gemm_problem *p) {
    const struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, SPLITS, NULL);
    const int64_t tiles = (int64_t)ceil_div(p->m, BM) * ceil_div(p->n, BN);
    const int64_t fit = DEEP ? gemm_resident_clusters(&launch) / tiles : 1;
    const int most = ceil_div(p->k, BK * SPLITS * LEAST_K_TILES);
    return fit < 1 ? 1 : fit < most ? (int)fit : most;
}

/* Columns of a tile: with BALANCED, so many that every resident CTA has the same work. */
static int tile_columns(const struct gemm_problem *p) {
    const struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, SPLITS, NULL);
    const int resident = BALANCED ? gemm_resident_clusters(&launch) : 0;
    if (resident < 1) return BN;
    return ceil_div(p->n, 8 * resident * ceil_div(p->n, BN * resident)) * 8;
}

static size_t workspace_bytes(const struct gemm_problem *p) {
    return DEEP ? partial_sums_bytes(p->m, p->n, parts(p)) : 0;
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, tile_columns(p), BK);
    args.splits = parts(p);
    args.items = ceil_div(args.tiles_k, SPLITS * args.splits); /* k-tiles of each CTA */
    const enum gemm_type type = ELEMENT_TYPE;
    const int rows = rows_loaded(&args), columns = columns_loaded(&args);
    if (gemm_tensor_map(&args.map_a, type, p->a, p->m, p->k, p->lda, rows, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, type, p->b, p->n, p->k, p->ldb, columns, BK, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const int ctas = args.tiles_m * args.tiles_n * args.splits * SPLITS;
    const enum gemm_status status = gemm_launch_grid(&GEMM_KERNEL, ctas, &args, stream);
    return DEEP && status == GEMM_OK ? launch_add_partial_sums(&args, args.splits, stream) : status;
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "10_stream_k", .variant = GEMM_VARIANT,
    .technique = DEEP          ? "the grid splits k; a second kernel adds the parts"
                 : SPLITS == 1 ? "a small tile; nothing is split"
                               : "a cluster splits k and adds up in distributed shared memory",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES, .threads = THREADS,
    .cluster = SPLITS, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = workspace_bytes,
};
