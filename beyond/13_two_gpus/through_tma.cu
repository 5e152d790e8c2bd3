/*
 * 13_two_gpus, through_tma.cu: a GEMM whose k is split over several GPUs, and the sum that ends it,
 * in one kernel.
 *
 * The idea: each device multiplies its slice of k and has a part of every tile. The tiles are split
 * over the two devices, too: a tile's owner adds the other one's part and stores D. So a device
 * computes the tiles of its peer first. The TMA stores their parts to the owner's memory over the
 * link while the consumers multiply the next tile. A flag for each part, released at system scope,
 * shows the owner that the part has arrived. Own tiles come last: by then the peer's parts are
 * there. What it hides: the link, if a part takes less time to cross it than the next tile takes to
 * compute. What it costs: a stage of the ring, because a whole part waits in shared memory for the
 * link; a rounding of each part; and 64 KB that all SMs send at once, beside the loads of operands
 * and of received parts.
 */
#include "parts.h"
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "hopper/atomics.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 3 /* depth of the ring, 2 or 3 */
#endif
enum {
    BM = SLICE_M, BN = SLICE_N, BK = SLICE_K, /* the CTA's tile, 128 x 256 x 64 */
    CONSUMERS = TILE_PARTS, /* warpgroups, each with BM / CONSUMERS rows of the tile: a part */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
    LINE_BYTES = 128, /* of the TMA's view of the parts: a matrix of lines */
    PART_LINES = PART_BYTES / LINE_BYTES,
};
static_assert(PART_LINES <= 256, "more than a box of the TMA has");

