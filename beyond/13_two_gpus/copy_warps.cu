/*
 * 13_two_gpus, copy_warps.cu: as through_tma.cu, but two warps send the parts instead of the TMA.
 *
 * The idea: a TMA store that waits for the link may hold up the loads of operands, if the TMA
 * executes requests in order. Here two warps of the producer's warpgroup that were idle, the *copy
 * warps*, send with ordinary loads and stores, and the TMA is left to the operands. A part waits
 * in shared memory, which belongs to the consumer or to its copy warp; two named barriers hand it
 * from one to the other. What it hides: the link. What it does not hide: the loads of the received
 * parts, which the consumers still add from global memory. And a copy warp sends a part as fast as
 * it can, so that its stores may fill queues that the operands need. kernel.cu mends both.
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
    PIECES = PART_CHUNKS * 128 / 32, /* of a part: 16 bytes of each lane of a copy warp */
    /* Named barriers, one for each consumer */
    OWN = 1,      /* among a consumer's threads */
    HANDED = 3,   /* the consumer hands its staging memory to its copy warp */
    RETURNED = 5, /* and the copy warp hands it back */
    HANDING_THREADS = 128 + 32,
};

/* Where a consumer's tile waits for the TMA, or a part for the link. */
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
    const int lane = threadIdx.x % 32;
    /* The peer's CTA begins with tiles that this device owns, if there are so many. */
    const bool sends = (int)blockIdx.x < tiles_of(args, args->device);
    /* The launch before on this device comes before what the sender does after it has acquired the
     * word. The sender is another device, hence .sys. st.release.sys */
    if (sends && lane < CONSUMERS)
        st_global_release(credit_word(args, 1 - args->device, lane), 1, SCOPE_SYS);
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

/* The staging memory belongs to the consumer or to its copy warp. The consumer hands it over, and
 * takes it back. One warpgroup. */
DEVICE void hand_staging(int consumer) {
    /* What these threads have stored there comes before the copy warp's loads, and what they have
     * loaded before its stores. The consumer does not wait. bar.arrive */
    named_barrier_arrive(HANDED + consumer, HANDING_THREADS);
}
DEVICE void take_staging(int consumer) {
    /* The copy warp has sent what lay there. bar.sync */
    named_barrier_sync(RETURNED + consumer, HANDING_THREADS);
}

/* Leaves a warpgroup's accumulators in the staging memory, which it has taken. A copy warp sends
 * them. One warpgroup. */
DEVICE void stage_part(union staging *staging, const float acc[BN / 2]) {
    UNROLL for (int i = 0; i < PART_CHUNKS; ++i)
        st_shared_b128(&staging->part[i * 128 + threadIdx.x % 128], chunk_of(&acc[i * CHUNK_SUMS]));
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
    named_barrier_sync(OWN + consumer, 128);
    UNROLL for (int i = 0; i < PART_CHUNKS; ++i)
        add_chunk(&acc[i * CHUNK_SUMS], ld_global_b128(&part[i * 128 + threadIdx.x % 128]));
}

/* Multiplies its 64 rows of tile after tile, and sends or stores them. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_device_args *args, int consumer) {
    const bool elected = threadIdx.x % 128 == 0;
    float acc[BN / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] = 0; /* to the compiler wgmma reads acc */
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    hand_staging(consumer); /* there is nothing to send yet */
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
        take_staging(consumer);
        if (work.owner != args->device) {
            stage_part(&shared->staging[consumer], acc);
        } else {
            add_part(args, work, consumer, acc);
            epilogue_store(shared->staging[consumer].d, &args->gemm,
                           work.tile.m * BM + consumer * 64, work.tile.n * BN, 64, BN, acc,
                           OWN + consumer);
            /* The stores have read the staging memory before the copy warp writes it, and before
             * the CTA ends. cp.async.bulk.wait_group.read */
            if (elected) bulk_wait_group_read(0);
        }
        hand_staging(consumer);
    }
}

/* Where a part lies in the memory of the device that owns the tile. */
DEVICE struct b128 *part_at(const struct gemm_device_args *args, struct work work, int consumer) {
    return (struct b128 *)args->workspaces[work.owner] +
           (int64_t)part_index(work, consumer) * PART_CHUNKS * 128;
}

