/*
 * hopper_gemm, fitted.cu: a tile whose width is chosen at launch, so that the tiles fill the SMs.
 *
 * The idea: a wgmma multiplies 64 rows by any multiple of 8 columns. One kernel has a main loop for
 * each width, and the launch picks the width, which operand is the rows, how many CTAs share rows
 * of either operand by multicast, and into how many parts k is cut (fit.h). So for every shape the
 * tiles are nearly as many as the SMs, and not more. What it costs: a CTA computes one part of one
 * tile, and its first loads and its epilogue are exposed. What it hides: the idle SMs of an
 * incomplete wave, and rows of a tile that lie beyond D.
 *
 * With EARLY a launch may begin while the kernel ahead of it on the stream still runs: barriers,
 * and if B is complete the loads of B into the ring, come before the wait for that kernel. (One
 * form for both takes 2 % longer in order.)
 *
 * The *side* operand gives the rows of a tile, up to 64 for each consumer; the *fitted* operand
 * gives the columns. If the side operand is A, the product is D. If it is B, the product is D
 * transposed. All tiles have equally many side rows, so that hardly any lie beyond the operand.
 */
#include "fit.h" /* first: it chooses constants that the others have defaults for */

#include <assert.h>

#include "building_blocks/divisor.h"
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
#define EARLY 0 /* 1: the launch may begin before the kernels ahead of it on the stream end */
#endif
#ifdef FIT_OF /* how the problem is cut: a test has a choice of its own */
struct fit FIT_OF(const struct gemm_problem *p, const struct gemm_kernel *kernel, bool splits);
#else
#define FIT_OF fit_of
#endif

enum {
    ROWS = 64 * SLABS,
    WIDEST = FIT_WIDEST(SLABS),
    CTAS = SLABS == 1 ? 2 : 1, /* that fit an SM */
    CONSUMER_THREADS = 128 * SLABS,
    /* And the producer: a warpgroup, which gives registers away, or a warp, if none are needed. */
    THREADS = CONSUMER_THREADS + (SLABS == 1 ? 32 : 128),
    STAGED = (WIDEST + 8) * 9, /* chunks of 16 bytes: a consumer's rows of D */
    FLIGHT = FIT_FLIGHT(SLABS), /* loads of partial sums that a thread has in flight */
    INITIALIZERS = 4, /* consumer warps that initialize the ring's barriers */
    FIRST_LOADS = 3, /* k-tiles whose loads come before the producer gives registers away */
};

/* Registers per thread after the exchange. At launch there are as many for each warpgroup as the
 * launch bounds allow: 168 or 128. One consumer needs no more than it has from the start. */
#define PRODUCER_REGISTERS (SLABS == 2 ? 40 : 32)
#define CONSUMER_REGISTERS (SLABS == 2 ? 232 : 160)

/* Every width: the accumulators' registers are constants, so each has a kernel of its own. */
#define WIDTHS_TO_128(f)                                                                           \
    f(8) f(16) f(24) f(32) f(40) f(48) f(56) f(64) f(72) f(80) f(88) f(96) f(104) f(112) f(120)    \
        f(128)
#define WIDTHS_TO_200(f)                                                                           \
    WIDTHS_TO_128(f) f(136) f(144) f(152) f(160) f(168) f(176) f(184) f(192) f(200)
#if SLABS == 1
#define WIDTHS(f) WIDTHS_TO_128(f)
#elif SLABS == 2
#define WIDTHS(f) WIDTHS_TO_200(f) f(208) f(216) f(224) f(232) f(240) f(248) f(256)
#else
#define WIDTHS(f) WIDTHS_TO_200(f)
#endif

struct smem {
    /* The ring: of each stage the side operand, [ROWS][BK], of which fit.rows rows are loaded, then
     * the fitted one, [width][BK], in the 128 B swizzle, both at multiples of 1024 bytes. After the
     * main loop, the staged rows of D. */
    element_t memory[FIT_RING_BYTES(SLABS) / sizeof(element_t)];
    struct pipeline_stage ring[FIT_MOST_STAGES]; /* released by the cluster's consumer warps */
    uint32_t last; /* 1: the sums of all other parts of the tile were complete before this CTA's */
};
static_assert(STAGED * 16 * SLABS <= FIT_RING_BYTES(SLABS), "the rows of D take the ring's place");

