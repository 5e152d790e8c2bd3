/*
 * 13_two_gpus: a GEMM whose k is split over two GPUs, and the sum that ends it, in one kernel.
 *
 * The idea: as in copy_warps.cu, two warps send the parts while the next tile is multiplied. Here
 * they are paced by the k-tiles: a piece for each, so that their stores leave the SM at an even
 * rate and never fill a queue that the operands' loads share. The arrivals at the ring are the
 * clock. In own tiles they also fetch the peer's part into shared memory, before the consumer
 * needs it. A third warp sets the flags: its release waits until the link has delivered the part,
 * while the copy warps go on. What it hides: the link, and the addition's loads. What it costs: a
 * stage of the ring, because a part waits in shared memory for its copy warp; a rounding of each
 * part; and of the producer's warpgroup no warp is idle. What it needs: all CTAs of both devices
 * resident at the same time, because they wait for each other. The grid has at most one for each
 * SM, and a launch that does not fit is refused.
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
    BATCH = 8,                       /* pieces that a copy warp loads from global memory at once */
    /* Named barriers, one for each consumer, but SENT */
    OWN = 1,      /* among a consumer's threads */
    HANDED = 3,   /* the consumer hands its staging memory to its copy warp */
    RETURNED = 5, /* and the copy warp hands it back */
    SENT = 7,     /* both parts of a tile are on their way */
    HANDING_THREADS = 128 + 32,
    SENT_THREADS = 32 * (CONSUMERS + 1),
};
static_assert(PIECES % BATCH == 0, "a batch is loaded whole");

