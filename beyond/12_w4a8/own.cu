/*
 * 12_w4a8, own.cu: every thread fetches its own weights.
 *
 * The idea: a weight is multiplied by one thread's part of the Tensor Core's work, and the weights
 * lie in the order of the registers. So no thread reads what another one has fetched, and a thread
 * can fetch its 32 weights for 64 of k by one cp.async, to a place in shared memory that is its
 * own. It waits for its own copies, and no barrier follows. No proxy fence is due either, because
 * ordinary loads read what ordinary copies write. The copies begin with the kernel's first
 * instructions, before there are barriers or tensor maps. The TMA fetches only A, which all
 * consumers read. The rest is pairs.cu. What it costs: three instructions of each thread for a
 * k-tile, and a copy of its scales for every thread.
 */
#include <assert.h>

#include "gemm.h"
#include "building_blocks/cluster_splits.h"
#include "building_blocks/column_sum.h"
#include "building_blocks/pipeline.h"
#include "hopper/cluster.h"
#include "hopper/cp_async.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "configuration.h"
#include "fragments.h"

#ifndef DEPTH
#define DEPTH 14 /* slabs of weights of a thread that are under way or not yet read */
#endif
#ifndef SHARE
#define SHARE 1 /* tiles side by side whose CTAs, a cluster, share rows of A: 1 or 2 */
#endif

enum {
    CHUNKS = W4_BLOCK / 64 + 1, /* of 16 bytes, of a thread's slab: weights, then scales */
    A_BYTES = BM * BK * sizeof(e4m3_t)
};

struct tiles {
    e4m3_t a[STAGES][BM * BK];                       /* [stage][row][k], 128 B swizzle */
    struct b128 b[DEPTH][CHUNKS][128 * CONSUMERS]; /* [slab][chunk][thread] */
};

/* Then a stage is always the same team's; see kernel.cu. */
static_assert(STAGES % TEAMS == 0, "a stage belongs to one team");
static_assert(DEPTH % SLABS == 0, "the slots hold whole k-tiles");

enum { PITCH = COLUMN_SUM_PITCH(BN) /* floats, of a row of sums */ };

struct smem {
    union {
        struct tiles tiles;            /* in the main loop */
        float sums[TEAMS][BM * PITCH]; /* after it: [row][column], in column_sum.h's order */
    } memory;
    float scale[BM];                    /* of the tile's rows of A */
    struct pipeline_stage ring[STAGES]; /* of A; released by the warps of one team */
};

/* A thread's copies. */
struct copies {
    const uint8_t *from; /* its weights for the next k-tile's first 64 of k */
    int scales;          /* bytes from there to the scales of its channels */
    int stride;          /* bytes from one k-tile of its team to the next */
    int left;            /* k-tiles to fetch */
    int slot;            /* of the next slab to take, and then of the next one to fetch */
};

/* A cluster: SHARE tiles side by side, whose CTAs share rows of A, times `splits` parts of the k
 * loop of each. The parts of a tile have neighbouring ranks. */
DEVICE int part_of_k(const struct gemm_args *args) { return cluster_rank() % args->splits; }
DEVICE int tile_of_cluster(const struct gemm_args *args) { return cluster_rank() / args->splits; }

/* k-tiles of this CTA. The CTAs of a tile take turns, because DRAM reads neighbouring addresses
 * faster together. */
DEVICE int k_tiles_of_cta(const struct gemm_args *args) {
    return (args->tiles_k - part_of_k(args) + args->splits - 1) / args->splits;
}

/* Of these, a team's: every TEAMS-th. */
DEVICE int k_tiles_of_team(const struct gemm_args *args, int team) {
    return (k_tiles_of_cta(args) - team + TEAMS - 1) / TEAMS;
}

/* Starts copying a slab of the thread's next k-tile, as one group, which is empty after the last
 * k-tile. A thread of a consumer. */
DEVICE void fetch_slab(struct smem *shared, struct copies *copies, int slab) {
    const int own = threadIdx.x - 128;
    if (copies->left > 0) {
        struct b128(*const to)[128 * CONSUMERS] = shared->memory.tiles.b[copies->slot];
        const uint8_t *const from = copies->from + slab * W4_HALF_BYTES;
        UNROLL for (int i = 0; i < W4_BLOCK / 64; ++i)
            cp_async_16(&to[i][own], from + i * 128 * 16, 16);
        /* Four words, of which one has the scales of this thread's two channels. */
        cp_async_16(&to[CHUNKS - 1][own], from + copies->scales, 16);
    }
    /* The slab is one group, the unit that waits count. cp.async.commit_group */
    cp_async_commit_group();
    copies->slot = copies->slot + 1 == DEPTH ? 0 : copies->slot + 1;
    if (slab < SLABS - 1) return;
    copies->from += copies->stride;
    --copies->left;
}

