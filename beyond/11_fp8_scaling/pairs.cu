/*
 * 11_fp8_scaling, pairs.cu: a warpgroup promotes while its own next multiplications are under way.
 *
 * The idea: in few_rows.cu a warpgroup issues the next multiplications after it has promoted the
 * last ones. If both warpgroups do so at the same time, the Tensor Core has nothing to do
 * meanwhile. Here a warpgroup has two sets of accumulators and issues two k-tiles at a time. It
 * waits for the first, promotes it and releases its stage while the Tensor Core multiplies the
 * second. What it costs: registers, so one CTA has the SM to itself, and a thread loads its scales
 * in two halves.
 */
#include <assert.h>

#include "gemm_scaled_args.h"
#ifndef BM
#define BM 64 /* rows of the CTA's tile: 16 to 128 in steps of 16 */
#endif
#ifndef STAGES
#define STAGES 8 /* depth of the ring */
#endif
#include "building_blocks/cluster_splits.h"
#include "building_blocks/column_sum.h"
#include "building_blocks/pipeline.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#define CTAS_PER_SM 1
/* Registers: at launch as many for all, then the producer's for the consumers. */
#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168 */
#define CONSUMER_REGISTERS 232

enum {
    BN = SCALE_BLOCK, BK = SCALE_BLOCK, /* the CTA's tile: one scale of B at a time */
    CONSUMERS = BN / 64,                /* warpgroups, each with 64 columns of D */
    THREADS = 128 * (1 + CONSUMERS),
    SCALES_B = 4, /* scales that the TMA fetches, from a multiple of 16 bytes on; one is used */
    /* What the TMA delivers for one k-tile. */
    STAGE_BYTES = (BM + BN) * BK * sizeof(e4m3_t) + (BM + SCALES_B) * sizeof(float),
    PITCH = COLUMN_SUM_PITCH(BN), /* floats, of a row of sums */
};
static_assert(BM % 16 == 0, "a thread loads its scales in two halves");

/* The TMA writes to multiples of 128 bytes. */
#define SCALES(count) (((count) + 31) / 32 * 32)

struct tiles {
    e4m3_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    e4m3_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    float scale_a[STAGES][SCALES(BM)]; /* [stage][row] */
    float scale_b[STAGES][SCALES(SCALES_B)];
};

struct smem {
    union {
        struct tiles tiles;     /* in the main loop */
        float sums[BM * PITCH]; /* after it: [row][column], in column_sum.h's order */
    } memory;
    struct pipeline_stage ring[STAGES]; /* released by every consumer warp */
};

/* A tile of D: its number down and across. */
struct place {
    int m, n;
};

/* The rows of A change fastest: tiles that run at the same time share their columns of B. */
DEVICE struct place place_of(const struct gemm_args *args, int number) {
    struct place place;
    place.m = number % args->tiles_m;
    place.n = number / args->tiles_m;
    return place;
}

/* k-tiles of this CTA. The cluster's CTAs take turns, because DRAM reads neighbouring addresses
 * faster together. */
DEVICE int k_tiles_of_cta(const struct gemm_args *args) {
    return (args->tiles_k - cluster_rank() + args->splits - 1) / args->splits;
}

/* The k-tile of the matrix that is this CTA's number `item`. */
DEVICE int k_tile_at(const struct gemm_args *args, int item) {
    return item * args->splits + cluster_rank();
}

/* Fills the ring with this CTA's k-tiles, from `item` up to `end`. The TMA fills zeros in beyond m,
 * n and k, for the scales, too. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_scaled_args *args, struct place place,
                     struct pipeline_state *state, int item, int end) {
    struct tiles *tiles = &shared->memory.tiles;
    NO_UNROLL for (; item < end && item < k_tiles_of_cta(&args->gemm); ++item) {
        const int k_tile = k_tile_at(&args->gemm, item);
        mbarrier_t *full = &shared->ring[state->index].full;
        /* All consumer warps have read the stage; then announces the bytes. mbarrier.try_wait,
         * .arrive.expect_tx */
        producer_acquire(shared->ring, *state, STAGE_BYTES);
        tma_load(tiles->b[state->index], &args->gemm.map_b, place.n * BN, k_tile * BK, full);
        tma_load(tiles->a[state->index], &args->gemm.map_a, place.m * BM, k_tile * BK, full);
        tma_load(tiles->scale_a[state->index], &args->map_scale_a, k_tile, place.m * BM, full);
        tma_load(tiles->scale_b[state->index], &args->map_scale_b, place.n * BN / SCALE_BLOCK,
                 k_tile / SCALES_B * SCALES_B, full);
        pipeline_advance(state, STAGES);
    }
}

