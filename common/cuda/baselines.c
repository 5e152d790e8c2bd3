/*
 * baselines.c: which baselines there are.
 */
#include "cuda/baselines.h"

int backend_baselines(const struct gemm_problem *problem, struct contender *out, int room) {
    int count = 0;
    if (count < room && cublas_contender(&out[count])) ++count;
    if (count < room && cublaslt_contender(problem, &out[count])) ++count;
    if (count < room && ceiling_contender(problem, true, &out[count])) ++count;
    if (count < room && ceiling_contender(problem, false, &out[count])) ++count;
    return count;
}
