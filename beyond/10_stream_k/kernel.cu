/*
 * 10_stream_k: the last, incomplete round is cut by k-tiles instead of by tiles.
 *
 * The idea: T tiles on G clusters take ceil(T / G) rounds, and in the last round some SMs are idle.
 * Here the k-tiles of that round, and of the round before it if the last has few, are numbered
 * consecutively and cut into G equal stretches. If a cut falls inside a tile, two or more clusters
 * share the tile. The cluster with the tile's end adds the sums that the others store in a
 * workspace, always in the same order. What it costs: four bytes per element each way, and
 * neighbouring SMs no longer fetch the same operands at the same time. What it hides: the idle part
 * of the last round.
 */
#include "gemm.h"
#define RASTER_GROUP 8 /* of tile_order.h; in clusters */
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/atomics.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

enum {
    BM = 128, BN = 256, BK = 64, /* the CTA's tile */
    STAGES = 4,                  /* depth of the ring */
    CLUSTER = 2,                 /* CTAs, one above the other */
    CONSUMERS = 2,               /* warpgroups, each with BM / CONSUMERS rows of the tile */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
    CHUNKS = BN / 8, /* of 16 bytes, that a thread's accumulators fill */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the consumers of both CTAs: 16 warps */
};

/* ---- who computes what ---- */

/* K-tiles k_begin .. k_end - 1 of a pair: of a tile for each CTA of the cluster. */
struct part {
    int pair, k_begin, k_end;
};

/* What is left to do for this cluster: whole pairs, then its stretch, the last part first. So the
 * sums that another cluster waits for are stored early. The part that needs sums of others comes
 * last, and waits only for clusters of lower index. The launch is cooperative, so all clusters of
 * the grid run at once, or none does. In this kernel args->items is the number of complete rounds,
 * not of items. */
struct work {
    int round;          /* of whole pairs */
    int64_t begin, end; /* of the stretch: numbers of k-tiles, counted from the cut rounds on */
};

/* The first k-tile of a cluster's stretch, which ends where the next cluster's would begin. */
DEVICE int64_t stretch_begin(const struct gemm_args *args, int cluster) {
    const int clusters = gridDim.x / CLUSTER;
    const int pairs = (args->tiles_m + CLUSTER - 1) / CLUSTER * args->tiles_n;
    return (int64_t)(pairs - args->items * clusters) * args->tiles_k * cluster / clusters;
}

/* The number of the first k-tile of a part's pair; negative in the rounds that are not cut. */
DEVICE int64_t pair_begin(const struct gemm_args *args, struct part part) {
    return (int64_t)(part.pair - args->items * (int)(gridDim.x / CLUSTER)) * args->tiles_k;
}

DEVICE struct work whole_work(const struct gemm_args *args) {
    struct work work;
    work.round = 0;
    work.begin = stretch_begin(args, blockIdx.x / CLUSTER);
    work.end = stretch_begin(args, blockIdx.x / CLUSTER + 1);
    return work;
}

/* Takes the next part; false if there is none. */
DEVICE bool next_part(const struct gemm_args *args, struct work *work, struct part *part) {
    const int clusters = gridDim.x / CLUSTER;
    if (work->round < args->items) {
        part->pair = work->round++ * clusters + blockIdx.x / CLUSTER;
        part->k_begin = 0;
        part->k_end = args->tiles_k;
        return true;
    }
    if (work->end == work->begin) return false;
    part->pair = args->items * clusters + (int)((work->end - 1) / args->tiles_k);
    const int64_t first = pair_begin(args, *part);
    part->k_end = (int)(work->end - first);
    work->end = first > work->begin ? first : work->begin;
    part->k_begin = (int)(work->end - first);
    return true;
}

/* This CTA's tile of a part. */
DEVICE struct tile tile_of(const struct gemm_args *args, struct part part) {
    const int tiles_m = (args->tiles_m + CLUSTER - 1) / CLUSTER;
    struct tile tile = tile_at(part.pair, tiles_m, args->tiles_n);
    tile.m = tile.m * CLUSTER + cluster_rank();
    return tile;
}

