/*
 * 10_stream_k, split_reduce.cu: where D has fewer tiles than the GPU has SMs, several CTAs share a
 * tile's k loop.
 *
 * The idea: a CTA computes a part of a tile, `args.splits` parts to a tile, one part to a CTA. Its
 * sums are fp32, and the TMA adds them to a workspace (reduce-add): in the L2, in no particular
 * order. What it costs: zeroing the workspace before, converting it after, four bytes for every
 * element and part, and reproducibility: fp32 sums depend on their order, so two runs may differ in
 * the last place unless every sum is exact. (split_k.cu adds in a fixed order, at the price
 * of two cluster barriers.) What it hides: nothing; it puts idle SMs to work.
 */
#include "gemm.h"
#include "building_blocks/chunk_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 6 /* depth of the ring, 2 to 6 */
#endif

enum {
    BM = 128, BN = 128, BK = 64, /* the CTA's tile */
    CONSUMERS = 2,               /* warpgroups, on 64 rows of it each */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
    ROWS = 64, COLUMNS = 32, /* of the epilogue tile that one reduction adds; 128 bytes wide */
    BUFFERS = 2,             /* epilogue tiles of staging per consumer */
    LEAST_K_TILES = 4,       /* of a part: fewer are not worth a reduction */
    CONVERT_THREADS = 128,   /* of the kernel that converts the sums */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    float sums[CONSUMERS][BUFFERS][ROWS * COLUMNS]; /* staging: [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES];             /* released by the eight warps */
};

/* Issues acc += a * b for a k-tile: 64 x 128 x 16 at a time, four steps along k. Rows of a tile are
 * 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. A warpgroup. */
DEVICE void multiply(float acc[BN / 2], const element_t *a, const element_t *b, bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step) {
        const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
        wgmma_m64nNk16(128, acc, a_tile + along_k, b_tile + along_k, accumulate || step > 0);
    }
}

/* Writes an epilogue tile of sums to staging memory. Two lanes whose chunks the swizzle brings to
 * the same banks write their two words in opposite order, so that no bank serves two words at once.
 * A warpgroup. */
DEVICE void stage_epilogue_tile(float *staging, const float acc[COLUMNS / 2]) {
    const int lane = threadIdx.x % 32, odd = lane % 4 / 2;
    UNROLL for (int i = 0; i < COLUMNS / 2; i += 2) {
        const int row = threadIdx.x % 128 / 32 * 16 + i % 4 / 2 * 8 + lane / 4;
        const int chunk = (2 * (i / 4) + odd) ^ row % 8; /* of 16 bytes */
        float *pair = &staging[row * COLUMNS + chunk * 4 + lane % 2 * 2];
        const float sums[2] = {odd ? acc[i + 1] : acc[i], odd ? acc[i] : acc[i + 1]};
        uint32_t words[2];
        memcpy(words, sums, sizeof words);
        UNROLL for (int word = 0; word < 2; ++word) st_shared_b32(&pair[word ^ odd], words[word]);
    }
}

/* Adds a warpgroup's accumulators to the workspace, epilogue tile by epilogue tile: one is staged
 * while the TMA adds the ones before. One warpgroup. */
DEVICE void add_tile(struct smem *shared, const struct gemm_args *args, struct tile tile,
                     int consumer, float acc[BN / 2]) {
    const bool elected = threadIdx.x % 128 == 0;
    UNROLL for (int block = 0; block < BN / COLUMNS; ++block) {
        float *staging = shared->sums[consumer][block % BUFFERS];
        /* The last reduction from this buffer has read it. Only the elected thread waits for that;
         * the barrier keeps the others from writing too early.
         * cp.async.bulk.wait_group.read, bar.sync */
        if (elected) bulk_wait_group_read(BUFFERS - 1);
        named_barrier_sync(1 + consumer, 128);
        stage_epilogue_tile(staging, &acc[block * COLUMNS / 2]);
        /* Every thread's writes come before the TMA's read: each thread fences its own, then the
         * barrier collects all threads. fence.proxy.async, bar.sync */
        fence_proxy_async();
        named_barrier_sync(1 + consumer, 128);
        if (elected) {
            tma_reduce_add(&args->map_d, tile.m * BM + consumer * ROWS,
                           tile.n * BN + block * COLUMNS, staging);
            bulk_commit_group();
        }
    }
    /* The reductions have read the staging memory before the CTA ends.
     * cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

/* Fills the ring with the part's k-tiles. The TMA fills zeros in beyond k. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args, struct tile tile,
                     int part) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    const int first = part * args->tiles_k;
    NO_UNROLL for (int k_tile = first; k_tile < first + args->tiles_k; ++k_tile) {
        mbarrier_t *full = &shared->ring[state.index].full;
        /* Eight warps have read the stage; then announces the bytes.
         * mbarrier.try_wait, .arrive.expect_tx */
        producer_acquire(shared->ring, state, STAGE_BYTES);
        tma_load(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
        tma_load(shared->b[state.index], &args->map_b, tile.n * BN, k_tile * BK, full);
        pipeline_advance(&state, STAGES);
    }
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, int consumer,
                         float acc[BN / 2], bool accumulate) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, &shared->a[state->index][consumer * ROWS * BK], shared->b[state->index],
             accumulate);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Multiplies its rows of the part and adds them to the workspace. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, struct tile tile,
                     int consumer) {
    float acc[BN / 2] = {0};
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    /* Prologue: a group that will stay in flight. There is nothing to release yet. */
    issue_k_tile(shared, &state, consumer, acc, false);
    NO_UNROLL for (int k_tile = 1; k_tile < args->tiles_k; ++k_tile) {
        issue_k_tile(shared, &state, consumer, acc, true);
        /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
         * wgmma.wait_group, mbarrier.arrive */
        wgmma_wait_group(1);
        if (threadIdx.x % 32 == 0) consumer_release(shared->ring, release);
        pipeline_advance(&release, STAGES);
    }
    /* The accumulators are complete. wgmma.wait_group */
    wgmma_wait_group(0);
    add_tile(shared, args, tile, consumer, acc);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warpgroup = warp_index() / 4, tiles = args.tiles_m * args.tiles_n;
    const struct tile tile = tile_at(blockIdx.x % tiles, args.tiles_m, args.tiles_n);

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, 4 * CONSUMERS);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();
    if (warpgroup > 0)
        consumer(shared, &args, tile, warpgroup - 1);
    else if (threadIdx.x == 0)
        producer(shared, &args, tile, blockIdx.x / tiles);
}

