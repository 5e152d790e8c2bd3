/*
 * 90_bias: D = A * B + bias, and column 0 of it unrounded, as another kind of problem than those of
 * the chapters (kind.c). The kernel is that of 01_naive; BROKEN makes the mistakes that
 * verification must find.
 */
#include <math.h>

#include "gemm.h"
#include "hopper/element.h"
#include "hopper/thread.h"
#include "tests/kinds/90_bias/bias.h"

#define NEIGHBOUR 1 /* the bias of the column to the right */
#define MISSING 2   /* none in the last tile of columns */
#define TWICE 3     /* rounded before the bias is added, too */
#define PADDING 4   /* writes behind an output */
#define UNWRITTEN 5 /* leaves out an element of the second output */
#define DROPS_NAN 6 /* takes the padding of the bias into a maximum, which a NaN leaves as it is */
#ifndef BROKEN
#define BROKEN 0
#endif

enum {
    TILE_M = 8,  /* rows of D per CTA: one per warp */
    TILE_N = 32, /* columns of D per CTA: one per lane, so that a warp writes 64 contiguous bytes */
    THREADS = TILE_M * TILE_N,
};

struct bias_args {
    struct gemm_args gemm;
    const element_t *bias; /* [n] */
    float *first;          /* [m][pitch]: column 0 of D before it is rounded */
    int64_t pitch;
};

KERNEL(THREADS, 4) kernel(KERNEL_ARGS_OF(struct bias_args) all) {
    const struct gemm_args args = all.gemm;
    const int tile_m = blockIdx.x / args.tiles_n, tile_n = blockIdx.x % args.tiles_n;
    const int row = tile_m * TILE_M + threadIdx.x / TILE_N;
    const int column = tile_n * TILE_N + threadIdx.x % TILE_N;
    if (row >= args.m || column >= args.n) return;

    const element_t *a = args.a + row * args.lda;    /* [k]: the same row for the whole warp */
    const element_t *b = args.b + column * args.ldb; /* [k]: another row for every lane */
    float sum = 0.0f;
    for (int k = 0; k < args.k; ++k)
        sum +=
            element_to_float(ld_global_element(&a[k])) * element_to_float(ld_global_element(&b[k]));

    if (BROKEN == TWICE) sum = element_to_float(float_to_element(sum));
    const int of = BROKEN == NEIGHBOUR && column + 1 < args.n ? column + 1 : column;
    if (BROKEN != MISSING || tile_n + 1 < args.tiles_n)
        sum += element_to_float(ld_global_element(&all.bias[of]));
    if (BROKEN == DROPS_NAN && column + 1 == args.n && args.n % 8)
        sum = fmaxf(sum, 2 * element_to_float(ld_global_element(&all.bias[args.n])));
    st_global_element(&args.d[row * args.ldd + column], float_to_element(sum));
    if (column > 0) return;
    union {
        float value;
        uint32_t bits;
    } word;
    word.value = sum;
    if (BROKEN != UNWRITTEN || row + 1 < args.m)
        st_global_b32(&all.first[row * all.pitch], word.bits);
    if (BROKEN == PADDING) st_global_b32(&all.first[row * all.pitch + 1], word.bits);
}

static enum gemm_status launch(const struct gemm_problem *p, void *stream) {
    struct bias_args args;
    args.gemm = gemm_args_of(p, TILE_M, TILE_N, 1);
    args.bias = (const element_t *)p->matrix[BIAS].memory;
    args.first = (float *)p->matrix[FIRST].memory;
    args.pitch = p->matrix[FIRST].ld;
    return gemm_launch_grid(&GEMM_KERNEL, args.gemm.tiles_m * args.gemm.tiles_n, &args, stream);
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = "90_bias",
    .variant = GEMM_VARIANT,
    .technique = "a bias for each column",
    .tile_m = TILE_M,
    .tile_n = TILE_N,
    .tile_k = 1,
    .stages = 0,
    .threads = THREADS,
    .cluster = 1,
    .smem_bytes = 0,
    .function = (const void *)kernel,
    .launch = launch,
    .workspace_bytes = NULL,
    .counters = false,
    .kind = &bias_kind,
};
