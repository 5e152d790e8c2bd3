/*
 * 13_two_gpus, all_gather.cu: a GEMM whose A is spread over two GPUs, fetched while it runs.
 *
 * The idea: each device has a slice of A's rows, and computes some columns of D, for which it needs
 * all of A. It begins with its own rows. Meanwhile it fetches those of its peer into memory of its
 * own, in tiles and in the order in which they are needed: one thread of each CTA lets the TMA load
 * a tile over the link into shared memory and store it from there. A counter for each tile row
 * shows the producers when it is complete. Each byte crosses the link once, however many CTAs
 * need it. What it hides: the link, if the peer's rows arrive while the own ones are multiplied.
 * What it costs: a staging buffer of each consumer, because the gathered tile takes their place.
 * What it needs: all CTAs of a device resident at the same time, because a producer waits for rows
 * that other CTAs fetch. The grid has at most one for each SM, and a launch that does not fit is
 * refused.
 */
#include "split.h"
#define BUFFERS 1 /* of epilogue_store.h; the place of the other one is the gatherer's */
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/atomics.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 4 /* depth of the ring, 2 to 4 */
#endif
enum {
    BM = SLICE_M, BN = SLICE_N, BK = SLICE_K, /* the CTA's tile, 128 x 256 x 64 */
    CONSUMERS = 2, /* warpgroups, each with BM / CONSUMERS rows of the tile */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
    DEVICES = 2,
    GATHER_BYTES = BM * BK * sizeof(element_t), /* of a k-tile of A, on its way from a peer */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    element_t gathered[BM * BK];        /* [row][k], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the eight warps of both consumers */
    mbarrier_t arrived;                 /* completes when `gathered` holds a tile */
};

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

/* A tile, and whether its rows of A are this device's. */
struct work {
    struct tile tile;
    bool own;
};

/* This device's work number `number`: the tiles of its own rows, then those of the peer's. */
DEVICE struct work work_at(const struct gemm_device_args *args, int number) {
    const int *first_row = args->first_m_tile, *first_column = &args->first_n_tile[args->device];
    const int columns = first_column[1] - first_column[0], device = args->device;
    const int own_tiles = (first_row[device + 1] - first_row[device]) * columns;
    struct work work = {.own = number < own_tiles};
    const int owner = work.own ? device : 1 - device;
    work.tile = tile_at(work.own ? number : number - own_tiles,
                        first_row[owner + 1] - first_row[owner], columns);
    work.tile.m += first_row[owner];
    work.tile.n += first_column[0];
    return work;
}

/* Fetches its share of the k-tiles of the peer's rows. One thread. */
DEVICE void gatherer(struct smem *shared, const struct gemm_device_args *args) {
    const int device = args->device, peer = 1 - device, first_row = args->first_m_tile[peer];
    const int count = (args->first_m_tile[peer + 1] - first_row) * args->gemm.tiles_k;
    uint32_t phase = 0;
    NO_UNROLL for (int number = blockIdx.x; number < count; number += gridDim.x) {
        const int row = first_row + number / args->gemm.tiles_k;
        const int k_tile = number % args->gemm.tiles_k;
        /* Announces the bytes. mbarrier.arrive.expect_tx */
        mbarrier_arrive_expect_tx(&shared->arrived, GATHER_BYTES);
        tma_load(shared->gathered, &args->map_peer[peer], row * BM, k_tile * BK, &shared->arrived);
        /* The tile has crossed the link, and the TMA may read it. mbarrier.try_wait */
        mbarrier_wait(&shared->arrived, phase);
        phase ^= 1;
        tma_store(&args->map_peer[device], row * BM, k_tile * BK, shared->gathered);
        bulk_commit_group();
        /* The copy is complete, and the buffer free. cp.async.bulk.wait_group */
        bulk_wait_group(0);
        /* The copy comes before the loads of a producer that has seen the row complete. Both are
         * on this device, hence .gpu. red.release.gpu */
        red_add_release(&args->flags[device][row], 1, SCOPE_GPU);
    }
}

/* Waits until all k-tiles of a tile row of the peer's are there. One thread. */
DEVICE void wait_for_row(const struct gemm_device_args *args, int row) {
    uint32_t *counter = &args->flags[args->device][row];
    /* What the gatherers have released with their additions comes before this thread's loads.
     * ld.acquire.gpu */
    while (ld_global_acquire(counter, SCOPE_GPU) < (uint32_t)args->gemm.tiles_k) {
    }
}

/* Resets the counters for the next launch. Only the last producer of the device does so: by then
 * all others have waited for their rows. One thread. */
DEVICE void reset_counters(const struct gemm_device_args *args) {
    uint32_t *counters = args->flags[args->device], *done = &counters[args->gemm.tiles_m];
    /* The waits of this producer come before the resets, and those of all others before the last
     * one's. atom.acq_rel.gpu */
    if (atomic_add_acq_rel(done, 1, SCOPE_GPU) < gridDim.x - 1) return;
    for (int row = 0; row <= args->gemm.tiles_m; ++row)
        st_global_relaxed(&counters[row], 0, SCOPE_GPU);
}

