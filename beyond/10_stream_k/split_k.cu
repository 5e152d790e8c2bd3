/*
 * 10_stream_k, split_k.cu: where D has few tiles, a cluster computes one tile.
 *
 * The idea: a small D has fewer tiles than the GPU has SMs, and most of the memory's bandwidth
 * would lie idle. Each CTA of a cluster multiplies every SPLITS-th k-tile and writes its sums to
 * its shared memory. For its share of the tile, it adds up the sums of all CTAs, in a fixed order.
 * What it costs: the exchange, and two cluster barriers. (In split_reduce.cu the TMA adds the sums,
 * in no fixed order.)
 */
#include "gemm.h"
#include "building_blocks/cluster_sum.h"
#include "building_blocks/chunk_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef SPLITS
#define SPLITS 4 /* CTAs of the cluster, parts of the k loop; 1: nothing is split */
#endif

enum {
    BM = 64, BN = 128, BK = 64,     /* the cluster's tile */
    STAGES = 4,                     /* depth of the ring */
    CONSUMERS = BM / 64,            /* warpgroups */
    THREADS = 128 * CONSUMERS + 32, /* and a warp for the producer: registers are not scarce here */
    PATCHES = BM / PATCH_ROWS * (BN / PATCH_COLUMNS), /* what a warp adds up at a time */
};

/* Rows of A per load: the TMA takes as long for a row of zeros as for a row of the matrix, and with
 * few rows most rows of a full box would be zeros. Any thread, and the host. */
#define rows_loaded(args) ((args)->m < BM ? (args)->m : BM)

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

/* Clears the rows of A from `first` on in all stages, which no load writes, once. All consumer
 * threads. */
DEVICE void clear_rows(struct tiles *tiles, int first) {
    enum { CHUNKS_OF_ROW = BK * sizeof(element_t) / 16 };
    const struct b128 zeros = {{0}};
    for (int stage = 0; stage < STAGES; ++stage)
        for (int i = first * CHUNKS_OF_ROW + threadIdx.x; i < BM * CHUNKS_OF_ROW;
             i += 128 * CONSUMERS)
            st_shared_b128((struct b128 *)tiles->a[stage] + i, zeros);
    /* This thread's zeros are written before wgmma reads them. fence.proxy.async */
    fence_proxy_async();
}

/* Issues acc += a * b for a k-tile: 64 x 128 x 16 at a time, four steps along k. Rows of a tile
 * are 128 bytes; eight make the swizzle's 1024-byte pattern, hence the stride. One warpgroup. */
DEVICE void multiply(float acc[BN / 2], const element_t *a, const element_t *b, bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step) {
        const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
        wgmma_m64nNk16(128, acc, a_tile + along_k, b_tile + along_k, accumulate || step > 0);
    }
}

/* Loads this CTA's k-tiles into the ring. The cluster's CTAs take turns, because DRAM reads
 * neighbouring addresses faster together. The TMA fills zeros in beyond k. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args, struct tile tile) {
    struct tiles *tiles = &shared->memory.tiles;
    const uint32_t bytes = (rows_loaded(args) + BN) * BK * sizeof(element_t);
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    NO_UNROLL for (int item = 0; item < args->items; ++item) {
        const int k_tile = item * SPLITS + cluster_rank();
        mbarrier_t *full = &shared->ring[state.index].full;
        /* All consumer warps have read the stage; then announces the bytes. mbarrier.try_wait */
        producer_acquire(shared->ring, state, bytes);
        tma_load(tiles->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
        tma_load(tiles->b[state.index], &args->map_b, tile.n * BN, k_tile * BK, full);
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

/* Adds up a patch of the tile over the cluster, and stores it in D. A whole warp. */
DEVICE void store_patch(struct smem *shared, const struct gemm_args *args, struct tile tile,
                        int patch) {
    const int down = patch % (BM / PATCH_ROWS), across = patch / (BM / PATCH_ROWS);
    const int lane = threadIdx.x % 32;
    const int column = tile.n * BN + across * PATCH_COLUMNS + lane % 4 * CHUNK;
    float sum[2][CHUNK];
    cluster_sum_get(shared->memory.partial, 128 * CONSUMERS, SPLITS, down, across, sum);
    UNROLL for (int i = 0; i < 2; ++i)
        store_chunk(args, tile.m * BM + down * PATCH_ROWS + i * 8 + lane / 4, column, sum[i]);
}

KERNEL(THREADS, 2) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index();
    const struct tile tile = tile_at(blockIdx.x / SPLITS, args.tiles_m, args.tiles_n);
    if (threadIdx.x == 128 * CONSUMERS) {
        pipeline_init(shared->ring, STAGES, CONSUMERS * 4);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    if (warp < 4 * CONSUMERS) {
        if (rows_loaded(&args) < BM) clear_rows(&shared->memory.tiles, rows_loaded(&args));
        /* The barriers are initialized and the rows cleared before consumers use them. The producer
         * does not wait: its first loads are under way at once. bar.sync, bar.arrive */
        named_barrier_sync(RING_BARRIER, THREADS);
        consumer(shared, &args, warp / 4 * 64);
    } else {
        named_barrier_arrive(RING_BARRIER, THREADS);
        if (threadIdx.x == 128 * CONSUMERS) producer(shared, &args, tile);
    }
    /* The partial sums of all CTAs of the cluster are complete. barrier.cluster, bar.sync */
    if (SPLITS > 1) cluster_sync();
    if (SPLITS == 1) __syncthreads();
    NO_UNROLL for (int i = warp; cluster_rank() + SPLITS * i < PATCHES; i += THREADS / 32)
        store_patch(shared, &args, tile, cluster_rank() + SPLITS * i);
    /* No CTA exits while a peer may still read its memory. barrier.cluster */
    if (SPLITS > 1) cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    args.items = ceil_div(args.tiles_k, SPLITS); /* k-tiles of each CTA */
    const enum gemm_type type = ELEMENT_TYPE;
    if (gemm_tensor_map(&args.map_a, type, p->a, p->m, p->k, p->lda, rows_loaded(&args), BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, type, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    return gemm_launch_grid(&GEMM_KERNEL, args.tiles_m * args.tiles_n * SPLITS, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "10_stream_k", .variant = GEMM_VARIANT,
    .technique = SPLITS > 1 ? "a cluster splits k and adds up in distributed shared memory"
                            : "a small tile; nothing is split",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES, .threads = THREADS,
    .cluster = SPLITS, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
