/*
 * 14_fused_epilogue, last step: D = gelu(A * B + bias) in e4m3, with a scale for every 1 x 128:
 * what chapter 11 takes as its A.
 *
 * The idea: a scale needs the greatest magnitude of 128 columns of a row before any of them can be
 * rounded. With a tile of 128 columns these are 32 values of each of four neighbouring lanes, so
 * two shuffles find it, and no other warp is asked. The tile is turned around for it: 192 x 128 has
 * as many accumulators and takes as many bytes as 128 x 192. What it saves: a matrix of 16 bits
 * that would be stored, and read twice to quantize it. What it costs: another exchange between the
 * four lanes, because each of them holds two neighbouring columns of eight, and four bytes make a
 * word.
 */
#include <assert.h>

#include "activation.h"
#include "fused.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/element.h"
#include "hopper/mma.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 5 /* depth of the ring, 2 to 5 */
#endif
#define BN 128 /* columns of a consumer's tile, n of its wgmma: one scale block */
#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BM = 192, BK = 64, /* rows of a consumer's tile, and k of a k-tile */
    CONSUMERS = 2,     /* warpgroups, on different tiles */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};
static_assert(BN == SCALE_BLOCK, "a row of a tile is one scale block");

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    e4m3_t d[CONSUMERS][64 * BN];       /* [row][column], 128 B swizzle */
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

/* Adds the biases to 64 rows of accumulators, and activates the sums. A thread's accumulators 4 j
 * to 4 j + 3 are in two columns, 8 j + 2 (lane % 4) and the one to its right: the first two in its
 * row g, the others in row g + 8. The greatest magnitude that this thread holds of either row. */
DEVICE void activate(float acc[BN / 2], const element_t *bias, float greatest[2]) {
    greatest[0] = greatest[1] = 0;
    UNROLL for (int j = 0; j < BN / 8; ++j) {
        const uint32_t two = ld_shared_b32(&bias[8 * j + threadIdx.x % 4 * 2]);
        const float left = element_to_float(first_of_pair(two));
        const float right = element_to_float(second_of_pair(two));
        UNROLL for (int i = 4 * j; i < 4 * j + 4; i += 2) {
            acc[i] = gelu(acc[i] + left);
            acc[i + 1] = gelu(acc[i + 1] + right);
            const float both = fmaxf(fabsf(acc[i]), fabsf(acc[i + 1]));
            greatest[i % 4 / 2] = fmaxf(greatest[i % 4 / 2], both);
        }
    }
}

/* A value of another lane. A whole warp. */
DEVICE float float_of_lane(float value, int lane) {
    const uint32_t bits = float_to_bits(value);
    return bits_to_float(__shfl_sync(0xffffffffu, bits, lane));
}

/* The scale of a row, and its reciprocal. The four lanes of a quad hold all 128 columns between
 * them. A whole warp. */
DEVICE void choose_scale(float greatest, float *scale, float *reciprocal) {
    const int lane = threadIdx.x % 32;
    greatest = fmaxf(greatest, float_of_lane(greatest, lane ^ 1));
    greatest = fmaxf(greatest, float_of_lane(greatest, lane ^ 2));
    *scale = greatest >= LEAST_GREATEST ? greatest / QUANTIZED_GREATEST : 1;
    *reciprocal = reciprocal_approx(*scale);
}

/* Four neighbouring columns of a row for each lane of a quad. In `word` a lane has columns 2 t and
 * 2 t + 1 of eight, and in its upper half the same of the next eight. A whole warp. */
DEVICE uint32_t exchange(uint32_t word) {
    const int lane = threadIdx.x % 32, from = lane / 4 * 4 + lane % 2 * 2;
    const uint32_t left = __shfl_sync(0xffffffffu, word, from);
    const uint32_t right = __shfl_sync(0xffffffffu, word, from + 1);
    return lane % 4 < 2 ? (left & 0xffff) | right << 16 : left >> 16 | (right & 0xffff0000);
}

/* Writes 64 rows to staging memory. A matrix of stmatrix is 8 rows of 16 bytes, here 16 columns;
 * the layout is that of 64 x 64 elements of 16 bits. One warpgroup. */
