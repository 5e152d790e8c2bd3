/*
 * 08_persistent_pingpong, variant cooperative: both consumers on one tile, twice as wide.
 *
 * The difference to kernel.cu: a tile is 128 x 256 and each consumer multiplies 64 of its rows by
 * all of its columns. Both start every tile together and store it together. What it saves: a k-tile
 * brings three operand elements for every four of two 128 x 128 tiles, and the Tensor Core reads
 * less shared memory per multiplication. What it costs: nobody multiplies while both store, so the
 * epilogue of every tile is exposed, and only the next tile's loads run under it. It wins where k
 * is long, ping-pong where the epilogue is a good part of a tile's time.
 */
#include "gemm.h"
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "building_blocks/tile_scheduler.h"
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
    BM = 128, BN = 256, BK = 64, /* the CTA's tile */
    CONSUMERS = 2,               /* warpgroups, on the same tile */
    ROWS = BM / CONSUMERS,       /* of a consumer */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the eight warps of both consumers */
    struct tile_scheduler scheduler;    /* both consumers take every tile */
};

/* Issues acc += a * b for a k-tile: 64 x 256 x 16 at a time, four steps along k. Rows of a tile are
 * 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. A warpgroup. */
DEVICE void multiply(float acc[BN / 2], const element_t *a, const element_t *b, bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step) {
        const uint64_t a_step = a_tile + (step * 16 * sizeof(element_t) >> 4);
        const uint64_t b_step = b_tile + (step * 16 * sizeof(element_t) >> 4);
        wgmma_m64nNk16(256, acc, a_step, b_step, accumulate || step > 0);
    }
}

/* Fills the ring with all k-tiles of tile after tile. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args) {
    /* Phase 1: the first round of waits passes at once. */
    struct pipeline_state state = {0, 1}, slot = {0, 1};
    const uint32_t tiles = args->tiles_m * args->tiles_n;
    uint32_t number = blockIdx.x;
    while (number < tiles) {
        tile_put(&shared->scheduler, &slot, number);
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        const uint32_t asked = tile_ask(args->tile_counter, number);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* Eight warps have read the stage; then announces the bytes.
             * mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            tma_load(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
            tma_load(shared->b[state.index], &args->map_b, tile.n * BN, k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
        number = tile_answer(args->tile_counter, asked, tiles);
    }
    tile_put(&shared->scheduler, &slot, NO_TILE);
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, int consumer,
                         float acc[BN / 2], bool accumulate) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* What ordinary instructions did to the accumulators comes before the multiplications.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, &shared->a[state->index][consumer * ROWS * BK], shared->b[state->index],
             accumulate);
    /* They are one group, for the waits to count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Tells the producer that this warp has read the stage. One arrival per warp. mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    pipeline_advance(state, STAGES);
}

/* Multiplies and stores its half of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int consumer) {
    float acc[BN / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] = 0; /* = {0} would put it in memory */
    struct pipeline_state state = {0, 0}, slot = {0, 0};

    for (;;) {
        const uint32_t number = tile_get(&shared->scheduler, slot);
        if (number == NO_TILE) break;
        pipeline_advance(&slot, TILE_SLOTS);
        struct pipeline_state release = state; /* the next k-tile to release */
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, consumer, acc, false);
        NO_UNROLL for (int k_tile = 1; k_tile < args->tiles_k; ++k_tile) {
            issue_k_tile(shared, &state, consumer, acc, true);
            /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
             * wgmma.wait_group */
            wgmma_wait_group(1);
            release_stage(shared, &release);
        }
        /* The accumulators are complete, and the last stage has been read. wgmma.wait_group,
         * mbarrier.arrive */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        epilogue_store(shared->d[consumer], args, tile.m * BM + consumer * ROWS, tile.n * BN, ROWS,
                     BN, acc, 1 + consumer);
    }
    /* The stores have read the staging memory before the CTA gives it up.
     * cp.async.bulk.wait_group */
    if (threadIdx.x % 128 == 0) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warpgroup = warp_index() / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, 4 * CONSUMERS);
        pipeline_init(shared->scheduler.slot, TILE_SLOTS, 4 * CONSUMERS);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();

    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (threadIdx.x == 0) producer(shared, &args);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
}

static enum gemm_status launch(const struct gemm_problem *problem, void *stream) {
    struct gemm_args args = gemm_args_of(problem, BM, BN, BK);
    if (gemm_tensor_map(&args.map_a, ELEMENT_TYPE, args.a, args.m, args.k, args.lda, BM, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, ELEMENT_TYPE, args.b, args.n, args.k, args.ldb, BN, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, ELEMENT_TYPE, args.d, args.m, args.n, args.ldd, EPILOGUE_M,
                        EPILOGUE_N, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const int tiles = args.tiles_m * args.tiles_n, sms = gemm_sm_count();
    const struct gemm_launch launch = {.kernel = (const void *)kernel,
                                       .name = "08_persistent_pingpong cooperative",
                                       .grid = tiles < sms ? tiles : sms, .cluster = 1,
                                       .threads = THREADS, .smem_bytes = sizeof(struct smem),
                                       .stream = stream};
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "08_persistent_pingpong", .variant = GEMM_VARIANT,
    .technique = "persistent CTAs, two consumers on one tile, TMA store",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
