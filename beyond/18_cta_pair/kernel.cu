/*
 * 18_cta_pair: one thread multiplies on two SMs.
 *
 * The idea: with .cta_group::2 the Tensor Cores of a CTA pair work on one tile of 256 x 256. Each
 * CTA loads its 128 rows of A and half of the columns of B, and keeps 128 rows of the sums. A stage
 * takes 32 KB of each CTA instead of 48, so the ring has six. What it costs: the two CTAs depend on
 * each other from the first instruction to the last. Compiled and simulated, never run on a card.
 */
#include "gemm.h"
#include "blackwell/tcgen05.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/tma.h"

#ifndef STAGES
#define STAGES 6 /* depth of the ring, 2 to 6 */
#endif
#ifndef SUMS
#define SUMS 2 /* sets of accumulators, 1 or 2 */
#endif

enum {
    BM = 128, BN = 256, BK = 64, /* the CTA's rows of the pair's tile, 256 x 256 */
    CLUSTER = 2,                 /* the pair */
    STORE_N = 64,                /* columns of D that are stored at a time */
    BUFFERS = 2,                 /* staging buffers */
    EPILOGUE = 128,              /* the first warpgroup stores; then come the producer's warp ... */
    PRODUCER_WARP = EPILOGUE / 32,
    ISSUER_WARP,                 /* ... and that of the thread that multiplies */
    THREADS = EPILOGUE + 2 * 32,
    STAGE_BYTES = (BM + BN / 2) * BK * sizeof(element_t), /* of a k-tile, for each CTA */
};

struct smem {
    element_t a[STAGES][BM * BK];       /* [stage][row][k], 128 B swizzle */
    element_t b[STAGES][BN / 2 * BK];   /* [stage][column][k]: half of the columns */
    element_t d[BUFFERS][BM * STORE_N]; /* [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by a commit */
    struct pipeline_stage sums[SUMS];   /* filled by a commit, released by the epilogue's threads */
    uint32_t tensor_memory;             /* where the sums are */
};

/* The CTA's tile row and the tile column, of the pair's tile with this number. */
DEVICE struct tile pair_tile(const struct gemm_args *args, int number) {
    struct tile tile = tile_at(number, (args->tiles_m + 1) / CLUSTER, args->tiles_n);
    tile.m = tile.m * CLUSTER + (int)cluster_rank();
    return tile;
}

/* Fills the ring with all k-tiles of tile after tile: the CTA's rows of A and its half of the
 * columns of B. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    const int half = (int)cluster_rank() * (BN / 2); /* of the columns */
    for (int number = blockIdx.x / CLUSTER; number < args->items; number += gridDim.x / CLUSTER) {
        const struct tile tile = pair_tile(args, number);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* The multiplications that read the stage are complete. mbarrier.try_wait */
            mbarrier_wait(&shared->ring[state.index].empty, state.phase);
            /* The even CTA announces the bytes of both. mbarrier.arrive.expect_tx */
            if (cluster_rank() == 0) mbarrier_arrive_expect_tx(full, CLUSTER * STAGE_BYTES);
            tma_load_pair(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
            tma_load_pair(shared->b[state.index], &args->map_b, tile.n * BN + half, k_tile * BK,
                          full);
            pipeline_advance(&state, STAGES);
        }
    }
    /* The commits arrive at this CTA's barriers, so it stays until they have. mbarrier.try_wait */
    producer_tail(shared->ring, state, STAGES);
}

/* Starts D = A * B, or D += A * B, for a k-tile: 256 x 256 x 16 at a time, four steps along k. One
 * thread of the even CTA. */
DEVICE void multiply(uint32_t d, const element_t *a, const element_t *b, bool accumulate) {
    const uint64_t a_tile = tcgen05_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = tcgen05_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step) {
        const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
        tcgen05_mma(2, d, a_tile + along_k, b_tile + along_k, tcgen05_instruction(2 * BM, BN),
                    accumulate || step > 0);
    }
}

/* Multiplies tile after tile. One thread of the even CTA, a consumer of the ring and the producer
 * of the sums. */
DEVICE void issuer(struct smem *shared, const struct gemm_args *args, uint32_t tensor_memory) {
    struct pipeline_state state = {0, 0}, sums = {0, 1};
    for (int number = blockIdx.x / CLUSTER; number < args->items; number += gridDim.x / CLUSTER) {
        /* Both epilogues have read the tile that was here before. mbarrier.try_wait.relaxed */
        mbarrier_wait_relaxed(&shared->sums[sums.index].empty, sums.phase);
        /* Their loads come before these multiplications. tcgen05.fence::after_thread_sync */
        tcgen05_fence_after();
        const uint32_t d = tensor_memory + sums.index * BN;
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            /* The bytes of both CTAs have arrived. mbarrier.try_wait */
            consumer_wait(shared->ring, state);
            multiply(d, shared->a[state.index], shared->b[state.index], k_tile > 0);
            /* Releases the stage in both CTAs when these multiplications are complete.
             * tcgen05.commit.multicast::cluster */
            tcgen05_commit_multicast(2, &shared->ring[state.index].empty, (1 << CLUSTER) - 1);
            pipeline_advance(&state, STAGES);
        }
        /* The sums are full when all multiplications are complete. tcgen05.commit */
        tcgen05_commit_multicast(2, &shared->sums[sums.index].full, (1 << CLUSTER) - 1);
        pipeline_advance(&sums, SUMS);
    }
}