/* Starts the first copies of a consumer, which fill all of its threads' slots. One warpgroup. */
DEVICE struct copies first_copies(struct smem *shared, const struct gemm_args *args,
                                  struct place place, int team, int member) {
    const int thread = threadIdx.x % 128;
    const int half = (place.n * MEMBERS + member) * SLABS; /* of a block: 64 channels */
    const int last = (args->n - 1) / W4_BLOCK; /* block; beyond it any other, which is not stored */
    const int block = half / 2 < last ? half / 2 : last;
    const int k_tile = part_of_k(args) + team * args->splits;
    struct copies copies;
    copies.from = (const uint8_t *)args->b +
                  ((int64_t)block * args->tiles_k + k_tile) * W4_BLOCK_BYTES +
                  half % 2 * W4_HALF_BYTES + thread * 16;
    copies.scales = W4_WEIGHT_BYTES + thread / 16 * 16 - thread * 16;
    copies.stride = args->splits * TEAMS * W4_BLOCK_BYTES;
    copies.left = k_tiles_of_team(args, team);
    copies.slot = 0;
    NO_UNROLL for (int i = 0; i < DEPTH / SLABS; ++i)
        UNROLL for (int slab = 0; slab < SLABS; ++slab) fetch_slab(shared, &copies, slab);
    return copies;
}

/* Issues acc = weights * rows of A: 64 x BM x 32 at a time, four steps along k. A's rows are 128
 * bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. One warpgroup. */
DEVICE void multiply(float acc[BM / 2], const struct fragments *f, const e4m3_t *a) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3_rs(BM, acc, f->a[step], a_tile + along_k, step > 0);
    }
}

/* Fills the ring with A's part of this CTA's k-tiles, from `item` up to `end`; with SHARE 2, with
 * half of the rows of both CTAs. The TMA fills zeros in beyond m and k. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args, struct place place,
                     struct pipeline_state *state, int item, int end) {
    const int row = tile_of_cluster(args) * (BM / SHARE); /* of the tile's */
    NO_UNROLL for (; item < end && item < k_tiles_of_cta(args); ++item) {
        const int k_tile = item * args->splits + part_of_k(args);
        mbarrier_t *full = &shared->ring[state->index].full;
        e4m3_t *a = &shared->memory.tiles.a[state->index][row * BK];
        /* All consumer warps have read the stage, with SHARE 2 those of both CTAs; then announces
         * the bytes. mbarrier.try_wait, .arrive.expect_tx */
        producer_acquire(shared->ring, *state, A_BYTES);
        if (SHARE == 1) {
            tma_load(a, &args->map_a, place.m * BM, k_tile * BK, full);
        } else {
            const int both = 1 | 1 << args->splits;
            tma_load_multicast(a, &args->map_a, place.m * BM + row, k_tile * BK, full,
                               (uint16_t)(both << part_of_k(args)));
        }
        pipeline_advance(state, STAGES);
    }
}

/* Moves on to the next slab's stage: that of the team's next k-tile, after a k-tile's last slab. */
DEVICE void next_slab(struct pipeline_state *state, int slab) {
    if (slab < SLABS - 1) return;
    if (TEAMS > 1) pipeline_skip(state, TEAMS, STAGES);
    else pipeline_advance(state, STAGES);
}

/* Loads the weights of the next slab, and waits for them and for its rows of A first. One
 * warpgroup. */
DEVICE void take_slab(struct smem *shared, struct pipeline_state *state,
                      const struct copies *copies, struct weights *w, int slab) {
    const int own = threadIdx.x - 128;
    const struct b128 *scales = &shared->memory.tiles.b[copies->slot][CHUNKS - 1][own];
    /* All bytes of A's k-tile have arrived. mbarrier.try_wait */
    if (slab == 0) consumer_wait(shared->ring, *state);
    /* The thread's copies of this slab have landed: of DEPTH groups the oldest. No other thread
     * reads them, so no barrier follows. cp.async.wait_group */
    cp_async_wait_group(DEPTH - 1);
    UNROLL for (int i = 0; i < W4_BLOCK / 64; ++i)
        w->words[i] = ld_shared_b128(&shared->memory.tiles.b[copies->slot][i][own]);
    w->scales = ld_shared_b32(&scales->word[threadIdx.x / 4 % 4]);
    next_slab(state, slab);
}

