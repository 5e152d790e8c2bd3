/*
 * find_device.h: which of the machine's GPUs a program runs on.
 */
#ifndef GPU_FIND_DEVICE_H
#define GPU_FIND_DEVICE_H

#include <cuda_runtime.h>
#include <stdbool.h>

#include "gemm_machine.h"

/* The first device of the machine's compute capability, which runs every kernel for it. If there is
 * none and `oldest` is not 0, the first one with the highest compute capability from `oldest` on
 * (80 for 8.0). False after a line that says what there is instead, and which program needs no GPU.
 */
bool find_device(enum gemm_machine machine, int oldest, int *ordinal,
                 struct cudaDeviceProp *properties);

#endif
