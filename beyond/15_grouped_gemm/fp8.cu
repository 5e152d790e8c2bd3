/*
 * 15_grouped_gemm, fp8: one_map's groups of e4m3, with chapter 11's scales.
 *
 * The idea: 11's kernel, whose tile is turned again. A group wastes half a tile of rows on average,
 * so the tile has 128 rows and 256 columns: two parts along n, each with a scale of B of its own.
 * The two CTAs of a cluster lie side by side and share A, so they are always in the same group.
 * What it costs: the shared operand is the smaller one, and a group begins at any row, but a box of
 * scales only at every fourth: each box has four scales more. And no CTA knows how many tiles it
 * will get, so the cluster ends with a barrier.
 */
#include "scaled/scales.h"
#include "building_blocks/group_store.h"
#include "building_blocks/pipeline.h"
#include "hopper/cluster.h"
#include "hopper/element.h"
#include "hopper/registers.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"
#include "groups.h"

#ifndef STAGES
#define STAGES 3 /* depth of the ring, 2 or 3 */
#endif
#define PRODUCER_REGISTERS 40 /* 40 + 2 * 232 <= 3 * 168, those at launch */
#define CONSUMER_REGISTERS 232

enum {
    BM = 128, BN = 256, BK = SCALE_BLOCK, /* the CTA's tile: two scales of B at a time */
    CLUSTER = 2,                          /* CTAs, side by side */
    CONSUMERS = 2,                        /* warpgroups, each with 64 rows of the tile */
    COLUMNS = SCALE_BLOCK,
    PARTS = BN / COLUMNS, /* of a consumer's columns, multiplied one after the other */
    THREADS = 128 * (1 + CONSUMERS),
    SCALES_A = BM + 4, /* scales that the TMA fetches, from a multiple of 16 bytes on */
    SCALES_B = 4,      /* the same for each part; one is used */
    /* What the TMA delivers for one k-tile. */
    STAGE_BYTES =
        (BM + BN) * BK * sizeof(e4m3_t) + (SCALES_A + PARTS * SCALES_B) * sizeof(float),
};

struct smem {
    e4m3_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    e4m3_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    /* [column / EPILOGUE_N][row][column % EPILOGUE_N], 128 B swizzle */
    element_t d[CONSUMERS][PARTS][64 * COLUMNS];
    /* Multiples of 128 bytes: the TMA writes to those. */
    float scale_a[STAGES][BM + 32]; /* [stage][row] */
    float scale_b[STAGES][32];      /* [stage][part][block of k] */
    struct pipeline_stage ring[STAGES]; /* released by the consumers of both CTAs: 16 warps */
};

struct grouped_args {
    struct gemm_scaled_args scaled; /* its maps: of all groups */
    struct grouping groups;
    int clusters_n; /* that make a tile row: of CLUSTER tiles */
    int rows_b;     /* from a group's first row of B to the next one's */
};

/* Where a tile goes. */
struct place {
    int row, end, column; /* of D: the tile's first; `end` is the first row of the next group */
};

/* Issues acc = a * b for 64 rows and a part of a k-tile: 64 x 128 x 32 at a time, four steps along
 * k. `a` and `b` describe the first rows. A warpgroup. */
DEVICE void multiply(float acc[COLUMNS / 2], uint64_t a, uint64_t b) {
    UNROLL for (int step = 0; step < BK / 32; ++step) {
        const uint64_t along_k = step * 32 * sizeof(e4m3_t) >> 4;
        wgmma_m64nNk32_e4m3(128, acc, a + along_k, b + along_k, step > 0);
    }
}

/* This CTA's tile of the group's item `number`: the items are rows of CLUSTER tiles. */
DEVICE struct place place_of_tile(const struct grouped_args *all, const struct group *group,
                                  int number) {
    const struct tile tile = tile_of_group(group, number, BM, all->clusters_n);
    struct place place;
    place.row = group->first_row + tile.m * BM;
    place.end = group->first_row + group->rows;
    place.column = (tile.n * CLUSTER + cluster_rank()) * BN;
    return place;
}

