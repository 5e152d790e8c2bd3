/*
 * gemm_matrices.h: what a problem of another kind than D = A * B has besides A, B and D, as its
 * kernel's launch function sees it: matrices, and numbers in a struct of the chapter's, to which
 * gemm_problem.of_kind points until launch() has returned. Whoever has the problem fills it in.
 *
 * A chapter whose problem is of such a kind has, beside its kernels, a kind.c with the struct
 * problem_kind that gemm_kernel.kind points to (harness/problem_kind.h). A program without the
 * harness, which launches the kernels itself, does without: the reference is weak, and NULL there.
 */
#ifndef GEMM_MATRICES_H
#define GEMM_MATRICES_H

#include <stdint.h>

struct problem_kind;

/* Behind the declaration of a kind. */
#define GEMM_KIND_IF_LINKED __attribute__((weak))

enum { GEMM_MATRICES = 8 }; /* the most */

/* One of the matrices that the kind has declared, in that order. */
struct gemm_matrix {
    void *memory; /* [rows][ld], 256-byte aligned, on the GPU with guards around it */
    int64_t ld;   /* elements; a row is padded to 16 bytes, with anything, NaN included */
};

#endif
