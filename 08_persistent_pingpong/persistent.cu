/*
 * 08_persistent_pingpong, persistent.cu: CTAs stay for many tiles; the next tile's loads run under
 * this one's epilogue.
 *
 * The idea: the grid has as many CTAs as the GPU has SMs, and CTA c computes tiles c, c + gridDim.x
 * and so on. The producer does not stop at the end of a tile: while the consumers convert and store
 * it, the ring fills with the next. What it hides: every prologue but the first, and the launch of
 * every CTA but the first wave. What stays exposed: the epilogue, because both consumers store at
 * the same time. What it costs: staging memory for the TMA store, which goes on while the consumers
 * begin the next tile.
 */
#include "gemm.h"
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 4 /* depth of the ring, 2 to 4 */
#endif

enum {
    BM = 128, BN = 256, BK = 64, /* the CTA's tile */
    CONSUMERS = 2,               /* warpgroups, each with BM / CONSUMERS rows of the tile */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the eight warps of both consumers */
};

/* Issues acc += a * b for a k-tile: 64 x 256 x 16 at a time, four steps along k. Rows of a tile are
 * 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. A warpgroup. */
DEVICE void multiply(float acc[BN / 2], const element_t *a, const element_t *b, bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step) {
        const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
        wgmma_m64nNk16(256, acc, a_tile + along_k, b_tile + along_k, accumulate || step > 0);
    }
}

/* Fills the ring with all k-tiles of tile after tile. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    for (int number = blockIdx.x; number < args->items; number += gridDim.x) {
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* All consumer warps have read the stage; then announces the bytes. mbarrier.try_wait,
             * .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            tma_load(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
            tma_load(shared->b[state.index], &args->map_b, tile.n * BN, k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, int half,
                         float acc[BN / 2], int k_tile) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, &shared->a[state->index][half * 64 * BK], shared->b[state->index], k_tile > 0);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Releases the stage, which this warp has read. One arrival per warp. mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    pipeline_advance(state, STAGES);
}

/* Multiplies and stores its 64 rows of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int half) {
    const bool elected = threadIdx.x % 128 == 0;
    float acc[BN / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] = 0; /* to the compiler wgmma reads acc */
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    for (int number = blockIdx.x; number < args->items; number += gridDim.x) {
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, half, acc, 0);
        NO_UNROLL for (int k_tile = 1; k_tile < args->tiles_k; ++k_tile) {
            issue_k_tile(shared, &state, half, acc, k_tile);
            /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
             * wgmma.wait_group */
            wgmma_wait_group(1);
            release_stage(shared, &release);
        }
        /* The accumulators are complete, the last stage read. wgmma.wait_group, mbarrier.arrive */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        epilogue_store(shared->d[half], args, tile.m * BM + half * 64, tile.n * BN, 64, BN, acc,
                       1 + half);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, CONSUMERS * 4);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();

    if (warpgroup == 0) {
        if (warp == 0 && elect_one()) producer(shared, &args);
    } else {
        consumer(shared, &args, warpgroup - 1);
    }
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    const enum gemm_type type = ELEMENT_TYPE;
    if (gemm_tensor_map(&args.map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, type, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, type, p->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const int sms = gemm_sm_count();
    args.items = args.tiles_m * args.tiles_n;
    return gemm_launch_grid(&GEMM_KERNEL, args.items < sms ? args.items : sms, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "08_persistent_pingpong", .variant = GEMM_VARIANT,
    .technique = "persistent CTAs, the next tile's loads under the epilogue",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
