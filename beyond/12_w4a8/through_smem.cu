/*
 * 12_w4a8, through_smem.cu: weights of 4 bits, converted on their way through shared memory.
 *
 * The idea: with few rows of A, every byte of B is used only a few times, and memory sets the
 * speed. So B is made of 4-bit weights, half the bytes of FP8. The Tensor Core has no such type: a
 * warpgroup loads a k-tile's weights, converts them to e4m3 and writes them to shared memory, as
 * the TMA would have, for wgmma to read. The product is computed transposed: wgmma's rows are B's,
 * the channels of D, because there are usually many of them, and its columns are rows of A.
 * What it costs: for each weight, four bits are read from shared memory, eight are written back and
 * eight are read again; two more barriers of the warpgroup; and a proxy fence, because ordinary
 * loads read what the TMA overwrites, and ordinary stores write what wgmma reads.
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

#define BM 16    /* rows of the CTA's tile */
#define STAGES 8 /* depth of the ring */
#define CTAS_PER_SM 2
#define PRODUCER_REGISTERS 32 /* 32 + 2 * 104 <= 3 * 80, those at launch */
#define CONSUMER_REGISTERS 104

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
    e4m3_t unpacked[CONSUMERS][64 * BK]; /* [channel][k], 128 B swizzle */
    e4m3_t a[STAGES][BM * BK];           /* [stage][row][k], 128 B swizzle */
    uint8_t b[STAGES][W4_BLOCK_BYTES];   /* [stage], as w4_block.h has it */
};

struct smem {
    union {
        struct tiles tiles;        /* in the main loop */
        float sums[1][BM * PITCH]; /* after it: [row][column], in column_sum.h's order */
    } memory;
    float scale[BM];                    /* of the tile's rows of A */
    struct pipeline_stage ring[STAGES]; /* released by every consumer warp */
};

/* Writes 64 channels of a k-tile to shared memory. The exclusive or is the 128 B swizzle; it also
 * gives each of a warp's 32 words a bank of its own. One warpgroup. */
DEVICE void unpack(e4m3_t *unpacked, const struct fragments *f) {
    const int lane = threadIdx.x % 32;
    UNROLL
    for (int i = 0; i < BK / 32 * 4; ++i) {
        const int row = threadIdx.x % 128 / 32 * 16 + lane / 4 + i % 2 * 8, chunk = i / 2;
        st_shared_b32(&unpacked[row * BK + (chunk ^ row % 8) * 16 + lane % 4 * 4],
                      f->a[i / 4][i % 4]);
    }
}

/* Issues acc = weights * rows of A: 64 x BM x 32 at a time, four steps along k. Rows are 128 bytes;
 * eight of them make the swizzle's 1024-byte pattern, hence the stride. One warpgroup. */
DEVICE void multiply(float acc[BM / 2], const e4m3_t *unpacked, const e4m3_t *a) {
    const uint64_t b_tile = wgmma_descriptor(shared_address(unpacked), 0, 1024, SWIZZLE_128B);
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    UNROLL
    for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3(BM, acc, b_tile + along_k, a_tile + along_k, step > 0);
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
DEVICE void take_weights(struct smem *shared, struct pipeline_state state, struct weights *w,
                         int consumer) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, state);
    load_weights(w, shared->memory.tiles.b[state.index], consumer);
}

/* Multiplies a k-tile whose weights are in `f`, loads those of the next one meanwhile, promotes the
 * sums, and converts. One warpgroup. */
DEVICE void multiply_k_tile(struct smem *shared, struct pipeline_state *state, float sum[BM / 2],
                            struct fragments *f, bool more, int consumer) {
    e4m3_t *unpacked = shared->memory.tiles.unpacked[consumer];
    float acc[BM / 2];
    struct weights w;
    struct pipeline_state release = *state;
    unpack(unpacked, f);
    /* This thread's weights are written before wgmma reads them; and its reads of the packed ones
     * come before the TMA's next write to their stage. fence.proxy.async */
    fence_proxy_async();
    /* For all threads of the warpgroup, whose weights one wgmma reads. bar.sync */
    named_barrier_sync(1 + consumer, 128);
    /* The promotion's reads of the accumulators come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, unpacked, shared->memory.tiles.a[state->index]);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
    if (more) take_weights(shared, *state, &w, consumer);
    /* The sums of 128 products are complete; A's part of the stage has been read, and so have the
     * unpacked weights. wgmma.wait_group */
    wgmma_wait_group(0);
    /* That holds for all four warps before one of them writes the next weights. The barrier also
     * orders every lane's reads of the stage before its release. bar.sync, mbarrier.arrive */
    named_barrier_sync(1 + consumer, 128);
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, release);
    /* Adds them to the sums in fp32, times the scales of this thread's two channels. */
    wgmma_promote(sum, acc, f->scale, BM / 2);
    if (more) convert(f, &w);
}

/* Multiplies the CTA's k-tiles and leaves the sums in shared memory. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct w4a8_args *args, int consumer) {
    const int k_tiles = cluster_k_tiles(args->parts);
    float sum[BM / 2] = {0};
    struct weights w;
    struct fragments f;
    struct pipeline_state state = {0, 0};
    take_weights(shared, state, &w, consumer);
    convert(&f, &w);
    NO_UNROLL
    for (int i = 0; i < k_tiles; ++i)
        multiply_k_tile(shared, &state, sum, &f, i + 1 < k_tiles, consumer);
    /* All consumer warps have read their last stage, and no load is under way, so the sums may
     * overwrite the ring; and the scales have been fetched. bar.sync */
    named_barrier_sync(DONE_BARRIER, THREADS);
    column_sum_put(shared->memory.sums[0] + consumer * 64, PITCH, sum, BM / 2);
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
    .technique = "4-bit weights, converted and written to shared memory for wgmma",
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