DEVICE void stage(e4m3_t *staging, const float acc[BN / 2], const float reciprocal[2]) {
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 16, half = threadIdx.x % 32 / 16;
    UNROLL for (int i = 0; i < BN / 32; ++i) {
        uint32_t words[4]; /* 16 columns of both rows, and the next 16 */
        UNROLL for (int w = 0; w < 4; ++w) {
            const float *f = &acc[16 * i + w / 2 * 8 + w % 2 * 2], r = reciprocal[w % 2];
            const uint32_t low = pack_e4m3(f[0] * r, f[1] * r);
            const uint32_t high = pack_e4m3(f[4] * r, f[5] * r);
            words[w] = exchange(low | high << 16);
        }
        const int chunk = (2 * i + half) ^ (row % 8);
        stmatrix_x4(&staging[row * BN + chunk * 16], words);
    }
}

/* Writes the part of 64 rows that lies in D with ordinary stores. One warpgroup. */
DEVICE void store_elements(const struct fused_args *args, int first_row, int first_column,
                           const float acc[BN / 2], const float reciprocal[2]) {
    e4m3_t *d = (e4m3_t *)args->gemm.d;
    UNROLL for (int i = 0; i < BN / 2; i += 2) {
        const int row =
            first_row + threadIdx.x % 128 / 32 * 16 + i % 4 / 2 * 8 + threadIdx.x % 32 / 4;
        const int column = first_column + i / 4 * 8 + threadIdx.x % 4 * 2;
        const float r = reciprocal[i % 4 / 2];
        const uint32_t pair = pack_e4m3(acc[i] * r, acc[i + 1] * r);
        if (row >= args->gemm.m) continue;
        if (column < args->gemm.n) st_global_b8(&d[row * args->gemm.ldd + column], pair & 0xff);
        if (column + 1 < args->gemm.n)
            st_global_b8(&d[row * args->gemm.ldd + column + 1], pair >> 8);
    }
}

/* Finishes and stores a tile, 64 rows after the other. One warpgroup. */
DEVICE void epilogue(struct smem *shared, const struct fused_args *args, struct tile tile,
                     int consumer, float acc[BM / 64][BN / 2]) {
    const bool elected = threadIdx.x % 128 == 0;
    const int column = tile.n * BN;
    UNROLL for (int i = 0; i < BM / 64; ++i) {
        float greatest[2], scale[2], reciprocal[2];
        activate(acc[i], shared->bias[consumer], greatest);
        UNROLL for (int half = 0; half < 2; ++half) {
            const int row = tile.m * BM + i * 64 + threadIdx.x % 128 / 32 * 16 + half * 8 +
                            threadIdx.x % 32 / 4;
            choose_scale(greatest[half], &scale[half], &reciprocal[half]);
            if (threadIdx.x % 4 == 0 && row < args->gemm.m)
                st_global_b32(&args->scales[tile.n * args->scale_pitch + row],
                              float_to_bits(scale[half]));
        }
        /* The TMA writes whole chunks of 16 bytes. */
        if (args->gemm.n % 16 != 0 && column + BN > args->gemm.n) {
            store_elements(args, tile.m * BM + i * 64, column, acc[i], reciprocal);
            continue;
        }
        /* The last store has read the staging memory. cp.async.bulk.wait_group.read */
        if (elected) bulk_wait_group_read(0);
        /* The other threads must not overwrite it before that wait. bar.sync */
        named_barrier_sync(1 + consumer, 128);
        stage(shared->d[consumer], acc[i], reciprocal);
        /* What this thread has written comes before the TMA's reading of it. fence.proxy.async */
        fence_proxy_async();
        /* The same holds for every thread before the store is issued. bar.sync */
        named_barrier_sync(1 + consumer, 128);
        if (elected) tma_store(&args->gemm.map_d, tile.m * BM + i * 64, column,
                               shared->d[consumer]);
        if (elected) bulk_commit_group();
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
        epilogue(shared, all, tile, consumer, acc);
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
    gemm->d = (element_t *)p->matrix[QUANTIZED].memory;
    gemm->ldd = p->matrix[QUANTIZED].ld;
    args.scales = (float *)p->matrix[SCALES].memory;
    args.scale_pitch = p->matrix[SCALES].ld;
    if (gemm_tensor_map(&gemm->map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, type, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_d, GEMM_E4M3, gemm->d, p->m, p->n, gemm->ldd, 64, BN,
                        SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const int sms = gemm_sm_count();
    gemm->items = gemm->tiles_m * gemm->tiles_n;
    return gemm_launch_grid(&GEMM_KERNEL, gemm->items < sms ? gemm->items : sms, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "14_fused_epilogue", .variant = GEMM_VARIANT,
    .technique = "e4m3 with scales for chapter 11, from the accumulators",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &quantize_kind,
};
