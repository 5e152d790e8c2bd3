/*
 * 14_fused_epilogue, first step: D = gelu(A * B + bias), a bias for each column.
 *
 * The idea: after the main loop every value lies in a register, in fp32, and nothing has been
 * rounded. What a program does with D next costs no memory traffic here: no store, no load, no
 * second rounding. In the accumulators' layout a thread holds the same two of every eight columns
 * in all of its rows, so it needs those biases and no others. The consumer puts
 * those of its tile into shared memory while it waits for its turn. What it costs: two instructions
 * of the special-function unit for each element, which ping-pong hides.
 */
#include "activation.h"
#include "fused.h"
#define BUFFERS 1 /* of epilogue_store.h: with two, the ring would be a stage shorter */
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
#define BN 192 /* columns of a consumer's tile, n of its wgmma */
#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BM = 128, BK = 64, /* rows of a consumer's tile, and k of a k-tile */
    CONSUMERS = 2,     /* warpgroups, on different tiles */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    element_t bias[CONSUMERS][BN];      /* of the columns of its tile */
    struct pipeline_stage ring[STAGES]; /* released by the four warps of the tile's consumer */
    mbarrier_t order[CONSUMERS]; /* [c] phase n: consumer c may begin the main loop of its tile n */
};

/* The main loop on this tile and memory: producer(), issue_k_tile(), release_stage(). */
#include "pingpong.h"

/* Puts the biases of a tile's columns into shared memory, two by each thread; beyond n there are
 * none. One warpgroup. */
DEVICE void load_bias(element_t bias[BN], const struct fused_args *args, int first_column) {
    const int pair = threadIdx.x % 128 * 2, column = first_column + pair;
    if (pair >= BN) return;
    uint32_t two = 0;
    if (column + 1 < args->gemm.n)
        two = ld_global_b32(&args->bias[column]);
    else if (column < args->gemm.n) /* what lies behind the last bias is not ours */
        two = ld_global_element(&args->bias[column]).bits;
    st_shared_b32(&bias[pair], two);
}

/* Adds the biases to an epilogue tile's accumulators, and activates the sums. A thread's
 * accumulators 4 j to 4 j + 3 are in two columns, 8 j + 2 (lane % 4) and the one to its right. */
DEVICE void activate(float acc[EPILOGUE_N / 2], const element_t *bias) {
    UNROLL for (int j = 0; j < EPILOGUE_N / 8; ++j) {
        const uint32_t two = ld_shared_b32(&bias[8 * j + threadIdx.x % 4 * 2]);
        const float left = element_to_float(first_of_pair(two));
        const float right = element_to_float(second_of_pair(two));
        UNROLL for (int i = 4 * j; i < 4 * j + 4; i += 2) {
            acc[i] = gelu(acc[i] + left);
            acc[i + 1] = gelu(acc[i + 1] + right);
        }
    }
}

/* Finishes and stores a tile, one epilogue tile after the other. One warpgroup. */
DEVICE void epilogue(struct smem *shared, const struct gemm_args *args, struct tile tile,
                     int consumer, float acc[BM / 64][BN / 2]) {
    UNROLL for (int i = 0; i < BM / EPILOGUE_M; ++i)
        UNROLL for (int j = 0; j < BN / EPILOGUE_N; ++j) {
            float *sums = &acc[i][j * EPILOGUE_N / 2];
            activate(sums, &shared->bias[consumer][j * EPILOGUE_N]);
            epilogue_store(shared->d[consumer], args, tile.m * BM + i * EPILOGUE_M,
                           tile.n * BN + j * EPILOGUE_N, EPILOGUE_M, EPILOGUE_N, sums,
                           1 + consumer);
        }
}

/* Multiplies and stores every second tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct fused_args *all, int consumer) {
    const struct gemm_args *args = &all->gemm;
    const bool elected = threadIdx.x % 128 == 0;
    float acc[BM / 64][BN / 2] = {{0}};
    struct pipeline_state state = {0, 0};
    uint32_t order_phase = consumer == 0; /* consumer 0 begins: parity 1 passes at once */
    if (consumer == 1) pipeline_skip(&state, args->tiles_k, STAGES); /* tile 0 is consumer 0's */
    for (int number = blockIdx.x + consumer * gridDim.x; number < args->items;
         number += CONSUMERS * gridDim.x) {
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        /* All threads have read the biases of the last tile. bar.sync */
        named_barrier_sync(1 + consumer, 128);
        /* The biases arrive while the other consumer multiplies. */
        load_bias(shared->bias[consumer], all, tile.n * BN);
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
        /* All threads have written their biases. bar.sync */
        named_barrier_sync(1 + consumer, 128);
        epilogue(shared, args, tile, consumer, acc);
        pipeline_skip(&state, args->tiles_k, STAGES); /* the other consumer's tile */
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct fused_args) args) {
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
    struct fused_args args = fused_args_of(p, BM, BN, BK);
    struct gemm_args *gemm = &args.gemm;
    const enum gemm_type type = ELEMENT_TYPE;
    if (gemm_tensor_map(&gemm->map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, type, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_d, type, p->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        EPILOGUE_SWIZZLE))
        return GEMM_UNSUPPORTED;
    const int sms = gemm_sm_count();
    gemm->items = gemm->tiles_m * gemm->tiles_n;
    return gemm_launch_grid(&GEMM_KERNEL, gemm->items < sms ? gemm->items : sms, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "14_fused_epilogue", .variant = GEMM_VARIANT,
    .technique = "bias and GELU on the accumulators, before they are rounded",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &bias_gelu_kind,
};
