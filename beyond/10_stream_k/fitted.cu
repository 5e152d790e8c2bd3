/*
 * 10_stream_k, fitted.cu: a tile whose width is chosen at launch, so that the tiles fill the SMs.
 *
 * The idea: a wgmma multiplies 64 rows by any multiple of 8 columns. One kernel has a main loop for
 * each width, and the launch picks the width, which operand is the rows, how many CTAs share rows
 * of either operand by multicast, and into how many parts k is cut (fit.h). So for every shape the
 * tiles are nearly as many as the SMs, and not more. What it costs: a CTA computes one part of one
 * tile, and its first loads and its epilogue are exposed. What it hides: the idle SMs of an
 * incomplete wave, and rows of a tile that lie beyond D.
 *
 * With EARLY the launch begins while the kernel ahead of it on the stream still runs: barriers, and
 * with EARLY=2 the loads of B into the ring, come before the wait for that kernel.
 *
 * The *side* operand gives the rows of a tile, 64 for each consumer; the *fitted* operand gives the
 * columns. If the side operand is A, the product is D. If it is B, the product is D transposed.
 */
#include "fit.h" /* first: it chooses constants that the others have defaults for */

#include <assert.h>

#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/atomics.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/griddepcontrol.h"
#include "hopper/mma.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef SLABS
#define SLABS 2 /* of 64 rows, one for each consumer warpgroup */
#endif
#ifndef EARLY
#define EARLY 0 /* the launch may begin before the kernels ahead of it end; 2: B is complete then */
#endif
#ifdef FIT_OF /* how the problem is cut: a test has a choice of its own */
struct fit FIT_OF(const struct gemm_problem *p, const struct gemm_kernel *kernel, bool splits);
#else
#define FIT_OF fit_of
#endif
#if SLABS == 1
#define CTAS 2 /* that fit an SM */
#else
#define CTAS 1
#endif

enum {
    ROWS = 64 * SLABS,
    WIDEST = FIT_WIDEST(SLABS),
    CONSUMER_THREADS = 128 * SLABS,
    /* And the producer: a warpgroup, which gives registers away, or a warp, if none are needed. */
    THREADS = CONSUMER_THREADS + (SLABS == 1 ? 32 : 128),
    STAGED = (WIDEST + 8) * 9,       /* chunks of 16 bytes: a consumer's rows of D */
    FLIGHT = SLABS <= 2 ? 16 : 8,    /* loads of partial sums that a thread has in flight */
    FIRST_LOADS = 3, /* k-tiles whose loads come before the producer gives registers away */
};

/* Registers per thread after the exchange. At launch there are as many for each warpgroup as the
 * launch bounds allow: 168, 128 or 96. One consumer needs no more than it has from the start. */
#define PRODUCER_REGISTERS (SLABS == 2 ? 40 : SLABS == 3 ? 32 : 24)
#define CONSUMER_REGISTERS (SLABS == 2 ? 232 : SLABS == 3 ? 160 : 112)

/* Every width: the accumulators' registers are constants, so each has a kernel of its own. */
#define WIDTHS_TO_136(f)                                                                           \
    f(8) f(16) f(24) f(32) f(40) f(48) f(56) f(64) f(72) f(80) f(88) f(96) f(104) f(112) f(120)    \
        f(128) f(136)
#define WIDTHS_TO_176(f) WIDTHS_TO_136(f) f(144) f(152) f(160) f(168) f(176)
#define WIDTHS_TO_200(f) WIDTHS_TO_176(f) f(184) f(192) f(200)
#if SLABS == 1
#define WIDTHS(f) WIDTHS_TO_176(f)
#elif SLABS == 2
#define WIDTHS(f)                                                                                  \
    WIDTHS_TO_200(f) f(208) f(216) f(224) f(232) f(240) f(248) f(256)