/* A fit as the kernel reads it, with its divisors. Before its first load a CTA reads what comes
 * first, often no more than one line of 64 bytes of the constant cache. */
struct kernel_fit {
    int width;                        /* columns of a CTA's product: the fitted operand's rows */
    int rows;                         /* of the side operand in a tile: the product may have more */
    int sharing_side, sharing_fitted; /* CTAs of a cluster that share rows of an operand */
    int splits, k_tiles;              /* parts of a tile, and k-tiles of a part */
    int stages;                       /* of the ring */
    bool transposed;                  /* the product is D transposed */
    bool turned;                      /* the order has columns for rows, and rows for columns */
    struct divisor cluster;           /* CTAs of a cluster */
    struct tile_order order;          /* of a part's clusters */
    int early;                        /* with EARLY, k-tiles whose B is loaded before the wait */
    int longer_parts;                 /* so many of the first parts have a k-tile more */
    struct divisor layer;             /* clusters of a part: of the tiles of D */
};

/* The kernel's parameter. */
struct fitted_args {
    struct gemm_args gemm;
    struct kernel_fit fit;
};

/* ---- who computes what ---- */

/* A CTA's part of a tile, the same in all of a cluster: k-tiles part, part + splits ... So the CTAs
 * of a tile read neighbouring addresses at the same time, which DRAM serves faster. */
struct work {
    int side, fitted; /* first row of the tile in each operand */
    int part, k_tiles;
    /* A cluster's CTAs form sharing_fitted lines of sharing_side. Those of a line share side rows,
     * those at one place of each line fitted rows. As bits, who shares, this CTA included. */
    int line, place;
    uint16_t with_side, with_fitted;
};

/* Finds the tile of the CTA at the work's line and place of a part's cluster `number`. Neighbours
 * share rows, mostly of the operand that has the more tiles: the L2 merges their reads. */
DEVICE void find_tile(const struct fitted_args *args, struct work *work, int number, int width) {
    const struct tile tile = tile_in_order(number, args->fit.order);
    const bool turned = args->fit.turned;
    const int side = turned ? tile.n : tile.m, fitted = turned ? tile.m : tile.n;
    work->side = (side * args->fit.sharing_fitted + work->line) * args->fit.rows;
    work->fitted = (fitted * args->fit.sharing_side + work->place) * width;
}

/* For the CTA with this rank in its cluster. Numbers of CTAs that share are powers of two. */
DEVICE void find_place(const struct fitted_args *args, struct work *work, int rank) {
    const int in_line = args->fit.sharing_side;
    work->place = rank & (in_line - 1);
    work->with_side = ((1 << in_line) - 1) << (rank - work->place);
    work->with_fitted = 0;
    NO_UNROLL for (int line = 0; line < args->fit.sharing_fitted; ++line) {
        const int first = line * in_line;
        if (first == rank - work->place) work->line = line;
        work->with_fitted |= 1 << (first + work->place);
    }
}

/* The first load waits for this, so there is no division, and what most launches do not need is
 * behind a branch. */
