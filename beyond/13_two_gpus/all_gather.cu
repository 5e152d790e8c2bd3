/*
 * 13_two_gpus, all_gather.cu: a GEMM whose A is spread over several GPUs, fetched while it runs.
 *
 * The idea: each device has a slice of A's rows, and computes some columns of D, for which it needs
 * all of A. It begins with its own rows. Meanwhile it fetches those of its peers into memory of its
 * own, in tiles and in the order in which they are needed: one thread of each CTA lets the TMA load
 * a tile over the link into shared memory and store it from there. A counter for each tile row
 * shows the producers when it is complete. Each byte crosses the link once, however many CTAs
 * need it. What it hides: the link, if the peers' rows arrive while the own ones are multiplied.
 * What it costs: a staging buffer of each consumer, because the gathered tile takes their place.
 * GATHER_BY_TMA=0: the copy engines fetch the rows beside a first launch for the own rows, and a
 * second launch computes the others.
 */
#include "gemm_devices.h"
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
#ifndef GATHER_BY_TMA
#define GATHER_BY_TMA 1 /* 0: by the copy engines */
#endif

enum {
    BM = SLICE_M, BN = SLICE_N, BK = SLICE_K, /* the CTA's tile, 128 x 256 x 64 */
    CONSUMERS = 2, /* warpgroups, each with BM / CONSUMERS rows of the tile */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
    GATHER_BYTES = BM * BK * sizeof(element_t), /* of a k-tile of A, on its way from a peer */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    element_t gathered[GATHER_BY_TMA ? BM * BK : 1024]; /* [row][k], 128 B swizzle */
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

/* A tile, and the device that has its rows of A. */
struct work {
    struct tile tile;
    int owner;
};

/* This device's work number `number`: the tiles of its own rows, then those of the next device's
 * rows, and so on. So devices that are in step fetch from different ones. */
DEVICE struct work work_at(const struct gemm_device_args *args, int number) {
    const int columns = args->first_n_tile[args->device + 1] - args->first_n_tile[args->device];
    struct work work;
    int distance = 0, first_row, rows;
    for (;; ++distance) {
        work.owner = (args->device + distance) % args->devices;
        first_row = args->first_m_tile[work.owner];
        rows = args->first_m_tile[work.owner + 1] - first_row;
        if (number < rows * columns || distance == args->devices - 1) break;
        number -= rows * columns;
    }
    work.tile = tile_at(number, rows, columns);
    work.tile.m += first_row;
    work.tile.n += args->first_n_tile[args->device];
    return work;
}

/* Fetches its share of the k-tiles of the peers' rows. One thread. */
DEVICE void gatherer(struct smem *shared, const struct gemm_device_args *args) {
    const struct tensor_map *copy = &args->map_peer[args->device];
    uint32_t phase = 0;
    int number = blockIdx.x;
    for (int distance = 1; distance < args->devices; ++distance) {
        const int owner = (args->device + distance) % args->devices;
        const int first_row = args->first_m_tile[owner];
        const int count = (args->first_m_tile[owner + 1] - first_row) * args->gemm.tiles_k;
        NO_UNROLL for (; number < count; number += gridDim.x) {
            const int row = first_row + number / args->gemm.tiles_k;
            const int k_tile = number % args->gemm.tiles_k;
            /* Announces the bytes. mbarrier.arrive.expect_tx */
            mbarrier_arrive_expect_tx(&shared->arrived, GATHER_BYTES);
            tma_load(shared->gathered, &args->map_peer[owner], row * BM, k_tile * BK,
                     &shared->arrived);
            /* The tile has crossed the link, and the TMA may read it. mbarrier.try_wait */
            mbarrier_wait(&shared->arrived, phase);
            phase ^= 1;
            tma_store(copy, row * BM, k_tile * BK, shared->gathered);
            bulk_commit_group();
            /* The copy is complete, and the buffer free. cp.async.bulk.wait_group */
            bulk_wait_group(0);
            /* The copy comes before the loads of a producer that has seen the row complete. Both
             * are on this device, hence .gpu. red.release.gpu */
            red_add_release(&args->flags[args->device][row], 1, SCOPE_GPU);
        }
        number -= count;
    }
}

/* Waits until all k-tiles of a peer's tile row are there. One thread. */
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
    int number = args->first_item + blockIdx.x;
    for (; number < args->gemm.items; number += gridDim.x) {
        const struct work work = work_at(args, number);
        const struct tile tile = work.tile;
        const bool own = work.owner == args->device;
        const struct tensor_map *map_a = own ? &args->gemm.map_a : &args->map_peer[args->device];
        if (GATHER_BY_TMA && !own) wait_for_row(args, tile.m);
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
    if (GATHER_BY_TMA) reset_counters(args);
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, int half,
                         float acc[BN / 2], int k_tile) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, &shared->a[state->index][half * 64 * BK], shared->b[state->index], k_tile > 0);
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
DEVICE void consumer(struct smem *shared, const struct gemm_device_args *args, int half) {
    const bool elected = threadIdx.x % 128 == 0;
    float acc[BN / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] = 0; /* = {0} would put it in memory */
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    int number = args->first_item + blockIdx.x;
    for (; number < args->gemm.items; number += gridDim.x) {
        const struct tile tile = work_at(args, number).tile;
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, half, acc, 0);
        NO_UNROLL for (int k_tile = 1; k_tile < args->gemm.tiles_k; ++k_tile) {
            issue_k_tile(shared, &state, half, acc, k_tile);
            /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
             * wgmma.wait_group */
            wgmma_wait_group(1);
            release_stage(shared, &release);
        }
        /* The accumulators are complete, the last stage read. wgmma.wait_group, mbarrier.arrive */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        epilogue_store(shared->d[half], &args->gemm, tile.m * BM + half * 64, tile.n * BN, 64, BN,
                       acc, 1 + half);
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
        if (GATHER_BY_TMA && warp == 1 && args.gemm.items > 0 && elect_one())
            gatherer(shared, &args);
    } else {
        consumer(shared, &args, warpgroup - 1);
    }
}

