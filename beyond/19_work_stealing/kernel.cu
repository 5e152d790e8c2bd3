/*
 * 19_work_stealing: CTAs take the tiles of CTAs that have not begun.
 *
 * The idea: the grid has a CTA for each tile, as in chapter 07, and yet a CTA stays for many, as in
 * chapter 08. A thread asks the hardware for the next tile while this one is multiplied. No SM
 * waits for another that was given as many tiles and got less time. What it costs: a question for
 * each tile, and a ring of answers that every role has to read. Compiled and simulated, never run
 * on a card.
 */
#include "gemm.h"
#include "blackwell/cluster_launch.h"
#include "blackwell/tcgen05.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/tma.h"

#ifndef STAGES
#define STAGES 4 /* depth of the ring, 1 to 4 */
#endif
#ifndef CTAS
#define CTAS 1 /* of an SM, 1 or 2 */
#endif
#ifndef SUMS
#define SUMS 2 /* sets of accumulators, 1 or 2 */
#endif

enum {
    BM = 128, BN = 256, BK = 64, /* the CTA's tile */
    STORE_N = 64,                /* columns of D that are stored at a time */
    BUFFERS = 2,                 /* staging buffers */
    EPILOGUE = 128,              /* the first warpgroup stores; then come the producer's warp ... */
    PRODUCER_WARP = EPILOGUE / 32,
    ISSUER_WARP,                 /* ... that of the thread that multiplies ... */
    SCHEDULER_WARP,              /* ... and that of the thread that asks for tiles */
    THREADS = EPILOGUE + 3 * 32,
    ANSWERS = 2,                 /* in the ring; a CTA holds so many tiles besides its own */
    READERS = EPILOGUE + 3,      /* threads that read an answer */
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    element_t a[STAGES][BM * BK];       /* [stage][row][k], 128 B swizzle */
    element_t b[STAGES][BN * BK];       /* [stage][column][k], 128 B swizzle */
    element_t d[BUFFERS][BM * STORE_N]; /* [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by a commit */
    struct pipeline_stage sums[SUMS];   /* filled by a commit, released by the epilogue's threads */
    struct b128 answer[ANSWERS];        /* the next tiles */
    struct pipeline_stage answers[ANSWERS];
    uint32_t tensor_memory; /* where the sums are */
};

/* The tile after this one; -1: there is none. Every thread that has to know. */
DEVICE int next_tile(struct smem *shared, struct pipeline_state *state) {
    /* The answer has arrived. mbarrier.try_wait */
    consumer_wait(shared->answers, *state);
    const struct b128 answer = ld_shared_b128(&shared->answer[state->index]);
    /* It has been read before another comes, through the async proxy. fence.proxy.async,
     * mbarrier.arrive */
    fence_proxy_async();
    consumer_release(shared->answers, *state);
    pipeline_advance(state, ANSWERS);
    return cluster_is_canceled(answer) ? cluster_first_cta(answer) : -1;
}

/* Asks for tile after tile, until there is none. One thread. */
DEVICE void scheduler(struct smem *shared) {
    struct pipeline_state state = {0, 1}, answers = {0, 0};
    do {
        /* All have read the answer before; then announces 16 bytes. mbarrier.try_wait,
         * .arrive.expect_tx */
        producer_acquire(shared->answers, state, sizeof(struct b128));
        cluster_try_cancel(&shared->answer[state.index], &shared->answers[state.index].full);
        pipeline_advance(&state, ANSWERS);
    } while (next_tile(shared, &answers) >= 0);
}

/* Fills the ring with all k-tiles of tile after tile. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    struct pipeline_state answers = {0, 0};
    for (int number = blockIdx.x; number >= 0; number = next_tile(shared, &answers)) {
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* The multiplications that read the stage are complete; then announces the bytes.
             * mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            tma_load(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
            tma_load(shared->b[state.index], &args->map_b, tile.n * BN, k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
    }
    /* The commits arrive at this CTA's barriers, so it stays until they have. mbarrier.try_wait */
    producer_tail(shared->ring, state, STAGES);
}

/* Starts D = A * B, or D += A * B, for a k-tile: 128 x 256 x 16 at a time, four steps along k. One
 * thread. */