#elif SLABS == 3
#define WIDTHS(f) WIDTHS_TO_200(f)
#else
#define WIDTHS(f) WIDTHS_TO_136(f)
#endif

struct smem {
    /* In the main loop the ring: of each stage the side operand, [ROWS][BK], then the fitted one,
     * [width][BK], in the 128 B swizzle, both at multiples of 1024 bytes. After it, the staged rows
     * of D. */
    element_t memory[FIT_RING_BYTES(SLABS) / sizeof(element_t)];
    struct pipeline_stage ring[FIT_MOST_STAGES]; /* released by the cluster's consumer warps */
    uint32_t arrived; /* parts of the tile whose sums were complete before this CTA's */
};
static_assert(STAGED * 16 * SLABS <= FIT_RING_BYTES(SLABS), "the rows of D take the ring's place");

/* ---- who computes what ---- */

DEVICE int cluster_size(const struct gemm_args *args) {
    return args->fit.sharing_side * args->fit.sharing_fitted;
}

/* A CTA's part of a tile: k-tiles part, part + splits, part + 2 * splits ... So the CTAs of a tile
 * read neighbouring addresses at the same time, which DRAM serves faster. */
struct work {
    int side, fitted; /* first row of the tile in each operand */
    int part, k_tiles;
    int tile; /* the tile's number, for its sums and its counter */
    /* A cluster's CTAs stand in sharing_fitted lines of sharing_side. Those of a line share side
     * rows, and those at one place of each line share fitted rows. Where this CTA stands; as bits,
     * the CTAs that it shares with, itself included. */
    int line, place;
    uint16_t with_side, with_fitted;
};

/* The tiles of clusters that run side by side. Where they share rows, the L2 merges their reads,
 * and most of them share rows of the operand that has the more tiles. */
DEVICE struct tile cluster_tile(const struct gemm_args *args, int number) {
    if (args->tiles_m <= args->tiles_n) return tile_at(number, args->tiles_m, args->tiles_n);
    const struct tile turned = tile_at(number, args->tiles_n, args->tiles_m);
    const struct tile tile = {turned.n, turned.m};
    return tile;
}

DEVICE struct work work_of(const struct gemm_args *args, int width) {
    const int in_line = args->fit.sharing_side, size = cluster_size(args);
    const int clusters = args->tiles_m * args->tiles_n; /* of a part */
    /* A division takes as long as ten other instructions, and the first load waits for these. */
    const int rank = size > 1 ? cluster_rank() : 0;
    const int cluster = size > 1 ? blockIdx.x / size : blockIdx.x;
    struct work work;
    work.part = args->splits > 1 ? cluster / clusters : 0;
    work.k_tiles = args->tiles_k;
    if (args->splits > 1)
        work.k_tiles = (args->tiles_k - work.part + args->splits - 1) / args->splits;
    work.tile = blockIdx.x - work.part * clusters * size;
    work.line = size > in_line ? rank / in_line : 0;
    work.place = rank - work.line * in_line;
    work.with_side = ((1 << in_line) - 1) << work.line * in_line;
    work.with_fitted = 0;
    for (int line = 0; line < args->fit.sharing_fitted; ++line)
        work.with_fitted |= 1 << (line * in_line + work.place);
    const struct tile tile = cluster_tile(args, cluster - work.part * clusters);
    work.side = (tile.m * args->fit.sharing_fitted + work.line) * ROWS;
    work.fitted = (tile.n * in_line + work.place) * width;
    return work;
}

/* ---- the main loop ---- */

/* The operands of a stage. Any thread. */
DEVICE element_t *side_of(struct smem *shared, int stage, int width) {
    return &shared->memory[stage * (ROWS + width) * BK];
}
DEVICE element_t *fitted_of(struct smem *shared, int stage, int width) {
    return side_of(shared, stage, width) + ROWS * BK;
}

/* What a call of the producer loads: both operands; or B alone into a ring that no consumer has
 * used yet, and later A for the same k-tiles. */