/* A copy of A, of which the peers' rows are used; a counter for each tile row, and one more. */
static size_t workspace_bytes(const struct gemm_problem *p) {
    return (size_t)p->m * (size_t)p->lda * sizeof(element_t);
}
static size_t flags(const struct gemm_problem *p) {
    return GATHER_BY_TMA ? (size_t)ceil_div(p->m, BM) + 1 : 0;
}

static enum gemm_status make_maps(const struct gemm_problem *p, struct gemm_device_args *args) {
    const enum gemm_type type = ELEMENT_TYPE;
    struct gemm_args *own = &args->gemm;
    if (gemm_tensor_map(&own->map_a, type, own->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&own->map_b, type, own->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&own->map_d, type, own->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    /* Every peer's A; in this device's place, its copy of theirs. */
    for (int peer = 0; peer < p->devices; ++peer) {
        const void *a = peer == args->device ? p->share[peer].workspace : p->share[peer].a;
        if (gemm_tensor_map(&args->map_peer[peer], type, a, p->m, p->k, p->lda, BM, BK,
                            SWIZZLE_128B))
            return GEMM_UNSUPPORTED;
    }
    return GEMM_OK;
}

/* The copies of the peers' rows, each by the engine of the device that has them. Returns how
 * many. */
static int list_copies(const struct gemm_problem *p, const struct gemm_device_args *args,
                       struct gemm_copy *copies) {
    int count = 0;
    for (int distance = 1; distance < p->devices; ++distance)
        for (int to = 0; to < p->devices; ++to) {
            const int from = (to + distance) % p->devices;
            const int64_t first = args->first_m_tile[from] * BM;
            const int64_t end = args->first_m_tile[from + 1] * BM;
            struct gemm_copy *copy = &copies[count++];
            copy->to = (element_t *)p->share[to].workspace + first * p->lda;
            copy->from = p->share[from].a + first * p->lda;
            copy->bytes = (size_t)((end < p->m ? end : p->m) - first) * (size_t)p->lda *
                          sizeof(element_t);
            copy->device = from;
        }
    return count;
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_device_args args[GEMM_DEVICES];
    int most = 0, items[GEMM_DEVICES];
    for (int device = 0; device < p->devices; ++device) {
        struct gemm_device_args *own = &args[device];
        *own = gemm_device_args_of(p, device, BM, BN, BK);
        const int columns = own->first_n_tile[device + 1] - own->first_n_tile[device];
        own->gemm.items = items[device] = own->gemm.tiles_m * columns;
        if (most < own->gemm.items) most = own->gemm.items;
        if (make_maps(p, own)) return GEMM_UNSUPPORTED;
        if (GATHER_BY_TMA) continue;
        const int rows = own->first_m_tile[device + 1] - own->first_m_tile[device];
        own->gemm.items = rows * columns;
    }
    const int sms = gemm_sm_count();
    const struct gemm_launch grid = gemm_launch_of(&GEMM_KERNEL, most < sms ? most : sms, stream);
    if (GATHER_BY_TMA) return gemm_launch_devices(&grid, args, p->devices);
    struct gemm_copy copies[GEMM_DEVICES * GEMM_DEVICES];
    const int count = list_copies(p, args, copies);
    const enum gemm_status status =
        gemm_launch_beside_copies(&grid, args, p->devices, copies, count);
    if (status != GEMM_OK) return status;
    for (int device = 0; device < p->devices; ++device) {
        args[device].first_item = args[device].gemm.items;
        args[device].gemm.items = items[device];
    }
    return gemm_launch_devices(&grid, args, p->devices);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "13_two_gpus", .variant = GEMM_VARIANT,
    .technique = GATHER_BY_TMA ? "the peers' rows of A cross the link under the own rows' tiles"
                               : "the copy engines fetch the peers' rows under the own rows' tiles",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = workspace_bytes,
    .select = NULL, .tensor_scales = false, .layout = LAYOUT_SLICES_OF_ROWS, .flags = flags,
    .rounds_parts = false, .follows = GATHER_BY_TMA,
};