DEVICE struct work work_of(const struct fitted_args *args, int width) {
    struct work work = {.k_tiles = args->fit.k_tiles, .with_side = 1, .with_fitted = 1};
    int cluster = blockIdx.x;
    if (args->fit.cluster.number > 1) {
        cluster = divided_by(blockIdx.x, args->fit.cluster);
        find_place(args, &work, blockIdx.x - cluster * (int)args->fit.cluster.number);
    }
    if (args->fit.splits > 1) {
        work.part = divided_by(cluster, args->fit.layer);
        cluster -= work.part * (int)args->fit.layer.number;
        work.k_tiles += work.part < args->fit.longer_parts;
    }
    find_tile(args, &work, cluster, width);
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
 * one loads all of them for a k-tile, and the next one for the next. `alone`, a CTA that shares no
 * rows, and `loads` are constants. One thread. */
DEVICE void producer(struct smem *shared, const struct fitted_args *args, struct work work,
                     int width, struct pipeline_state *state, int item, int end, bool alone,
                     int loads) {
    const struct tensor_map *side = args->fit.transposed ? &args->gemm.map_b : &args->gemm.map_a;
    const struct tensor_map *fitted = args->fit.transposed ? &args->gemm.map_a : &args->gemm.map_b;
    const uint32_t bytes = (args->fit.rows + width) * BK * sizeof(element_t);
    const bool loads_side = loads & (args->fit.transposed ? LOADS_B : LOADS_A);
    const bool loads_fitted = loads & (args->fit.transposed ? LOADS_A : LOADS_B);
    NO_UNROLL for (; item < end && item < work.k_tiles; ++item) {
        const int k = (work.part + item * args->fit.splits) * BK;
        mbarrier_t *full = &shared->ring[state->index].full;
        /* All consumer warps that read what this CTA loads have read the stage; then announces the
         * bytes, those that other CTAs send and those of B that are under way already included.
         * mbarrier.try_wait, .arrive.expect_tx */
        if (loads & LOADS_A) producer_acquire(shared->ring, *state, bytes);
        element_t *side_tile = side_of(shared, state->index, width);
        element_t *fitted_tile = fitted_of(shared, state->index, width);
        /* For a CTA that shares no rows its own barrier's address will do. cp.async.bulk.tensor */
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

/* Loads B for the k-tiles that may be loaded early, waits for the kernels ahead on the stream, and
 * loads A for the same k-tiles, all of which have a stage. Returns their number. One thread. */
DEVICE int begin(struct smem *shared, const struct fitted_args *args, struct work work, int width,
                 struct pipeline_state *state, bool alone) {
    const int early = args->fit.early;
    struct pipeline_state first = *state;
    if (early > 0) producer(shared, args, work, width, &first, 0, early, alone, LOADS_B);
    /* The kernels ahead are complete. Before that one of them may still write A, or read what this
     * kernel overwrites. The consumers' stores come after this wait, too: the arrival that
     * announces A's bytes is a release, and they wait for the full barrier. griddepcontrol.wait */
    griddepcontrol_wait();
    if (early > 0) producer(shared, args, work, width, state, 0, early, alone, LOADS_A);
    return early;
}

/* Issues acc += side * fitted for a k-tile: 64 x width x 16 at a time, four steps along k. `side`
 * and `fitted` are the operands' descriptors. The instruction's name contains the width, so the
 * wrapper needs a literal; `width` is a constant, and one case is left of the switch. One
 * warpgroup. */
DEVICE void multiply(int width, float *acc, uint64_t side, uint64_t fitted, bool accumulate) {
    UNROLL for (int step = 0; step < BK / 16; ++step) {
        const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
        switch (width) {
#define MULTIPLY(n)                                                                                \
    case n:                                                                                        \
        wgmma_m64nNk16(n, acc, side + along_k, fitted + along_k, accumulate || step > 0);          \
        break;
            WIDTHS(MULTIPLY)
        }
    }
}

/* Releases the stage of a k-tile, which this warp has read, to the producers that load it: lane r
 * arrives at CTA r's barrier. Not if nothing will be loaded into it: so when a CTA ends, no arrival
 * is still on its way to it. mapa, mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, const struct fitted_args *args, struct work work,
                          struct pipeline_state *state, int k_tile, bool alone) {
    const int lane = threadIdx.x % 32;
    if (k_tile + args->fit.stages >= work.k_tiles) return; /* nor into any later one */
    if (alone) {
        if (lane == 0) consumer_release(shared->ring, *state);
    } else if ((work.with_side | work.with_fitted) >> lane & 1) {
        mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);
    }
    pipeline_advance(state, args->fit.stages);
}

/* ---- the sums of the other parts ---- */

/* Does the second kernel add up the tiles? Any thread, and the host. */
#define added_apart(args, width) fit_added_apart(SLABS, width, (args)->fit.splits)

/* The number of the CTA's tile, for the sums and the counter. */
DEVICE int number_of(const struct fitted_args *args, int part) {
    return blockIdx.x - part * (int)(args->fit.layer.number * args->fit.cluster.number);
}

/* The workspace: a counter of each tile's parts, then the sums. */
enum { COUNTER_BYTES = GEMM_COUNTERS * sizeof(uint64_t) };

/* This thread's sums of a part: [tile][part][chunk][thread]. A warp moves 512 consecutive bytes. */
DEVICE struct b128 *sums_of(const struct fitted_args *args, int number, int part, int width) {
    return (struct b128 *)((char *)args->gemm.workspace + COUNTER_BYTES) + threadIdx.x +
           ((int64_t)number * args->fit.splits + part) * (width / 8) * CONSUMER_THREADS;
}

/* A counter that counts: the parts so far are its last 16 bits, and these are the others. Any other
 * value is what the workspace held, or the zero that the last part leaves. The upper half is a NaN
 * that no sum is, since arithmetic has only one. */
#define COUNTING UINT64_C(0x7fa15c3eb2d90000)

/* Counts this CTA's part, which it has stored. Is it the tile's last one? Then all parts' sums may
 * be read. `found`: in the counter, a while ago. All consumer threads. */
DEVICE bool count_part(struct smem *shared, const struct fitted_args *args, uint64_t *counter,
                       uint64_t found) {
    /* All threads' sums come before the count, which one thread makes. bar.sync */
    named_barrier_sync(1, CONSUMER_THREADS);
    if (threadIdx.x == 0) {
        const uint64_t all = COUNTING + args->fit.splits;
        /* Unless it counts already, the counter begins at zero, whatever the workspace held. No
         * part waits for another. atom.cas */
        for (uint64_t expected = 0; found != expected && found >> 16 != COUNTING >> 16;) {
            expected = found;
            found = atomic_cas_relaxed_b64(counter, expected, COUNTING, SCOPE_GPU);
        }
        /* Releases these sums, and acquires those of parts counted before. atom.acq_rel.gpu */
        const bool last = atomic_add_acq_rel_b64(counter, 1, SCOPE_GPU) == all - 1;
        st_shared_b32(&shared->last, last);
        /* For the next launch. atom.cas */
        if (last) atomic_cas_relaxed_b64(counter, all, 0, SCOPE_GPU);
    }
    /* Every thread's loads come after the count. bar.sync */
    named_barrier_sync(1, CONSUMER_THREADS);
    return ld_shared_b32(&shared->last);
}

/* Stores this part's sums. All consumer threads. */
DEVICE void leave_sums(const struct fitted_args *args, struct work work, int width,
                       const float *acc) {
    struct b128 *to = sums_of(args, number_of(args, work.part), work.part, width);
    UNROLL for (int i = 0; i < width / 8; ++i) {
        struct b128 chunk;
        memcpy(&chunk, &acc[4 * i], sizeof chunk);
        st_global_b128(&to[i * CONSUMER_THREADS], chunk);
    }
}

/* Adds up the sums of all parts, this CTA's too, in the order of the parts: so the result does not
 * depend on which part is the last. FLIGHT loads are issued before the first is used; of a narrow
 * tile, they are of several parts. All consumer threads. */
DEVICE void add_parts(const struct fitted_args *args, struct work work, int width, float *acc) {
    const int chunks = width / 8, group = chunks < FLIGHT ? chunks : FLIGHT;
    const int parts = FLIGHT / group; /* at once */
    UNROLL for (int i = 0; i < width / 2; ++i) acc[i] = 0;
    NO_UNROLL for (int part = 0; part < args->fit.splits; part += parts) {
        const struct b128 *from = sums_of(args, number_of(args, work.part), part, width);
        UNROLL for (int first = 0; first < chunks; first += group) {
            struct b128 sums[FLIGHT];
            UNROLL for (int i = 0; i < parts * group; ++i)
                if (part + i / group < args->fit.splits && first + i % group < chunks)
                    sums[i] = ld_global_b128(
                        &from[(i / group * chunks + first + i % group) * CONSUMER_THREADS]);
            UNROLL for (int i = 0; i < parts * group; ++i) {
                if (part + i / group >= args->fit.splits || first + i % group >= chunks) continue;
                float addend[4];
                memcpy(addend, &sums[i], sizeof addend);
                UNROLL for (int j = 0; j < 4; ++j) acc[4 * (first + i % group) + j] += addend[j];
            }
        }
    }
}

/* ---- the epilogue ---- */

/* The lane's address in the first 16 columns of staging memory, as rows of D. If the product is
 * transposed, a row of accumulators is a column of D. A row's pitch is an odd number of chunks, so
 * that eight rows start in different banks. One warpgroup. */
DEVICE element_t *staged_at(element_t *staging, bool transposed, int width) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    const int pitch = fit_staging_pitch(width, transposed);
    const int row = transposed ? lane / 16 * 8 + lane % 8 : warp * 16 + lane % 16;
    const int chunk = transposed ? warp * 2 + lane / 8 % 2 : lane / 16;
    return &staging[(row * pitch + chunk) * 8];
}

