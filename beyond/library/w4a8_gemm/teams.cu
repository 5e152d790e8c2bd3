/*
 * w4a8_gemm, teams.cu: few rows of A, and teams of warpgroups that take turns at the k-tiles.
 *
 * The idea: chapter 12's kernel.cu with four consumers, in two teams of two or four of one. While a
 * team promotes and converts, the other teams' multiplications are under way. What it costs: a
 * CTA's sums lie in as many places as it has teams, and are added up once more.
 *
 * A launch may begin while the kernel ahead of it on the stream still runs: weights are loaded at
 * once, and A after that kernel's end.
 */
#include <assert.h>

#include "gemm_scaled_args.h"
#include "building_blocks/cluster_splits.h"
#include "building_blocks/pipeline.h"
#include "hopper/element.h"
#include "hopper/griddepcontrol.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "configuration.h"
#include "fragments.h"
#include "building_blocks/column_store.h"

struct tiles {
    e4m3_t a[STAGES][BM * BK];            /* [stage][row][k], 128 B swizzle */
    uint8_t b[STAGES][BOXES * BOX_BYTES]; /* [stage][box], as w4_block.h has it */
};

/* Then a stage is always the same team's. Otherwise a team could wait for the second phase of a
 * stage whose first phase it has not seen, and a parity would not tell the two apart. */
static_assert(STAGES % TEAMS == 0 && SHALLOW % TEAMS == 0, "a stage belongs to one team");

struct smem {
    union {
        struct tiles tiles;            /* in the main loop */
        float sums[TEAMS][BM * PITCH]; /* after it: [row][column], in column_sum.h's order */
    } memory;
    float scale[BM];                    /* of the tile's rows of A */
    struct pipeline_stage ring[STAGES]; /* released by the warps of one team */
};

/* Issues acc = weights * rows of A: 64 x BM x 32 at a time, four steps along k. A's rows are 128
 * bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. One warpgroup. */
DEVICE void multiply(float acc[BM / 2], const struct fragments *f, const e4m3_t *a) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3_rs(BM, acc, f->a[step], a_tile + along_k, step > 0);
    }
}

/* What a producer thread loads. */
enum { LOADS_A = 1, LOADS_B = 2 };

/* Fills the ring with this CTA's k-tiles, from `item` up to `end`. The TMA fills zeros in beyond m
 * and k. `loads` is a constant. One thread for each operand. */
DEVICE void producer(struct smem *shared, const struct w4a8_args *args, struct place place,
                     int item, int end, int loads) {
    struct tiles *tiles = &shared->memory.tiles;
    /* phase 1: the first round of acquires passes at once */
    struct pipeline_state state = {item, 1};
    NO_UNROLL for (; item < end && item < cluster_k_tiles(args->parts); ++item) {
        const int k_tile = item * args->gemm.splits + cluster_rank();
        mbarrier_t *full = &shared->ring[state.index].full;
        /* All consumer warps have read the stage; then announces the bytes, those of A included.
         * mbarrier.try_wait, .arrive.expect_tx */
        if (loads & LOADS_B) producer_acquire(shared->ring, state, STAGE_BYTES);
        /* The same wait. Bytes may come before they are announced. mbarrier.try_wait */
        else mbarrier_wait(&shared->ring[state.index].empty, state.phase);
        if (loads & LOADS_A)
            tma_load(tiles->a[state.index], &args->gemm.map_a, place.m * BM, k_tile * BK, full);
        if (loads & LOADS_B)
            UNROLL for (int i = 0; i < BOXES; ++i)
                tma_load(&tiles->b[state.index][i * BOX_BYTES], &args->gemm.map_b,
                         box_row(&args->gemm, place.n * BOXES + i, k_tile), 0, full);
        pipeline_advance(&state, args->stages);
    }
}

/* Waits for a k-tile and loads its weights. One warpgroup. */
DEVICE void take_weights(struct smem *shared, struct pipeline_state state, struct weights *w,
                         int consumer) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, state);
    load_weights(w, shared->memory.tiles.b[state.index], consumer);
}

/* Multiplies a k-tile whose weights are in `f`, takes those of the next one meanwhile, and promotes
 * the sums. They are converted meanwhile, too, to other fragments. One warpgroup. */
