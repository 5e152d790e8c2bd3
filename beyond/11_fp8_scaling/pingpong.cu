/*
 * 11_fp8_scaling, pingpong.cu: chapter 08's kernel for e4m3, one scale for each operand.
 *
 * The idea: in per_tensor.cu both consumers store their halves of a tile at the same time, and the
 * Tensor Core idles meanwhile. With a short k that is a large part of the time. Here the consumers
 * have tiles of their own and take turns. What it costs: a tile of 128 x 192 needs more bytes for
 * each multiplication than one of 128 x 256 that two CTAs share. With BN 64 there are three times
 * as many tiles, for where A has few rows, and the ring is deeper.
 */
#include "gemm_scaled_args.h"
#define BUFFERS 1 /* of epilogue_store.h: with two, the ring would be a stage shorter */
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef BN
#define BN 192 /* columns of the tile: 64, 128 or 192 */
#endif
#ifndef STAGES
#define STAGES 5 /* depth of the ring: 2 to 5, with narrower tiles up to 8 */
#endif
#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BM = 128, BK = 128, /* a consumer's tile */
    CONSUMERS = 2,      /* warpgroups, on different tiles */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(e4m3_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    e4m3_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    e4m3_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the four warps of the tile's consumer */
    mbarrier_t order[CONSUMERS]; /* [c] phase n: consumer c may begin the main loop of its tile n */
};

/* Issues acc += a * b for a k-tile: 64 x BN x 32 at a time, four steps along k for each half of
 * the rows. Rows of a tile are 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence
 * the stride. A warpgroup. */
DEVICE void multiply(float acc[BM / 64][BN / 2], const e4m3_t *a, const e4m3_t *b,
                     bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 32; ++step)
        UNROLL for (int i = 0; i < BM / 64; ++i) {
            const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
            const uint64_t down = i * 64 * BK * sizeof(e4m3_t) >> 4;
            wgmma_m64nNk32_e4m3(BN, acc[i], a_tile + down + along_k, b_tile + along_k,
                                accumulate || step > 0);
        }
}

/* Fills the ring with all k-tiles of tile after tile, for the consumers in turn. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    for (int number = blockIdx.x; number < args->items; number += gridDim.x) {
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* The four warps that used the stage last have read it; then announces the bytes.
             * mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            tma_load(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
            tma_load(shared->b[state.index], &args->map_b, tile.n * BN, k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state,
                         float acc[BM / 64][BN / 2], int k_tile) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, shared->a[state->index], shared->b[state->index], k_tile > 0);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Releases the stage, which this warp has read. One arrival per warp. mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    pipeline_advance(state, STAGES);
}

/* A scale in global memory. */
DEVICE float load_scale(const float *scale) { return bits_to_float(ld_global_b32(scale)); }

/* Multiplies and stores every second tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_scaled_args *args, int consumer) {
    const bool elected = threadIdx.x % 128 == 0;
    const float scale = load_scale(args->scales.a) * load_scale(args->scales.b);
    float acc[BM / 64][BN / 2] = {{0}};
    struct pipeline_state state = {0, 0};
    uint32_t order_phase = consumer == 0; /* consumer 0 begins: parity 1 passes at once */
    /* Tile 0 is consumer 0's. */
    if (consumer == 1) pipeline_skip(&state, args->gemm.tiles_k, STAGES);
    for (int number = blockIdx.x + consumer * gridDim.x; number < args->gemm.items;
         number += CONSUMERS * gridDim.x) {
        const struct tile tile = tile_at(number, args->gemm.tiles_m, args->gemm.tiles_n);
        /* The other consumer has issued the last multiplication of its tile. mbarrier.try_wait */
        mbarrier_wait(&shared->order[consumer], order_phase);
        order_phase ^= 1;
        struct pipeline_state release = state; /* the next to release */
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, acc, 0);
        NO_UNROLL for (int k_tile = 1; k_tile < args->gemm.tiles_k; ++k_tile) {
            issue_k_tile(shared, &state, acc, k_tile);
            /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
             * wgmma.wait_group */
            wgmma_wait_group(1);
            release_stage(shared, &release);
        }
        /* The other consumer may begin; its multiplications queue behind these. mbarrier.arrive */
        if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared->order[1 - consumer]);
        /* The accumulators are complete, the last stage read. wgmma.wait_group, mbarrier.arrive */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        UNROLL for (int i = 0; i < BM / 64 * BN / 2; ++i) acc[i / (BN / 2)][i % (BN / 2)] *= scale;
        epilogue_store(shared->d[consumer], &args->gemm, tile.m * BM, tile.n * BN, BM, BN, acc[0],
                       1 + consumer);
        pipeline_skip(&state, args->gemm.tiles_k, STAGES); /* the other consumer's tile */
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct gemm_scaled_args) args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, 4);
        for (int i = 0; i < CONSUMERS; ++i) mbarrier_init(&shared->order[i], 4);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();

    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (warp == 0 && elect_one()) producer(shared, &args.gemm);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_scaled_args args = gemm_scaled_args_of(p, BM, BN, BK);
    struct gemm_args *gemm = &args.gemm;
    if (gemm_tensor_map(&gemm->map_a, GEMM_E4M3, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, GEMM_E4M3, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_d, ELEMENT_TYPE, p->d, p->m, p->n, p->ldd, EPILOGUE_M,
                        EPILOGUE_N, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const int sms = gemm_sm_count();
    gemm->items = gemm->tiles_m * gemm->tiles_n;
    return gemm_launch_grid(&GEMM_KERNEL, gemm->items < sms ? gemm->items : sms, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "11_fp8_scaling", .variant = GEMM_VARIANT,
    .technique = "e4m3 in ping-pong: epilogues under main loops; one scale for each operand",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .tensor_scales = true,
};