/* Converts 64 x width accumulators and writes them to staging memory as rows of D, 16 columns at a
 * time. If only 8 are left, zeros follow, for which there is room. One warpgroup. */
DEVICE void stage_rows(element_t *staging, bool transposed, int width, const float *acc) {
    element_t *to = staged_at(staging, transposed, width);
    const int step = transposed ? 8 * fit_staging_pitch(width, transposed) * 8 : 8; /* 8 columns */
    UNROLL for (int j = 0; j < width / 8; j += 2) {
        uint32_t pairs[4] = {0, 0, 0, 0}; /* rows 0 to 7 and 8 to 15 of 8 columns, of the next 8 */
        UNROLL for (int i = 0; i < 4; ++i)
            if (i < 2 || j + 1 < width / 8)
                pairs[i] = pack_elements(acc[4 * j + 2 * i], acc[4 * j + 2 * i + 1]);
        if (transposed) stmatrix_x4_trans(&to[j * step], pairs);
        else stmatrix_x4(&to[j * step], pairs);
    }
}

/* Copies the staged rows that lie in D to D, 16 bytes per thread at a time. One warpgroup. */
DEVICE void copy_rows(const element_t *staging, const struct fitted_args *args, struct work work,
                      int slab, int width, bool transposed) {
    const int side = work.side + slab * 64, pitch = fit_staging_pitch(width, transposed);
    const int rows = transposed ? width : 64;
    const int chunks = (transposed ? 64 : width) / 8;
    const int first_row = transposed ? work.fitted : side;
    const int first_column = transposed ? side : work.fitted;
    const int side_end = work.side + args->fit.rows; /* the next tile's first row */
    const int first = threadIdx.x % 128;
    /* A division for each step would take longer than the copy, if `width` is no constant. */
    int r = first / chunks, c = first % chunks;
    NO_UNROLL for (int i = first; i < rows * chunks;
                   i += 128, r += 128 / chunks, c += 128 % chunks) {
        if (c >= chunks) c -= chunks, ++r;
        const int row = first_row + r, column = first_column + c * 8;
        if (row >= args->gemm.m || column >= args->gemm.n) continue;
        if ((transposed ? column : row) >= side_end) continue;
        const struct b128 chunk = ld_shared_b128(&staging[(r * pitch + c) * 8]);
        element_t *d = &args->gemm.d[row * args->gemm.ldd + column];
        if (column + 8 <= args->gemm.n) st_global_b128(d, chunk);
        else UNROLL for (int j = 0; j < 8; ++j)
            if (column + j < args->gemm.n)
                st_global_element(&d[j], j % 2 ? second_of_pair(chunk.word[j / 2])
                                               : first_of_pair(chunk.word[j / 2]));
    }
}

