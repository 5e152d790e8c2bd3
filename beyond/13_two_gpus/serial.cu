/*
 * 13_two_gpus, serial.cu: a GEMM whose k is split over two GPUs: multiply, then exchange, then add.
 *
 * The idea: each device multiplies its slice of k with the kernel of chapter 08 and has a part of
 * all of D. The rows of D are split over the devices. The copy engines send each owner the
 * other one's part of its rows, and a second kernel adds the two. It is what a library's GEMM and a
 * library's reduce-scatter do. What stays exposed: the exchange, during which no Tensor Core works,
 * and the addition.
 */
#include "split.h"
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
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
    ADD_THREADS = 256,
    CHUNK = 8, /* elements in 16 bytes */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the eight warps of both consumers */
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

/* Fills the ring with all k-tiles of tile after tile. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_device_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    for (int number = blockIdx.x; number < args->gemm.items; number += gridDim.x) {
        const struct tile tile = tile_at(number, args->gemm.tiles_m, args->gemm.tiles_n);
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            const int column = (args->first_k_tile + k_tile) * BK;
            /* All consumer warps have read the stage; then announces the bytes. mbarrier.try_wait,
             * .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            tma_load(shared->a[state.index], &args->gemm.map_a, tile.m * BM, column, full);
            tma_load(shared->b[state.index], &args->gemm.map_b, tile.n * BN, column, full);
            pipeline_advance(&state, STAGES);
        }
    }
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
        const struct tile tile = tile_at(number, args->gemm.tiles_m, args->gemm.tiles_n);
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
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();

    if (warpgroup == 0) {
        if (warp == 0 && elect_one()) producer(shared, &args);
    } else {
        consumer(shared, &args, warpgroup - 1);
    }
}

/* Adds both devices' parts of the rows that this one owns, always in the same order, and stores
 * them to D. Device i's part is layer i of the workspace, [m][ldd]; both are there, because the
 * launch before and the copies have ended. */
KERNEL_ASIDE(ADD_THREADS, 1) add_parts(KERNEL_ARGS_OF(struct gemm_device_args) args) {
    const struct gemm_args *gemm = &args.gemm;
    const int first_row = args.first_m_tile[args.device] * BM;
    const int end = args.first_m_tile[args.device + 1] * BM;
    const int end_row = end < gemm->m ? end : gemm->m;
    const int64_t chunks = gemm->ldd / CHUNK, layer = gemm->m * gemm->ldd;
    const int64_t count = (end_row - first_row) * chunks, step = (int64_t)gridDim.x * ADD_THREADS;
    int64_t i = (int64_t)blockIdx.x * ADD_THREADS + threadIdx.x;
    for (; i < count; i += step) {
        const int64_t row = first_row + i / chunks, column = i % chunks * CHUNK;
        float sum[CHUNK] = {0};
        for (int device = 0; device < DEVICES; ++device) {
            const element_t *part = (const element_t *)gemm->workspace + device * layer;
            const struct b128 chunk = ld_global_b128(&part[row * gemm->ldd + column]);
            UNROLL for (int e = 0; e < CHUNK; ++e)
                sum[e] += element_to_float(e % 2 ? second_of_pair(chunk.word[e / 2])
                                                 : first_of_pair(chunk.word[e / 2]));
        }
        element_t *d = &gemm->d[row * gemm->ldd + column];
        struct b128 chunk;
        UNROLL for (int e = 0; e < 4; ++e)
            chunk.word[e] = pack_elements(sum[2 * e], sum[2 * e + 1]);
        if (column + CHUNK <= gemm->n) st_global_b128(d, chunk);
        else UNROLL for (int e = 0; e < CHUNK; ++e)
            if (column + e < gemm->n) st_global_element(&d[e], float_to_element(sum[e]));
    }
}

static size_t workspace_bytes(const struct gemm_problem *p) {
    return (size_t)DEVICES * (size_t)p->m * (size_t)p->ldd * sizeof(element_t);
}

/* Where layer `layer` of a device's workspace begins. */
static element_t *layer_of(const struct gemm_problem *p, int device, int layer) {
    return (element_t *)split_of(p)->share[device].workspace + (int64_t)layer * p->m * p->ldd;
}

/* Enqueues the copies: each device's part of the rows that the other one owns. */
static enum gemm_status exchange(const struct gemm_problem *p, const struct gemm_device_args *args,
                                 void *stream) {
    struct gemm_copy copies[DEVICES];
    for (int from = 0; from < DEVICES; ++from) {
        const int to = 1 - from, last = args->first_m_tile[to + 1] * BM;
        const int first = args->first_m_tile[to] * BM, end = last < p->m ? last : p->m;
        copies[from].to = layer_of(p, to, from) + first * p->ldd;
        copies[from].from = layer_of(p, from, from) + first * p->ldd;
        copies[from].bytes = (size_t)(end - first) * (size_t)p->ldd * sizeof(element_t);
        copies[from].device = from;
    }
    return gemm_copy_devices(copies, DEVICES, stream);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_device_args args[DEVICES];
    const enum gemm_type type = ELEMENT_TYPE;
    for (int device = 0; device < DEVICES; ++device) {
        struct gemm_args *own = &args[device].gemm;
        args[device] = split_args_of(p, device, BM, BN, BK);
        own->items = own->tiles_m * own->tiles_n;
        gemm_slice_k(&args[device]);
        /* The kernel's D is the device's part: the whole matrix, padding included, so that no edge
         * is stored from registers. */
        if (gemm_tensor_map(&own->map_a, type, own->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
            gemm_tensor_map(&own->map_b, type, own->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
            gemm_tensor_map(&own->map_d, type, layer_of(p, device, device), p->m, (int)p->ldd,
                            p->ldd, EPILOGUE_M, EPILOGUE_N, SWIZZLE_128B))
            return GEMM_UNSUPPORTED;
        own->n = (int)p->ldd;
    }
    const int items = args[0].gemm.items, sms = gemm_sm_count();
    const struct gemm_launch multiply_all =
        gemm_launch_of(&GEMM_KERNEL, items < sms ? items : sms, stream);
    enum gemm_status status = gemm_launch_devices(&multiply_all, args, DEVICES);
    if (status == GEMM_OK) status = exchange(p, args, stream);
    if (status != GEMM_OK) return status;
    struct gemm_launch add = multiply_all;
    add.kernel = (const void *)add_parts;
    add.name = "add_parts";
    add.grid = 8 * sms;
    add.threads = ADD_THREADS;
    add.smem_bytes = 0;
    for (int device = 0; device < DEVICES; ++device)
        args[device].gemm.n = p->n;
    return gemm_launch_devices(&add, args, DEVICES);
}

static const struct split_kernel split = {LAYOUT_SLICES_OF_K, NULL, true};

const struct gemm_kernel GEMM_KERNEL = {
    .name = "13_two_gpus", .variant = GEMM_VARIANT,
    .technique = "k split over GPUs: multiply, exchange the parts, add them",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = workspace_bytes,
    .several_devices = true, .kind = &split_kind, .of_kind = &split,
    .loop = GEMM_ALONG_SLICE_OF_K,
};