/* Sends the multiplications of a slab, whose weights are in `f`, to the Tensor Core. One
 * warpgroup. */
DEVICE void issue_slab(struct smem *shared, struct pipeline_state *state, float acc[BM / 2],
                       const struct fragments *f, int slab) {
    /* The conversion's writing of the fragments, and the promotion's reading of the accumulators,
     * come before the multiplications. wgmma.fence */
    wgmma_fence();
    multiply(acc, f, shared->memory.tiles.a[state->index]);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    next_slab(state, slab);
}

/* Adds up the sums of a slab that has been waited for in fp32, times the scales of this thread's
 * two channels, and releases A's stage after the k-tile's last slab. One warpgroup. */
DEVICE void finish_slab(struct smem *shared, const struct gemm_args *args,
                        struct pipeline_state *state, float sum[BM / 2], float acc[BM / 2],
                        struct fragments *f, int slab) {
    keep(f);
    /* The Tensor Core has read the stage for this warp. One lane arrives, or with SHARE 2 one for
     * each CTA that loads a part of the stage. mbarrier.arrive; mapa */
    if (slab == SLABS - 1 && threadIdx.x % 32 < SHARE) {
        if (SHARE == 1) consumer_release(shared->ring, *state);
        else
            mbarrier_arrive_remote(&shared->ring[state->index].empty,
                                   threadIdx.x % 32 * args->splits + part_of_k(args));
    }
    next_slab(state, slab);
    wgmma_promote(sum, acc, f->scale, BM / 2);
}

/* Multiplies its team's k-tiles, two slabs at a time, and leaves the sums in shared memory. With
 * two slabs a k-tile has both, otherwise they are of two k-tiles. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, struct copies copies,
                     int team, int member) {
    const int slabs = k_tiles_of_team(args, team) * SLABS;
    enum { LAST = SLABS - 1 };
    float first[BM / 2], second[BM / 2], sum[SLABS][BM / 2];
    UNROLL for (int i = 0; i < SLABS * BM / 2; ++i) sum[i / (BM / 2)][i % (BM / 2)] = 0;
    struct weights w;
    struct fragments f, g; /* of the first and of the second slab */
    /* There are more stages than teams. */
    struct pipeline_state take = {team, 0}, issue = {team, 0}, done = {team, 0};
    if (slabs > 0) {
        take_slab(shared, &take, &copies, &w, 0);
        convert(&f, &w);
        fetch_slab(shared, &copies, 0);
    }
    if (slabs > 1) take_slab(shared, &take, &copies, &w, LAST);
    NO_UNROLL for (int i = 2; i <= slabs; i += 2) {
        issue_slab(shared, &issue, first, &f, 0);
        convert(&g, &w);
        keep(&g); /* all of it comes before the next multiplications */
        issue_slab(shared, &issue, second, &g, LAST);
        /* Its words have been read, so the slot is free. */
        fetch_slab(shared, &copies, LAST);
        if (i < slabs) take_slab(shared, &take, &copies, &w, 0);
        /* The first slab's sums are complete, and the Tensor Core has read its part of A. The
         * second slab stays under way. wgmma.wait_group */
        wgmma_wait_group(1);
        finish_slab(shared, args, &done, sum[0], first, &f, 0);
        if (i < slabs) {
            convert(&f, &w);
            fetch_slab(shared, &copies, 0);
        }
        if (i + 1 < slabs) take_slab(shared, &take, &copies, &w, LAST);
        /* So are the second slab's. wgmma.wait_group */
        wgmma_wait_group(0);
        finish_slab(shared, args, &done, sum[LAST], second, &g, LAST);
    }
    if (slabs % 2) {
        issue_slab(shared, &issue, first, &f, 0);
        /* The last slab has no other beside it. wgmma.wait_group */
        wgmma_wait_group(0);
        finish_slab(shared, args, &done, sum[0], first, &f, 0);
    }
    /* All consumer warps have read their last stage and their own slots, and no load is under way,
     * so the sums may overwrite them. bar.sync */
    named_barrier_sync(1, 128 * CONSUMERS);
    UNROLL for (int slab = 0; slab < SLABS; ++slab)
        column_sum_put(shared->memory.sums[team] + (member * SLABS + slab) * 64, PITCH, sum[slab],
                       BM / 2);
}