/* Where a consumer's results wait for the TMA: a tile of its own, or a part for a peer. */
union staging {
    element_t d[BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct b128 part[PART_CHUNKS * 128];           /* [chunk][thread] */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    union staging staging[CONSUMERS];
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

/* Gives credit to the peer's CTA of this CTA's number, if that sends parts. On this device the
 * launch before has ended: its parts are added up, and their flags are zero. One warp. */
DEVICE void give_credit(const struct gemm_device_args *args) {
    const int consumer = threadIdx.x % 32;
    const bool sends = (int)blockIdx.x < tiles_of(args, args->device); /* its first tiles */
    /* The launch before on this device comes before what the sender does after it has acquired the
     * word. The sender is another device, hence .sys. st.release.sys */
    if (sends && consumer < CONSUMERS)
        st_global_release(credit_word(args, 1 - args->device, consumer), 1, SCOPE_SYS);
}

/* Waits until the owner has begun this launch, before the first part that is sent to it. One
 * thread. */
DEVICE void wait_for_credit(const struct gemm_device_args *args, int consumer) {
    uint32_t *credit = credit_word(args, args->device, consumer);
    /* The owner's loads of the parts of the launch before come before this thread's stores of new
     * ones, and so do its resets of their flags. ld.acquire.sys */
    while (ld_global_acquire(credit, SCOPE_SYS) == 0) {
    }
    /* For the next launch: the owner sets the word again after it has acquired the flag of a part,
     * and this comes before that flag's release. st.relaxed.gpu */
    st_global_relaxed(credit, 0, SCOPE_GPU);
}

/* Fills the ring with all k-tiles of tile after tile. One thread. */
DEVICE void producer(struct smem *shared, const struct gemm_device_args *args) {
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    for (int number = blockIdx.x; number < args->gemm.items; number += gridDim.x) {
        const struct tile tile = work_at(args, number).tile;
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

/* Sets *flag, which is the owner's, once the part that this thread has sent is complete. *flag is
 * NULL if no part is on its way. The thread that issued the store. */
DEVICE void signal_part(uint32_t **flag) {
    /* The part is in the owner's memory, not only on its way, and its staging memory is free. This
     * thread's release can pass the writes on. cp.async.bulk.wait_group */
    bulk_wait_group(0);
    /* The part comes before what the owner does after it has acquired the flag. The owner is
     * another device, hence .sys. st.release.sys */
    if (*flag) st_global_release(*flag, 1, SCOPE_SYS);
    *flag = NULL;
}

/* Sends a warpgroup's accumulators to the owner of the tile. *flag becomes the flag to be set when
 * they have arrived. The part before has arrived: signal_part(). One warpgroup; its first thread
 * issues the store. */
DEVICE void send_part(union staging *staging, const struct gemm_device_args *args, struct work work,
                      int consumer, const float acc[BN / 2], uint32_t **flag) {
    const int part = part_index(work, consumer);
    /* Only the first thread has waited for the part before. The barrier keeps the others from
     * overwriting the staging memory too early. bar.sync */
    named_barrier_sync(1 + consumer, 128);
    UNROLL for (int i = 0; i < PART_CHUNKS; ++i)
        st_shared_b128(&staging->part[i * 128 + threadIdx.x % 128], chunk_of(&acc[i * CHUNK_SUMS]));
    /* What this thread has written comes before the TMA's reading of it. fence.proxy.async */
    fence_proxy_async();
    /* The same holds for every thread before the store is issued. bar.sync */
    named_barrier_sync(1 + consumer, 128);
    if (threadIdx.x % 128 > 0) return;
    tma_store(&args->map_peer[work.owner], part * PART_LINES, 0, staging->part);
    bulk_commit_group();
    *flag = &args->flags[work.owner][part];
}

/* Adds the peer's part to the accumulators. One warpgroup. */
DEVICE void add_part(const struct gemm_device_args *args, struct work work, int consumer,
                     float acc[BN / 2]) {
    const int index = part_index(work, consumer);
    const struct b128 *part =
        (const struct b128 *)args->gemm.workspace + (int64_t)index * PART_CHUNKS * 128;
    uint32_t *flag = &args->flags[args->device][index];
    if (threadIdx.x % 128 == 0) {
        /* What the peer has released with the flag, its part, comes before this thread's later
         * accesses. ld.acquire.sys */
        while (ld_global_acquire(flag, SCOPE_SYS) == 0) {
        }
        /* For the next launch: the peer sets the flag again after it has acquired credit from this
         * device's next launch. st.relaxed.gpu */
        st_global_relaxed(flag, 0, SCOPE_GPU);
    }
    /* The acquired part comes before the other threads' loads, too. bar.sync */
    named_barrier_sync(1 + consumer, 128);
    UNROLL for (int i = 0; i < PART_CHUNKS; ++i)
        add_chunk(&acc[i * CHUNK_SUMS], ld_global_b128(&part[i * 128 + threadIdx.x % 128]));
}

/* Multiplies its 64 rows of tile after tile, and sends or stores them. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_device_args *args, int consumer) {
    const bool elected = threadIdx.x % 128 == 0;
    uint32_t *sent = NULL; /* the flag of the part that is on its way */
    float acc[BN / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] = 0; /* = {0} would put it in memory */
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    for (int number = blockIdx.x; number < args->gemm.items; number += gridDim.x) {
        const struct work work = work_at(args, number);
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
        /* Signals before this warpgroup waits for its peer, which may be waiting for the part. */
        if (elected) signal_part(&sent);
        if (work.owner != args->device) {
            /* Before this CTA's first part. */
            if (number == (int)blockIdx.x && elected) wait_for_credit(args, consumer);
            send_part(&shared->staging[consumer], args, work, consumer, acc, &sent);
            continue;
        }
        add_part(args, work, consumer, acc);
        epilogue_store(shared->staging[consumer].d, &args->gemm, work.tile.m * BM + consumer * 64,
                       work.tile.n * BN, 64, BN, acc, 1 + consumer);
    }
    /* The stores have read the staging memory before the CTA ends, and the last part has arrived.
     * cp.async.bulk.wait_group, st.release.sys */
    if (elected) signal_part(&sent);
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
        if (warp > CONSUMERS) give_credit(&args);
    } else {
        consumer(shared, &args, warpgroup - 1);
    }
}

/* The maps of one device: its operands, its D, and the parts that it sends to its peer. */
static enum gemm_status make_maps(const struct gemm_problem *p, struct gemm_device_args *args) {
    enum { LINE = LINE_BYTES / sizeof(element_t) };
    const enum gemm_type type = ELEMENT_TYPE;
    const int peer = 1 - args->device, lines = most_parts(p) * PART_LINES;
    struct gemm_args *own = &args->gemm;
    void *const parts = split_of(p)->share[peer].workspace;
    if (gemm_tensor_map(&own->map_a, type, own->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&own->map_b, type, own->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&own->map_d, type, own->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args->map_peer[peer], type, parts, lines, LINE, LINE, PART_LINES, LINE,
                        SWIZZLE_NONE))
        return GEMM_UNSUPPORTED;
    return GEMM_OK;
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_device_args args[DEVICES];
    for (int device = 0; device < DEVICES; ++device) {
        struct gemm_device_args *own = &args[device];
        *own = split_args_of(p, device, BM, BN, BK);
        own->gemm.items = own->gemm.tiles_m * own->gemm.tiles_n;
        gemm_slice_k(own);
        if (make_maps(p, own)) return GEMM_UNSUPPORTED;
    }
    const struct gemm_launch grid =
        gemm_launch_together(&GEMM_KERNEL, resident_grid(p), part_flags(p), stream);
    return gemm_launch_devices(&grid, args, DEVICES);
}

static const struct split_kernel split = {LAYOUT_SLICES_OF_K, part_flags, true};

const struct gemm_kernel GEMM_KERNEL = {
    .name = "13_two_gpus", .variant = GEMM_VARIANT,
    .technique = "parts of tiles cross the link under the next tile's multiplications",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = part_workspace,
    .several_devices = true, .follows = true, .kind = &split_kind, .of_kind = &split,
    .loop = GEMM_ALONG_SLICE_OF_K,
};
