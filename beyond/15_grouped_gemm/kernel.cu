/*
 * 15_grouped_gemm: many products in one launch; the device makes the maps.
 *
 * The idea: a CTA keeps a map of A and maps of D of its own in global memory. When it comes to
 * another group, a warp changes the address and the number of rows in a copy in shared memory,
 * copies that back and acquires it. Only the device has to know how many rows a group has. What it
 * costs: a change goes to the L2 and back, and all copies that use the old map come before it. So
 * the producer has two maps of A in turn: its loads of the group before the last have long been
 * complete. What it hides: the way of the group sizes to the host.
 */
#include "gemm.h"
#define BUFFERS 1 /* of epilogue_store.h: with two, the ring would be a stage shorter */
#include "building_blocks/group_store.h"
#include "building_blocks/pipeline.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/tensormap.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "groups.h"

#ifndef STAGES
#define STAGES 5 /* depth of the ring, 2 to 5 */
#endif
#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BM = 128, BN = 192, BK = 64, /* a consumer's tile */
    CONSUMERS = 2,               /* warpgroups, on different tiles */
    THREADS = 128 * (1 + CONSUMERS),
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    element_t d[CONSUMERS][BUFFERS][EPILOGUE_M * EPILOGUE_N]; /* [row][column], 128 B swizzle */
    struct pipeline_stage ring[STAGES]; /* released by the four warps of the tile's consumer */
    struct tensor_map edited[1 + CONSUMERS] __attribute__((aligned(128))); /* A, D of consumers */
    mbarrier_t order[CONSUMERS]; /* [c] phase n: consumer c may begin the main loop of its tile n */
};

/* Of a CTA, in global memory. Those of A are used in turn. */
struct cta_maps {
    struct tensor_map a[2], d[CONSUMERS];
};

struct grouped_args {
    struct gemm_args gemm; /* map_a, map_d: patterns for the groups' maps; map_b: of all groups */
    struct grouping groups;
    struct cta_maps *maps; /* [CTAs], in global memory */
};

/* Copies a pattern to shared memory, to be edited there. One warp. */
DEVICE void take_map(struct tensor_map *edited, const struct tensor_map *pattern) {
    const int lane = threadIdx.x % 32; /* four bytes for each */
    st_shared_b32((uint32_t *)edited + lane, ((const uint32_t *)pattern)[lane]);
}

/* Makes `map` that of a matrix of so many rows. One lane has waited for the copies that use the old
 * map. One warp. */
DEVICE void change_map(struct tensor_map *map, struct tensor_map *edited, const element_t *base,
                       int rows) {
    /* The last copy of the edited map is complete, and what one lane has waited for holds for all.
     * bar.warp.sync */
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        tensor_map_replace_address(edited, base);
        tensor_map_replace_dim(edited, 1, rows);
    }
    /* The edits come before all lanes' part of the copy. bar.warp.sync */
    __syncwarp();
    /* The new map comes before what is acquired. tensormap.cp_fenceproxy */
    tensor_map_copy_release(map, edited, SCOPE_CTA);
    /* What was released comes before what the TMA reads here, in this CTA from here on.
     * fence.proxy.tensormap::generic.acquire */
    fence_tensor_map_acquire(map, SCOPE_CTA);
}

/* Waits for the loads up to this k-tile, counted over all tiles, of which so many were issued.
 * Those whose stages have been refilled since are complete. Loads complete in any order. The
 * thread that issued them: it alone knows how many they are. */
DEVICE void wait_for_loads(struct smem *shared, int k_tile, int issued) {
    for (int i = issued > STAGES ? issued - STAGES : 0; i <= k_tile; ++i)
        /* The bytes have arrived, so the TMA has read the map. mbarrier.try_wait */
        mbarrier_wait(&shared->ring[i % STAGES].full, i / STAGES % 2);
}

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

/* Fills the ring with all k-tiles of tile after tile, for the consumers in turn. One warp, of which
 * one thread loads. */