/* Fetches the scales of the tile's rows, so that the store does not wait for memory. The warps of
 * the producer's warpgroup that load nothing. */
DEVICE void fetch_scales(struct smem *shared, const struct gemm_args *args, struct place place) {
    NO_UNROLL for (int i = threadIdx.x - 32; i < BM && place.m * BM + i < args->m; i += 96)
        st_shared_b32(&shared->scale[i], ld_global_b32(&args->scales.a[place.m * BM + i]));
}

/* Adds up this CTA's share of the tile over the cluster and its teams, always in the same order,
 * and stores it. All threads. */
DEVICE void store_tile(struct smem *shared, const struct gemm_args *args, struct place place) {
    enum { CHUNKS_OF_ROW = BN / SUM_CHUNK };
    const int rows_left = args->m - place.m * BM, rows = rows_left < BM ? rows_left : BM;
    NO_UNROLL for (int i = part_of_k(args) * THREADS + threadIdx.x; i < rows * CHUNKS_OF_ROW;
                   i += args->splits * THREADS) {
        const int row = i / CHUNKS_OF_ROW, chunk = i % CHUNKS_OF_ROW * SUM_CHUNK;
        const uint32_t bits = ld_shared_b32(&shared->scale[row]);
        float sum[SUM_CHUNK] = {0}, scale;
        memcpy(&scale, &bits, sizeof scale);
        UNROLL for (int team = 0; team < TEAMS; ++team) {
            float of_team[SUM_CHUNK];
            column_sum_get_from(&shared->memory.sums[team][row * PITCH + chunk],
                                tile_of_cluster(args) * args->splits, args->splits, of_team);
            UNROLL for (int j = 0; j < SUM_CHUNK; ++j) sum[j] += of_team[j];
        }
        column_sum_store(args, place.m * BM + row, place.n * BN + chunk, scale * UNIT, sum);
    }
}

KERNEL(THREADS, CTAS_PER_SM) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warpgroup = warp_index() / 4;
    const int team = (warpgroup - 1) / MEMBERS, member = (warpgroup - 1) % MEMBERS;
    const int cluster = SHARE * args.splits;
    struct place place = place_of(&args, blockIdx.x / cluster);
    const bool loads = threadIdx.x == 0;
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    struct copies copies = {NULL, 0, 0, 0, 0};
    place.n = place.n * SHARE + tile_of_cluster(&args);
    if (warpgroup > 0) copies = first_copies(shared, &args, place, team, member);
    if (loads) {
        pipeline_init(shared->ring, STAGES, SHARE * MEMBERS * 4);
        /* The TMA signals these barriers, in the async proxy, and so may the other CTA.
         * fence.mbarrier_init */
        fence_mbarrier_init();
        /* The first round needs no wait, and a short main loop waits for its first bytes. */
        if (SHARE == 1) producer(shared, &args, place, &state, 0, STAGES);
    }
    /* The barriers are initialized before others use them. bar.sync, barrier.cluster */
    if (SHARE == 1) __syncthreads();
    else cluster_sync_relaxed();
    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (loads)
            producer(shared, &args, place, &state, SHARE == 1 ? STAGES : 0, args.tiles_k);
        else if (threadIdx.x >= 32) fetch_scales(shared, &args, place);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, copies, team, member);
    }
    /* The sums of all CTAs of a tile are complete, and the scales are in shared memory.
     * barrier.cluster, bar.sync */
    if (args.splits > 1) cluster_sync();
    else __syncthreads();
    store_tile(shared, &args, place);
    /* No CTA exits while another may still read its memory or arrive at its barriers.
     * barrier.cluster */
    if (cluster > 1) cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, 1, stream);
    if (make_maps(&args, p, BM / SHARE, BLOCK_LINES)) return GEMM_UNSUPPORTED;
    const int groups = args.tiles_m * ceil_div(args.tiles_n, SHARE);
    args.splits = cluster_splits_of(launch, groups, args.tiles_k, SHARE);
    launch.cluster = SHARE * args.splits;
    launch.grid = groups * launch.cluster;
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "12_w4a8", .variant = GEMM_VARIANT,
    .technique = "every thread fetches its own weights",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = SHARE, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
