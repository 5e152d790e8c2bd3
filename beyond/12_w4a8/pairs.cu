/*
 * 12_w4a8, pairs.cu: a warpgroup promotes while its own next multiplications are under way.
 *
 * The idea: in kernel.cu a k-tile is a chain in its warpgroup. The next multiplications start after
 * the wait for the last ones and after their promotion. Here a warpgroup has two sets of
 * accumulators and issues two k-tiles at a time, a pair. It waits for the first of them, promotes
 * it and converts the next weights while the Tensor Core multiplies the second. What it costs:
 * registers, so that one CTA has an SM to itself; and unrolled code, because nvcc keeps
 * multiplications under way from one pass of a loop to the next only where no loop is.
 */
#include "scaled/scales.h"
#include "building_blocks/pipeline.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "cut.h"
#include "fragments.h"

#define BM 64 /* rows of the CTA's tile */
#ifndef STAGES
#define STAGES 10 /* depth of the ring, 2 to 13 */
#endif
#define PAIRS 8 /* of k-tiles: unrolled, until the Tensor Core drains */
#define CTAS_PER_SM 1
#define PRODUCER_REGISTERS 32 /* 32 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BN = W4_BLOCK,
    BK = W4_BLOCK, /* the tile's channels, and a k-tile: one block of weights */
    CONSUMERS = 2, /* warpgroups, each with 64 channels */
    THREADS = 128 * (1 + CONSUMERS),
    /* What the TMA delivers for one k-tile. */
    STAGE_BYTES = BM * BK * sizeof(e4m3_t) + W4_BLOCK_BYTES,
    FIRST_LOADS = 2,   /* k-tiles whose loads are under way before the consumers may begin */
    DONE_BARRIER = 13, /* named barrier: the ring is free, and the scales of A are there */
    LOADERS = 1,       /* warps that load; this and the next for column_store.h */
    TEAMS = 1,         /* sums of each element in a CTA */
};
#include "building_blocks/column_store.h"

struct tiles {
    e4m3_t a[STAGES][BM * BK];         /* [stage][row][k], 128 B swizzle */
    uint8_t b[STAGES][W4_BLOCK_BYTES]; /* [stage], as w4_block.h has it */
};

struct smem {
    union {
        struct tiles tiles;        /* in the main loop */
        float sums[1][BM * PITCH]; /* after it: [row][column], in column_sum.h's order */
    } memory;
    float scale[BM];                    /* of the tile's rows of A */
    struct pipeline_stage ring[STAGES]; /* released by every consumer warp */
};

/* Issues acc = weights * rows of A: 64 x BM x 32 at a time, four steps along k. A's rows are 128
 * bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. One warpgroup. */
DEVICE void multiply(float acc[BM / 2], const struct fragments *f, const e4m3_t *a) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    UNROLL
    for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3_rs(BM, acc, f->a[step], a_tile + along_k, step > 0);
    }
}

/* Fills the ring with this CTA's k-tiles, from number `first` up to `end`. The TMA fills zeros in
 * beyond m and k. One thread. */
DEVICE void producer(struct smem *shared, const struct w4a8_args *args, struct place place,
                     int first, int end) {
    struct tiles *tiles = &shared->memory.tiles;
    /* phase 1: the first round of acquires passes at once */
    struct pipeline_state state = {first, 1};
    NO_UNROLL
    for (int i = first; i < end && i < cluster_k_tiles(args->parts); ++i) {
        const int k_tile = i * args->gemm.splits + cluster_rank();
        mbarrier_t *full = &shared->ring[state.index].full;
        /* All consumer warps have read the stage; then announces the bytes. mbarrier.try_wait,
         * .arrive.expect_tx */
        producer_acquire(shared->ring, state, STAGE_BYTES);
        tma_load(tiles->a[state.index], &args->gemm.map_a, place.m * BM, k_tile * BK, full);
        tma_load(tiles->b[state.index], &args->gemm.map_b, block_row(&args->gemm, place.n, k_tile),
                 0, full);
        pipeline_advance(&state, STAGES);
    }
}

/* Waits for a k-tile and loads its weights. One warpgroup. */
DEVICE void take_k_tile(struct smem *shared, struct pipeline_state *state, struct weights *w,
                        int consumer) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    load_weights(w, shared->memory.tiles.b[state->index], consumer);
    pipeline_advance(state, STAGES);
}

/* Sends the multiplications of a k-tile, whose weights are in `f`, to the Tensor Core. One
 * warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, float acc[BM / 2],
                         const struct fragments *f) {
    /* The conversion's writing of the fragments, and the promotion's reading of the accumulators,
     * come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, f, shared->memory.tiles.a[state->index]);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Releases the stage of a k-tile that has been waited for, and adds its sums to those in fp32,
 * times the scales of this thread's two channels. One warpgroup. */
DEVICE void finish_k_tile(struct smem *shared, struct pipeline_state *state, float sum[BM / 2],
                          float acc[BM / 2], struct fragments *f) {
    keep(f);
    /* This thread's reads of the weights come before the TMA's next write to their stage.
     * Before the wait, under more multiplications, this takes longer. fence.proxy.async */
    fence_proxy_async();
    /* This warp has read the stage: all its lanes have, and then one arrives. bar.warp.sync,
     * mbarrier.arrive */
    __syncwarp();
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    pipeline_advance(state, STAGES);
    wgmma_promote(sum, acc, f->scale, BM / 2);
}

/* What a consumer has in flight: the weights taken last; of the first and the second k-tile of a
 * pair the fragments and accumulators; the sums; and the next stages to take, multiply, release. */
