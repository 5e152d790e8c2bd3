/*
 * few_rows.h: what teams.cu and pairs.cu share, the kernels for few rows of A: all but consumer(),
 * which each of them defines.
 *
 * A cluster shares the k loop of a tile, so that all SMs load weights even if there are few tiles.
 * A launch may begin while the kernel ahead of it on the stream still runs: weights are loaded at
 * once, and A, by a thread of its own, after that kernel's end.
 */
#ifndef W4A8_FEW_ROWS_H
#define W4A8_FEW_ROWS_H

#include <assert.h>

#include "scaled/scales.h"
#include "services/selection.h"
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

/* Registers: at launch as many for all, then the producer's for the consumers. The producer's
 * warpgroup helps to store the tile; with teams, that takes more of them. */
#define PRODUCER_REGISTERS (TEAMS > 1 ? 40 : 32)
#if CONSUMERS == 4
#define CONSUMER_REGISTERS 104 /* 40 + 4 * 104 <= 5 * 96 */
#else
#define CONSUMER_REGISTERS 232 /* 32 + 2 * 232 <= 3 * 168 */
#endif

enum {
    LOADERS = 2,       /* warps of which one thread loads: weights, and A */
    DONE_BARRIER = 13, /* named barrier: the ring is free, and the scales of A are there */
};
#include "building_blocks/column_store.h"

/* The kernel's parameter. */
struct w4a8_args {
    struct gemm_args gemm;
    struct gemm_scales scales;  /* of A */
    struct cluster_parts parts; /* of k */
    struct divisor rows;        /* tile rows */
    int stages;                 /* of the ring that are in use */
};
static_assert(offsetof(struct w4a8_args, scales) == offsetof(struct gemm_scaled_args, scales),
              "it begins as that one, so plans find the scales");

/* When a launch begins. It loads weights before it waits, so early only if
 * they are complete. Host. */
static inline enum gemm_early early_of(const struct gemm_problem *p) {
    return p->early == GEMM_EARLY_B ? GEMM_EARLY_B : GEMM_IN_ORDER;
}

/* Stages in use. With more bytes on their way than keep memory busy, the SMs that it serves first
 * run ahead, and the kernel ends with the others (12_w4a8/README.md). Behind a kernel that still
 * runs, the deep ring loads more weights in advance. Host. */
static inline int stages_of(const struct gemm_problem *p) {
    return gemm_device_rates().memory < 1 && early_of(p) == GEMM_IN_ORDER ? SHALLOW : STAGES;
}

/* A tile of D: its number down and across. */
struct place {
    int m, n;
};

/* The tile of this CTA's cluster. The rows of A change fastest: tiles that run at the same time
 * share their weights. No division: the first load waits for this. Any thread. */
DEVICE struct place place_of_cta(const struct w4a8_args *args) {
    const int number = cluster_number(args->parts);
    const int n = (int)divided_by((uint32_t)number, args->rows);
    const struct place place = {number - n * (int)args->rows.number, n};
    return place;
}

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

/* Multiplies its team's k-tiles, every TEAMS-th of the CTA's. Waits at DONE_BARRIER for all other
 * threads, then puts the sums where the tiles were. `consumer`: its number in the team. One
 * warpgroup. */
DEVICE void consumer(struct smem *shared, const struct w4a8_args *args, int team, int consumer);

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

/* The parameter of a launch; its tensor maps are made. The cluster has `splits` CTAs. Host. */
static inline struct w4a8_args w4a8_args_of(const struct gemm_problem *p,
                                            const struct gemm_args *gemm, int splits) {
    struct w4a8_args args;
    memset(&args, 0, sizeof args);
    args.gemm = *gemm;
    args.gemm.splits = splits;
    args.scales = gemm_scales_of(p->matrix);
    args.parts = cluster_parts_of(splits, gemm->tiles_k);
    args.rows = divisor_of((uint32_t)gemm->tiles_m);
    args.stages = stages_of(p);
    return args;
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

#endif