/* Fills the ring with all k-tiles of tile after tile: the CTA's own columns of B, and in turns with
 * the other CTA the rows of A for both. A CTA whose columns lie beyond n takes its turns, too. One
 * thread. */
DEVICE void producer(struct smem *shared, const struct grouped_args *all) {
    const struct gemm_scaled_args *args = &all->scaled;
    struct pipeline_state state = {0, 1}; /* phase 1: the first round of acquires passes at once */
    struct group group = BEFORE_GROUPS;
    const int rank = cluster_rank();
    int turn = 0; /* the CTA that loads A */
    for (int number = blockIdx.x / CLUSTER;
         find_group(&group, &all->groups, number, BM, all->clusters_n);
         number += gridDim.x / CLUSTER) {
        const struct place place = place_of_tile(all, &group, number);
        const int row_b = group.number * all->rows_b + place.column;
        NO_UNROLL for (int k_tile = 0; k_tile < args->gemm.tiles_k; ++k_tile) {
            mbarrier_t *full = &shared->ring[state.index].full;
            /* All consumer warps of the cluster have read the stage; then announces the bytes,
             * those that the other CTA sends included. mbarrier.try_wait, .arrive.expect_tx */
            producer_acquire(shared->ring, state, STAGE_BYTES);
            /* A first: both CTAs wait for it. */
            if (turn == rank)
                tma_load_multicast(shared->a[state.index], &args->gemm.map_a, place.row,
                                   k_tile * BK, full, (1 << CLUSTER) - 1);
            /* Each CTA fetches its own scales. Ordinary loads read them, so a peer's TMA could
             * overwrite them only after a release at the scope of the cluster, which is slow. */
            tma_load(shared->scale_a[state.index], &args->map_scale_a, k_tile, place.row / 4 * 4,
                     full);
            tma_load(shared->b[state.index], &args->gemm.map_b, row_b, k_tile * BK, full);
            tma_load(shared->scale_b[state.index], &args->map_scale_b, row_b / SCALE_BLOCK,
                     k_tile / SCALES_B * SCALES_B, full);
            pipeline_advance(&state, STAGES);
            turn ^= 1;
        }
    }
}

/* A scale in shared memory. */
DEVICE float load_scale(const float *scale) { return bits_to_float(ld_shared_b32(scale)); }

/* Goes on to the next stage. Returns whether all its bytes have arrived, as far as this thread has
 * tested it. A whole warp, which has read the scales in the stage before. */
DEVICE bool next_stage(struct smem *shared, struct pipeline_state *state) {
    /* This lane has read its scales, before the TMA overwrites them. fence.proxy.async */
    fence_proxy_async();
    /* So have all lanes, before one arrives in release_stage(). bar.warp.sync */
    __syncwarp();
    pipeline_advance(state, STAGES);
    /* mbarrier.test_wait */
    return consumer_test_wait(shared->ring, *state);
}

/* Releases a stage, which this warp has read, to the producers of both CTAs: lane r arrives at
 * CTA r's barrier. mapa, mbarrier.arrive */
DEVICE void release_stage(struct smem *shared, int index) {
    const int lane = threadIdx.x % 32;
    if (lane < CLUSTER) mbarrier_arrive_remote(&shared->ring[index].empty, lane);
}

/* Stores a part of the consumer's sums, and clears them for the next tile: by the TMA, or from
 * registers where the TMA would write what is not the group's. One warpgroup. */