struct flight {
    struct weights w;
    struct fragments f, g;
    float first[BM / 2], second[BM / 2], sum[BM / 2];
    struct pipeline_state take, issue, done;
};

/* Multiplies the next `pairs` pairs, a constant, of `left` k-tiles that are left. The first k-tile
 * is converted and the second one's weights are taken, and so they are afterwards. One
 * warpgroup. */
DEVICE void multiply_pairs(struct smem *shared, struct flight *flight, int consumer, int pairs,
                           int left) {
    issue_k_tile(shared, &flight->issue, flight->first, &flight->f);
    convert(&flight->g, &flight->w);
    keep(&flight->g); /* all of it comes before the next multiplications */
    UNROLL
    for (int pair = 1; pair <= pairs; ++pair) {
        const bool again = pair < pairs; /* another one comes here */
        issue_k_tile(shared, &flight->issue, flight->second, &flight->g);
        if (again || 2 * pair < left) take_k_tile(shared, &flight->take, &flight->w, consumer);
        /* The first k-tile's sums are complete, and the Tensor Core has read its part of A. The
         * second k-tile stays under way. wgmma.wait_group */
        wgmma_wait_group(1);
        finish_k_tile(shared, &flight->done, flight->sum, flight->first, &flight->f);
        if (again || 2 * pair < left) convert(&flight->f, &flight->w);
        if (again) {
            keep(&flight->f);
            issue_k_tile(shared, &flight->issue, flight->first, &flight->f);
        }
        if (again || 2 * pair + 1 < left) take_k_tile(shared, &flight->take, &flight->w, consumer);
        /* The second k-tile's sums are complete, too; if another pair comes, its first k-tile
         * stays under way. wgmma.wait_group */
        if (again)
            wgmma_wait_group(1);
        else
            wgmma_wait_group(0);
        finish_k_tile(shared, &flight->done, flight->sum, flight->second, &flight->g);
        if (again) {
            convert(&flight->g, &flight->w);
            keep(&flight->g);
        }
    }
}

/* Multiplies the CTA's k-tiles, two at a time, and leaves the sums in shared memory. One
 * warpgroup. */
DEVICE void consumer(struct smem *shared, const struct w4a8_args *args, int consumer) {
    int left = cluster_k_tiles(args->parts);
    const struct pipeline_state start = {0, 0};
    struct flight flight;
    UNROLL
    for (int i = 0; i < BM / 2; ++i)
        flight.sum[i] = 0;
    flight.take = flight.issue = flight.done = start;
    if (left > 0) {
        take_k_tile(shared, &flight.take, &flight.w, consumer);
        convert(&flight.f, &flight.w);
    }
    if (left > 1) take_k_tile(shared, &flight.take, &flight.w, consumer);
    NO_UNROLL
    for (; left >= 2 * PAIRS; left -= 2 * PAIRS)
        multiply_pairs(shared, &flight, consumer, PAIRS, left);
    NO_UNROLL
    for (; left > 1; left -= 2)
        multiply_pairs(shared, &flight, consumer, 1, left);
    if (left > 0) {
        issue_k_tile(shared, &flight.issue, flight.first, &flight.f);
        /* The last k-tile has no other beside it. wgmma.wait_group */
        wgmma_wait_group(0);
        finish_k_tile(shared, &flight.done, flight.sum, flight.first, &flight.f);
    }
    /* All consumer warps have read their last stage, and no load is under way, so the sums may
     * overwrite the ring; and the scales have been fetched. bar.sync */
    named_barrier_sync(DONE_BARRIER, THREADS);
    column_sum_put(shared->memory.sums[0] + consumer * 64, PITCH, flight.sum, BM / 2);
}

KERNEL(THREADS, CTAS_PER_SM) kernel(KERNEL_ARGS_OF(struct w4a8_args) args) {
    SHARED_MEMORY(struct smem);
    const int warpgroup = warp_index() / 4;
    const struct place place = place_of_cta(&args);
    /* The producer initializes the barriers of its first loads, and issues these at once, because a
     * short main loop waits for them. Four warps of a consumer initialize the others meanwhile. */
    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, FIRST_LOADS, CONSUMERS * 4);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
        producer(shared, &args, place, 0, FIRST_LOADS);
    } else if (warpgroup == 1 && threadIdx.x % 32 == 0) {
        const int first = FIRST_LOADS + threadIdx.x % 128 / 32;
        pipeline_init_some(shared->ring, first, 4, STAGES, CONSUMERS * 4);
        /* The same for these. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* All barriers are initialized before others use them. bar.sync */
    __syncthreads();
    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (threadIdx.x == 0)
            producer(shared, &args, place, FIRST_LOADS, args.gemm.tiles_k);
        else if (threadIdx.x >= 32)
            fetch_scales(shared->scale, &args.gemm, args.scales.a, place.m * BM);
        /* The scales are in shared memory. bar.arrive */
        named_barrier_arrive(DONE_BARRIER, THREADS);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
        column_store(shared->memory.sums, shared->scale, &args.gemm, place.m * BM, place.n * BN,
                     W4_UNIT);
    }
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    return launch_tiles(&GEMM_KERNEL, p, BM, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "12_w4a8",
    .variant = GEMM_VARIANT,
    .technique = "a warpgroup promotes while its own next multiplications are under way",
    .tile_m = BM,
    .tile_n = BN,
    .tile_k = BK,
    .stages = STAGES,
    .threads = THREADS,
    .cluster = 1,
    .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel,
    .launch = launch,
    .workspace_bytes = NULL,
    .kind = &w4a8_kind,
};
