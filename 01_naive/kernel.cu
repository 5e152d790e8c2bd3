/*
 * 01_naive: one thread computes one element of D.
 *
 * The idea: none yet. Every thread walks along a row of A and a row of B and multiplies on the
 * CUDA cores. What it costs: 4 bytes loaded through the L1 cache for every 2 FLOPs. Threads share
 * no data on purpose, and the Tensor Core is idle. What it hides: nothing by design; while one
 * warp waits for its loads, other warps may run.
 */
#include "gemm.h"
#include "hopper/element.h"
#include "hopper/thread.h"

enum {
    TILE_M = 8,  /* rows of D per CTA: one per warp */
    TILE_N = 32, /* columns of D per CTA: one per lane, so that a warp writes 64 contiguous bytes */
    THREADS = TILE_M * TILE_N,
};

KERNEL(THREADS, 4) kernel(KERNEL_ARGS args) {
    const int tile_m = blockIdx.x / args.tiles_n, tile_n = blockIdx.x % args.tiles_n;
    const int row = tile_m * TILE_M + threadIdx.x / TILE_N;
    const int column = tile_n * TILE_N + threadIdx.x % TILE_N;
    if (row >= args.m || column >= args.n) return;

    const element_t *a = args.a + row * args.lda;    /* [k]: the same row for the whole warp */
    const element_t *b = args.b + column * args.ldb; /* [k]: another row for every lane */
    float sum = 0.0f;
    for (int k = 0; k < args.k; ++k)
        sum += element_to_float(ld_global_element(&a[k])) *
               element_to_float(ld_global_element(&b[k]));

    st_global_element(&args.d[row * args.ldd + column], float_to_element(sum));
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct gemm_args args = gemm_args_of(p, TILE_M, TILE_N, 1);
    return gemm_launch_grid(&GEMM_KERNEL, args.tiles_m * args.tiles_n, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "01_naive", .variant = GEMM_VARIANT,
    .technique = "one thread per output element, CUDA cores",
    .tile_m = TILE_M, .tile_n = TILE_N, .tile_k = 1, .stages = 0,
    .threads = THREADS, .cluster = 1, .smem_bytes = 0,
    .function = (const void *)kernel, .launch = launch, .workspace_bytes = NULL,
};