DEVICE void store_part(struct smem *shared, const struct gemm_args *args, struct place place,
                       int consumer, int part, float sum[COLUMNS / 2]) {
    const bool elected = threadIdx.x % 128 == 0;
    const int row = place.row + consumer * 64, column = place.column + part * COLUMNS;
    element_t *staging = shared->d[consumer][part];
    if (row >= place.end || column >= args->n) {
        /* Nothing of it is the group's. */
    } else if (row + 64 > place.end || (args->n % 8 != 0 && column + COLUMNS > args->n)) {
        struct gemm_args group;
        group.d = args->d;
        group.ldd = args->ldd;
        group.m = place.end;
        group.n = args->n;
        store_64_rows(&group, row, column, COLUMNS, sum);
    } else {
        /* The last stores from this memory have read it. cp.async.bulk.wait_group.read */
        if (elected) bulk_wait_group_read(PARTS - 1);
        /* The other threads must not overwrite the memory before that wait. bar.sync */
        named_barrier_sync(1 + consumer, 128);
        UNROLL for (int j = 0; j < COLUMNS / EPILOGUE_N; ++j)
            epilogue_stage_elements(&staging[j * 64 * EPILOGUE_N], &sum[j * EPILOGUE_N / 2]);
        /* What this thread has written comes before the TMA's reading of it. fence.proxy.async */
        fence_proxy_async();
        /* The same holds for every thread before the stores are issued. bar.sync */
        named_barrier_sync(1 + consumer, 128);
        if (elected) {
            UNROLL for (int j = 0; j < COLUMNS / EPILOGUE_N; ++j)
                tma_store(&args->map_d, row, column + j * EPILOGUE_N,
                          &staging[j * 64 * EPILOGUE_N]);
        }
    }
    /* One group for each part, empty where the TMA stores nothing, so that the wait counts them. */
    if (elected) bulk_commit_group();
    UNROLL for (int i = 0; i < COLUMNS / 2; ++i) sum[i] = 0;
}