/* ---- the conversion ---- */

/* The workspace holds m rows of sums, [row][column], whose pitch is a whole number of chunks. */
#define CHUNKS_OF(n) (((int64_t)(n) + CHUNK - 1) / CHUNK)

/* Converts the sums of the workspace, which are complete because the kernel before has ended. */
KERNEL_ASIDE(CONVERT_THREADS, 1) convert_sums(KERNEL_ARGS args) {
    const int64_t chunks = args.m * CHUNKS_OF(args.n), step = (int64_t)gridDim.x * CONVERT_THREADS;
    int64_t chunk = (int64_t)blockIdx.x * CONVERT_THREADS + threadIdx.x;
    for (; chunk < chunks; chunk += step) {
        const int row = chunk / CHUNKS_OF(args.n), column = chunk % CHUNKS_OF(args.n) * CHUNK;
        const float *from = args.workspace + chunk * CHUNK;
        const struct b128 halves[2] = {ld_global_b128(from), ld_global_b128(from + 4)};
        float sum[CHUNK];
        memcpy(sum, halves, sizeof sum);
        store_chunk(&args, row, column, sum);
    }
}

/* Enqueues the conversion. Host thread. */
static enum gemm_status launch_convert_sums(const struct gemm_args *args, void *stream) {
    enum { CTAS_PER_SM = 8 };
    const int64_t ctas = (args->m * CHUNKS_OF(args->n) + CONVERT_THREADS - 1) / CONVERT_THREADS;
    const int most = CTAS_PER_SM * gemm_sm_count();
    const struct gemm_launch launch = {.kernel = (const void *)convert_sums,
                                       .name = "convert_sums",
                                       .grid = ctas < most ? (int)ctas : most, .cluster = 1,
                                       .threads = CONVERT_THREADS, .smem_bytes = 0,
                                       .stream = stream};
    return gemm_launch_kernel(&launch, args);
}

/* ---- the launch ---- */

static size_t workspace_bytes(const struct gemm_problem *problem) {
    return (size_t)problem->m * CHUNKS_OF(problem->n) * CHUNK * sizeof(float);
}

static enum gemm_status launch(const struct gemm_problem *problem, void *stream) {
    struct gemm_args args = gemm_args_of(problem, BM, BN, BK);
    const int tiles = args.tiles_m * args.tiles_n, k_tiles = args.tiles_k, sms = gemm_sm_count();
    /* As many parts as fill the SMs, all of the same length: args.tiles_k k-tiles from here on. */
    const int fill = sms < tiles ? 1 : sms / tiles, most = ceil_div(k_tiles, LEAST_K_TILES);
    args.tiles_k = ceil_div(k_tiles, fill < most ? fill : most);
    args.splits = ceil_div(k_tiles, args.tiles_k);
    if (gemm_tensor_map(&args.map_a, ELEMENT_TYPE, args.a, args.m, args.k, args.lda, BM, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, ELEMENT_TYPE, args.b, args.n, args.k, args.ldb, BN, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, GEMM_FP32, args.workspace, args.m, args.n,
                        CHUNKS_OF(args.n) * CHUNK, ROWS, COLUMNS, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    enum gemm_status status = gemm_zero(args.workspace, workspace_bytes(problem), stream);
    if (status == GEMM_OK)
        status = gemm_launch_grid(&GEMM_KERNEL, tiles * args.splits, &args, stream);
    return status == GEMM_OK ? launch_convert_sums(&args, stream) : status;
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "10_stream_k", .variant = GEMM_VARIANT,
    .technique = "split k: partial sums added by the TMA",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = workspace_bytes,
};
