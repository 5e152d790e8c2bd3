/*
 * 13_two_gpus, through_tma.cu: a GEMM whose k is split over several GPUs, and the sum that ends it,
 * in one kernel.
 *
 * The idea: each device multiplies its slice of k and has a part of every tile. The tiles are split
 * over the devices, too: a tile's owner adds up the parts and stores D. So a device computes the
 * tiles of its peers first. The TMA stores their parts to the owner's memory over the link while
 * the consumers multiply the next tile. A flag for each part, released at system scope, shows the
 * owner that the part has arrived. Own tiles come last: by then the peers' parts are there. What it
 * hides: the link, if a part takes less time to cross it than the next tile takes to compute. What
 * it costs: a stage of the ring, because a whole part waits in shared memory for the link; and a
 * rounding of each part (with PARTS_FP32=1 there is none, and a part has twice the bytes).
 */
#include "gemm_devices.h"
#include "gemm_types.h"
#include "building_blocks/epilogue_store.h"
#include "building_blocks/pipeline.h"
#include "building_blocks/tile_order.h"
#include "hopper/atomics.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 3 /* depth of the ring; 2, 3, or 4 if a box has 16 KB */
#endif
#ifndef PARTS_FP32
#define PARTS_FP32 0 /* 1: parts travel as fp32, 0: as elements of D */
#endif
#ifndef PART_BOXES
#define PART_BOXES (PARTS_FP32 ? 2 : 1) /* a warpgroup's part is staged by boxes */
#endif

enum {
    BM = SLICE_M, BN = SLICE_N, BK = SLICE_K, /* the CTA's tile, 128 x 256 x 64 */
    CONSUMERS = 2, /* warpgroups, each with BM / CONSUMERS rows of the tile */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
    /* A part: the accumulators of a warpgroup, in the order in which its threads hold them. So the
     * same thread of the owner's warpgroup finds them, and no edge of D matters. */
    CHUNK_SUMS = PARTS_FP32 ? 4 : 8,         /* accumulators in 16 bytes */
    PART_CHUNKS = BN / 2 / CHUNK_SUMS,       /* 16 bytes of every thread each */
    BOX_CHUNKS = PART_CHUNKS / PART_BOXES,   /* that are staged at once */
    LINE_BYTES = 128,                        /* of the TMA's view of the parts: a matrix of lines */
    BOX_LINES = BOX_CHUNKS * 128 * 16 / LINE_BYTES,
    PART_BYTES = PART_CHUNKS * 128 * 16,
};
static_assert(BOX_LINES <= 256, "more than a box of the TMA has");