enum { LOADS_A = 1, LOADS_B = 2, LOADS_BOTH = 3 };

/* Loads the CTA's k-tiles from `item` up to `end` into the ring. CTAs that share rows take turns:
 * one loads all of them for a k-tile, and the next one for the next. `alone`, a CTA without a
 * cluster, and `loads` are constants. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args, struct work work,
                     int width, struct pipeline_state *state, int item, int end, bool alone,
                     int loads) {
    const struct tensor_map *side = args->fit.transposed ? &args->map_b : &args->map_a;
    const struct tensor_map *fitted = args->fit.transposed ? &args->map_a : &args->map_b;
    const uint32_t bytes = (ROWS + width) * BK * sizeof(element_t);
    const bool loads_side = loads & (args->fit.transposed ? LOADS_B : LOADS_A);
    const bool loads_fitted = loads & (args->fit.transposed ? LOADS_A : LOADS_B);
    NO_UNROLL for (; item < end && item < work.k_tiles; ++item) {
        const int k = (work.part + item * args->splits) * BK;
        mbarrier_t *full = &shared->ring[state->index].full;
        /* All consumer warps that read what this CTA loads have read the stage; then announces the
         * bytes, those that other CTAs send and those of B that are under way already included.
         * mbarrier.try_wait, .arrive.expect_tx */
        if (loads & LOADS_A) producer_acquire(shared->ring, *state, bytes);
        element_t *side_tile = side_of(shared, state->index, width);
        element_t *fitted_tile = fitted_of(shared, state->index, width);
        /* For a CTA without a cluster its own barrier's address will do. Numbers of CTAs that share
         * are powers of two. cp.async.bulk.tensor */
        if (alone) {
            if (loads_side) tma_load(side_tile, side, work.side, k, full);
            if (loads_fitted) tma_load(fitted_tile, fitted, work.fitted, k, full);
        } else {
            if (loads_side && (item & (args->fit.sharing_side - 1)) == work.place)
                tma_load_multicast(side_tile, side, work.side, k, full, work.with_side);
            if (loads_fitted && (item & (args->fit.sharing_fitted - 1)) == work.line)
                tma_load_multicast(fitted_tile, fitted, work.fitted, k, full, work.with_fitted);
        }
        pipeline_advance(state, args->fit.stages);
    }
}

/* The producer of a launch that began early. One thread. */
DEVICE void producer_after_wait(struct smem *shared, const struct gemm_args *args,
                                struct work work, int width, struct pipeline_state *state,
                                bool alone) {
    const int ahead = EARLY == 2 ? args->fit.stages : 0;
    struct pipeline_state first = *state;
    producer(shared, args, work, width, &first, 0, ahead, alone, LOADS_B);
    /* The kernels ahead are complete. Before that one of them may still write A, read what this
     * kernel overwrites, or use the workspace and the counters. The consumers' accesses to global
     * memory come after this wait, too: the arrival that announces A's bytes is a release, and they
     * wait for the full barrier. griddepcontrol.wait */
    griddepcontrol_wait();
    producer(shared, args, work, width, state, 0, ahead, alone, LOADS_A);
    producer(shared, args, work, width, state, ahead, work.k_tiles, alone, LOADS_BOTH);
}

/* Issues acc += side * fitted for a k-tile: 64 x width x 16 at a time, four steps along k. Rows of
 * a tile are 128 bytes; eight make the swizzle's 1024-byte pattern, hence the stride. `width` is a
 * constant, so one case is left of the switch. One warpgroup. */
