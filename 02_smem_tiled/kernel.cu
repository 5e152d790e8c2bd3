/*
 * 02_smem_tiled: a CTA computes a 128 x 128 tile of D, its warps on the Tensor Core.
 *
 * The idea: every element that is loaded is used 128 times. The CTA copies a k-tile of A and B to
 * shared memory; each of its four warps loads fragments from there and multiplies them with
 * mma.sync. What it costs: registers on the way to shared memory, two barriers per k-tile, and
 * time: load, synchronize, load fragments, multiply, synchronize. Nothing overlaps, so the Tensor
 * Core idles during every step except the multiplication.
 */
#include "gemm.h"
#include "building_blocks/tile_order.h"
#include "building_blocks/wide_store.h"
#include "hopper/element.h"
#include "hopper/mma.h"
#include "hopper/thread.h"

enum {
    BM = 128, BN = 128, BK = 64, /* the CTA's tile */
    WM = 64, WN = 64,            /* a warp's part of it: 2 x 2 warps */
    THREADS = BM / WM * (BN / WN) * 32,
    CHUNK = 8,          /* elements: 16 bytes, which one thread copies at once */
    PITCH = BK + CHUNK, /* elements from row to row: padded, so ldmatrix has no bank conflicts */
};

struct smem {
    element_t a[BM * PITCH]; /* [row][k] */
    element_t b[BN * PITCH]; /* [column][k] */
};

struct fragments {
    uint32_t a[WM / 16][4]; /* 16 x 16 each */
    uint32_t b[WN / 16][4]; /* two times 8 x 16 each */
};

/* The offset of chunk `chunk` of a row in a tile in shared memory, in elements. */
DEVICE int tile_offset(int row, int chunk) { return row * PITCH + chunk * CHUNK; }

/* Zeros all but the first `valid` elements. */
DEVICE struct b128 mask_chunk(struct b128 chunk, int valid) {
    UNROLL for (int i = 0; i < 4; ++i) {
        if (valid <= 2 * i) chunk.word[i] = 0;
        else if (valid == 2 * i + 1) chunk.word[i] &= 0xffff;
    }
    return chunk;
}

/* Copies a tile of 128 rows and BK columns; elements outside the matrix become zero. The
 * whole CTA. */
DEVICE void load_tile(element_t *shared, const element_t *global, int64_t ld, int rows,
                      int columns) {
    struct b128 chunks[BM * BK / CHUNK / THREADS];
    UNROLL for (int i = 0; i < BM * BK / CHUNK / THREADS; ++i) {
        const int index = i * THREADS + threadIdx.x;
        const int row = index / (BK / CHUNK), chunk = index % (BK / CHUNK);
        const int valid = row < rows ? columns - chunk * CHUNK : 0;
        const struct b128 zero = {{0, 0, 0, 0}};
        chunks[i] = valid > 0 ? ld_global_b128(&global[row * ld + chunk * CHUNK]) : zero;
        if (valid < CHUNK) chunks[i] = mask_chunk(chunks[i], valid);
    }
    UNROLL for (int i = 0; i < BM * BK / CHUNK / THREADS; ++i) {
        const int index = i * THREADS + threadIdx.x;
        st_shared_b128(&shared[tile_offset(index / (BK / CHUNK), index % (BK / CHUNK))], chunks[i]);
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

KERNEL(THREADS, 2) kernel(KERNEL_ARGS args) {
    SHARED_MEMORY(struct smem);
    const struct tile tile = tile_at(blockIdx.x, args.tiles_m, args.tiles_n);
    const int row = tile.m * BM, column = tile.n * BN;
    float acc[WM / 16][WN / 8][4] = {{{0}}};

    for (int k_tile = 0; k_tile < args.tiles_k; ++k_tile) {
        const int k = k_tile * BK;
        load_tile(shared->a, &args.a[row * args.lda + k], args.lda, args.m - row, args.k - k);
        load_tile(shared->b, &args.b[column * args.ldb + k], args.ldb, args.n - column, args.k - k);
        /* Every thread's part of the tile is written before any thread reads it. bar.sync */
        __syncthreads();
        UNROLL for (int step = 0; step < BK / 16; ++step) {
            struct fragments fragments;
            load_fragments(&fragments, shared->a, shared->b, step);
            multiply(acc, &fragments);
        }
        /* Every thread has read the tile before any thread overwrites it. bar.sync */
        __syncthreads();
    }
    store_tile(&args, tile, acc);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, BM, BN, BK);
    return gemm_launch_grid(&GEMM_KERNEL, args.tiles_m * args.tiles_n, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "02_smem_tiled", .variant = GEMM_VARIANT,
    .technique = "tiles in shared memory, mma.sync on the Tensor Core",
    .tile_m = BM, .tile_n = BN, .tile_k = BK, .stages = 1,
    .threads = THREADS, .cluster = 1, .smem_bytes = sizeof(struct smem),
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