/* Multiplies, promotes and stores its rows of tile after tile. One warpgroup. */
DEVICE void consumer(struct smem *shared, const struct grouped_args *all, int consumer) {
    const struct gemm_args *args = &all->scaled.gemm;
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4; /* of 64 */
    const e4m3_t *rows = &shared->a[0][consumer * 64 * BK];
    /* Of the first stage. Rows are 128 bytes; eight of them make the swizzle's 1024-byte pattern,
     * hence the stride. */
    const uint64_t a_first = wgmma_descriptor(shared_address(rows), 0, 1024, SWIZZLE_128B);
    const uint64_t b_first =
        wgmma_descriptor(shared_address(shared->b[0]), 0, 1024, SWIZZLE_128B);
    uint64_t a = a_first, b = b_first; /* of the stage to read next */
    float acc[COLUMNS / 2], sum[PARTS][COLUMNS / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) sum[i / (COLUMNS / 2)][i % (COLUMNS / 2)] = 0;
    struct pipeline_state state = {0, 0}; /* the next to read */
    struct group group = BEFORE_GROUPS;
    struct place place = {0, 0, 0}; /* of the tile whose last part is not stored yet: of none */
    int number = blockIdx.x / CLUSTER;
    bool more = find_group(&group, &all->groups, number, BM, all->clusters_n);
    /* All bytes of the first k-tile have arrived, its scales among them. mbarrier.try_wait */
    if (more) consumer_wait(shared->ring, state);
    while (more) {
        NO_UNROLL for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
            const float *scale_a =
                &shared->scale_a[state.index][group.first_row % 4 + consumer * 64 + row];
            const float *scale_b = &shared->scale_b[state.index][k_tile % SCALES_B];
            const bool last = k_tile == args->tiles_k - 1;
            const int read = state.index; /* the stage of this k-tile */
            bool full = true; /* the next stage, as far as this thread has tested it */
            UNROLL for (int part = 0; part < PARTS; ++part) {
                const uint64_t down = part * COLUMNS * BK * sizeof(e4m3_t) >> 4;
                /* The promotion's reads of the accumulators come before the multiplications.
                 * wgmma.fence */
                wgmma_fence();
                multiply(acc, a, b + down);
                /* These multiplications are one group, the unit that waits count.
                 * wgmma.commit_group */
                wgmma_commit_group();

                /* Under these multiplications: whatever is not the promotion. */
                const float s = load_scale(&scale_b[part * SCALES_B]);
                const float scale[2] = {load_scale(&scale_a[0]) * s, load_scale(&scale_a[8]) * s};
                /* A part of a tile is stored under the multiplications after its last ones. */
                if (part == 0 && k_tile == 0)
                    store_part(shared, args, place, consumer, PARTS - 1, sum[PARTS - 1]);
                if (part == PARTS - 1 && k_tile == 0) place = place_of_tile(all, &group, number);
                if (part > 0 && last)
                    store_part(shared, args, place, consumer, part - 1, sum[part - 1]);
                if (part == PARTS - 1) {
                    full = next_stage(shared, &state);
                    a = a_first + (unsigned)(state.index * sizeof shared->a[0] >> 4);
                    b = b_first + (unsigned)(state.index * sizeof shared->b[0] >> 4);
                }
                if (part == PARTS - 1 && last) {
                    number += gridDim.x / CLUSTER;
                    more = find_group(&group, &all->groups, number, BM, all->clusters_n);
                }

                /* The sums of 128 products are complete, and A and B have been read.
                 * wgmma.wait_group */
                wgmma_wait_group(0);
                if (part == PARTS - 1) release_stage(shared, read);
                /* Adds them to the sums in fp32, times the scales of this thread's two rows. */
                wgmma_promote(sum[part], acc, scale, COLUMNS / 2);
            }
            /* All bytes of the next k-tile have arrived, if there is one. mbarrier.try_wait */
            if (!full && (!last || more)) consumer_wait(shared->ring, state);
        }
    }
    store_part(shared, args, place, consumer, PARTS - 1, sum[PARTS - 1]);
    /* The stores have read the staging memory before the CTA ends. cp.async.bulk.wait_group */
    if (threadIdx.x % 128 == 0) bulk_wait_group(0);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS_OF(struct grouped_args) args) {
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
        setmaxnreg_dec(PRODUCER_REGISTERS);
        if (warp == 0 && elect_one()) producer(shared, &args);
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);
        consumer(shared, &args, warpgroup - 1);
    }
    /* The other CTA has stopped arriving at this one's barriers, before this CTA ends.
     * barrier.cluster */
    cluster_sync();
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct grouped_args all;
    const int groups = grouped_of(p)->groups;
    all.scaled = gemm_scaled_args_of(p, BM, BN, BK);
    all.scaled.scales = gemm_scales_of(&p->matrix[GROUPED_SCALES]);
    const struct gemm_scales *const scales = &all.scaled.scales;
    all.groups = grouping_of(p);
    struct gemm_args *gemm = &all.scaled.gemm;
    gemm->tiles_m += groups; /* at most: the rows of each are cut off once */
    all.clusters_n = ceil_div(gemm->tiles_n, CLUSTER);
    const int64_t rows_b = groups * grouped_rows_of_b(p->n, GEMM_E4M3);
    all.rows_b = (int)(rows_b / groups);
    if (gemm_tensor_map(&gemm->map_a, GEMM_E4M3, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&gemm->map_b, GEMM_E4M3, p->b, rows_b, p->k, p->ldb, BN, BK,
                        SWIZZLE_128B) ||
        gemm_tensor_map(&all.scaled.map_scale_a, GEMM_FP32, scales->a, gemm->tiles_k, p->m,
                        scales->pitch_a, 1, SCALES_A, SWIZZLE_NONE) ||
        gemm_tensor_map(&all.scaled.map_scale_b, GEMM_FP32, scales->b, rows_b / SCALE_BLOCK,
                        gemm->tiles_k, scales->pitch_b, PARTS, SCALES_B, SWIZZLE_NONE) ||
        gemm_tensor_map(&gemm->map_d, ELEMENT_TYPE, p->d, p->m, p->n, p->ldd, EPILOGUE_M,
                        EPILOGUE_N, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    struct gemm_launch launch = gemm_launch_of(&GEMM_KERNEL, CLUSTER, stream);
    const int resident = gemm_resident_clusters(&launch);
    const int items = gemm->tiles_m * all.clusters_n;
    launch.grid = (items < resident ? items : resident) * CLUSTER;
    return gemm_launch_kernel(&launch, &all);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "15_grouped_gemm", .variant = GEMM_VARIANT,
    .technique = "many products of e4m3 in one launch, with scales for blocks",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = CLUSTER, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
    .kind = &grouped_kind, .boundaries = {{"m", RASTER_GROUP * BM}},
};
