/*
 * 06_wgmma, variant rs: A from registers.
 *
 * The difference to kernel.cu: wgmma can take A from the warps' registers, four in each thread for
 * 16 columns of k. It then fetches only B from shared memory. What it saves: nothing here, because
 * ldmatrix reads the same bytes of A through the same port. What it costs: the ldmatrix; a second
 * set of fragments, because a set must not change until a wait covers its multiplications; and a
 * proxy fence, because ordinary instructions now read the A that the TMA overwrites. It pays where
 * A changes between shared memory and the Tensor Core: where it is converted or scaled, or is the
 * result of another multiplication.
 */
#include "gemm.h"
#include "building_blocks/tile_order.h"
#include "building_blocks/wide_store.h"
#include "hopper/element.h"
#include "hopper/mbarrier.h"
#include "hopper/mma.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "hopper/wgmma.h"

#ifndef STAGES
#define STAGES 4 /* depth of the ring, 2 to 7 */
#endif
#ifndef WAIT
#define WAIT 1 /* k-tiles whose multiplications stay in flight, 0 or 1 */
#endif

enum {
    BM = 128, BN = 128, BK = 64, /* the CTA's tile */
    THREADS = 128,               /* one warpgroup: no other one fills its bubbles */
    CHUNK = 8,                   /* elements of 16 bytes, the unit of the swizzle */
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    mbarrier_t full[STAGES];      /* one arrival, and the bytes of a k-tile */
};

/* A's part of a k-tile in registers: 64 x 16 by the warpgroup, 16 x 16 of it by each warp. */
struct fragments {
    uint32_t a[BK / 16][BM / 64][4]; /* [step along k][rows][as mma_m16n8k16 wants them] */
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

/* Loads A's fragments of a k-tile. Lane l addresses row l % 16 of its warp's 16, in the left or the
 * right 8 columns of a step. The exclusive or is the TMA's 128 B swizzle. The warpgroup. */
DEVICE void load_fragments(struct fragments *f, const element_t *a) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    UNROLL for (int step = 0; step < BK / 16; ++step)
        UNROLL for (int i = 0; i < BM / 64; ++i) {
            const int row = i * 64 + warp * 16 + lane % 16, chunk = 2 * step + lane / 16;
            ldmatrix_x4(f->a[step][i], &a[row * BK + (chunk ^ row % 8) * CHUNK]);
        }
}

/* Issues acc += a * b for a k-tile: 64 x 128 x 16 at a time, four steps along k for each half of
 * the rows. Rows of B's tile are 128 bytes; eight of them make the swizzle's 1024-byte pattern,
 * hence the stride. The warpgroup. */
DEVICE void multiply(float acc[BM / 64][64], const struct fragments *f, const element_t *b,
                     bool accumulate) {
    const uint64_t b_tile = wgmma_descriptor(shared_address(b), 0, 1024, SWIZZLE_128B);
    UNROLL for (int step = 0; step < BK / 16; ++step)
        UNROLL for (int i = 0; i < BM / 64; ++i) {
            const uint64_t b_step = b_tile + (step * 16 * sizeof(element_t) >> 4);
            wgmma_m64nNk16_rs(128, acc[i], f->a[step][i], b_step, accumulate || step > 0);
        }
}

/* Writes the warpgroup's accumulators to D. The warpgroup. */
DEVICE void store_tile(const struct gemm_args *args, struct tile tile, float acc[BM / 64][64]) {
    UNROLL for (int i = 0; i < BM / 64; ++i)
        store_64_rows(args, tile.m * BM + i * 64, tile.n * BN, BN, acc[i]);
}

/* Requests k-tile `k_tile` of both operands from the TMA; nothing past the last. One thread. */
DEVICE void load_stage(struct smem *shared, const struct gemm_args *args, struct tile tile,
                       int k_tile) {
    const int stage = k_tile % STAGES;
    if (k_tile >= args->tiles_k) return;
    /* The phase completes with this arrival and the last of these bytes. .arrive.expect_tx */
    mbarrier_arrive_expect_tx(&shared->full[stage], STAGE_BYTES);
    tma_load(shared->a[stage], &args->map_a, tile.m * BM, k_tile * BK, &shared->full[stage]);
    tma_load(shared->b[stage], &args->map_b, tile.n * BN, k_tile * BK, &shared->full[stage]);
}

/* Waits for a k-tile, loads A's fragments, and sends its multiplications to the Tensor Core. The
 * Tensor Core meanwhile multiplies the previous k-tile. The warpgroup. */
DEVICE void issue_k_tile(struct smem *shared, struct pipeline_state *state,
                         struct fragments *fragments, float acc[BM / 64][64], bool accumulate) {
    /* All bytes of the k-tile have arrived. mbarrier.try_wait */
    mbarrier_wait(&shared->full[state->index], state->phase);
    load_fragments(fragments, shared->a[state->index]);
    /* The fragments, and what was done to the accumulators, come before the multiplications.
     * wgmma.fence */
    wgmma_fence();
    multiply(acc, fragments, shared->b[state->index], accumulate);
    /* These multiplications are one group, the unit that waits count. wgmma.commit_group */
    wgmma_commit_group();
    advance(state);
}

/* Issues k-tile `k_tile`, then refills the stage of k_tile - WAIT. The warpgroup. */
DEVICE void main_loop_step(struct smem *shared, const struct gemm_args *args, struct tile tile,
                           struct pipeline_state *state, struct fragments *fragments,
                           float acc[BM / 64][64], int k_tile) {
    issue_k_tile(shared, state, fragments, acc, k_tile > 0);
    /* The group of k-tile k_tile - WAIT is complete: B's part of its stage has been read, and its
     * fragments may be loaded anew. wgmma.wait_group */
    wgmma_wait_group(WAIT);
    /* This thread's reads of A come before the TMA's next write to the stage. fence.proxy.async */
    fence_proxy_async();
    /* For every warp, before thread 0 has the stage overwritten. bar.sync */
    __syncthreads();
    if (threadIdx.x == 0) load_stage(shared, args, tile, k_tile - WAIT + STAGES);
}

KERNEL(THREADS, 1) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct tile tile = tile_at(blockIdx.x, args.tiles_m, args.tiles_n);
    float acc[BM / 64][64] = {{0}};
    struct fragments fragments[2]; /* of even and odd k-tiles */
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
    for (int k_tile = 0; k_tile < WAIT; ++k_tile)
        issue_k_tile(shared, &state, &fragments[0], acc, k_tile > 0);

    /* Two k-tiles a turn: an index of registers must be a constant. */
    NO_UNROLL for (int k_tile = WAIT; k_tile < args.tiles_k; k_tile += 2) {
        main_loop_step(shared, &args, tile, &state, &fragments[WAIT % 2], acc, k_tile);
        if (k_tile + 1 == args.tiles_k) break;
        main_loop_step(shared, &args, tile, &state, &fragments[(WAIT + 1) % 2], acc, k_tile + 1);
    }
    /* The accumulators are complete. wgmma.wait_group */
    wgmma_wait_group(0);
    store_tile(&args, tile, acc);
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
    .technique = "wgmma with A from registers",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
