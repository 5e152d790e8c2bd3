/*
 * baselines.c: which baselines there are.
 */
#include "gpu/baselines.h"

#include "gpu/gpu_state.h"

/* One multiplication outside of any capture: kernels are loaded at their first launch, which a
 * capture may not allow, and what cannot run at all is found here. */
static bool runs(const struct contender *contender, const struct gemm_problem *problem) {
    double cycles;
    return backend_run(contender, problem, &cycles) == RUN_OK;
}

int backend_baselines(const struct gemm_problem *problem, struct contender *out, int room) {
    int count = 0;
    if (gpu_state.type == GEMM_W4A8) /* the libraries have no such product */
        return room > 1 && read_contender(problem, out) && runs(out, problem);
    /* One alone would be cuBLAS, which knows no e4m3. */
    if (gpu_state.type == GEMM_E4M3)
        return room > 1 ? cublaslt_scaled_contenders(problem, out, room) : 0;
    if (count < room && cublas_contender(&out[count]) && runs(&out[count], problem)) ++count;
    if (count < room && cublaslt_contender(problem, &out[count])) ++count;
    for (int wgmma = 1; wgmma >= 0 && count < room; --wgmma)
        if (ceiling_contender(problem, wgmma, &out[count]) && runs(&out[count], problem)) ++count;
    return count;
}