/* Issues acc = b * a': 64 columns of D times BM rows, four steps along k. In shared memory rows are
 * 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. One
 * warpgroup. */
DEVICE void multiply(float acc[BM / 2], const e4m3_t *b, const e4m3_t *a) {
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3(BM, acc, b_tile + along_k, a_tile + along_k, step > 0);
    }
}

/* Loads the factors of half of this thread's accumulators, those of BM / 2 rows of A, from the
 * k-tile at `state`. They are in BM / 8 rows, in pairs of neighbours: rows 8 j + 2 (lane % 4) and
 * the next. `place`: of the scale of B among those that the TMA fetched. Any thread. */
DEVICE void load_scales(float scale[BM / 8], const struct smem *shared,
                        struct pipeline_state state, int place, int half) {
    const float *scale_a = &shared->memory.tiles.scale_a[state.index][half * (BM / 2)];
    const float b =
        bits_to_float(ld_shared_b32(&shared->memory.tiles.scale_b[state.index][place]));
    UNROLL for (int j = 0; j < BM / 16; ++j) {
        const struct b64 pair = ld_shared_b64(&scale_a[8 * j + threadIdx.x % 4 * 2]);
        memcpy(&scale[2 * j], &pair, sizeof pair);
        UNROLL for (int i = 2 * j; i < 2 * j + 2; ++i) scale[i] *= b;
    }
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, float acc[BM / 2],
                         int consumer) {
    const struct tiles *tiles = &shared->memory.tiles;
    /* All bytes of the k-tile have arrived, its scales among them. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* The promotion's reads of the accumulators come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, &tiles->b[state->index][consumer * 64 * BK], tiles->a[state->index]);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Adds the sums of 128 products, which are complete, to the sums in fp32, times the scales of this
 * thread's rows of A, and releases the stage. There are registers for half of the scales: `scale`
 * has the first half's. One warpgroup. */
DEVICE void finish_k_tile(struct smem *shared, struct pipeline_state *state, int place,
                          float sum[BM / 2], float acc[BM / 2], float scale[BM / 8]) {
    wgmma_promote_columns(sum, acc, scale, BM / 4);
    load_scales(scale, shared, *state, place, 1);
    wgmma_promote_columns(&sum[BM / 4], &acc[BM / 4], scale, BM / 4);
    /* This thread's reads of the scales come before the TMA's next write to their stage.
     * fence.proxy.async */
    fence_proxy_async();
    /* All lanes have read their scales, and then one arrives. bar.warp.sync */
    __syncwarp();
    /* mbarrier.arrive */
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    pipeline_advance(state, STAGES);
}

/* Multiplies and promotes the CTA's k-tiles, two at a time, and leaves the sums in shared memory.
 * One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int consumer) {
    const int k_tiles = k_tiles_of_cta(args);
    float first[BM / 2], second[BM / 2], sum[BM / 2] = {0}, scale[BM / 8];
    struct pipeline_state issue = {0, 0}, done = {0, 0}; /* the next to multiply, to release */
    NO_UNROLL for (int item = 0; item + 1 < k_tiles; item += 2) {
        const int place = k_tile_at(args, item) % SCALES_B;
        const int next_place = k_tile_at(args, item + 1) % SCALES_B;
        issue_k_tile(shared, &issue, first, consumer);
        issue_k_tile(shared, &issue, second, consumer);
        load_scales(scale, shared, done, place, 0);
        /* The first k-tile's sums are complete, and A and B have been read. The second stays under
         * way. wgmma.wait_group */
        wgmma_wait_group(1);
        finish_k_tile(shared, &done, place, sum, first, scale);
        load_scales(scale, shared, done, next_place, 0);
        /* So are the second's. wgmma.wait_group */
        wgmma_wait_group(0);
        finish_k_tile(shared, &done, next_place, sum, second, scale);
    }
    if (k_tiles % 2) {
        const int place = k_tile_at(args, k_tiles - 1) % SCALES_B;
        issue_k_tile(shared, &issue, first, consumer);
        load_scales(scale, shared, done, place, 0);
        /* The last k-tile has no other beside it. wgmma.wait_group */
        wgmma_wait_group(0);
        finish_k_tile(shared, &done, place, sum, first, scale);
    }
    /* All consumer warps have read their last stage, and no load is under way, so the sums may
     * overwrite the ring. bar.sync */
    named_barrier_sync(1, 128 * CONSUMERS);
    column_sum_put(shared->memory.sums + consumer * 64, PITCH, sum, BM / 2);
}