DEVICE void multiply_k_tile(struct smem *shared, struct pipeline_state *state, int stages,
                            float sum[BM / 2], struct fragments *f, struct fragments *next,
                            bool more, int consumer) {
    float acc[BM / 2];
    struct weights w;
    struct pipeline_state release = *state;
    /* The conversion's writing of the fragments, and the promotion's reading of the accumulators,
     * come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, f, shared->memory.tiles.a[state->index]);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    UNROLL for (int i = 0; i < TEAMS; ++i) pipeline_advance(state, stages);
    if (more) take_weights(shared, *state, &w, consumer);
    if (more) convert(next, &w);
    /* This thread's reads of the weights come before the TMA's next write to their stage.
     * fence.proxy.async */
    fence_proxy_async();
    /* The sums of 128 products are complete, and A's part of the stage has been read.
     * wgmma.wait_group */
    wgmma_wait_group(0);
    keep(f);
    /* This warp has read the stage: all its lanes have, and then one arrives. bar.warp.sync,
     * mbarrier.arrive */
    __syncwarp();
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, release);
    /* Adds them to the sums in fp32, times the scales of this thread's two channels. */
    wgmma_promote(sum, acc, f->scale, BM / 2);
}

/* Multiplies its team's k-tiles, every TEAMS-th of the CTA's, and leaves the sums in shared memory.
 * One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct w4a8_args *args, int team, int consumer) {
    const int k_tiles = (cluster_k_tiles(args->parts) - team + TEAMS - 1) / TEAMS;
    float sum[BM / 2] = {0};
    struct weights w;
    struct fragments f[2]; /* of even and odd k-tiles */
    struct pipeline_state state = {team, 0}; /* there are more stages than teams */
    if (k_tiles > 0) {
        take_weights(shared, state, &w, consumer);
        convert(&f[0], &w);
    }
    NO_UNROLL for (int i = 0; i < k_tiles; i += 2) {
        multiply_k_tile(shared, &state, args->stages, sum, &f[0], &f[1], i + 1 < k_tiles, consumer);
        if (i + 1 == k_tiles) continue;
        multiply_k_tile(shared, &state, args->stages, sum, &f[1], &f[0], i + 2 < k_tiles, consumer);
    }
    /* All consumer warps have read their last stage, and no load is under way, so the sums may
     * overwrite the ring; and the scales have been fetched. bar.sync */
    named_barrier_sync(DONE_BARRIER, THREADS);
    column_sum_put(shared->memory.sums[team] + consumer * 64, PITCH, sum, BM / 2);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct w4a8_args) args) {
    SHARED_MEMORY(struct smem);
    const int warpgroup = warp_index() / 4;
    const struct place place = place_of_cta(&args);
    /* The producer initializes the barriers of its first loads, and issues these at once, because a
     * short main loop waits for them. Four warps of a consumer initialize the others meanwhile. */
    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, FIRST_LOADS, MEMBERS * 4);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
        producer(shared, &args, place, 0, FIRST_LOADS, LOADS_B);
    } else if (warpgroup == 1 && threadIdx.x % 32 == 0) {
        const int first = FIRST_LOADS + threadIdx.x % 128 / 32;
        pipeline_init_some(shared->ring, first, 4, args.stages, MEMBERS * 4);
        /* The same for these. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* All barriers are initialized before others use them. bar.sync */
    __syncthreads();
    /* The next launch's CTAs may begin as soon as each CTA of this one has, where there is room.
     * griddepcontrol.launch_dependents */
    if (threadIdx.x == 0) griddepcontrol_launch_dependents();
    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        /* The kernels ahead are complete, for all that is not weights: A, its scales, and D, which
         * they may still read. The consumers store D after the barrier at which these threads
         * arrive. Passes at once if the launch was in order. griddepcontrol.wait */
        if (threadIdx.x >= 32) griddepcontrol_wait();
        if (threadIdx.x == 0)
            producer(shared, &args, place, FIRST_LOADS, args.gemm.tiles_k, LOADS_B);
        else if (threadIdx.x == 32)
            producer(shared, &args, place, 0, args.gemm.tiles_k, LOADS_A);
        else if (threadIdx.x >= 32 * LOADERS)
            fetch_scales(shared->scale, &args.gemm, args.scales.a, place.m * BM);
        /* The scales are in shared memory. bar.arrive */
        named_barrier_arrive(DONE_BARRIER, THREADS);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, (warpgroup - 1) / MEMBERS, (warpgroup - 1) % MEMBERS);
        column_store(shared->memory.sums, shared->scale, &args.gemm, place.m * BM, place.n * BN,
                     W4_UNIT);
    }
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args gemm = gemm_args_of(p, BM, BN, BK);
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, 1, stream);
    if (make_maps(&gemm, p, BM, BOX_LINES)) return GEMM_UNSUPPORTED;
    const int tiles = gemm.tiles_m * gemm.tiles_n;
    const int splits = cluster_splits(launch, tiles, gemm.tiles_k);
    const struct w4a8_args args = w4a8_args_of(p, &gemm, splits);
    launch.grid = tiles * splits;
    launch.cluster = splits;
    launch.early = early_of(p);
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "w4a8_gemm", .variant = GEMM_VARIANT,
    .technique = "teams of warpgroups take turns at the k-tiles",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .earliest = GEMM_EARLY_B,
};
