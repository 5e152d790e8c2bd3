/*
 * 13_two_gpus, all_gather_pingpong.cu: all_gather.cu with the consumers of chapter 08.
 *
 * The idea: as in all_gather.cu, the peers' rows of A cross the link while the own rows are
 * multiplied. Here the consumers take turns, so that no epilogue stops the Tensor Core, either. The
 * ring of five stages leaves 8 KB for the gathered rows, so the gatherer moves half a tile at a
 * time. A device's columns of D are a matrix of their own, because slices of n are no multiples of
 * this tile's 192 columns. What it hides: the link, and every epilogue but the last. What it costs:
 * twice as many requests of the gatherer.
 */
#include "gemm_devices.h"
#define BUFFERS 1 /* of epilogue_store.h: with two, the ring would be a stage shorter */
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/atomics.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 5 /* depth of the ring, 2 to 5 */
#endif
#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BM = SLICE_M, BN = 192, BK = SLICE_K, /* a consumer's tile */
    CONSUMERS = 2,                        /* warpgroups, on different tiles */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
    GATHER_ROWS = 64, /* of a k-tile of A, on their way from a peer */
    GATHER_PARTS = BM / GATHER_ROWS,
    GATHER_BYTES = GATHER_ROWS * BK * sizeof(element_t),
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    element_t gathered[GATHER_ROWS * BK]; /* [row][k], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the four warps of the tile's consumer */
    mbarrier_t arrived; /* completes when `gathered` holds a part of a tile */
    mbarrier_t order[CONSUMERS]; /* [c] phase n: consumer c may begin the main loop of its tile n */
};

/* Issues acc += a * b for a k-tile: 64 x 192 x 16 at a time, four steps along k for each half of
 * the rows. Rows of a tile are 128 bytes; eight of them make the swizzle's 1024-byte pattern, hence
 * the stride. A warpgroup. */
DEVICE void multiply(float acc[BM / 64][BN / 2], const element_t *a, const element_t *b,
                     bool accumulate) {
    const uint64_t a_tile = wgmma_descriptor(shared_address(a), 0, 1024, SWIZZLE_128B);
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step)
        UNROLL for (int i = 0; i < BM / 64; ++i) {
            const uint64_t along_k = step * 16 * sizeof(element_t) >> 4;
            const uint64_t down = i * 64 * BK * sizeof(element_t) >> 4;
            wgmma_m64nNk16(192, acc[i], a_tile + down + along_k, b_tile + along_k,
                           accumulate || step > 0);
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
    const int columns = args->gemm.tiles_n; /* of this device */
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
    return work;
}

/* Fetches its share of the peers' rows, a part of a k-tile at a time. One thread. */
DEVICE void gatherer(struct smem *shared, const struct gemm_device_args *args) {
    const struct tensor_map *copy = &args->map_peer[args->device];
    uint32_t phase = 0;
    int number = blockIdx.x;
    for (int distance = 1; distance < args->devices; ++distance) {
        const int owner = (args->device + distance) % args->devices;
        const int first_row = args->first_m_tile[owner];
        const int tile_parts = args->gemm.tiles_k * GATHER_PARTS; /* of a tile row */
        const int count = (args->first_m_tile[owner + 1] - first_row) * tile_parts;
        NO_UNROLL for (; number < count; number += gridDim.x) {
            const int tile_row = first_row + number / tile_parts;
            const int column = number % tile_parts / GATHER_PARTS * BK;
            const int row = tile_row * BM + number % GATHER_PARTS * GATHER_ROWS;
            /* Announces the bytes. mbarrier.arrive.expect_tx */
            mbarrier_arrive_expect_tx(&shared->arrived, GATHER_BYTES);
            tma_load(shared->gathered, &args->map_peer[owner], row, column, &shared->arrived);
            /* The part has crossed the link, and the TMA may read it. mbarrier.try_wait */
            mbarrier_wait(&shared->arrived, phase);
            phase ^= 1;
            tma_store(copy, row, column, shared->gathered);
            bulk_commit_group();
            /* The copy is complete, and the buffer free. cp.async.bulk.wait_group */
            bulk_wait_group(0);
            /* The copy comes before the loads of a producer that has seen the row complete. Both
             * are on this device, hence .gpu. red.release.gpu */
            red_add_release(&args->flags[args->device][tile_row], 1, SCOPE_GPU);
        }
        number -= count;
    }
}