/* Where a consumer's tile waits for the TMA, or a part for its addition or for the link. */
union staging {
    element_t d[BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct b128 part[PART_CHUNKS * 128];           /* [chunk][thread] */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    union staging staging[CONSUMERS];
    struct pipeline_stage ring[STAGES]; /* released by 8 warps of consumers, 2 copy warps */
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
            /* All consumer warps have read the stage, and the copy warps have passed it; then
             * announces the bytes. mbarrier.try_wait, .arrive.expect_tx */
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
    /* The copy warp has sent what lay there, and what it has fetched is there. bar.sync */
    named_barrier_sync(RETURNED + consumer, HANDING_THREADS);
}

/* Leaves a warpgroup's accumulators in the staging memory, which it has taken. A copy warp sends
 * them. One warpgroup. */
DEVICE void stage_part(union staging *staging, const float acc[BN / 2]) {
    UNROLL for (int i = 0; i < PART_CHUNKS; ++i)
        st_shared_b128(&staging->part[i * 128 + threadIdx.x % 128], chunk_of(&acc[i * CHUNK_SUMS]));
}

/* Adds the peer's part, which a copy warp has brought to the staging memory. One warpgroup. */
DEVICE void add_part(const union staging *staging, float acc[BN / 2]) {
    UNROLL for (int i = 0; i < PART_CHUNKS; ++i)
        add_chunk(&acc[i * CHUNK_SUMS],
                  ld_shared_b128(&staging->part[i * 128 + threadIdx.x % 128]));
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
            add_part(&shared->staging[consumer], acc);
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

/* A part in the staging memory that belongs to the peer. */
struct send {
    struct b128 *to; /* in the peer's memory; NULL: nothing is left to be sent */
    int sent;        /* pieces */
};

/* Sends the next pieces, up to piece `end`. One warp. */
DEVICE void send_pieces(const union staging *staging, struct send *send, int end) {
    if (!send->to) return;
    NO_UNROLL for (; send->sent < end && send->sent < PIECES; ++send->sent) {
        const int chunk = send->sent * 32 + threadIdx.x % 32;
        st_global_b128(&send->to[chunk], ld_shared_b128(&staging->part[chunk]));
    }
    if (send->sent < PIECES) return;
    /* All stores of both copy warps come before the release of the flags. One that arrived without
     * waiting could arrive for its next part before the flags of this one are set. bar.sync */
    named_barrier_sync(SENT, SENT_THREADS);
    send->to = NULL;
}

/* A part that is fetched from this device's memory to the staging memory. */
struct fetch {
    uint32_t *flag; /* of the part; NULL: it has arrived */
    const struct b128 *from;
    int loaded, stored;       /* pieces */
    struct b128 batch[BATCH]; /* loaded and not stored */
};

/* The part that an own tile needs. Any thread. */
DEVICE void fetch_begin(struct fetch *fetch, const struct gemm_device_args *args, struct work work,
                        int consumer) {
    fetch->flag = &args->flags[args->device][part_index(work, consumer)];
    fetch->from = part_at(args, work, consumer);
    fetch->loaded = fetch->stored = 0;
}

/* Has the part arrived? Resets its flag. One warp. */
DEVICE bool fetch_ready(struct fetch *fetch) {
    uint32_t set = 0;
    if (!fetch->flag) return true;
    if (threadIdx.x % 32 == 0) {
        /* What the peer has released with the flag, its part, comes before this thread's later
         * accesses. ld.acquire.sys */
        set = ld_global_acquire(fetch->flag, SCOPE_SYS);
        /* For the next launch: the peer sets the flag again after it has acquired credit from this
         * device's next launch. st.relaxed.gpu */
        if (set) st_global_relaxed(fetch->flag, 0, SCOPE_GPU);
    }
    /* The acquired part comes before the other lanes' loads, too. bar.warp.sync */
    __syncwarp();
    if (!__shfl_sync(0xffffffffu, set, 0)) return false;
    fetch->flag = NULL;
    return true;
}

/* Stores the batch that the last call has loaded, and loads the next one if it ends before piece
 * `end`: its latency passes until the next call. One warp. */
DEVICE void fetch_batch(union staging *staging, struct fetch *fetch, int end) {
    const int lane = threadIdx.x % 32;
    if (fetch->stored < fetch->loaded) {
        UNROLL for (int i = 0; i < BATCH; ++i)
            st_shared_b128(&staging->part[(fetch->stored + i) * 32 + lane], fetch->batch[i]);
        fetch->stored = fetch->loaded;
    }
    if (fetch->loaded + BATCH <= end) {
        UNROLL for (int i = 0; i < BATCH; ++i)
            fetch->batch[i] = ld_global_b128(&fetch->from[(fetch->loaded + i) * 32 + lane]);
        fetch->loaded += BATCH;
    }
}

/* Waits for the part, if it is not there, and fetches the rest of it. One warp. */
DEVICE void fetch_rest(union staging *staging, struct fetch *fetch) {
    while (!fetch_ready(fetch)) {
    }
    NO_UNROLL while (fetch->stored < PIECES) fetch_batch(staging, fetch, PIECES);
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

/* Moves a consumer's parts, paced by the k-tiles. While a tile is multiplied, it sends the part of
 * the tile before. If the tile is an own one, it also fetches the peer's part into the places whose
 * pieces have been sent. One warp. */
DEVICE void copy_warp(struct smem *shared, const struct gemm_device_args *args, int consumer) {
    union staging *const staging = &shared->staging[consumer];
    struct pipeline_state state = {0, 0};
    struct send send = {NULL, PIECES};
    /* Pieces for each k-tile: enough to have sent a part by the tile's last k-tile. */
    const int pace = (PIECES + args->gemm.tiles_k - 1) / args->gemm.tiles_k;
    for (int number = blockIdx.x; number < args->gemm.items; number += gridDim.x) {
        const struct work work = work_at(args, number);
        const bool own = work.owner == args->device;
        struct fetch fetch = {.flag = NULL, .loaded = PIECES, .stored = PIECES};
        if (own) fetch_begin(&fetch, args, work, consumer);
        copy_warp_take_staging(consumer);
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            /* The pace: the bytes of the k-tile have arrived. This warp does not read them, but
             * without its arrival the producer could overtake it by more than the ring.
             * mbarrier.try_wait, .arrive */
            if (threadIdx.x % 32 == 0) {
                consumer_wait(shared->ring, state);
                consumer_release(shared->ring, state);
            }
            /* The other lanes keep the pace. bar.warp.sync */
            __syncwarp();
            pipeline_advance(&state, STAGES);
            send_pieces(staging, &send, send.sent + pace);
            /* Only places whose pieces have been sent are free, hence the end. */
            if (fetch.stored < PIECES && fetch_ready(&fetch))
                for (int i = 0; i < pace; i += BATCH) fetch_batch(staging, &fetch, send.sent);
        }
        /* By now the part of the tile before is sent. Only then may this warp wait for the peer,
         * which may be waiting for that part. */
        fetch_rest(staging, &fetch);
        copy_warp_return_staging(consumer);
        if (own) continue;
        /* Before this CTA's first part. */
        if (number == (int)blockIdx.x && threadIdx.x % 32 == 0) wait_for_credit(args, consumer);
        /* All lanes come to the next bar.sync together, and after the wait. bar.warp.sync */
        __syncwarp();
        /* The part moves while the next tile is multiplied. */
        send.to = part_at(args, work, consumer);
        send.sent = 0;
    }
    copy_warp_take_staging(consumer);
    send_pieces(staging, &send, PIECES);
}

/* Sets the flags of the parts that the copy warps have sent. A release at system scope lasts until
 * the link has delivered all earlier stores. A copy warp that waited for it would hold up the ring.
 * One warp. */
DEVICE void signal_parts(const struct gemm_device_args *args) {
    const int lane = threadIdx.x % 32, peer = 1 - args->device;
    for (int number = blockIdx.x; number < tiles_of(args, peer); number += gridDim.x) {
        /* A lane for each consumer; the other lanes' address is not used. */
        uint32_t *flag = &args->flags[peer][part_index(work_at(args, number), lane)];
        /* The stores of both copy warps come before this warp's releases. bar.sync */
        named_barrier_sync(SENT, SENT_THREADS);
        /* The parts come before what the owner does after it has acquired the flags. The owner is
         * another device, hence .sys. st.release.sys */
        if (lane < CONSUMERS) st_global_release(flag, 1, SCOPE_SYS);
    }
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct gemm_device_args) args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, CONSUMERS * 4 + CONSUMERS);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();

    if (warpgroup == 0) {
        if (warp == 0 && elect_one()) producer(shared, &args);
        if (warp >= 1 && warp <= CONSUMERS) copy_warp(shared, &args, warp - 1);
        if (warp > CONSUMERS) {
            give_credit(&args);
            signal_parts(&args);
        }
    } else {
        consumer(shared, &args, warpgroup - 1);
    }
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_device_args args[DEVICES];
    const enum gemm_type type = ELEMENT_TYPE;
    for (int device = 0; device < DEVICES; ++device) {
        struct gemm_args *own = &args[device].gemm;
        args[device] = gemm_device_args_of(p, device, BM, BN, BK);
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

const struct gemm_kernel GEMM_KERNEL = {
    .name = "13_two_gpus", .variant = GEMM_VARIANT,
    .technique = "idle warps move parts of tiles over the link while the next tiles are multiplied",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = part_workspace,
    .select = NULL, .tensor_scales = false, .layout = LAYOUT_SLICES_OF_K, .flags = part_flags,
    .rounds_parts = true, .follows = true,
};