DEVICE void multiply(int width, float *acc, const element_t *side, const element_t *fitted,
                     bool accumulate) {
    const uint64_t side_tile = wgmma_descriptor(shared_address(side), 0, 1024, SWIZZLE_128B);
    const uint64_t fitted_tile = wgmma_descriptor(shared_address(fitted), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step) {
        const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
        switch (width) {
#define MULTIPLY(n)                                                                                \
    case n:                                                                                        \
        wgmma_m64nNk16(n, acc, side_tile + along_k, fitted_tile + along_k, accumulate || step > 0);\
        break;
            WIDTHS(MULTIPLY)
        }
    }
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, const struct gemm_args *args,
                         struct pipeline_state *state, int slab, int width, float *acc,
                         bool accumulate) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(width, acc, side_of(shared, state->index, width) + slab * 64 * BK,
             fitted_of(shared, state->index, width), accumulate);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, args->fit.stages);
}

/* Releases the stage of a k-tile, which this warp has read, to the producers that load it: lane r
 * arrives at CTA r's barrier. If nothing will be loaded into the stage again, no producer waits
 * there. So when a CTA ends, no arrival is still on its way to it. mapa, mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, const struct gemm_args *args, struct work work,
                          struct pipeline_state *state, int k_tile) {
    const int lane = threadIdx.x % 32;
    if (k_tile + args->fit.stages >= work.k_tiles) return; /* and this holds from here on */
    if (cluster_size(args) == 1) {
        if (lane == 0) consumer_release(shared->ring, *state);
    } else if ((work.with_side | work.with_fitted) >> lane & 1) {
        mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);
    }
    pipeline_advance(state, args->fit.stages);
}

/* ---- the sums of the other parts ---- */

/* The sums of a part of this thread's tile: [tile][part][chunk][thread], so that a warp moves 512
 * consecutive bytes. */
DEVICE struct b128 *sums_of(const struct gemm_args *args, struct work work, int part) {
    const int chunks = args->fit.width / 8;
    return (struct b128 *)args->workspace + threadIdx.x +
           ((int64_t)work.tile * args->splits + part) * chunks * CONSUMER_THREADS;
}

/* Stores this part's sums, and counts the part. Is it the tile's last? Then the sums of all parts
 * may be read. All consumer threads. */
DEVICE bool leave_sums(struct smem *shared, const struct gemm_args *args, struct work work,
                       int width, const float *acc) {
    struct b128 *to = sums_of(args, work, work.part);
    UNROLL for (int i = 0; i < width / 8; ++i) {
        struct b128 chunk;
        memcpy(&chunk, &acc[4 * i], sizeof chunk);
        st_global_b128(&to[i * CONSUMER_THREADS], chunk);
    }
    /* All threads' sums come before the count, which one thread makes. bar.sync */
    named_barrier_sync(1, CONSUMER_THREADS);
    if (threadIdx.x == 0) {
        uint32_t *counter = &args->tile_counter[work.tile];
        /* Releases these sums, and acquires those of the parts counted before.
         * atom.acq_rel.gpu */
        const uint32_t arrived = atomic_add_acq_rel(counter, 1, SCOPE_GPU);
        st_shared_b32(&shared->arrived, arrived);
        if (arrived == (uint32_t)args->splits - 1)
            st_global_relaxed(counter, 0, SCOPE_GPU); /* for the next launch */
    }
    /* Every thread's loads come after the count. bar.sync */
    named_barrier_sync(1, CONSUMER_THREADS);
    return ld_shared_b32(&shared->arrived) == (uint32_t)args->splits - 1;
}

/* Adds up the sums of all parts, this CTA's too, in the order of the parts: so the result does not
 * depend on which part is the last. FLIGHT loads are issued before the first is used; of a narrow
 * tile, they are of several parts. All consumer threads. */
