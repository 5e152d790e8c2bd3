/*
 * baselines.h: the contenders that are no chapters.
 */
#ifndef GPU_BASELINES_H
#define GPU_BASELINES_H

#include "backend.h"

enum { LIBRARY_WORKSPACE = 64 << 20 /* bytes each library gets */ };

/* Each writes one contender for this problem and returns true; or says why not, false. */
bool cublas_contender(struct contender *out);
bool cublaslt_contender(const struct gemm_problem *problem, struct contender *out);
/* Of e4m3: with the problem's scales, with one for each operand, and that with fast accumulation.
 * Returns how many were written. */
int cublaslt_scaled_contenders(const struct gemm_problem *problem, struct contender *out, int room);
bool ceiling_contender(const struct gemm_problem *problem, bool wgmma, struct contender *out);
/* Of w4a8: reads B as the problem has it; its FLOPS are the problem's, in the time of the reading.
 */
bool read_contender(const struct gemm_problem *problem, struct contender *out);

/* Releases what they hold. */
void cublas_close(void);
void cublaslt_close(void);
void ceiling_close(void);

#endif
