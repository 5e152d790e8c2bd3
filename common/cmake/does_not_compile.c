/*
 * does_not_compile.c: the record of a kernel whose file the compiler refuses. compile_kernel.sh
 * compiles it in that file's place, as C or as CUDA C++, with the same macros.
 */
#include <stdio.h>

#include "gemm.h"

static enum gemm_status launch(const struct gemm_problem *problem, void *stream) {
    (void)problem;
    (void)stream;
    fprintf(stderr, "%s: %s does not compile\n", KERNEL_CHAPTER, KERNEL_FILE);
    return GEMM_LAUNCH_FAILED;
}

const struct gemm_kernel GEMM_KERNEL = {
    .name = KERNEL_CHAPTER,
    .variant = GEMM_VARIANT,
    .technique = KERNEL_FILE " does not compile",
    .tile_m = 1,
    .tile_n = 1,
    .tile_k = 1,
    .threads = 1,
    .cluster = 1,
    .launch = launch,
    .refused = true,
};