/* Waits until all k-tiles of a peer's tile row are there. One thread. */
DEVICE void wait_for_row(const struct gemm_device_args *args, int row) {
    const uint32_t parts = (uint32_t)(args->gemm.tiles_k * GATHER_PARTS);
    uint32_t *counter = &args->flags[args->device][row];
    /* What the gatherers have released with their additions comes before this thread's loads.
     * ld.acquire.gpu */
    while (ld_global_acquire(counter, SCOPE_GPU) < parts) {
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

/* Fills the ring with all k-tiles of tile after tile, for the consumers in turn. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_device_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    for (int number = blockIdx.x; number < args->gemm.items; number += gridDim.x) {
        const struct work work = work_at(args, number);
        const struct tile tile = work.tile;
        const bool own = work.owner == args->device;
        const struct tensor_map *map_a = own ? &args->gemm.map_a : &args->map_peer[args->device];
        if (!own) {
            /* The gatherers have copied the tile row. ld.acquire.gpu */
            wait_for_row(args, tile.m);
        }
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* The four warps that used the stage last have read it; then announces the bytes.
             * mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            for (int row = 0; row < BM; row += GATHER_ROWS)
                tma_load(&shared->a[state.index][row * BK], map_a, tile.m * BM + row, k_tile * BK,
                         full);
            tma_load(shared->b[state.index], &args->gemm.map_b, tile.n * BN, k_tile * BK, full);
            pipeline_advance(&state, STAGES);
        }
    }
    reset_counters(args);
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state,
                         float acc[BM / 64][BN / 2], int k_tile) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    consumer_wait(shared->ring, *state);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, shared->a[state->index], shared->b[state->index], k_tile > 0);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    pipeline_advance(state, STAGES);
}

/* Releases the stage, which this warp has read. One arrival per warp. mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, struct pipeline_state *state) {
    if (threadIdx.x % 32 == 0) consumer_release(shared->ring, *state);
    pipeline_advance(state, STAGES);
}

/* Multiplies and stores every second tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_device_args *args, int consumer) {
    const bool elected = threadIdx.x % 128 == 0;
    float acc[BM / 64][BN / 2] = {{0}};
    struct pipeline_state state = {0, 0};
    uint32_t order_phase = consumer == 0; /* consumer 0 begins: parity 1 passes at once */
    /* Tile 0 is consumer 0's. */
    if (consumer == 1) pipeline_skip(&state, args->gemm.tiles_k, STAGES);
    for (int number = blockIdx.x + consumer * gridDim.x; number < args->gemm.items;
         number += CONSUMERS * gridDim.x) {
        const struct tile tile = work_at(args, number).tile;
        /* The other consumer has issued the last multiplication of its tile. mbarrier.try_wait */
        mbarrier_wait(&shared->order[consumer], order_phase);
        order_phase ^= 1;
        struct pipeline_state release = state; /* the next to release */
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, acc, 0);
        NO_UNROLL for (int k_tile = 1; k_tile < args->gemm.tiles_k; ++k_tile) {
            issue_k_tile(shared, &state, acc, k_tile);
            /* The group of k-tile k_tile - 1 is complete: this warp has read its stage.
             * wgmma.wait_group */
            wgmma_wait_group(1);
            release_stage(shared, &release);
        }
        /* The other consumer may begin; its multiplications queue behind these. mbarrier.arrive */
        if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared->order[1 - consumer]);
        /* The accumulators are complete, the last stage read. wgmma.wait_group, mbarrier.arrive */
        wgmma_wait_group(0);
        release_stage(shared, &release);
        epilogue_store(shared->d[consumer], &args->gemm, tile.m * BM, tile.n * BN, BM, BN,
                       acc[0], 1 + consumer);
        pipeline_skip(&state, args->gemm.tiles_k, STAGES); /* the other consumer's tile */
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct gemm_device_args) args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, 4);
        mbarrier_init(&shared->arrived, 1);
        for (int i = 0; i < CONSUMERS; ++i) mbarrier_init(&shared->order[i], 4);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();

    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (warp == 0 && elect_one()) producer(shared, &args);
        if (warp == 1 && args.gemm.items > 0 && elect_one()) gatherer(shared, &args);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
}

