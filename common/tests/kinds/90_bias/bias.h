/*
 * bias.h: the matrices besides A, B and D of this kind of problem, for its kernels and for kind.c.
 */
#ifndef TESTS_KINDS_90_BIAS_BIAS_H
#define TESTS_KINDS_90_BIAS_BIAS_H

enum { BIAS, FIRST, BIAS_MATRICES }; /* in gemm_problem.matrix */

extern const struct problem_kind bias_kind;

#endif