/* ---- the GEMM ---- */

/* Clears the rows of this consumer's slab that no load writes, in every stage, because wgmma reads
 * them, too. No element of D depends on them. One warpgroup. */
DEVICE void clear_rows(struct smem *shared, const struct fitted_args *args, int slab, int width) {
    const struct b128 zeros = {{0}};
    const int loaded = args->fit.rows - slab * 64; /* of the slab; below 0: none */
    if (loaded >= 64) return;
    const int first = loaded > 0 ? loaded : 0;
    element_t *rows = side_of(shared, 0, width) + slab * 64 * BK;
    NO_UNROLL for (int i = first * BK / 8 + threadIdx.x % 128; i < 64 * BK / 8; i += 128) {
        element_t *chunk = &rows[i * 8];
        NO_UNROLL for (int stage = 0; stage < args->fit.stages; ++stage) {
            st_shared_b128(chunk, zeros);
            chunk += (ROWS + width) * BK;
        }
    }
    /* This thread's zeros are written before wgmma reads them. fence.proxy.async */
    fence_proxy_async();
    /* The same holds for the warpgroup's other threads. bar.sync */
    named_barrier_sync(2 + slab, 128);
}

/* Multiplies this CTA's k-tiles into 64 rows of the tile. Stores the tile, if this is its last part
 * to be complete. `width` is a constant. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct fitted_args *args, struct work work,
                     int slab, int width) {
    float acc[WIDEST / 2]; /* of which the width takes half */
    UNROLL for (int i = 0; i < width / 2; ++i) acc[i] = 0; /* to the compiler wgmma reads acc */
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* next to read, next to release */
    const bool counted = args->fit.splits > 1 && !added_apart(args, width);
    uint64_t *const counter = (uint64_t *)args->gemm.workspace + number_of(args, work.part);
    uint64_t found = 0;
    if (counted && threadIdx.x == 0) {
        /* The kernels ahead may use the workspace, too. griddepcontrol.wait */
        if (EARLY) griddepcontrol_wait();
        /* Most counters are zero. The answer is on its way under the main loop. atom.cas */
        found = atomic_cas_relaxed_b64(counter, 0, COUNTING, SCOPE_GPU);
    }
    clear_rows(shared, args, slab, width);
    /* Stage 0's operands. Rows of a tile are 128 bytes; eight make the swizzle's 1024-byte pattern,
     * hence the stride. */
    const uint64_t side = wgmma_descriptor(
        shared_address(side_of(shared, 0, width) + slab * 64 * BK), 0, 1024, SWIZZLE_128B);
    const uint64_t fitted =
        wgmma_descriptor(shared_address(fitted_of(shared, 0, width)), 0, 1024, SWIZZLE_128B);
    const uint32_t stage_bytes = (ROWS + width) * BK * sizeof(element_t);
    uint32_t stage = 0; /* from stage 0 to that of `state`, in a descriptor's units of 16 bytes */
    const bool alone = args->fit.cluster.number == 1;
    bool full = consumer_test_wait(shared->ring, state);
    NO_UNROLL for (int k_tile = 0; k_tile < work.k_tiles; ++k_tile) {
        /* All bytes of the k-tile have arrived. mbarrier.try_wait */
        if (!full) consumer_wait(shared->ring, state);
        /* Ordinary accesses to the accumulators come before the multiplications. wgmma.fence */
        wgmma_fence();
        multiply(width, acc, side + stage, fitted + stage, k_tile > 0);
        /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
        wgmma_commit_group();
        pipeline_advance(&state, args->fit.stages);
        stage = state.index == 0 ? 0 : stage + (stage_bytes >> 4);
        /* Has the next k-tile arrived? After the last one the answer is not used.
         * mbarrier.test_wait */
        full = consumer_test_wait(shared->ring, state);
        /* Group k_tile - 1 is complete: this warp has read its stage. wgmma.wait_group */
        wgmma_wait_group(1);
        if (k_tile > 0) release_stage(shared, args, work, &release, k_tile - 1, alone);
    }
    /* The accumulators are complete. wgmma.wait_group */
    wgmma_wait_group(0);
    /* No wgmma of this CTA still reads the ring, and no load to it is under way: all have been
     * waited for. So the ring may be overwritten. bar.sync */
    named_barrier_sync(1, CONSUMER_THREADS);
    if (args->fit.splits > 1) {
        leave_sums(args, work, width, acc);
        if (!counted || !count_part(shared, args, counter, found)) return;
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

/* The barriers are initialized before any thread of the cluster uses one; nothing else is to be
 * ordered. All threads. barrier.cluster; bar.sync */
DEVICE void ring_is_ready(bool alone) {
    if (alone) named_barrier_sync(RING_BARRIER, THREADS);
    else cluster_sync_relaxed();
}

/* What each thread of a CTA does. `width` is a constant. */
DEVICE_ONCE void work_on_tile(struct smem *shared, const struct fitted_args *args, int width) {
    const bool alone = args->fit.cluster.number == 1;
    const bool loads = threadIdx.x == CONSUMER_THREADS;
    const int warp = warp_index();
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    if (warp < 4 * SLABS) {
        if (warp < INITIALIZERS && threadIdx.x % 32 == 0) {
            pipeline_init_some(shared->ring, warp, INITIALIZERS, args->fit.stages,
                               SLABS * 4 *
                                   (args->fit.sharing_side + args->fit.sharing_fitted - 1));
            /* The TMA signals these barriers, and so do other CTAs. fence.mbarrier_init */
            fence_mbarrier_init();
        }
        ring_is_ready(alone);
        /* The next launch's CTAs may begin as soon as each CTA of this one has, where there is
         * room. griddepcontrol.launch_dependents */
        if (EARLY || added_apart(args, width)) griddepcontrol_launch_dependents();
        const struct work work = work_of(args, width);
        if (SLABS > 1) setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, args, work, warp / 4, width);
    } else {
        /* Meanwhile the TMA fetches the tensor maps, and the producer finds out what to load.
         * prefetch.tensormap */
        if (loads) tma_prefetch_map(&args->gemm.map_a);
        if (loads) tma_prefetch_map(&args->gemm.map_b);
        const struct work work = work_of(args, width);
        ring_is_ready(alone);
        /* The first loads come before the exchange of registers, if there is no cluster. */
        int item = 0;
        if (EARLY && loads) item = begin(shared, args, work, width, &state, alone);
        if (loads && alone && SLABS > 1 && !EARLY) {
            producer(shared, args, work, width, &state, 0, FIRST_LOADS, true, LOADS_BOTH);
            item = FIRST_LOADS;
        }
        if (SLABS > 1) setmaxnreg_dec(PRODUCER_REGISTERS);
        if (loads && alone)
            producer(shared, args, work, width, &state, item, work.k_tiles, true, LOADS_BOTH);
        else if (loads)
            producer(shared, args, work, width, &state, item, work.k_tiles, false, LOADS_BOTH);
    }
}

