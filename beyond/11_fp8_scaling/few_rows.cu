/*
 * 11_fp8_scaling, few_rows.cu: few rows of A, where memory sets the speed.
 *
 * The idea: with few rows every byte of B is used only a few times, so as many SMs as possible have
 * to read B at the same time. The product is computed transposed: the 64 rows of an instruction are
 * columns of D, of which there are many, and its N, 8 to 128, are rows of A. So the Tensor Core
 * multiplies few empty rows, and a tile has few bytes of A. There may be fewer tiles than SMs. Then
 * a cluster shares the k loop of a tile, and its CTAs add up their sums through distributed shared
 * memory. What it costs: a scale of A belongs to a column of the accumulators, so a promotion needs
 * many scales where kernel.cu needs two.
 */
#include "scaled/scales.h"
#ifndef BM
#define BM 16 /* rows of the CTA's tile: 8 to 128 in steps of 8 */
#endif
#ifndef STAGES
#define STAGES 6 /* depth of the ring */
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

#define CTAS_PER_SM 2
/* Registers: at launch as many for all, then the producer's for the consumers. */
#define PRODUCER_REGISTERS 32 /* 32 + 2 * 104 <= 3 * 80 */
#define CONSUMER_REGISTERS 104

enum {
    BN = SCALE_BLOCK, BK = SCALE_BLOCK, /* the CTA's tile: one scale of B at a time */
    CONSUMERS = BN / 64,                /* warpgroups, each with 64 columns of D */
    THREADS = 128 * (1 + CONSUMERS),
    SCALES_B = 4, /* scales that the TMA fetches, from a multiple of 16 bytes on; one is used */
    /* What the TMA delivers for one k-tile. */
    STAGE_BYTES = (BM + BN) * BK * sizeof(e4m3_t) + (BM + SCALES_B) * sizeof(float),
    PITCH = COLUMN_SUM_PITCH(BN), /* floats, of a row of sums */
};

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

/* Loads the factors of this thread's accumulators. They are in BM / 4 rows of A, in pairs of
 * neighbours: rows 8 j + 2 (lane % 4) and the next. Any thread. */
DEVICE void load_scales(float scale[BM / 4], const float *scale_a, const float *scale_b) {
    const float b = bits_to_float(ld_shared_b32(scale_b));
    UNROLL for (int j = 0; j < BM / 8; ++j) {
        const struct b64 pair = ld_shared_b64(&scale_a[8 * j + threadIdx.x % 4 * 2]);
        memcpy(&scale[2 * j], &pair, sizeof pair);
        UNROLL for (int i = 2 * j; i < 2 * j + 2; ++i) scale[i] *= b;
    }
}

/* Releases the stage, which this warp has read, to the producer. A whole warp. */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    /* All lanes have read their scales, and then one arrives. bar.warp.sync */
    __syncwarp();
    /* mbarrier.arrive */
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    pipeline_advance(state, STAGES);
}

/* Multiplies and promotes the CTA's k-tiles, and leaves the sums in shared memory. One
 * warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int consumer) {
    const struct tiles *tiles = &shared->memory.tiles;
    const int k_tiles = k_tiles_of_cta(args);
    float acc[BM / 2], sum[BM / 2] = {0};
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    bool full = false; /* the next stage, as far as this thread has tested it */
    NO_UNROLL for (int item = 0; item < k_tiles; ++item) {
        float scale[BM / 4];
        /* All bytes of the k-tile have arrived, its scales among them. mbarrier.try_wait */
        if (!full) consumer_wait(shared->ring, state);
        /* The promotion's reads of the accumulators come before the multiplications.
         * wgmma.fence */
        wgmma_fence();
        multiply(acc, &tiles->b[state.index][consumer * 64 * BK], tiles->a[state.index]);
        /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
        wgmma_commit_group();
        pipeline_advance(&state, STAGES);
        /* Under these multiplications: the scales, and whether the next k-tile has arrived. A wait
         * for it would keep this stage from its release. mbarrier.test_wait */
        full = item + 1 < k_tiles && consumer_test_wait(shared->ring, state);
        load_scales(scale, tiles->scale_a[release.index],
                    &tiles->scale_b[release.index][k_tile_at(args, item) % SCALES_B]);
        /* This thread's reads of the scales come before the TMA's next write to their stage.
         * fence.proxy.async */
        fence_proxy_async();
        /* The sums of 128 products are complete, and A and B have been read. wgmma.wait_group */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        /* Adds them to the sums in fp32, times the scales of this thread's rows of A. */
        wgmma_promote_columns(sum, acc, scale, BM / 2);
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
        gemm_tensor_map(&args.map_scale_a, GEMM_FP32, args.scales.a, gemm->tiles_k, p->m,
                        args.scales.pitch_a, 1, BM, SWIZZLE_NONE) ||
        gemm_tensor_map(&args.map_scale_b, GEMM_FP32, args.scales.b, gemm->tiles_n, gemm->tiles_k,
                        args.scales.pitch_b, 1, SCALES_B, SWIZZLE_NONE))
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
    .technique = "few rows: the product transposed, and a k loop that a cluster shares",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &scaled_kind,
};