DEVICE void add_parts(const struct gemm_args *args, struct work work, int width, float *acc) {
    const int chunks = width / 8, group = chunks < FLIGHT ? chunks : FLIGHT;
    const int parts = FLIGHT / group; /* at once */
    UNROLL for (int i = 0; i < width / 2; ++i) acc[i] = 0;
    NO_UNROLL for (int part = 0; part < args->splits; part += parts) {
        const struct b128 *from = sums_of(args, work, part);
        UNROLL for (int first = 0; first < chunks; first += group) {
            struct b128 sums[FLIGHT];
            UNROLL for (int i = 0; i < parts * group; ++i)
                if (part + i / group < args->splits && first + i % group < chunks)
                    sums[i] = ld_global_b128(
                        &from[(i / group * chunks + first + i % group) * CONSUMER_THREADS]);
            UNROLL for (int i = 0; i < parts * group; ++i) {
                if (part + i / group >= args->splits || first + i % group >= chunks) continue;
                float addend[4];
                memcpy(addend, &sums[i], sizeof addend);
                UNROLL for (int j = 0; j < 4; ++j) acc[4 * (first + i % group) + j] += addend[j];
            }
        }
    }
}

/* ---- the epilogue ---- */

/* Converts 64 x width accumulators and writes them to staging memory as rows of D. A row's pitch is
 * an odd number of chunks, so that eight rows start in different banks. Without a partner the last
 * eight columns are stored with zeros, for which there is room. One warpgroup. */
DEVICE void stage_rows(element_t *staging, bool transposed, int width, const float *acc) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    /* Of D's rows and chunks: the lane's address in the first 16 columns, and a step to the next
     * 8. In a row of accumulators are a column of D's elements, if it is transposed. */
    const int pitch = fit_staging_pitch(width, transposed);
    const int row = transposed ? lane / 16 * 8 + lane % 8 : warp * 16 + lane % 16;
    const int chunk = transposed ? warp * 2 + lane / 8 % 2 : lane / 16;
    element_t *to = &staging[(row * pitch + chunk) * 8];
    const int step = transposed ? 8 * pitch * 8 : 8;
    UNROLL for (int j = 0; j < width / 8; j += 2) {
        uint32_t pairs[4] = {0, 0, 0, 0}; /* rows 0 to 7 and 8 to 15 of 8 columns, of the next 8 */
        UNROLL for (int i = 0; i < 4; ++i)
            if (j + i / 2 < width / 8)
                pairs[i] = pack_elements(acc[4 * j + 2 * i], acc[4 * j + 2 * i + 1]);
        if (transposed) stmatrix_x4_trans(&to[j * step], pairs);
        else stmatrix_x4(&to[j * step], pairs);
    }
}

/* Copies the staged rows that lie in D to D, 16 bytes per thread at a time. One warpgroup. */
DEVICE void copy_rows(const element_t *staging, const struct gemm_args *args, struct work work,
                      int slab, int width, bool transposed) {
    const int side = work.side + slab * 64, pitch = fit_staging_pitch(width, transposed);
    const int rows = transposed ? width : 64;
    const int chunks = (transposed ? 64 : width) / 8;
    const int first_row = transposed ? work.fitted : side;
    const int first_column = transposed ? side : work.fitted;
    NO_UNROLL for (int i = threadIdx.x % 128; i < rows * chunks; i += 128) {
        const int row = first_row + i / chunks, column = first_column + i % chunks * 8;
        if (row >= args->m || column >= args->n) continue;
        const struct b128 chunk =
            ld_shared_b128(&staging[(i / chunks * pitch + i % chunks) * 8]);
        element_t *d = &args->d[row * args->ldd + column];
        if (column + 8 <= args->n) st_global_b128(d, chunk);
        else UNROLL for (int j = 0; j < 8; ++j)
            if (column + j < args->n)
                st_global_element(&d[j], j % 2 ? second_of_pair(chunk.word[j / 2])
                                               : first_of_pair(chunk.word[j / 2]));
    }
}

/* ---- the GEMM ---- */