/* A kernel for each width, of which the launch takes one. */
#define KERNEL_OF_WIDTH(n)                                                                         \
    KERNEL(THREADS, CTAS) kernel_##n(KERNEL_ARGS_OF(struct fitted_args) args) {                    \
        SHARED_MEMORY(struct smem);                                                                \
        work_on_tile(shared, &args, n);                                                            \
    }
WIDTHS(KERNEL_OF_WIDTH)
#define FUNCTION_OF_WIDTH(n) (const void *)kernel_##n,
static const void *const kernels[] = {WIDTHS(FUNCTION_OF_WIDTH)}; /* [width / 8 - 1] */

/* ---- the second kernel ---- */

/* Adds up the parts of every tile, in their order, and stores D, where a tile has more than
 * FIT_LAST_ADDS bytes of sums. Each CTA has a chunk of columns of a tile. */
KERNEL(CONSUMER_THREADS, FIT_SECOND_RESIDENT) add_tiles(KERNEL_ARGS_OF(struct fitted_args) args) {
    const int chunks = args.fit.width / 8, parts = args.fit.splits;
    const int size = (int)args.fit.cluster.number;
    const int number = blockIdx.x / chunks, chunk = blockIdx.x - number * chunks;
    const int rank = number % size;
    struct work work = {0};
    work.line = rank / args.fit.sharing_side;
    work.place = rank % args.fit.sharing_side;
    find_tile(&args, &work, number / size, args.fit.width);
    if (EARLY) griddepcontrol_launch_dependents();
    /* The GEMM is complete, and with it all sums. griddepcontrol.wait */
    griddepcontrol_wait();
    float total[4] = {0};
    NO_UNROLL for (int first = 0; first < parts; first += FLIGHT) {
        const struct b128 *from =
            sums_of(&args, number, first, args.fit.width) + chunk * CONSUMER_THREADS;
        const int part = chunks * CONSUMER_THREADS; /* to the next one */
        struct b128 flight[FLIGHT];
        UNROLL for (int i = 0; i < FLIGHT; ++i)
            if (first + i < parts) flight[i] = ld_global_b128(&from[i * part]);
        UNROLL for (int i = 0; i < FLIGHT; ++i) {
            if (first + i >= parts) continue;
            float addend[4];
            memcpy(addend, &flight[i], sizeof addend);
            UNROLL for (int j = 0; j < 4; ++j) total[j] += addend[j];
        }
    }
    /* Of rows r and r + 8 of the product, and of two columns. */
    UNROLL for (int i = 0; i < 4; ++i) {
        const int lane = threadIdx.x % 32, in_tile = threadIdx.x / 32 * 16 + i / 2 * 8 + lane / 4;
        const int side = work.side + in_tile;
        const int fitted = work.fitted + chunk * 8 + lane % 4 * 2 + i % 2;
        const int row = args.fit.transposed ? fitted : side;
        const int column = args.fit.transposed ? side : fitted;
        if (in_tile < args.fit.rows && row < args.gemm.m && column < args.gemm.n)
            st_global_element(&args.gemm.d[row * args.gemm.ldd + column],
                              float_to_element(total[i]));
    }
}

