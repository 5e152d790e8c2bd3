/*
 * cutlass.h: CUTLASS's kernels as they were compiled; and the weights of w4a8 in CUTLASS's layout.
 */
#ifndef GPU_RIVALS_CUTLASS_H
#define GPU_RIVALS_CUTLASS_H

#include <cuda_runtime.h>

#include "backend.h"
#include "cutlass_kernels.h" /* made by CMake: CUTLASS_KERNELS, an X(name) for each kernel */

#ifdef __cplusplus
extern "C" {
#endif

enum cutlass_kind { CUTLASS_COOPERATIVE, CUTLASS_PINGPONG, CUTLASS_BLOCKWISE, CUTLASS_MIXED };

struct cutlass_kernel {
    enum cutlass_kind kind;
    enum gemm_type type;                /* of the operands */
    int tile_m, tile_n, tile_k, stages; /* of row-major D */
    int cluster_m, cluster_n;
    bool (*computes)(const struct gemm_problem *p); /* can it compute the problem? */
    enum gemm_status (*enqueue)(const struct contender *self, const struct gemm_problem *p,
                                void *stream);
};

#define X(name) extern const struct cutlass_kernel name;
CUTLASS_KERNELS
#undef X

/* ---- the weights of w4a8 ---- */

enum {
    CUTLASS_CHANNELS = 128, /* the layout has a multiple of these channels, */
    CUTLASS_DEPTH = 256     /* and of these of k: what its reordering kernel works on at once */
};

/* One copy of the weights, in global memory. What lies beyond n and k is zero. */
struct cutlass_weights {
    void *codes;  /* 4 bits each (cutlass_codes.h), in the order of cutlass_reorder() */
    void *tables; /* [ceil(k / 128)][channels], 8 bytes each */
    int channels; /* n, rounded up */
    int depth;    /* k, rounded up */
};

/* The weights of a problem whose contender has been made; NULL: there are none. */
const struct cutlass_weights *cutlass_weights_of(const struct gemm_problem *p);

/* Makes them for `count` copies of a problem, instead of those that were there. Nothing is timed
 * yet. False after a message. */
bool cutlass_make_weights(const struct gemm_problem *problems, int count);

/* Puts codes [channels][depth], two in a byte, the lower half first, into the order in which
 * CUTLASS's kernels read them: those of a thread side by side. Both in global memory. */
cudaError_t cutlass_reorder(const void *codes, void *reordered, int channels, int depth);

#ifdef __cplusplus
}
#endif
#endif