DEVICE void producer(struct smem *shared, const struct grouped_args *all) {
    const struct gemm_args *args = &all->gemm;
    const bool elected = elect_one();
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    struct group group = BEFORE_GROUPS;
    int mapped = -1, turn = 0; /* the group of the map in use, and which of the two that is */
    int issued = 0, last = -1, last_before = -1; /* k-tiles; the last ones of two groups */
    take_map(&shared->edited[0], &args->map_a);
    for (int number = blockIdx.x; find_group(&group, &all->groups, number, BM, args->tiles_n);
         number += gridDim.x) {
        const struct tile tile = tile_of_group(&group, number, BM, args->tiles_n);
        if (group.number != mapped) {
            turn ^= 1;
            if (elected) wait_for_loads(shared, last_before, issued);
            /* Up to the end of A: rows beyond a map are slow to load, so the last tile of a group
             * has rows of the next one, whose products are not stored. */
            change_map(&all->maps[blockIdx.x].a[turn], &shared->edited[0],
                       args->a + group.first_row * args->lda, args->m - group.first_row);
            last_before = last;
            mapped = group.number;
        }
        const struct tensor_map *map_a = &all->maps[blockIdx.x].a[turn];
        const int column = group.number * args->n + tile.n * BN; /* a row of B */
        if (elected) {
            NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
                mbarrier_t *full = &shared->ring[state.index].full;
                /* The four warps that used the stage last have read it; then announces the bytes.
                 * mbarrier.try_wait, .arrive.expect_tx */
                producer_acquire(shared->ring, state, STAGE_BYTES);
                tma_load(shared->a[state.index], map_a, tile.m * BM, k_tile * BK, full);
                tma_load(shared->b[state.index], &args->map_b, column, k_tile * BK, full);
                pipeline_advance(&state, STAGES);
            }
        }
        issued += args->tiles_k;
        last = issued - 1;
    }
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
DEVICE void consumer(struct smem *shared, const struct grouped_args *all, int consumer) {
    const struct gemm_args *args = &all->gemm;
    const bool elected = threadIdx.x % 128 == 0;
    float acc[BM / 64][BN / 2] = {{0}};
    struct pipeline_state state = {0, 0};
    uint32_t order_phase = consumer == 0; /* consumer 0 begins: parity 1 passes at once */
    if (consumer == 1) pipeline_skip(&state, args->tiles_k, STAGES); /* tile 0 is consumer 0's */
    struct group group = BEFORE_GROUPS;
    int mapped = -1;
    struct tensor_map *map_d = &all->maps[blockIdx.x].d[consumer];
    if (warp_index() % 4 == 0) take_map(&shared->edited[1 + consumer], &args->map_d);
    for (int number = blockIdx.x + consumer * gridDim.x;
         find_group(&group, &all->groups, number, BM, args->tiles_n);
         number += CONSUMERS * gridDim.x) {
        const struct tile tile = tile_of_group(&group, number, BM, args->tiles_n);
        if (group.number != mapped && warp_index() % 4 == 0) {
            /* The stores of the last tile have read the map. cp.async.bulk.wait_group.read */
            if (elected) bulk_wait_group_read(0);
            change_map(map_d, &shared->edited[1 + consumer],
                       args->d + group.first_row * args->ldd, group.rows);
        }
        mapped = group.number;
        /* The other consumer has issued the last multiplication of its tile. mbarrier.try_wait */
        mbarrier_wait(&shared->order[consumer], order_phase);
        order_phase ^= 1;
        struct pipeline_state release = state; /* the next to release */
        /* Prologue: a group that will stay in flight. There is nothing to release yet. */
        issue_k_tile(shared, &state, acc, 0);
        NO_UNROLL for (int k_tile = 1; k_tile < args->tiles_k; ++k_tile) {
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
        const struct group_output output =
            output_of_tile(args, &group, tile, BM, BN, map_d, 0, true);
        group_store(shared->d[consumer], &output, BM, BN, acc[0], 1 + consumer);
        pipeline_skip(&state, args->tiles_k, STAGES); /* the other consumer's tile */
    }
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (elected) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct grouped_args) args) {
    SHARED_MEMORY(struct smem);
    const int warp = warp_index(), warpgroup = warp / 4;

    if (threadIdx.x == 0) {
        pipeline_init(shared->ring, STAGES, 4);
        for (int i = 0; i < CONSUMERS; ++i) mbarrier_init(&shared->order[i], 4);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
    }
    /* The barriers are initialized before any other thread uses one. bar.sync */
    __syncthreads();

    if (warpgroup == 0) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (warp == 0) producer(shared, &args);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
}

static size_t workspace_bytes(const struct gemm_problem *p) {
    (void)p;
    return (size_t)gemm_sm_count() * sizeof(struct cta_maps);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct grouped_args all;
    const int groups = grouped_of(p)->groups;
    all.gemm = gemm_args_of(p, BM, BN, BK);
    all.groups = grouping_of(p);
    struct gemm_args *args = &all.gemm;
    args->tiles_m += groups; /* at most: the rows of each are cut off once */
    const enum gemm_type type = ELEMENT_TYPE;
    all.maps = (struct cta_maps *)p->workspace;
    if (gemm_tensor_map(&args->map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args->map_b, type, p->b, groups * (int64_t)p->n, p->k, p->ldb, BN, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&args->map_d, type, p->d, p->m, p->n, p->ldd, EPILOGUE_M, EPILOGUE_N,
                        SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    const int sms = gemm_sm_count(), tiles = args->tiles_m * args->tiles_n;
    return gemm_launch_grid(&GEMM_KERNEL, tiles < sms ? tiles : sms, &all, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "15_grouped_gemm", .variant = GEMM_VARIANT,
    .technique = "many products in one launch; the device makes their maps",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = workspace_bytes,
    .kind = &grouped_kind, .boundaries = {{"m", RASTER_GROUP * BM}},
};
