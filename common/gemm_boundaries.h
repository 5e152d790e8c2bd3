/*
 * gemm_boundaries.h: the numbers at which a kernel's code goes another way, for --check, which runs
 * it at each and around it.
 */
#ifndef GEMM_BOUNDARIES_H
#define GEMM_BOUNDARIES_H

enum { GEMM_BOUNDARIES = 3 }; /* the most */

/* Up to `at` one way, above it another: the rows of a group of tiles in the tile order, what one
 * launch or one warp takes at once. */
struct gemm_boundary {
    const char *of; /* "m" or "n", in elements, or an option of its kind, "--groups"; NULL: none */
    int at;
};

#endif
