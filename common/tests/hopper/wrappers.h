/*
 * wrappers.h: the kernels of wrappers.cu.
 */
#ifndef TESTS_HOPPER_WRAPPERS_H
#define TESTS_HOPPER_WRAPPERS_H

#include "gemm.h"

enum { WRAPPER_EXTENT = 64, WRAPPER_BOXES = 4 };

#ifdef __cplusplus
extern "C" {
#endif

/* A is WRAPPER_BOXES boxes of WRAPPER_EXTENT squared elements, one below the other, B is one box, D
 * and the workspace are as large as A; the tensor maps are of such boxes in the 128 B swizzle. Of
 * kernels with several CTAs, map_b is that of the workspace. tile_counter: zero, and left so. */
struct wrapper_kernel {
    const char *name;
    const void *function;
    int threads;
    size_t smem_bytes;
    int ctas;
    bool multiplies; /* D's first box = A's first, transposed, times B; otherwise D = A */
};
extern const struct wrapper_kernel wrapper_kernels[];
extern const int wrapper_kernel_count;

#ifdef __cplusplus
}
#endif
#endif