DEVICE void multiply(uint32_t d, const element_t *a, const element_t *b, bool accumulate) {
    const uint64_t a_tile = tcgen05_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = tcgen05_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step) {
        const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
        tcgen05_mma(1, d, a_tile + along_k, b_tile + along_k, tcgen05_instruction(BM, BN),
                    accumulate || step > 0);
    }
}

/* Multiplies tile after tile. One thread, a consumer of the ring and the producer of the sums. */
DEVICE void issuer(struct smem *shared, const struct gemm_args *args, uint32_t tensor_memory) {
    struct pipeline_state state = {0, 0}, sums = {0, 1}, answers = {0, 0};
    for (int number = blockIdx.x; number >= 0; number = next_tile(shared, &answers)) {
        /* The epilogue has read the tile that was here before. mbarrier.try_wait.relaxed */
        mbarrier_wait_relaxed(&shared->sums[sums.index].empty, sums.phase);
        /* Its loads come before these multiplications. tcgen05.fence::after_thread_sync */
        tcgen05_fence_after();
        const uint32_t d = tensor_memory + sums.index * BN;
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            /* All bytes of the k-tile have arrived. mbarrier.try_wait */
            consumer_wait(shared->ring, state);
            multiply(d, shared->a[state.index], shared->b[state.index], k_tile > 0);
            /* Releases the stage when these multiplications are complete. tcgen05.commit */
            tcgen05_commit(1, &shared->ring[state.index].empty);
            pipeline_advance(&state, STAGES);
        }
        /* The sums are full when all multiplications are complete. tcgen05.commit */
        tcgen05_commit(1, &shared->sums[sums.index].full);
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
    struct pipeline_state sums = {0, 0}, answers = {0, 0};
    for (int number = blockIdx.x; number >= 0; number = next_tile(shared, &answers)) {
        const struct tile tile = tile_at(number, args->tiles_m, args->tiles_n);
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
                 * tcgen05.fence::before_thread_sync, mbarrier.arrive.relaxed */
                tcgen05_fence_before();
                mbarrier_arrive_relaxed(&shared->sums[sums.index].empty);
            }
            store(shared->d[column / STORE_N % BUFFERS], args, tile.m * BM, tile.n * BN + column,
                  values);
        }
        pipeline_advance(&sums, SUMS);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (threadIdx.x == 0) bulk_wait_group(0);
}

KERNEL(THREADS, CTAS) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index();

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, 1);
        pipeline_init(shared->sums, SUMS, EPILOGUE);
        pipeline_init(shared->answers, ANSWERS, READERS);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    if (warp == ISSUER_WARP) {
        /* The columns of all sets; and the CTA will ask for no more. tcgen05.alloc,
         * .relinquish_alloc_permit */
        tcgen05_alloc(1, &shared->tensor_memory, SUMS * BN);
        tcgen05_relinquish(1);
    }
    /* The barriers are initialized, the columns allocated before any other thread uses one.
     * bar.sync */
    __syncthreads();
    const uint32_t tensor_memory = ld_shared_b32(&shared->tensor_memory);

    if (warp == PRODUCER_WARP) {
        if (elect_one()) producer(shared, &args);
    } else if (warp == ISSUER_WARP) {
        if (elect_one()) issuer(shared, &args, tensor_memory);
    } else if (warp == SCHEDULER_WARP) {
        if (elect_one()) scheduler(shared);
    } else {
        epilogue(shared, &args, tensor_memory);
    }
    /* The lane that had a role is back: what follows is for whole warps. bar.warp.sync */
    __syncwarp();
    /* The epilogue has read the last tile. bar.sync */
    __syncthreads();
    if (warp == ISSUER_WARP) tcgen05_dealloc(1, tensor_memory, SUMS * BN);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    const enum gemm_type type = ELEMENT_TYPE;
    if (gemm_tensor_map(&args.map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, type, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, type, p->d, p->m, p->n, p->ldd, BM, STORE_N, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    return gemm_launch_grid(&GEMM_KERNEL, args.tiles_m * args.tiles_n, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "19_work_stealing", .variant = GEMM_VARIANT,
    .technique = "Blackwell: CTAs take the tiles of CTAs that have not begun",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .machine = MACHINE_BLACKWELL,
};