/* Multiplies this CTA's k-tiles into 64 rows of the tile. Stores the tile, if this is its last part
 * to be complete. `width` is a constant. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, struct work work,
                     int slab, int width) {
    float acc[WIDEST / 2]; /* of which the width takes half */
    UNROLL for (int i = 0; i < width / 2; ++i) acc[i] = 0; /* to the compiler wgmma reads acc */
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* next to read, next to release */
    NO_UNROLL for (int k_tile = 0; k_tile < work.k_tiles; ++k_tile) {
        issue_k_tile(shared, args, &state, slab, width, acc, k_tile > 0);
        /* Group k_tile - 1 is complete: this warp has read its stage. wgmma.wait_group */
        wgmma_wait_group(1);
        if (k_tile > 0) release_stage(shared, args, work, &release, k_tile - 1);
    }
    /* The accumulators are complete. wgmma.wait_group */
    wgmma_wait_group(0);
    /* No wgmma of this CTA still reads the ring, and no load to it is under way: all have been
     * waited for. So the ring may be overwritten. bar.sync */
    named_barrier_sync(1, CONSUMER_THREADS);
    if (args->splits > 1) {
        if (!leave_sums(shared, args, work, width, acc)) return;
        add_parts(args, work, width, acc);
    }
    element_t *staging = shared->memory + slab * STAGED * 8;
    const bool transposed = args->fit.transposed;
    stage_rows(staging, transposed, width, acc);
    /* The warpgroup's rows are staged before other threads read them. bar.sync */
    named_barrier_sync(2 + slab, 128);
    if (transposed) copy_rows(staging, args, work, slab, width, true);
    else copy_rows(staging, args, work, slab, width, false);
}

/* What each thread of a CTA does. `width` is a constant. */
DEVICE void work_on_tile(struct smem *shared, const struct gemm_args *args, int width) {
    const struct work work = work_of(args, width);
    const bool alone = cluster_size(args) == 1;
    const bool loads = threadIdx.x == CONSUMER_THREADS;
    const int warp = warp_index();
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    /* The next launch's CTAs may begin as soon as each CTA of this one has, where there is room.
     * griddepcontrol.launch_dependents */
    if (EARLY) griddepcontrol_launch_dependents();
    if (loads) {
        pipeline_init(shared->ring, args->fit.stages,
                      SLABS * 4 * (args->fit.sharing_side + args->fit.sharing_fitted - 1));
        /* The TMA signals these barriers, and so do other CTAs. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any thread of the cluster uses one; nothing else is to be
     * ordered. In a single CTA the producer does not wait: its loads are under way at once.
     * barrier.cluster; bar.sync, bar.arrive */
    if (!alone) cluster_sync_relaxed();
    else if (warp < 4 * SLABS) named_barrier_sync(RING_BARRIER, THREADS);
    else named_barrier_arrive(RING_BARRIER, THREADS);
    if (warp < 4 * SLABS) {
        if (SLABS > 1) setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, args, work, warp / 4, width);
    } else {
        const int first = SLABS > 1 && !EARLY && alone ? FIRST_LOADS : 0;
        if (loads && first > 0)
            producer(shared, args, work, width, &state, 0, first, true, LOADS_BOTH);
        if (SLABS > 1) setmaxnreg_dec(PRODUCER_REGISTERS);
        if (loads && EARLY && alone) producer_after_wait(shared, args, work, width, &state, true);
        else if (loads && EARLY) producer_after_wait(shared, args, work, width, &state, false);
        else if (loads && alone)
            producer(shared, args, work, width, &state, first, work.k_tiles, true, LOADS_BOTH);
        else if (loads)
            producer(shared, args, work, width, &state, 0, work.k_tiles, false, LOADS_BOTH);
    }
}

/* A kernel for each width, of which the launch takes one. */
#define KERNEL_OF_WIDTH(n)                                                                         \
    KERNEL(THREADS, CTAS) kernel_##n(KERNEL_ARGS args) {                                           \
        SHARED_MEMORY(struct smem);                                                                \
        work_on_tile(shared, &args, n);                                                            \
    }
