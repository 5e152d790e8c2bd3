/*
 * w4a8_gemm, pairs.cu: a warpgroup promotes while its own next multiplications are under way.
 *
 * The idea: in teams.cu a k-tile is a chain in its warpgroup. The next multiplications start after
 * the wait for the last ones and after their promotion. Here a warpgroup has two sets of
 * accumulators and issues two slabs of 64 channels at a time: of two k-tiles, or with SLABS 2 of
 * the same k-tile, of which more channels then share the rows of A. It waits for the first slab,
 * promotes it and converts the next weights while the Tensor Core multiplies the second. Teams of
 * warpgroups do the same for each other, but they have twice the sums to add up, and fewer
 * registers for each thread. What it costs: registers, so with many rows one CTA has the SM to
 * itself.
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

/* Then a stage is always the same team's, as in teams.cu. */
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

/* Moves on to the next slab's stage: that of the team's next k-tile, after a k-tile's last slab. */
DEVICE void next_slab(struct pipeline_state *state, int stages, int slab) {
    if (slab == SLABS - 1)
        UNROLL for (int i = 0; i < TEAMS; ++i) pipeline_advance(state, stages);
}

/* Loads the weights of a slab, and waits for its k-tile first. One warpgroup. */
DEVICE void take_slab(struct smem *shared, struct pipeline_state *state, int stages,
                      struct weights *w, int consumer, int slab) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    if (slab == 0) consumer_wait(shared->ring, *state);
    load_weights(w, shared->memory.tiles.b[state->index], consumer * SLABS + slab);
    next_slab(state, stages, slab);
}

/* Sends the multiplications of a slab, whose weights are in `f`, to the Tensor Core. One
 * warpgroup. */
DEVICE void issue_slab(struct smem *shared, struct pipeline_state *state, int stages,
                       float acc[BM / 2], const struct fragments *f, int slab) {
    /* The conversion's writing of the fragments, and the promotion's reading of the accumulators,
     * come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, f, shared->memory.tiles.a[state->index]);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    next_slab(state, stages, slab);
}

/* Adds a slab's sums, which have been waited for, to those in fp32, times the scales of this
 * thread's two channels. Releases the k-tile's stage after its last slab. One warpgroup. */
DEVICE void finish_slab(struct smem *shared, struct pipeline_state *state, int stages,
                        float sum[BM / 2], float acc[BM / 2], struct fragments *f, int slab) {
    keep(f);
    if (slab == SLABS - 1) {
        /* This thread's reads of the weights come before the TMA's next write to their stage.
         * Before the wait, under more multiplications, this takes longer. fence.proxy.async */
        fence_proxy_async();
        /* This warp has read the stage: all its lanes have, and then one arrives. bar.warp.sync,
         * mbarrier.arrive */
        __syncwarp();
        if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    }
    next_slab(state, stages, slab);
    wgmma_promote(sum, acc, f->scale, BM / 2);
}

enum { LAST = SLABS - 1 };

/* What a consumer has under way: the weights taken last, and of the first and the second slab of a
 * pair the fragments and accumulators; the sums; the next stages to take, multiply, release, of so
 * many. */
struct work {
    struct weights w;
    struct fragments f, g;
    float first[BM / 2], second[BM / 2], sum[SLABS][BM / 2];
    struct pipeline_state take, issue, done;
    int stages;
};

/* Multiplies the next `pairs` pairs of slabs, a constant, of `left` slabs that are left. The first
 * slab is converted and the second one's weights are taken, and so they are afterwards. One
 * warpgroup. */
DEVICE void multiply_pairs(struct smem *shared, struct work *work, int consumer, int pairs,
                           int left) {
    issue_slab(shared, &work->issue, work->stages, work->first, &work->f, 0);
    convert(&work->g, &work->w);
    keep(&work->g); /* all of it comes before the next multiplications */
    UNROLL for (int pair = 1; pair <= pairs; ++pair) {
        const bool again = pair < pairs; /* another one comes here */
        issue_slab(shared, &work->issue, work->stages, work->second, &work->g, LAST);
        if (again || 2 * pair < left)
            take_slab(shared, &work->take, work->stages, &work->w, consumer, 0);
        /* The first slab's sums are complete, and the Tensor Core has read its part of A. The
         * second slab stays under way. wgmma.wait_group */
        wgmma_wait_group(1);
        finish_slab(shared, &work->done, work->stages, work->sum[0], work->first, &work->f, 0);
        if (again || 2 * pair < left) convert(&work->f, &work->w);
        if (again) {
            keep(&work->f);
            issue_slab(shared, &work->issue, work->stages, work->first, &work->f, 0);
        }
        if (again || 2 * pair + 1 < left)
            take_slab(shared, &work->take, work->stages, &work->w, consumer, LAST);
        /* The second slab's sums are complete, too; if another pair comes, its first slab stays
         * under way. wgmma.wait_group */
        if (again) wgmma_wait_group(1);
        else wgmma_wait_group(0);
        finish_slab(shared, &work->done, work->stages, work->sum[LAST], work->second, &work->g,
                    LAST);
        if (again) {
            convert(&work->g, &work->w);
            keep(&work->g);
        }
    }
}

/* Multiplies its team's k-tiles, every TEAMS-th of the CTA's, two slabs at a time, and leaves the
 * sums in shared memory. With SLABS 2 the two are of one k-tile, with SLABS 1 of two. One
 * warpgroup. */
DEVICE void consumer(struct smem *shared, const struct w4a8_args *args, int team, int consumer) {
    int left = (cluster_k_tiles(args->parts) - team + TEAMS - 1) / TEAMS * SLABS;
    struct work work;
    UNROLL for (int i = 0; i < SLABS * BM / 2; ++i) work.sum[i / (BM / 2)][i % (BM / 2)] = 0;
    const struct pipeline_state start = {team, 0}; /* there are more stages than teams */
    work.take = work.issue = work.done = start;
    work.stages = args->stages;
    if (left > 0) {
        take_slab(shared, &work.take, args->stages, &work.w, consumer, 0);
        convert(&work.f, &work.w);
    }
    if (left > 1) take_slab(shared, &work.take, args->stages, &work.w, consumer, LAST);
    NO_UNROLL for (; left >= 2 * PAIRS; left -= 2 * PAIRS)
        multiply_pairs(shared, &work, consumer, PAIRS, left);
    NO_UNROLL for (; left > 1; left -= 2) multiply_pairs(shared, &work, consumer, 1, left);
    if (left > 0) {
        issue_slab(shared, &work.issue, args->stages, work.first, &work.f, 0);
        /* The last slab has no other beside it. wgmma.wait_group */
        wgmma_wait_group(0);
        finish_slab(shared, &work.done, args->stages, work.sum[0], work.first, &work.f, 0);
    }
    /* All consumer warps have read their last stage, and no load is under way, so the sums may
     * overwrite the ring; and the scales have been fetched. bar.sync */
    named_barrier_sync(DONE_BARRIER, THREADS);
    UNROLL for (int slab = 0; slab < SLABS; ++slab)
        column_sum_put(shared->memory.sums[team] + (consumer * SLABS + slab) * 64, PITCH,
                       work.sum[slab], BM / 2);
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
    .technique = "a warpgroup promotes while its own next multiplications are under way",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .earliest = GEMM_EARLY_B,
};