/* Adds up this CTA's share of the tile over the cluster and stores it. All threads. */
DEVICE void store_tile(struct smem *shared, const struct gemm_args *args, struct place place) {
    enum { CHUNKS = BN / SUM_CHUNK }; /* of a row */
    const int rows_left = args->m - place.m * BM, rows = rows_left < BM ? rows_left : BM;
    NO_UNROLL for (int i = cluster_rank() * THREADS + threadIdx.x; i < rows * CHUNKS;
                   i += args->splits * THREADS) {
        const int chunk = i % CHUNKS * SUM_CHUNK;
        float sum[SUM_CHUNK];
        column_sum_get(&shared->memory.sums[i / CHUNKS * PITCH + chunk], args->splits, sum);
        column_sum_store(args, place.m * BM + i / CHUNKS, place.n * BN + chunk, 1.0f, sum);
    }
}

KERNEL(THREADS, CTAS_PER_SM) kernel(KERNEL_ARGS_OF(struct gemm_scaled_args) args) {
    SHARED_MEMORY(struct smem);
    const int warpgroup = warp_index() / 4;
    const struct place place = place_of(&args.gemm, blockIdx.x / args.gemm.splits);
    const bool loads = threadIdx.x == 0;
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    if (loads) {
        pipeline_init(shared->ring, STAGES, CONSUMERS * 4);
        /* The TMA signals these barriers. fence.mbarrier_init */
        fence_mbarrier_init();
        /* The first round needs no wait, and a short main loop waits for its first bytes. */
        producer(shared, &args, place, &state, 0, STAGES);
    }
    /* The barriers are initialized before others use them. bar.sync */
    __syncthreads();
    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (loads) producer(shared, &args, place, &state, STAGES, args.gemm.tiles_k);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args.gemm, warpgroup - 1);
    }
    /* The sums of all CTAs that share the k loop are complete. barrier.cluster, bar.sync */
    if (args.gemm.splits > 1) cluster_sync();
    else __syncthreads();
    store_tile(shared, &args.gemm, place);
    /* No CTA exits while a peer may still read its memory. barrier.cluster */
    if (args.gemm.splits > 1) cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_scaled_args args = gemm_scaled_args_of(p, BM, BN, BK);
    struct gemm_args *gemm = &args.gemm;
    if (gemm_tensor_map(&gemm->map_a, GEMM_E4M3, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, GEMM_E4M3, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_scale_a, GEMM_FP32, p->scales.a, gemm->tiles_k, p->m,
                        p->scales.pitch_a, 1, BM, SWIZZLE_NONE) ||
        gemm_tensor_map(&args.map_scale_b, GEMM_FP32, p->scales.b, gemm->tiles_n, gemm->tiles_k,
                        p->scales.pitch_b, 1, SCALES_B, SWIZZLE_NONE))
        return GEMM_UNSUPPORTED;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, 1, stream);
    const int tiles = gemm->tiles_m * gemm->tiles_n;
    gemm->splits = cluster_splits(launch, tiles, gemm->tiles_k);
    launch.grid = tiles * gemm->splits;
    launch.cluster = gemm->splits;
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "11_fp8_scaling", .variant = GEMM_VARIANT,
    .technique = "few rows: a warpgroup promotes while its own next multiplications are under way",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
