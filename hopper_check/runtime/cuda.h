/*
 * cuda.h: CUDA's own headers, for those who provide what these declare.
 */
#ifndef RUNTIME_CUDA_H
#define RUNTIME_CUDA_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#endif