/* ---- sums for another cluster ---- */

/* Where this thread's accumulators are in the workspace: [place][half][chunk][thread], so that a
 * warp moves 512 consecutive bytes. A place is a CTA here: it stores sums at most once. */
DEVICE struct b128 *sums_of(const struct gemm_args *args, int place, int half) {
    return (struct b128 *)args->workspace + ((int64_t)place * CONSUMERS + half) * CHUNKS * 128 +
           threadIdx.x % 128;
}

/* The flag that is set when these sums are stored; zero again at the end of the launch. */
DEVICE uint32_t *flag_of(const struct gemm_args *args, int place, int half) {
    return &args->tile_counter[place * CONSUMERS + half];
}

/* Stores the sums for the cluster that has the tile's end. One warpgroup. */
DEVICE void leave_sums(const struct gemm_args *args, int place, int half,
                       const float acc[BN / 2]) {
    struct b128 *to = sums_of(args, place, half);
    UNROLL for (int i = 0; i < CHUNKS; ++i) {
        struct b128 chunk;
        memcpy(&chunk, &acc[4 * i], sizeof chunk);
        st_global_b128(&to[i * 128], chunk);
    }
    /* All threads' sums come before the flag, which one thread sets. bar.sync, st.release.gpu */
    named_barrier_sync(1 + half, 128);
    if (threadIdx.x % 128 == 0) st_global_release(flag_of(args, place, half), 1, SCOPE_GPU);
}

/* Waits for the sums of another part, and adds them. One warpgroup. */
DEVICE void add_sums(const struct gemm_args *args, int place, int half, float acc[BN / 2]) {
    uint32_t *flag = flag_of(args, place, half);
    if (threadIdx.x % 128 == 0) {
        /* The other CTA has stored its sums. ld.acquire.gpu */
        while (ld_global_acquire(flag, SCOPE_GPU) == 0) {}
        st_global_relaxed(flag, 0, SCOPE_GPU); /* for the next launch */
    }
    /* Every thread's loads come after the flag. bar.sync */
    named_barrier_sync(1 + half, 128);
    const struct b128 *from = sums_of(args, place, half);
    UNROLL for (int i = 0; i < CHUNKS; ++i) {
        const struct b128 chunk = ld_global_b128(&from[i * 128]);
        float sum[4];
        memcpy(sum, &chunk, sizeof sum);
        UNROLL for (int j = 0; j < 4; ++j) acc[4 * i + j] += sum[j];
    }
}

/* ---- the GEMM ---- */

/* Issues acc += a * b for a k-tile: 64 x 256 x 16 at a time, four steps along k. Rows of a tile are
 * 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence the stride. A warpgroup. */
DEVICE void multiply(float acc[BN / 2], const element_t *a, const element_t *b, bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step) {
        const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
        wgmma_m64nNk16(256, acc, a_tile + along_k, b_tile + along_k, accumulate || step > 0);
    }
}

/* Fills the ring with the k-tiles of part after part: the CTA's own rows of A, and half of the
 * columns of B for both CTAs. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    const int row = cluster_rank() * (BN / CLUSTER); /* of B */
    struct work work = whole_work(args);
    struct part part;
    while (next_part(args, &work, &part)) {
        const struct tile tile = tile_of(args, part);
        NO_UNROLL for (int k_tile = part.k_begin; k_tile < part.k_end; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* All consumer warps of the cluster have read the stage; then announces the bytes,
             * those that the other CTA sends included. mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            /* The half of B first: both CTAs wait for it. */
            tma_load_multicast(&shared->b[state.index][row * BK], &args->map_b, tile.n * BN + row,
                               k_tile * BK, full, (1 << CLUSTER) - 1);
            tma_load(shared->a[state.index], &args->map_a, tile.m * BM, k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
    }
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, int half,
                         float acc[BN / 2], bool accumulate) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, &shared->a[state->index][half * 64 * BK], shared->b[state->index], accumulate);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Releases the stage, which this warp has read, to the producers of both CTAs: lane r arrives at
 * CTA r's barrier. mapa, mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    const int lane = threadIdx.x % 32;
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[state->index].empty, lane);
    pipeline_advance(state, STAGES);
}