/* A copy of A, of which the peers' rows are used; a counter for each tile row, and one more. */
static size_t workspace_bytes(const struct gemm_problem *p) {
    return (size_t)p->m * (size_t)p->lda * sizeof(element_t);
}
static size_t flags(const struct gemm_problem *p) { return (size_t)ceil_div(p->m, BM) + 1; }

/* The device's columns of D become the matrix that it computes. */
static void own_columns(const struct gemm_problem *p, struct gemm_device_args *args) {
    struct gemm_args *own = &args->gemm;
    const int64_t first = gemm_slice_begin(p->n, SLICE_N, args->device, p->devices);
    const int64_t end = gemm_slice_begin(p->n, SLICE_N, args->device + 1, p->devices);
    own->n = (int)(end - first);
    own->b += first * own->ldb;
    own->d += first;
    own->tiles_n = ceil_div(own->n, BN);
    own->items = own->tiles_m * own->tiles_n;
}

static enum gemm_status make_maps(const struct gemm_problem *p, struct gemm_device_args *args) {
    const enum gemm_type type = ELEMENT_TYPE;
    struct gemm_args *own = &args->gemm;
    /* A device without columns loads and stores nothing. */
    if (own->n > 0 &&
        (gemm_tensor_map(&own->map_a, type, own->a, p->m, p->k, p->lda, GATHER_ROWS, BK,
                         SWIZZLE_128B) ||
         gemm_tensor_map(&own->map_b, type, own->b, own->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
         gemm_tensor_map(&own->map_d, type, own->d, p->m, own->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                         SWIZZLE_128B)))
        return GEMM_UNSUPPORTED;
    /* Every peer's A; in this device's place, its copy of theirs. */
    for (int peer = 0; peer < p->devices; ++peer) {
        const void *a = peer == args->device ? p->share[peer].workspace : p->share[peer].a;
        if (gemm_tensor_map(&args->map_peer[peer], type, a, p->m, p->k, p->lda, GATHER_ROWS, BK,
                            SWIZZLE_128B))
            return GEMM_UNSUPPORTED;
    }
    return GEMM_OK;
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_device_args args[GEMM_DEVICES];
    int most = 0;
    for (int device = 0; device < p->devices; ++device) {
        struct gemm_device_args *own = &args[device];
        *own = gemm_device_args_of(p, device, BM, BN, BK);
        own_columns(p, own);
        if (most < own->gemm.items) most = own->gemm.items;
        if (make_maps(p, own)) return GEMM_UNSUPPORTED;
    }
    const int sms = gemm_sm_count();
    const struct gemm_launch grid = gemm_launch_of(&GEMM_KERNEL, most < sms ? most : sms, stream);
    return gemm_launch_devices(&grid, args, p->devices);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "13_two_gpus", .variant = GEMM_VARIANT,
    .technique = "the peers' rows cross the link, and epilogues run, under other multiplications",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = workspace_bytes,
    .select = NULL, .tensor_scales = false, .layout = LAYOUT_SLICES_OF_ROWS, .flags = flags,
    .rounds_parts = false, .follows = true,
};