/* Writes this thread's row of the staging buffer: 64 columns, 16 bytes at a time. */
DEVICE void stage_row(element_t *staging, const float values[STORE_N]) {
    const int row = threadIdx.x;
    UNROLL for (int chunk = 0; chunk < STORE_N / 8; ++chunk) {
        struct b128 packed;
        UNROLL for (int i = 0; i < 4; ++i)
            packed.word[i] =
                pack_elements(values[8 * chunk + 2 * i], values[8 * chunk + 2 * i + 1]);
        st_shared_b128(&staging[row * STORE_N + (chunk ^ row % 8) * 8], packed);
    }
}

/* Stores 128 x 64 of the tile, a row for each thread: by the TMA, or at D's right edge, if that is
 * no multiple of 16 bytes, from registers. A warpgroup. */
DEVICE void store(element_t *staging, const struct gemm_args *args, int first_row, int first_column,
                  const float values[STORE_N]) {
    const bool elected = threadIdx.x == 0;
    if (args->n % 8 != 0 && first_column + STORE_N > args->n) {
        const int row = first_row + threadIdx.x;
        UNROLL for (int i = 0; i < STORE_N; ++i)
            if (row < args->m && first_column + i < args->n)
                st_global_element(&args->d[row * args->ldd + first_column + i],
                                  float_to_element(values[i]));
    } else {
        /* The last store from this buffer has read it. cp.async.bulk.wait_group.read, bar.sync */
        if (elected) bulk_wait_group_read(BUFFERS - 1);
        named_barrier_sync(1, EPILOGUE);
        stage_row(staging, values);
        /* What every thread has written comes before the TMA's reading. fence.proxy.async,
         * bar.sync */
        fence_proxy_async();
        named_barrier_sync(1, EPILOGUE);
        if (elected) tma_store(&args->map_d, first_row, first_column, staging);
    }
    /* A group for each piece, empty at the edge, so that the wait above counts them. */
    if (elected) bulk_commit_group();
}

/* Stores tile after tile. The first warpgroup, which reaches all 128 lanes. */
DEVICE void epilogue(struct smem *shared, const struct gemm_args *args, uint32_t tensor_memory) {
    const uint32_t lanes = (uint32_t)warp_index() * 32 << 16; /* this warp's */
    struct pipeline_state sums = {0, 0};
    for (int number = blockIdx.x / CLUSTER; number < args->items; number += gridDim.x / CLUSTER) {
        const struct tile tile = pair_tile(args, number);
        /* The tile's multiplications are complete. mbarrier.try_wait.relaxed */
        mbarrier_wait_relaxed(&shared->sums[sums.index].full, sums.phase);
        /* They come before these loads. tcgen05.fence::after_thread_sync */
        tcgen05_fence_after();
        NO_UNROLL for (int column = 0; column < BN; column += STORE_N) {
            float values[STORE_N];
            tcgen05_load(64, values, tensor_memory + lanes + sums.index * BN + column);
            /* This thread has its values. tcgen05.wait::ld */
            tcgen05_wait_load();
            if (column + STORE_N == BN) {
                /* They were the last of its row: the issuer may overwrite it.
                 * tcgen05.fence::before_thread_sync, mbarrier.arrive.relaxed.cluster */
                tcgen05_fence_before();
                mbarrier_arrive_remote_relaxed(&shared->sums[sums.index].empty, 0);
            }
            store(shared->d[column / STORE_N % BUFFERS], args, tile.m * BM, tile.n * BN + column,
                  values);
        }
        pipeline_advance(&sums, SUMS);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (threadIdx.x == 0) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index();

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, 1);
        pipeline_init(shared->sums, SUMS, CLUSTER * EPILOGUE);
        /* The TMA signals these barriers, and so does the other CTA. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* Both CTAs have begun. barrier.cluster */
    cluster_sync_relaxed();
    if (warp == ISSUER_WARP) {
        /* All columns of both CTAs, which will ask for no more. tcgen05.alloc,
         * .relinquish_alloc_permit */
        tcgen05_alloc(2, &shared->tensor_memory, TENSOR_COLUMNS);
        tcgen05_relinquish(2);
    }
    /* The barriers are initialized, the columns allocated before any other thread uses one.
     * barrier.cluster */
    cluster_sync();
    const uint32_t tensor_memory = ld_shared_b32(&shared->tensor_memory);

    if (warp == PRODUCER_WARP) {
        if (elect_one()) producer(shared, &args);
    } else if (warp == ISSUER_WARP) {
        if (cluster_rank() == 0 && elect_one()) issuer(shared, &args, tensor_memory);
    } else {
        epilogue(shared, &args, tensor_memory);
    }
    /* The lane that had a role is back: what follows is for whole warps. bar.warp.sync */
    __syncwarp();
    /* Both epilogues have read the last tile. barrier.cluster */
    cluster_sync();
    if (warp == ISSUER_WARP) tcgen05_dealloc(2, tensor_memory, TENSOR_COLUMNS);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    const enum gemm_type type = ELEMENT_TYPE;
    if (gemm_tensor_map(&args.map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, type, p->b, p->n, p->k, p->ldb, BN / 2, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, type, p->d, p->m, p->n, p->ldd, BM, STORE_N, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, CLUSTER, stream);
    const int resident = gemm_resident_clusters(&launch);
    args.items = ceil_div(args.tiles_m, CLUSTER) * args.tiles_n;
    launch.grid = (args.items < resident ? args.items : resident) * CLUSTER;
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "18_cta_pair", .variant = GEMM_VARIANT,
    .technique = "Blackwell: one thread multiplies on the Tensor Cores of two SMs",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .machine = MACHINE_BLACKWELL,
};
