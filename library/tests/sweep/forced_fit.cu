/*
 * forced_fit.cu: chapter 10's fitted.cu for a program that forces the cut. The program is C, and
 * nvcc compiles fitted.cu as C++.
 */
#include "fit.h"

extern "C" struct fit forced_fit(const struct gemm_problem *p, const struct gemm_kernel *kernel,
                                 bool splits);

#include "fitted.cu"