/* Multiplies its 64 rows of part after part; stores the tiles whose end it has, and the sums of
 * the others for other clusters. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_args *args, int half) {
    const bool elected = threadIdx.x % 128 == 0;
    float acc[BN / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] = 0; /* to the compiler wgmma reads acc */
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    struct work work = whole_work(args);
    struct part part;
    while (next_part(args, &work, &part)) {
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, half, acc, false);
        NO_UNROLL for (int k_tile = part.k_begin + 1; k_tile < part.k_end; ++k_tile) {
            issue_k_tile(shared, &state, half, acc, true);
            /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
             * wgmma.wait_group */
            wgmma_wait_group(1);
            release_stage(shared, &release);
        }
        /* The accumulators are complete, the last stage read. wgmma.wait_group, mbarrier.arrive */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        if (part.k_end < args->tiles_k) {
            leave_sums(args, blockIdx.x, half, acc);
            continue;
        }
        /* The earlier k-tiles of this pair belong to the clusters before this one: to cluster c as
         * long as its stretch, which ends where the next begins, ends after the pair's first. */
        const int64_t first = pair_begin(args, part);
        if (part.k_begin > 0)
            for (int c = blockIdx.x / CLUSTER - 1; stretch_begin(args, c + 1) > first; --c)
                add_sums(args, c * CLUSTER + cluster_rank(), half, acc);
        const struct tile tile = tile_of(args, part);
        epilogue_store(shared->d[half], args, tile.m * BM + half * 64, tile.n * BN, 64, BN, acc,
                       1 + half);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, CLUSTER * CONSUMERS * 4);
        /* The TMA signals these barriers, and so does the other CTA. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any thread of the cluster uses one; nothing else is to be
     * ordered. barrier.cluster */
    cluster_sync_relaxed();

    if (warpgroup == 0) {
        if (warp == 0 && elect_one()) producer(shared, &args);
    } else {
        consumer(shared, &args, warpgroup - 1);
    }
    /* No CTA exits while the other may write to its memory or arrive at its barriers.
     * barrier.cluster */
    cluster_sync();
}

/* ---- the launch ---- */

/* As many as are resident, but none without a k-tile. */
static int clusters_of(const struct gemm_problem *p) {
    const struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, CLUSTER, NULL);
    const int64_t k_tiles =
        (int64_t)ceil_div(ceil_div(p->m, BM), CLUSTER) * ceil_div(p->n, BN) * ceil_div(p->k, BK);
    int clusters = gemm_resident_clusters(&launch);
    if (clusters > GEMM_COUNTERS / (CLUSTER * CONSUMERS))
        clusters = GEMM_COUNTERS / (CLUSTER * CONSUMERS);
    return k_tiles < clusters ? (int)k_tiles : clusters;
}

static size_t workspace_bytes(const struct gemm_problem *p) {
    return (size_t)clusters_of(p) * CLUSTER * BM * BN * sizeof(float);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    const enum gemm_type type = ELEMENT_TYPE;
    if (gemm_tensor_map(&args.map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, type, p->b, p->n, p->k, p->ldb, BN / CLUSTER, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_d, type, p->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const int clusters = clusters_of(p), tiles = ceil_div(args.tiles_m, CLUSTER) * args.tiles_n;
    if (clusters == 0) return GEMM_UNSUPPORTED; /* and why has been said */
    const int rest = tiles % clusters;
    /* Rounds of whole tiles. With less than half a tile left for each cluster, tiles would be cut
     * into many parts: then the last complete round is cut, too. */
    args.items = tiles / clusters;
    if (rest > 0 && 2 * rest < clusters && args.items > 0) --args.items;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, clusters * CLUSTER, stream);
    launch.together = true; /* a cluster waits for others of lower index */
    return gemm_launch_kernel(&launch, &args);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "10_stream_k", .variant = GEMM_VARIANT,
    .technique = "the last round cut by k-tiles",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = workspace_bytes,
    .counters = true,
};
