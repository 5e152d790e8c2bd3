/*
 * find_device.h: which of the machine's GPUs a program runs on.
 */
#ifndef GPU_FIND_DEVICE_H
#define GPU_FIND_DEVICE_H

#include <cuda_runtime.h>
#include <stdbool.h>

/* The first device of compute capability 9.0, which runs every kernel. If there is none and
 * `oldest` is not 0, the first one with the highest compute capability from `oldest` on (80 for
 * 8.0). False after a line that says what there is instead, and which program needs no GPU. */
bool find_device(int oldest, int *ordinal, struct cudaDeviceProp *properties);

#endif