/* ---- the launch ---- */

static enum gemm_status launch_fit(const struct gemm_problem *p, struct fit fit, void *stream) {
    const enum gemm_type type = ELEMENT_TYPE;
    const int size = fit.sharing_side * fit.sharing_fitted;
    struct fitted_args args;
    memset(&args, 0, sizeof args);
    struct gemm_args *gemm = &args.gemm;
    *gemm = gemm_args_of(p, 1, 1, BK);
    /* In clusters: the tiles of a cluster's CTAs lie side by side. */
    gemm->tiles_m = fit_clusters_side(p, SLABS, &fit);
    gemm->tiles_n = ceil_div(fit.transposed ? p->m : p->n, fit.width * fit.sharing_side);
    args.fit.splits = fit.splits;
    args.fit.width = fit.width;
    args.fit.rows = fit_rows(p, SLABS, &fit);
    args.fit.sharing_side = fit.sharing_side;
    args.fit.sharing_fitted = fit.sharing_fitted;
    const int stages = fit_stages(SLABS, fit.width), k_tiles = ceil_div(gemm->tiles_k, fit.splits);
    args.fit.stages = stages < k_tiles ? stages : k_tiles; /* each has barriers to initialize */
    args.fit.early = p->early == GEMM_EARLY_B ? args.fit.stages : 0;
    args.fit.transposed = fit.transposed;
    args.fit.turned = gemm->tiles_m > gemm->tiles_n;
    args.fit.order = args.fit.turned ? tile_order_of(gemm->tiles_n, gemm->tiles_m)
                                     : tile_order_of(gemm->tiles_m, gemm->tiles_n);
    args.fit.cluster = divisor_of((uint32_t)size);
    args.fit.layer = divisor_of((uint32_t)(gemm->tiles_m * gemm->tiles_n));
    args.fit.k_tiles = gemm->tiles_k / fit.splits;
    args.fit.longer_parts = gemm->tiles_k % fit.splits;
    if (gemm_tensor_map(&gemm->map_a, type, p->a, p->m, p->k, p->lda,
                        fit.transposed ? fit.width : args.fit.rows, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, type, p->b, p->n, p->k, p->ldb,
                        fit.transposed ? args.fit.rows : fit.width, BK, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const int tiles = (int)fit_tiles(p, SLABS, &fit);
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, tiles * fit.splits, stream);
    launch.kernel = kernels[fit.width / 8 - 1];
    launch.cluster = size;
    launch.early = p->early;
    const enum gemm_status status = gemm_launch_kernel(&launch, &args);
    if (status || !added_apart(&args, fit.width)) return status;
    const struct gemm_launch adds = {.kernel = (const void *)add_tiles, .name = "add_tiles",
                                     .grid = tiles * (fit.width / 8), .cluster = 1,
                                     .threads = CONSUMER_THREADS, .stream = stream,
                                     .early = GEMM_EARLY};
    return gemm_launch_kernel(&adds, &args);
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
    return COUNTER_BYTES +
           (size_t)fit_tiles(p, SLABS, &fit) * fit.splits * ROWS * fit.width * sizeof(float);
}

/* Two records of the kernel. GEMM_KERNEL may cut k into parts; with _whole added it does not, and
 * needs no workspace. The launch sets the function and the cluster. */
#define RECORD(uses_workspace, launch_function)                                                    \
    .name = "hopper_gemm", .variant = GEMM_VARIANT,                                                \
    .technique = "a tile as wide as the launch chooses, so that the tiles fill the SMs",           \
    .tile_m = ROWS, .tile_n = WIDEST, .tile_k = BK, .stages = FIT_MOST_STAGES,                     \
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),                           \
    .function = (const void *)kernel_8, .launch = launch_function,                                 \
    .workspace_bytes = uses_workspace,                                                             \
    .earliest = EARLY ? GEMM_EARLY_B : GEMM_IN_ORDER,                                              \
    .boundaries = {{"m", RASTER_GROUP * WIDEST}, {"n", RASTER_GROUP * WIDEST}},
#define WITH_WHOLE(kernel) kernel##_whole
#define WHOLE_OF(kernel) WITH_WHOLE(kernel)
#ifdef __cplusplus
extern "C"
#endif
extern const struct gemm_kernel WHOLE_OF(GEMM_KERNEL);
const struct gemm_kernel WHOLE_OF(GEMM_KERNEL) = {RECORD(NULL, launch_whole)};
const struct gemm_kernel GEMM_KERNEL = {RECORD(workspace_bytes, launch)};
