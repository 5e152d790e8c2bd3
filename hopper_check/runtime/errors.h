/*
 * errors.h: the last error of each thread, and the GPU that is lost after a launch was abandoned.
 */
#ifndef RUNTIME_ERRORS_H
#define RUNTIME_ERRORS_H

#include "runtime/cuda.h"

/* Remembers it for cudaGetLastError(), and returns it. */
cudaError_t errors_note(cudaError_t error);
/* From here on every call fails so, as on a GPU. Returns the error. */
cudaError_t errors_lose(cudaError_t error);
/* cudaSuccess: it is not lost. */
cudaError_t errors_lost(void);

#endif
