/*
 * cuda_call.c: calls of the CUDA runtime that are checked where they are made.
 *
 * CUDA Runtime API: "Error Handling", "Driver Entry Point Access".
 */
#include "gpu/cuda_call.h"

#include <stdio.h>

bool cuda_ok(cudaError_t status, const char *attempt) {
    if (status == cudaSuccess) return true;
    fprintf(stderr, "CUDA: %s: %s\n", attempt, cudaGetErrorString(status));
    cudaGetLastError(); /* a failed launch must not be blamed on the next call */
    return false;
}

void *cuda_driver_function(const char *name, unsigned version) {
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found;
    if (!cuda_ok(
            cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found),
            name))
        return NULL;
    if (found != cudaDriverEntryPointSuccess) {
        fprintf(stderr, "CUDA: the driver has no %s; install a driver of CUDA %u.%u or later\n",
                name, version / 1000, version % 1000 / 10);
        return NULL;
    }
    return function;
}
