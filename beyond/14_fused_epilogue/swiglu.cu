/*
 * 14_fused_epilogue, third step: D = silu(A * G) * (A * U), both products in one main loop.
 *
 * The idea: B holds the n rows of G above the n rows of U, as a framework stores them. Half of a
 * tile's 192 columns are of G, and the other half are the same columns of U: two boxes of the TMA
 * put them next to each other, and nothing else has to be interleaved. In the accumulators' layout
 * a thread then holds both factors of each of its elements of D, 48 registers apart. What it saves:
 * two matrices of m x n that would be stored, and loaded again. What it costs: a second box for
 * every k-tile, and a tile of D that is half as wide.
 */
#include "activation.h"
#include "fused.h"
/* Of epilogue_store.h: two buffers of 64 x 32 are as large as one of 64 x 64. */
#define EPILOGUE_N 32
#define BUFFERS 2
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 5 /* depth of the ring, 2 to 5 */
#endif
#define BN 192 /* columns of the product in a consumer's tile, n of its wgmma */
#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BM = 128, BK = 64, /* rows of a consumer's tile, and k of a k-tile */
    DN = BN / 2,       /* columns of D in a consumer's tile */
    CONSUMERS = 2,     /* warpgroups, on different tiles */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle: DN of G, DN of U */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 64 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the four warps of the tile's consumer */
    mbarrier_t order[CONSUMERS]; /* [c] phase n: consumer c may begin the main loop of its tile n */
};

/* The main loop on this tile and memory: producer(), issue_k_tile(), release_stage(). */
#include "pingpong.h"

/* pingpong.h's producer with a second box for B: fills the ring with all k-tiles of tile after
 * tile, for the consumers in turn. One thread. */
DEVICE void producer_of_both(struct smem *shared, const struct gemm_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    for (int number = blockIdx.x; number < args->items; number += gridDim.x) {
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* The four warps that used the stage last have read it; then announces the bytes.
             * mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            tma_load(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
            /* Rows of G below its last are rows of U. They lead to columns of D beyond n, which
             * are not stored. */
            tma_load(shared->b[state.index], &args->map_b, tile.n * DN, k_tile * BK, full);
            tma_load(&shared->b[state.index][DN * BK], &args->map_b, args->n + tile.n * DN,
                     k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Makes an epilogue tile of gates one of D: the same columns of U are DN / 2 registers behind. */
DEVICE void gate(float *acc) {
    UNROLL for (int i = 0; i < EPILOGUE_N / 2; ++i) acc[i] = silu(acc[i]) * acc[DN / 2 + i];
}

/* Finishes and stores a tile, all rows of 32 columns after the other. One warpgroup. */
DEVICE void epilogue(element_t staging[BUFFERS][EPILOGUE_M * EPILOGUE_N],
                     const struct gemm_args *args, struct tile tile, float acc[BM / 64][BN / 2],
                     int barrier) {
    UNROLL for (int j = 0; j < DN / EPILOGUE_N; ++j)
        UNROLL for (int i = 0; i < BM / 64; ++i) {
            float *sums = &acc[i][j * EPILOGUE_N / 2];
            gate(sums);
            VERB(epilogue_store_staged(staging[i % BUFFERS], args, tile.m * BM + i * 64,
                                       tile.n * DN + j * EPILOGUE_N, sums, barrier));
        }
}

/* Multiplies and stores every second tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int consumer) {
    const bool elected = threadIdx.x % 128 == 0;
    float acc[BM / 64][BN / 2] = {{0}};
    struct pipeline_state state = {0, 0};
    uint32_t order_phase = consumer == 0; /* consumer 0 begins: parity 1 passes at once */
    if (consumer == 1) pipeline_skip(&state, args->tiles_k, STAGES); /* tile 0 is consumer 0's */
    for (int number = blockIdx.x + consumer * gridDim.x; number < args->items;
         number += CONSUMERS * gridDim.x) {
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        /* The other consumer has issued the last multiplication of its tile. A consumer that is a
         * round of the ring ahead would take an old phase for its own. mbarrier.try_wait */
        mbarrier_wait(&shared->order[consumer], order_phase);
        order_phase ^= 1;
        struct pipeline_state release = state; /* the next to release */
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, acc, 0);
        NO_UNROLL for (int k_tile = 1; k_tile < args->tiles_k; ++k_tile) {
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
        epilogue(shared->d[consumer], args, tile, acc, 1 + consumer);
        pipeline_skip(&state, args->tiles_k, STAGES); /* the other consumer's tile */
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
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
        if (warp == 0 && elect_one()) producer_of_both(shared, &args);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
}

/* n is the number of D's columns; B has twice as many rows. */
static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, DN, BK);
    const enum gemm_type type = ELEMENT_TYPE;
    if (gemm_tensor_map(&args.map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, type, p->b, 2 * (int64_t)p->n, p->k, p->ldb, DN, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, type, p->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        EPILOGUE_SWIZZLE))
        return GEMM_UNSUPPORTED;
    const int sms = gemm_sm_count();
    args.items = args.tiles_m * args.tiles_n;
    return gemm_launch_grid(&GEMM_KERNEL, args.items < sms ? args.items : sms, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "14_fused_epilogue", .variant = GEMM_VARIANT,
    .technique = "gate and value of SwiGLU in one product, both in one thread",
    .tile_m = BM, .tile_n = DN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &swiglu_kind,
};
