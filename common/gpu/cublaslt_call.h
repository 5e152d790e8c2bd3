/*
 * cublaslt_call.h: the fastest of what cuBLASLt proposes for a way to multiply: cublaslt.c, and
 * chapters whose kernels have an epilogue that the library has, too.
 */
#ifndef GPU_CUBLASLT_CALL_H
#define GPU_CUBLASLT_CALL_H

#include <cublasLt.h>

#include "backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of e4m3: those of gemm.h, whose layouts are the library's ("128-element 1D and 128x128 2D block
 * scaling"; CUDA 12.9 on); the first of each operand for all of it; and that with fast
 * accumulation, which leaves out the promotion of sums to fp32. */
enum cublaslt_scaling { SCALING_NONE, SCALING_BLOCKS, SCALING_TENSOR, SCALING_TENSOR_FAST };

enum { CUBLASLT_NO_MATRIX = -1 };

/* A way to multiply. The library's matrices are ours turned around, as in cublas.c, so its bias has
 * an element for each of its rows. */
struct cublaslt_way {
    const char *name; /* the contender's */
    enum contender_result result;
    bool reduced; /* parts of k may be rounded to D's type before they are added; else fp32 */
    enum cublaslt_scaling scaling;
    cublasLtEpilogue_t epilogue;
    int bias, c; /* their numbers in gemm_problem.matrix; C is added as it is */
};

/* Writes the contender for problems like this one. It stays valid until the next call for this way,
 * which is one of CUBLASLT_WAYS at most, and must stay where it is. False after a message. */
enum { CUBLASLT_WAYS = 16 };
bool cublaslt_fastest(const struct cublaslt_way *way, const struct gemm_problem *problem,
                      struct contender *out);

#ifdef __cplusplus
}
#endif

#endif
