/*
 * runtime.h: calls of the CUDA runtime that a program of this folder cannot do without. PROGRAM is
 * its name, by CMakeLists.txt.
 */
#ifndef TESTS_GPU_RUNTIME_H
#define TESTS_GPU_RUNTIME_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

/* A failed call ends the program, with exit code 1. Host thread. */
static inline void must(cudaError_t status, const char *attempt) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s: %s\n", PROGRAM, attempt, cudaGetErrorString(status));
    exit(1);
}

/* `bytes` bytes of device memory. Host thread. */
static inline void *on_device(size_t bytes) {
    void *memory = NULL;
    must(cudaMalloc(&memory, bytes), "allocating device memory");
    return memory;
}

#endif
