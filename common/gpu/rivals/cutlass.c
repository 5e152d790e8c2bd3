/*
 * cutlass.c: the fastest of CUTLASS's kernels of a kind for a problem.
 */
#include <stdio.h>

#include "gpu/baselines.h"
#include "gpu/gpu_state.h"
#include "gpu/rivals/cutlass.h"

#define X(name) &name,
static const struct cutlass_kernel *const kernels[] = {CUTLASS_KERNELS};
#undef X
enum { KERNELS = sizeof kernels / sizeof *kernels };

enum { ANY_TILE = 0, EXAMPLE_TILE = 128 }; /* rows of A in a tile of example 55 */

/* `self->state` is the kernel. */
static enum gemm_status enqueue(const struct contender *self, const struct gemm_problem *p,
                                void *stream) {
    const struct cutlass_kernel *const kernel = self->state;
    if (kernel->type != GEMM_W4A8 || cutlass_weights_of(p)) return kernel->enqueue(self, p, stream);
    fprintf(stderr, "CUTLASS: %s: launching: there was no memory for its weights\n", self->name);
    return GEMM_LAUNCH_FAILED;
}

static struct contender contender_of(const struct cutlass_kernel *kernel, const char *name) {
    return (struct contender){.name = name,
                              .result =
                                  kernel->type == GEMM_W4A8 ? RESULT_E4M3_WEIGHTS : RESULT_PRODUCT,
                              .enqueue = enqueue,
                              .state = (void *)kernel,
                              .algorithm = {.name = "CollectiveBuilder",
                                            .tile_m = kernel->tile_m,
                                            .tile_n = kernel->tile_n,
                                            .tile_k = kernel->tile_k,
                                            .stages = kernel->stages,
                                            .cluster_m = kernel->cluster_m,
                                            .cluster_n = kernel->cluster_n,
                                            .splits = 1,
                                            .reduction = "none"}};
}

/* The fastest one of a kind; of those with so many rows in a tile, unless ANY_TILE. */
static bool choose(enum cutlass_kind kind, int tile_m, const char *name,
                   const struct gemm_problem *p, struct contender *out) {
    struct contender candidates[MOST_CANDIDATES];
    int found = 0;
    for (int i = 0; i < KERNELS && found < MOST_CANDIDATES; ++i) {
        const struct cutlass_kernel *const kernel = kernels[i];
        if (kernel->kind == kind && kernel->type == gpu_state.type &&
            (tile_m == ANY_TILE || tile_m == kernel->tile_m) && kernel->computes(p))
            candidates[found++] = contender_of(kernel, name);
    }
    const int winner = found ? fastest_candidate(candidates, found, p) : -1;
    if (winner < 0) {
        fprintf(stderr,
                "CUTLASS: %s: no kernel for %d x %d x %d; n must be a multiple of 8, k of %d\n",
                name, p->m, p->n, p->k, kind < CUTLASS_BLOCKWISE ? 8 : 16);
        return false;
    }
    *out = candidates[winner];
    return true;
}

bool cutlass_cooperative_contender(const struct gemm_problem *problems, int count,
                                   struct contender *out) {
    (void)count;
    return choose(CUTLASS_COOPERATIVE, ANY_TILE, "cutlass-cooperative", problems, out);
}

bool cutlass_pingpong_contender(const struct gemm_problem *problems, int count,
                                struct contender *out) {
    (void)count;
    return choose(CUTLASS_PINGPONG, ANY_TILE, "cutlass-pingpong", problems, out);
}

bool cutlass_blockwise_contender(const struct gemm_problem *problems, int count,
                                 struct contender *out) {
    (void)count;
    return choose(CUTLASS_BLOCKWISE, ANY_TILE, "cutlass-blockwise", problems, out);
}

bool cutlass_mixed_contender(const struct gemm_problem *problems, int count,
                             struct contender *out) {
    return cutlass_make_weights(problems, count) &&
           choose(CUTLASS_MIXED, EXAMPLE_TILE, "cutlass-mixed", problems, out);
}

bool cutlass_mixed_best_contender(const struct gemm_problem *problems, int count,
                                  struct contender *out) {
    return cutlass_make_weights(problems, count) &&
           choose(CUTLASS_MIXED, ANY_TILE, "cutlass-mixed-best", problems, out);
}
