/*
 * counters.c: the tile counters of a plan, in device memory.
 *
 * CUDA Runtime API: cudaMalloc, cudaMemset, cudaFree.
 */
#include "gemm_plan.h"
#include "gpu/cuda_call.h"

uint32_t *gemm_counters_make(void) {
    const size_t bytes = GEMM_COUNTERS * sizeof(uint32_t);
    void *counters = NULL;
    if (!cuda_ok(cudaMalloc(&counters, bytes), "allocating tile counters")) return NULL;
    /* A launch in a stream that does not wait for the default stream must find zeros, too: so this
     * waits until they are there. */
    if (!cuda_ok(cudaMemset(counters, 0, bytes), "zeroing tile counters") ||
        !cuda_ok(cudaStreamSynchronize(NULL), "zeroing tile counters")) {
        gemm_counters_free(counters);
        return NULL;
    }
    return counters;
}

void gemm_counters_free(uint32_t *counters) {
    if (counters) cuda_ok(cudaFree(counters), "freeing tile counters");
}
