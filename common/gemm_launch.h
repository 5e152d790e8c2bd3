/*
 * gemm_launch.h: what a chapter's launch function begins and ends with. gemm.h includes it.
 */
#ifndef GEMM_LAUNCH_H
#define GEMM_LAUNCH_H

#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline int ceil_div(int a, int b) { return a / b + (a % b != 0); }

/* The kernel parameter for a problem cut into tiles of this size; the chapter adds the tensor
 * maps. */
static inline struct gemm_args gemm_args_of(const struct gemm_problem *p, int tile_m, int tile_n,
                                            int tile_k) {
    struct gemm_args args;
    memset(&args, 0, sizeof args);
    args.a = p->a;
    args.b = p->b;
    args.d = p->d;
    args.lda = p->lda;
    args.ldb = p->ldb;
    args.ldd = p->ldd;
    args.m = p->m;
    args.n = p->n;
    args.k = p->k;
    args.tiles_m = ceil_div(p->m, tile_m);
    args.tiles_n = ceil_div(p->n, tile_n);
    args.tiles_k = ceil_div(p->k, tile_k);
    args.splits = 1;
    args.workspace = (float *)p->workspace;
    args.tile_counter = p->tile_counter;
    args.trace = p->trace;
    return args;
}

/* A launch of a chapter's kernel on `grid` CTAs; its record has the rest. */
static inline struct gemm_launch gemm_launch_of(const struct gemm_kernel *kernel, int grid,
                                                void *stream) {
    struct gemm_launch launch;
    launch.kernel = kernel->function;
    launch.name = kernel->name;
    launch.grid = grid;
    launch.cluster = kernel->cluster;
    launch.threads = kernel->threads;
    launch.smem_bytes = kernel->smem_bytes;
    launch.stream = stream;
    launch.early = GEMM_IN_ORDER;
    launch.together = false;
    launch.flags = 0;
    return launch;
}

/* Enqueues it: gemm_launch_grid(&GEMM_KERNEL, grid, &args, stream). */
static inline enum gemm_status gemm_launch_grid(const struct gemm_kernel *kernel, int grid,
                                                const void *args, size_t args_bytes, void *stream) {
    const struct gemm_launch launch = gemm_launch_of(kernel, grid, stream);
    return (gemm_launch_kernel)(&launch, args, args_bytes);
}
#define gemm_launch_grid(kernel, grid, args, stream)                                               \
    gemm_launch_grid(kernel, grid, args, sizeof *(args), stream)

#ifdef __cplusplus
}
#endif
#endif