/* Fills the ring with all k-tiles of tile after tile. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_device_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    for (int number = blockIdx.x; number < args->gemm.items; number += gridDim.x) {
        const struct work work = work_at(args, number);
        const struct tile tile = work.tile;
        const struct tensor_map *map_a =
            work.own ? &args->gemm.map_a : &args->map_peer[args->device];
        if (!work.own) wait_for_row(args, tile.m);
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* All consumer warps have read the stage; then announces the bytes. mbarrier.try_wait,
             * .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            tma_load(shared->a[state.index], map_a, tile.m * BM, k_tile * BK, full);
            tma_load(shared->b[state.index], &args->gemm.map_b, tile.n * BN, k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
    }
    reset_counters(args);
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, int consumer,
                         float acc[BN / 2], int k_tile) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, &shared->a[state->index][consumer * 64 * BK], shared->b[state->index],
             k_tile > 0);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Releases the stage, which this warp has read. One arrival per warp. mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    pipeline_advance(state, STAGES);
}

/* Multiplies and stores its 64 rows of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_device_args *args, int consumer) {
    const bool elected = threadIdx.x % 128 == 0;
    float acc[BN / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] = 0; /* to the compiler wgmma reads acc */
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    for (int number = blockIdx.x; number < args->gemm.items; number += gridDim.x) {
        const struct tile tile = work_at(args, number).tile;
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, consumer, acc, 0);
        NO_UNROLL for (int k_tile = 1; k_tile < args->gemm.tiles_k; ++k_tile) {
            issue_k_tile(shared, &state, consumer, acc, k_tile);
            /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
             * wgmma.wait_group */
            wgmma_wait_group(1);
            release_stage(shared, &release);
        }
        /* The accumulators are complete, the last stage read. wgmma.wait_group, mbarrier.arrive */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        epilogue_store(shared->d[consumer], &args->gemm, tile.m * BM + consumer * 64, tile.n * BN,
                       64, BN, acc, 1 + consumer);
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct gemm_device_args) args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, CONSUMERS * 4);
        mbarrier_init(&shared->arrived, 1);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();

    if (warpgroup == 0) {
        if (warp == 0 && elect_one()) producer(shared, &args);
        if (warp == 1 && args.gemm.items > 0 && elect_one()) gatherer(shared, &args);
    } else {
        consumer(shared, &args, warpgroup - 1);
    }
}

/* A copy of A, of which the peer's rows are used; a counter for each tile row, and one more. */
static size_t workspace_bytes(const struct gemm_problem *p) {
    return (size_t)p->m * (size_t)p->lda * sizeof(element_t);
}
static size_t flags(const struct gemm_problem *p) { return (size_t)ceil_div(p->m, BM) + 1; }

static enum gemm_status make_maps(const struct gemm_problem *p, struct gemm_device_args *args) {
    const enum gemm_type type = ELEMENT_TYPE;
    struct gemm_args *own = &args->gemm;
    const int device = args->device, peer = 1 - device;
    const struct split_share *share = split_of(p)->share;
    /* map_peer: the peer's A; in this device's place, its copy of it. */
    if (gemm_tensor_map(&own->map_a, type, own->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&own->map_b, type, own->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&own->map_d, type, own->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args->map_peer[peer], type, share[peer].a, p->m, p->k, p->lda, BM, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args->map_peer[device], type, share[device].workspace, p->m, p->k,
                        p->lda, BM, BK, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    return GEMM_OK;
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_device_args args[DEVICES];
    int most = 0;
    for (int device = 0; device < DEVICES; ++device) {
        struct gemm_device_args *own = &args[device];
        *own = split_args_of(p, device, BM, BN, BK);
        const int columns = own->first_n_tile[device + 1] - own->first_n_tile[device];
        own->gemm.items = own->gemm.tiles_m * columns;
        if (most < own->gemm.items) most = own->gemm.items;
        if (make_maps(p, own)) return GEMM_UNSUPPORTED;
    }
    const int sms = gemm_sm_count(), ctas = most < sms ? most : sms;
    const struct gemm_launch grid = gemm_launch_together(&GEMM_KERNEL, ctas, flags(p), stream);
    return gemm_launch_devices(&grid, args, DEVICES);
}

static const struct split_kernel split = {LAYOUT_SLICES_OF_ROWS, flags, false};

const struct gemm_kernel GEMM_KERNEL = {
    .name = "13_two_gpus", .variant = GEMM_VARIANT,
    .technique = "the peer's rows of A cross the link under the own rows' tiles",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = workspace_bytes,
    .several_devices = true, .follows = true, .kind = &split_kind, .of_kind = &split,
};
