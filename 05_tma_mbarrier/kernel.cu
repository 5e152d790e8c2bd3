/*
 * 05_tma_mbarrier: one thread requests a whole tile, and a barrier in shared memory completes when
 * the tile has arrived.
 *
 * The idea: the Tensor Memory Accelerator (TMA) copies a box of a matrix to shared memory. It
 * computes the addresses, applies the swizzle and writes the zeros beyond the edges. An mbarrier
 * per stage counts the bytes; the CTA waits for its phase. What it costs: a tensor map made on the
 * host, and a fence, because nothing orders the TMA's writes after ordinary loads. What it hides:
 * all the copying instructions, and their registers.
 */
#include "gemm.h"
#include "building_blocks/tile_order.h"
#include "building_blocks/wide_store.h"
#include "hopper/element.h"
#include "hopper/mbarrier.h"
#include "hopper/mma.h"
#include "hopper/thread.h"
#include "hopper/tma.h"

#ifndef STAGES
#define STAGES 3 /* depth of the ring, 2 to 6 */
#endif
#ifndef CTAS_PER_SM
#define CTAS_PER_SM 2 /* 1: ask for more shared memory than half an SM has */
#endif

enum {
    BM = 128, BN = 128, BK = 64, /* the CTA's tile */
    WM = 64, WN = 64,            /* a warp's part of it: 2 x 2 warps */
    THREADS = BM / WM * (BN / WN) * 32,
    CHUNK = 8, /* elements: 16 bytes, the unit of the swizzle */
    STAGE_BYTES = (BM + BN) * BK * sizeof(element_t), /* what the TMA delivers for one k-tile */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], 128 B swizzle; a multiple of 1024 bytes */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], 128 B swizzle */
    mbarrier_t full[STAGES];      /* one arrival, and the bytes of a k-tile */
#if CTAS_PER_SM == 1
    char rest[STAGES < 4 ? (4 - STAGES) * (BM + BN) * BK * 2 : 1];
#endif
};

struct fragments {
    uint32_t a[WM / 16][4]; /* 16 x 16 each */
    uint32_t b[WN / 16][4]; /* two times 8 x 16 each */
};

/* The offset of chunk `chunk` of a row in a tile in shared memory, in elements: the TMA's 128 B
 * swizzle is the permutation of chapter 03. */
DEVICE int tile_offset(int row, int chunk) { return row * BK + (chunk ^ row % 8) * CHUNK; }

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

/* Loads the warp's fragments of the 16 columns of k from chunk 2 * step on. A whole warp. */
DEVICE void load_fragments(struct fragments *f, const element_t *a, const element_t *b, int step) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    UNROLL for (int i = 0; i < WM / 16; ++i) {
        const int row = warp / (BN / WN) * WM + i * 16 + lane % 16;
        ldmatrix_x4(f->a[i], &a[tile_offset(row, 2 * step + lane / 16)]);
    }
    UNROLL for (int j = 0; j < WN / 16; ++j) {
        const int column = warp % (BN / WN) * WN + j * 16 + lane / 16 * 8 + lane % 8;
        ldmatrix_x4(f->b[j], &b[tile_offset(column, 2 * step + lane / 8 % 2)]);
    }
}

/* acc += a * b on the warp's 64 x 64 tile, 16 deep. A whole warp. */
DEVICE void multiply(float acc[WM / 16][WN / 8][4], const struct fragments *f) {
    UNROLL for (int i = 0; i < WM / 16; ++i)
        UNROLL for (int j = 0; j < WN / 8; ++j)
            mma_m16n8k16(acc[i][j], f->a[i], &f->b[j / 2][j % 2 * 2]);
}

/* Writes the warp's accumulators to D. A whole warp. */
DEVICE void store_tile(const struct gemm_args *args, struct tile tile,
                       float acc[WM / 16][WN / 8][4]) {
    const int row = tile.m * BM + threadIdx.x / 32 / (BN / WN) * WM;
    const int column = tile.n * BN + threadIdx.x / 32 % (BN / WN) * WN;
    UNROLL for (int i = 0; i < WM / 16; ++i)
        store_16_rows(args, row + i * 16, column, WN, acc[i][0]);
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

KERNEL(THREADS, CTAS_PER_SM) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct tile tile = tile_at(blockIdx.x, args.tiles_m, args.tiles_n);
    float acc[WM / 16][WN / 8][4] = {{{0}}};
    struct fragments fragments[2]; /* one multiplies, one is being loaded */
    struct pipeline_state state = {0, 0};

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) mbarrier_init(&shared->full[stage], 1);
        /* The TMA signals these barriers, in the async proxy. fence.mbarrier_init */
        fence_mbarrier_init();
        for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile)
            load_stage(shared, &args, tile, k_tile);
    }
    /* The barriers are initialized before any other thread waits on one. bar.sync */
    __syncthreads();
    /* All bytes of k-tile 0 have arrived. mbarrier.try_wait */
    mbarrier_wait(&shared->full[0], 0);
    load_fragments(&fragments[0], shared->a[0], shared->b[0], 0);

    for (int k_tile = 0; k_tile < args.tiles_k; ++k_tile) {
        const int stage = state.index;
        /* Fills the stage of the previous k-tile, which every thread has finished reading. */
        if (threadIdx.x == 0) load_stage(shared, &args, tile, k_tile + STAGES - 1);
        UNROLL for (int step = 0; step < BK / 16 - 1; ++step) {
            load_fragments(&fragments[(step + 1) % 2], shared->a[stage], shared->b[stage],
                           step + 1);
            multiply(acc, &fragments[step % 2]);
        }
        advance(&state);
        if (k_tile + 1 < args.tiles_k) {
            /* This thread's reads of the stage come before the TMA's next write to it.
             * fence.proxy.async */
            fence_proxy_async();
            /* The same holds for every thread before thread 0 requests more. bar.sync */
            __syncthreads();
            /* All bytes of the next k-tile have arrived. mbarrier.try_wait */
            mbarrier_wait(&shared->full[state.index], state.phase);
            load_fragments(&fragments[0], shared->a[state.index], shared->b[state.index], 0);
        }
        multiply(acc, &fragments[1]);
    }
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
    .name = "05_tma_mbarrier", .variant = GEMM_VARIANT,
    .technique = "TMA loads completing on mbarriers",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
