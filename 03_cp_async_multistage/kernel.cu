/*
 * 03_cp_async_multistage: copies run ahead of the multiplications through a ring of k-tiles.
 *
 * The idea: cp.async copies from global to shared memory with no register in between, and no
 * thread waits. With STAGES buffers, STAGES - 1 k-tiles are on their way while one is multiplied:
 * after the prologue the latency of global memory is hidden. What it costs: 32 KB of shared memory
 * per stage, and the prologue itself. What it does not hide: the fragment loads from shared
 * memory, for which every multiplication still waits.
 */
#include "gemm.h"
#include "building_blocks/tile_order.h"
#include "building_blocks/wide_store.h"
#include "hopper/cp_async.h"
#include "hopper/element.h"
#include "hopper/mma.h"
#include "hopper/thread.h"

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
    CHUNK = 8, /* elements: 16 bytes, which one thread copies at once */
    ROWS_AT_ONCE = THREADS * CHUNK / BK, /* the CTA copies, with one cp.async in each thread */
    PARTS = 4, PART_ROWS = BM / PARTS,   /* parts in which a k-tile is copied */
};

struct smem {
    element_t a[STAGES][BM * BK]; /* [stage][row][k], chunks swizzled */
    element_t b[STAGES][BN * BK]; /* [stage][column][k], chunks swizzled */
#if CTAS_PER_SM == 1
    char rest[STAGES < 4 ? (4 - STAGES) * (BM + BN) * BK * 2 : 1];
#endif
};

struct fragments {
    uint32_t a[WM / 16][4]; /* 16 x 16 each */
    uint32_t b[WN / 16][4]; /* two times 8 x 16 each */
};

/* The offset of chunk `chunk` of a row in a tile in shared memory, in elements. The row's number
 * permutes the row's eight chunks, so that the same chunk of eight neighbouring rows covers all
 * 32 banks. */
DEVICE int tile_offset(int row, int chunk) { return row * BK + (chunk ^ row % 8) * CHUNK; }

/* Starts copying PART_ROWS rows of BK columns; elements outside the matrix become zero.
 * `inside`: no row lies outside. The whole CTA. */
DEVICE void load_rows(element_t *shared, const element_t *global, int64_t ld, int first_row,
                      int rows, int columns, bool inside) {
    const int row = first_row + threadIdx.x / (BK / CHUNK), chunk = threadIdx.x % (BK / CHUNK);
    const int left = columns - chunk * CHUNK;
    const int valid = left < 0 ? 0 : left < CHUNK ? left : CHUNK;
    element_t *to = &shared[tile_offset(row, chunk)];
    const element_t *from = &global[row * ld + chunk * CHUNK];
    UNROLL for (int i = 0; i < PART_ROWS; i += ROWS_AT_ONCE)
        cp_async_16(&to[i * BK], &from[i * ld],
                    inside || row + i < rows ? valid * (int)sizeof(element_t) : 0);
}

/* Starts copying a quarter of k-tile `k_tile` of both operands; zeros past the last one. The
 * whole CTA. */
DEVICE void load_part(struct smem *shared, const struct gemm_args *args, struct tile tile,
                      int k_tile, int part, bool inside) {
    const int row = tile.m * BM, column = tile.n * BN, k = k_tile * BK, stage = k_tile % STAGES;
    load_rows(shared->a[stage], &args->a[row * args->lda + k], args->lda, part * PART_ROWS,
              args->m - row, args->k - k, inside);
    load_rows(shared->b[stage], &args->b[column * args->ldb + k], args->ldb, part * PART_ROWS,
              args->n - column, args->k - k, inside);
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

/* Starts copying k-tile `k_tile` and closes the group. The whole CTA. */
DEVICE void load_stage(struct smem *shared, const struct gemm_args *args, struct tile tile,
                       int k_tile, bool inside) {
    UNROLL for (int part = 0; part < PARTS; ++part)
        load_part(shared, args, tile, k_tile, part, inside);
    /* Closes the copies so far into one group, which the waits count. cp.async.commit_group */
    cp_async_commit_group();
}

/* Multiplies all k-tiles. `inside`: all rows of both tiles exist. This case has a loop of its own,
 * because checking each copy costs more than the copy. The whole CTA. */
DEVICE void main_loop(struct smem *shared, const struct gemm_args *args, struct tile tile,
                      float acc[WM / 16][WN / 8][4], bool inside) {
    for (int k_tile = 0; k_tile < STAGES - 1; ++k_tile)
        load_stage(shared, args, tile, k_tile, inside);

    for (int k_tile = 0; k_tile < args->tiles_k; ++k_tile) {
        const int stage = k_tile % STAGES;
        /* This thread's copies of the k-tile have landed: of its k_tile + STAGES - 1 groups, all
         * but the youngest STAGES - 2 are complete. cp.async.wait_group */
        cp_async_wait_group(STAGES - 2);
        /* The other threads' copies have landed, too, and every thread has read the previous
         * k-tile, whose stage is filled next. bar.sync */
        __syncthreads();
        load_stage(shared, args, tile, k_tile + STAGES - 1, inside);
        UNROLL for (int step = 0; step < BK / 16; ++step) {
            struct fragments fragments;
            load_fragments(&fragments, shared->a[stage], shared->b[stage], step);
            multiply(acc, &fragments);
        }
    }
    /* The zeros past the last k-tile have landed before the CTA gives up its memory.
     * cp.async.wait_group */
    cp_async_wait_group(0);
}

KERNEL(THREADS, CTAS_PER_SM) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct tile tile = tile_at(blockIdx.x, args.tiles_m, args.tiles_n);
    float acc[WM / 16][WN / 8][4] = {{{0}}};

    if ((tile.m + 1) * BM <= args.m && (tile.n + 1) * BN <= args.n)
        main_loop(shared, &args, tile, acc, true);
    else
        main_loop(shared, &args, tile, acc, false);
    store_tile(&args, tile, acc);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    return gemm_launch_grid(&GEMM_KERNEL, args.tiles_m * args.tiles_n, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "03_cp_async_multistage", .variant = GEMM_VARIANT,
    .technique = "a ring of k-tiles filled by cp.async",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = STAGES,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