/* Sends a part to its owner and sets the flag. One warp. */
DEVICE void send_part(const union staging *staging, struct b128 *to, uint32_t *flag) {
    const int lane = threadIdx.x % 32;
    NO_UNROLL for (int piece = 0; piece < PIECES; ++piece)
        st_global_b128(&to[piece * 32 + lane], ld_shared_b128(&staging->part[piece * 32 + lane]));
    /* The stores of all lanes come before lane 0's release. bar.warp.sync */
    __syncwarp();
    /* The part comes before what the owner does after it has acquired the flag. The owner is
     * another device, hence .sys. st.release.sys */
    if (lane == 0) st_global_release(flag, 1, SCOPE_SYS);
}

/* The copy warp's side of the staging memory. One warp. */
DEVICE void copy_warp_take_staging(int consumer) {
    /* What the consumer has stored there comes before this warp's loads, and what the consumer has
     * loaded before this warp's stores. bar.sync */
    named_barrier_sync(HANDED + consumer, HANDING_THREADS);
}
DEVICE void copy_warp_return_staging(int consumer) {
    /* The same in the other direction. The copy warp does not wait. bar.arrive */
    named_barrier_arrive(RETURNED + consumer, HANDING_THREADS);
}

/* Sends a consumer's parts: while a tile is multiplied, the part of the tile before. One warp. */
DEVICE void copy_warp(struct smem *shared, const struct gemm_device_args *args, int consumer) {
    const union staging *const staging = &shared->staging[consumer];
    struct b128 *to = NULL; /* of the part in the staging memory, if it is the peer's */
    uint32_t *flag = NULL;
    for (int number = blockIdx.x; number < args->gemm.items; number += gridDim.x) {
        const struct work work = work_at(args, number);
        copy_warp_take_staging(consumer);
        if (to) send_part(staging, to, flag);
        copy_warp_return_staging(consumer);
        to = NULL;
        if (work.owner == args->device) continue;
        /* Before this CTA's first part. */
        if (number == (int)blockIdx.x && threadIdx.x % 32 == 0) wait_for_credit(args, consumer);
        /* All lanes come to the next bar.sync together, and after the wait. bar.warp.sync */
        __syncwarp();
        to = part_at(args, work, consumer);
        flag = &args->flags[work.owner][part_index(work, consumer)];
    }
    copy_warp_take_staging(consumer);
    if (to) send_part(staging, to, flag);
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
        if (warp >= 1 && warp <= CONSUMERS) copy_warp(shared, &args, warp - 1);
        if (warp > CONSUMERS) give_credit(&args);
    } else {
        consumer(shared, &args, warpgroup - 1);
    }
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_device_args args[DEVICES];
    const enum gemm_type type = ELEMENT_TYPE;
    for (int device = 0; device < DEVICES; ++device) {
        struct gemm_args *own = &args[device].gemm;
        args[device] = split_args_of(p, device, BM, BN, BK);
        own->items = own->tiles_m * own->tiles_n;
        gemm_slice_k(&args[device]);
        if (gemm_tensor_map(&own->map_a, type, own->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
            gemm_tensor_map(&own->map_b, type, own->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
            gemm_tensor_map(&own->map_d, type, own->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                            SWIZZLE_128B))
            return GEMM_UNSUPPORTED;
    }
    const struct gemm_launch grid =
        gemm_launch_together(&GEMM_KERNEL, resident_grid(p), part_flags(p), stream);
    return gemm_launch_devices(&grid, args, DEVICES);
}

static const struct split_kernel split = {LAYOUT_SLICES_OF_K, part_flags, true};

const struct gemm_kernel GEMM_KERNEL = {
    .name = "13_two_gpus", .variant = GEMM_VARIANT,
    .technique = "idle warps send parts of tiles over the link, each as fast as it can",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = part_workspace,
    .several_devices = true, .follows = true, .kind = &split_kind, .of_kind = &split,
    .loop = GEMM_ALONG_SLICE_OF_K,
};
