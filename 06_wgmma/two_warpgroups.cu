/*
 * 06_wgmma, two_warpgroups.cu: two warpgroups share a tile that one of them could not hold.
 *
 * The difference to kernel.cu: a tile is 128 x 256, and each warpgroup multiplies 64 of its rows by
 * all of its columns. These are 128 accumulators in each thread, as before. What it saves: a k-tile
 * brings 384 rows of operands. The same multiplications took two k-tiles of 256 rows in kernel.cu.
 * So the L2 delivers three bytes instead of four, and the Tensor Core reads A from shared memory
 * half as often. What it costs: a stage is 48 KB, so only four fit, and the barrier at the end of
 * each k-tile joins eight warps.
 */
#include "gemm.h"
#include "building_blocks/tile_order.h"
#include "building_blocks/wide_store.h"
#include "hopper/element.h"
#include "hopper/mbarrier.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 4 /* depth of the ring, 2 to 4 */
#endif
#ifndef WAIT
#define WAIT 1 /* k-tiles whose multiplications stay in flight, 0 or 1 */
#endif

enum {
    BM = 128, BN = 256, BK = 64, /* the CTA's tile */
    WARPGROUPS = 2,              /* each with BM / WARPGROUPS rows of the tile */
    THREADS = 128 * WARPGROUPS,
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    mbarrier_t full[STAGES];      /* one arrival, and the bytes of a k-tile */
};

/* A place in the ring: which stage, and the parity of the phase its barrier is in. */
struct pipeline_state {
    int index;
    uint32_t phase;
};

DEVICE void advance(struct pipeline_state *state) {
    if (++state->index == STAGES) {
        state->index = 0;
        state->phase ^= 1;
    }
}

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

/* Requests k-tile `k_tile` of both operands from the TMA; nothing past the last. One thread. */
DEVICE void load_stage(struct smem *shared, const struct gemm_args *args, struct tile tile,
                       int k_tile) {
    const int stage = k_tile % STAGES;
    if (k_tile >= args->tiles_k) return;
    /* The phase completes with this arrival and the last of these bytes.
     * mbarrier.arrive.expect_tx */
    mbarrier_arrive_expect_tx(&shared->full[stage], STAGE_BYTES);
    tma_load(shared->a[stage], &args->map_a, tile.m * BM, k_tile * BK, &shared->full[stage]);
    tma_load(shared->b[stage], &args->map_b, tile.n * BN, k_tile * BK, &shared->full[stage]);
}

/* Waits for a k-tile and sends its multiplications to the Tensor Core. One warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state, int half,
                         float acc[BN / 2], int k_tile) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    mbarrier_wait(&shared->full[state->index], state->phase);
    /* Ordinary accesses to the accumulators come before the multiplications' writes to them.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, &shared->a[state->index][half * 64 * BK], shared->b[state->index], k_tile > 0);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    advance(state);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct tile tile = tile_at(blockIdx.x, args.tiles_m, args.tiles_n);
    const int half = warp_index() / 4; /* of the rows: each warpgroup has one */
    float acc[BN / 2];
    UNROLL for (int i = 0; i < BN / 2; ++i) acc[i] = 0; /* to the compiler wgmma reads acc */
    struct pipeline_state state = {0, 0};

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) mbarrier_init(&shared->full[stage], 1);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
        for (int k_tile = 0; k_tile < STAGES; ++k_tile) load_stage(shared, &args, tile, k_tile);
    }
    /* The barriers are initialized before any other thread waits on one. bar.sync */
    __syncthreads();

    /* Prologue: the groups that will stay in flight. There is nothing to release yet. */
    for (int k_tile = 0; k_tile < WAIT; ++k_tile) issue_k_tile(shared, &state, half, acc, k_tile);

    for (int k_tile = WAIT; k_tile < args.tiles_k; ++k_tile) {
        issue_k_tile(shared, &state, half, acc, k_tile);
        /* The group of k-tile k_tile - WAIT is complete: its stage has been read.
         * wgmma.wait_group */
        wgmma_wait_group(WAIT);
        /* For every warp, before thread 0 has the stage overwritten. bar.sync */
        __syncthreads();
        if (threadIdx.x == 0) load_stage(shared, &args, tile, k_tile - WAIT + STAGES);
    }
    /* The accumulators are complete. wgmma.wait_group */
    wgmma_wait_group(0);
    store_64_rows(&args, tile.m * BM + half * 64, tile.n * BN, BN, acc);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    const enum gemm_type type = ELEMENT_TYPE;
    if (gemm_tensor_map(&args.map_a, type, p->a, p->m, p->k, p->lda, BM, BK, SWIZZLE_128B) ||
        gemm_tensor_map(&args.map_b, type, p->b, p->n, p->k, p->ldb, BN, BK, SWIZZLE_128B))
        return GEMM_UNSUPPORTED;
    return gemm_launch_grid(&GEMM_KERNEL, args.tiles_m * args.tiles_n, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "06_wgmma", .variant = GEMM_VARIANT,
    .technique = "two warpgroups on a tile of 128 x 256",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