WIDTHS(KERNEL_OF_WIDTH)
#define FUNCTION_OF_WIDTH(n) (const void *)kernel_##n,
static const void *const kernels[] = {WIDTHS(FUNCTION_OF_WIDTH)}; /* [width / 8 - 1] */

/* ---- the launch ---- */

static enum gemm_status launch_fit(const struct gemm_problem *p, struct fit fit, void *stream) {
    const enum gemm_type type = ELEMENT_TYPE;
    const int side = fit.transposed ? p->n : p->m, fitted = fit.transposed ? p->m : p->n;
    struct gemm_args args = gemm_args_of(p, 1, 1, BK);
    args.tiles_m = ceil_div(side, ROWS * fit.sharing_fitted); /* a cluster's tiles are one */
    args.tiles_n = ceil_div(fitted, fit.width * fit.sharing_side);
    args.splits = fit.splits;
    args.fit.width = fit.width;
    args.fit.sharing_side = fit.sharing_side;
    args.fit.sharing_fitted = fit.sharing_fitted;
    const int stages = fit_stages(SLABS, fit.width), k_tiles = ceil_div(args.tiles_k, fit.splits);
    args.fit.stages = stages < k_tiles ? stages : k_tiles; /* each has barriers to initialize */
    args.fit.transposed = fit.transposed;
    if (gemm_tensor_map(&args.map_a, type, p->a, p->m, p->k, p->lda,
                        fit.transposed ? fit.width : ROWS, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, type, p->b, p->n, p->k, p->ldb,
                        fit.transposed ? ROWS : fit.width, BK, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const int64_t ctas = fit_tiles(p, SLABS, &fit) * fit.splits;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, (int)ctas, stream);
    launch.kernel = kernels[fit.width / 8 - 1];
    launch.cluster = fit.sharing_side * fit.sharing_fitted;
    launch.early = EARLY == 2 ? GEMM_EARLY_B : EARLY ? GEMM_EARLY : GEMM_IN_ORDER;
    return gemm_launch_kernel(&launch, &args);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    return launch_fit(p, FIT_OF(p, &GEMM_KERNEL, true), stream);
}

static enum gemm_status launch_whole(const struct gemm_problem *p, void *stream) {
    return launch_fit(p, FIT_OF(p, &GEMM_KERNEL, false), stream);
}

static size_t workspace_bytes(const struct gemm_problem *p) {
    const struct fit fit = FIT_OF(p, &GEMM_KERNEL, true);
    if (fit.splits == 1) return 0;
    return (size_t)fit_tiles(p, SLABS, &fit) * fit.splits * ROWS * fit.width * sizeof(float);
}

/* Two records of the kernel. The first may cut k into parts; the second, GEMM_KERNEL with _whole
 * added, does not, and needs neither a workspace nor counters. The launch sets the function and the
 * cluster. */
#define RECORD(uses_workspace, uses_counters, launch_function)                                     \
    .name = "10_stream_k", .variant = GEMM_VARIANT,                                                \
    .technique = "a tile whose width is chosen at launch, so that the tiles fill the SMs",         \
    .tile_m = ROWS, .tile_n = WIDEST, .tile_k = BK, .stages = FIT_MOST_STAGES,                     \
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),                           \
    .function = (const void *)kernel_8, .launch = launch_function,                                 \
    .workspace_bytes = uses_workspace, .counters = uses_counters,
#define WITH_WHOLE(kernel) kernel##_whole
#define WHOLE_OF(kernel) WITH_WHOLE(kernel)
#ifdef __cplusplus
extern "C"
#endif
extern const struct gemm_kernel WHOLE_OF(GEMM_KERNEL);
const struct gemm_kernel WHOLE_OF(GEMM_KERNEL) = {RECORD(NULL, false, launch_whole)};
const struct gemm_kernel GEMM_KERNEL = {RECORD(workspace_bytes, true, launch)};