/* Where a consumer's results wait for the TMA: a tile of its own, or a part for a peer. */
union staging {
    element_t d[BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct b128 part[BOX_CHUNKS][128];             /* [chunk][thread] */
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

/* A tile, the device that it belongs to, and its number among that device's tiles. */
struct work {
    struct tile tile;
    int owner, number, owned;
};

/* This device's work number `number`: all tiles of the next device, of the one after that, and so
 * on; its own come last. So devices that are in step send to different ones. */
DEVICE struct work work_at(const struct gemm_device_args *args, int number) {
    struct work work;
    int distance = 1, first_row, rows;
    for (;; ++distance) {
        work.owner = (args->device + distance) % args->devices;
        first_row = args->first_m_tile[work.owner];
        rows = args->first_m_tile[work.owner + 1] - first_row;
        work.owned = rows * args->gemm.tiles_n;
        if (number < work.owned || distance == args->devices) break;
        number -= work.owned;
    }
    work.number = number;
    work.tile = tile_at(number, rows, args->gemm.tiles_n);
    work.tile.m += first_row;
    return work;
}

/* Where the part of device `source` lies among those that the owner of the work receives; flags
 * have the same order. */
DEVICE int part_index(const struct gemm_device_args *args, struct work work, int source, int half) {
    const int distance = (source - work.owner + args->devices) % args->devices; /* 1, 2, ... */
    return ((distance - 1) * work.owned + work.number) * CONSUMERS + half;
}

/* Parts that a device receives in a launch. */
DEVICE int parts_to(const struct gemm_device_args *args, int device) {
    const int rows = args->first_m_tile[device + 1] - args->first_m_tile[device];
    return (args->devices - 1) * rows * args->gemm.tiles_n * CONSUMERS;
}

/* A word of device `sender`, after the flags of the parts that the sender receives. The owner sets
 * it when this half of this CTA of the sender may send parts to the owner: there is *room*. */
DEVICE uint32_t *room_word(const struct gemm_device_args *args, int sender, int owner, int half) {
    const int distance = (owner - sender + args->devices) % args->devices; /* 1, 2, ... */
    const int cta = (distance - 1) * gridDim.x + blockIdx.x;
    return &args->flags[sender][parts_to(args, sender) + cta * CONSUMERS + half];
}

/* Does the CTA of this number on device `sender` send parts to this device? Any thread. */
DEVICE bool receives_from(const struct gemm_device_args *args, int sender) {
    int first = 0, owner = (sender + 1) % args->devices, number = blockIdx.x;
    for (; owner != args->device; owner = (owner + 1) % args->devices)
        first += args->first_m_tile[owner + 1] - args->first_m_tile[owner];
    const int end = first + args->first_m_tile[owner + 1] - args->first_m_tile[owner];
    while (number < first * args->gemm.tiles_n) number += gridDim.x;
    return number < end * args->gemm.tiles_n;
}

/* Gives room to the peers' CTAs of this CTA's number. On this device the launch before has ended:
 * its parts are added up, and their flags are zero. One warp. */
DEVICE void give_room(const struct gemm_device_args *args) {
    const int half = threadIdx.x % 32;
    for (int distance = 1; distance < args->devices; ++distance) {
        const int sender = (args->device + distance) % args->devices;
        /* The launch before on this device comes before what the sender does after it has acquired
         * the word. The sender is another device, hence .sys. st.release.sys */
        if (half < CONSUMERS && receives_from(args, sender))
            st_global_release(room_word(args, sender, args->device, half), 1, SCOPE_SYS);
    }
}

/* Waits until the owner has begun this launch, before the first part that is sent to it. One
 * thread. */
DEVICE void wait_for_room(const struct gemm_device_args *args, int owner, int half) {
    uint32_t *room = room_word(args, args->device, owner, half);
    /* The owner's loads of the parts of the launch before come before this thread's stores of new
     * ones, and so do its resets of their flags. ld.acquire.sys */
    while (ld_global_acquire(room, SCOPE_SYS) == 0) {
    }
    /* For the next launch: the owner sets the word again after it has acquired the flag of a part,
     * and this comes before that flag's release. st.relaxed.gpu */
    st_global_relaxed(room, 0, SCOPE_GPU);
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

/* Sixteen bytes of a part from accumulators, and back. Any thread. */
DEVICE struct b128 chunk_of(const float *acc) {
    struct b128 chunk;
    if (PARTS_FP32) memcpy(&chunk, acc, sizeof chunk);
    else UNROLL for (int i = 0; i < 4; ++i)
        chunk.word[i] = pack_elements(acc[2 * i % CHUNK_SUMS], acc[(2 * i + 1) % CHUNK_SUMS]);
    return chunk;
}
DEVICE void add_chunk(float *acc, struct b128 chunk) {
    float sum[4];
    memcpy(sum, &chunk, sizeof sum);
    UNROLL for (int i = 0; i < CHUNK_SUMS; ++i) {
        const uint32_t pair = chunk.word[i / 2 % 4];
        acc[i] += PARTS_FP32 ? sum[i % 4]
                             : element_to_float(i % 2 ? second_of_pair(pair) : first_of_pair(pair));
    }
}

/* Sends a warpgroup's accumulators to the owner of the tile. *flag becomes the flag to be set when
 * they have arrived. One warpgroup; its first thread issues the stores. */
DEVICE void send_part(union staging *staging, const struct gemm_device_args *args, struct work work,
                      int half, const float acc[BN / 2], uint32_t **flag) {
    const bool elected = threadIdx.x % 128 == 0;
    const int part = part_index(args, work, args->device, half);
    UNROLL for (int box = 0; box < PART_BOXES; ++box) {
        /* The box before has been read. cp.async.bulk.wait_group.read */
        if (elected) bulk_wait_group_read(0);
        /* The other threads must not overwrite the staging memory before that wait. bar.sync */
        named_barrier_sync(1 + half, 128);
        UNROLL for (int i = 0; i < BOX_CHUNKS; ++i) {
            const struct b128 chunk = chunk_of(&acc[(box * BOX_CHUNKS + i) * CHUNK_SUMS]);
            st_shared_b128(&staging->part[i][threadIdx.x % 128], chunk);
        }
        /* What this thread has written comes before the TMA's reading of it. fence.proxy.async */
        fence_proxy_async();
        /* The same holds for every thread before the store is issued. bar.sync */
        named_barrier_sync(1 + half, 128);
        if (elected) {
            tma_store(&args->map_peer[work.owner], (part * PART_BOXES + box) * BOX_LINES, 0,
                      staging->part);
            bulk_commit_group();
        }
    }
    if (elected) *flag = &args->flags[work.owner][part];
}

/* Adds the parts of all other devices to the accumulators, always in the same order, so that every
 * run gives the same bits. One warpgroup. */
DEVICE void add_parts(const struct gemm_device_args *args, struct work work, int half,
                      float acc[BN / 2]) {
    if (threadIdx.x % 128 == 0)
        for (int distance = 1; distance < args->devices; ++distance) {
            const int source = (args->device + distance) % args->devices;
            uint32_t *flag = &args->flags[args->device][part_index(args, work, source, half)];
            /* What the peer has released with the flag, its part, comes before this thread's
             * later accesses. ld.acquire.sys */
            while (ld_global_acquire(flag, SCOPE_SYS) == 0) {
            }
            /* For the next launch: the peer sets the flag again after it has acquired room from
             * this device's next launch. st.relaxed.gpu */
            st_global_relaxed(flag, 0, SCOPE_GPU);
        }
    /* The acquired parts come before the other threads' loads, too. bar.sync */
    named_barrier_sync(1 + half, 128);
    for (int distance = 1; distance < args->devices; ++distance) {
        const int source = (args->device + distance) % args->devices;
        const struct b128 *part = (const struct b128 *)args->gemm.workspace +
                                  (int64_t)part_index(args, work, source, half) * PART_CHUNKS * 128;
        UNROLL for (int i = 0; i < PART_CHUNKS; ++i)
            add_chunk(&acc[i * CHUNK_SUMS], ld_global_b128(&part[i * 128 + threadIdx.x % 128]));
    }
}

/* Multiplies its 64 rows of tile after tile, and sends or stores them. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct gemm_device_args *args, int half) {
    const bool elected = threadIdx.x % 128 == 0;
    uint32_t *sent = NULL;   /* the flag of the part that is on its way */
    int room = args->device; /* the last owner whose room has been waited for */
    float acc[BN / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] = 0; /* = {0} would put it in memory */
    struct pipeline_state state = {0, 0}, release = {0, 0}; /* the next to read, to release */
    for (int number = blockIdx.x; number < args->gemm.items; number += gridDim.x) {
        const struct work work = work_at(args, number);
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
        /* Signals before this warpgroup waits for its peers: they may be waiting for the part. */
        if (elected) signal_part(&sent);
        if (work.owner != args->device) {
            if (room != work.owner && elected) wait_for_room(args, work.owner, half);
            room = work.owner;
            send_part(&shared->staging[half], args, work, half, acc, &sent);
            continue;
        }
        add_parts(args, work, half, acc);
        epilogue_store(shared->staging[half].d, &args->gemm, work.tile.m * BM + half * 64,
                       work.tile.n * BN, 64, BN, acc, 1 + half);
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
        if (warp > CONSUMERS) give_room(&args);
    } else {
        consumer(shared, &args, warpgroup - 1);
    }
}

/* Parts that the device receives. */
static int parts_of(const struct gemm_problem *p, int device) {
    const int tiles_m = ceil_div(p->m, BM), tiles_n = ceil_div(p->n, BN);
    const int rows =
        gemm_slice(tiles_m, device + 1, p->devices) - gemm_slice(tiles_m, device, p->devices);
    return (p->devices - 1) * rows * tiles_n * CONSUMERS;
}

static int most_parts(const struct gemm_problem *p) {
    int most = 0;
    for (int device = 0; device < p->devices; ++device)
        if (most < parts_of(p, device)) most = parts_of(p, device);
    return most;
}

static int grid_of(const struct gemm_problem *p) {
    const int items = ceil_div(p->m, BM) * ceil_div(p->n, BN), sms = gemm_sm_count();
    return items < sms ? items : sms;
}

/* A flag for each part, and the words of room_word(). */
static size_t flags(const struct gemm_problem *p) {
    return (size_t)(most_parts(p) + (p->devices - 1) * grid_of(p) * CONSUMERS);
}

static size_t workspace_bytes(const struct gemm_problem *p) {
    return (size_t)most_parts(p) * PART_BYTES;
}

/* The maps of one device: its operands, its D, and the parts that it sends to each peer. */
static enum gemm_status make_maps(const struct gemm_problem *p, struct gemm_device_args *args) {
    const enum gemm_type type = ELEMENT_TYPE, part_type = PARTS_FP32 ? GEMM_FP32 : type;
    const int columns = LINE_BYTES / gemm_type_bytes(part_type);
    struct gemm_args *own = &args->gemm;
    if (gemm_tensor_map(&own->map_a, type, own->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&own->map_b, type, own->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&own->map_d, type, own->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    for (int peer = 0; peer < p->devices; ++peer) {
        const int lines = parts_of(p, peer) * PART_BOXES * BOX_LINES;
        if (lines && gemm_tensor_map(&args->map_peer[peer], part_type, p->share[peer].workspace,
                                     lines, columns, columns, BOX_LINES, columns, SWIZZLE_NONE))
            return GEMM_UNSUPPORTED;
    }
    return GEMM_OK;
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_device_args args[GEMM_DEVICES];
    for (int device = 0; device < p->devices; ++device) {
        struct gemm_device_args *own = &args[device];
        *own = gemm_device_args_of(p, device, BM, BN, BK);
        own->gemm.items = own->gemm.tiles_m * own->gemm.tiles_n;
        gemm_slice_k(own);
        if (make_maps(p, own)) return GEMM_UNSUPPORTED;
    }
    const struct gemm_launch grid = gemm_launch_of(&GEMM_KERNEL, grid_of(p), stream);
    return gemm_launch_devices(&grid, args, p->devices);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "13_two_gpus", .variant = GEMM_VARIANT,
    .technique = "parts of tiles cross the link under the next tile's multiplications",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = workspace_bytes,
    .select = NULL, .tensor_scales = false, .layout = LAYOUT_SLICES_OF_K, .flags = flags,
    .rounds_parts = !PARTS_FP32, .follows = true,
};
