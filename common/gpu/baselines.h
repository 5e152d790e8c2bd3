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
bool ceiling_contender(const struct gemm_problem *problem, bool wgmma, struct contender *out);

/* Releases what they hold. */
void cublas_close(void);
void cublaslt_close(void);
void ceiling_close(void);

#endif
