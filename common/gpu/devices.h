/*
 * devices.h: the GPUs that kernels use together. Each of them can reach the others' memory.
 */
#ifndef GPU_DEVICES_H
#define GPU_DEVICES_H

#include <cuda_runtime.h>
#include <stdbool.h>

#include "services/devices.h"

/* Devices of compute capability 9.0 that reach each other's memory, `first` in front. Returns how
 * many, at most GEMM_DEVICES. */
int devices_find(int first, int ordinals[GEMM_DEVICES]);

/* Lets each of these devices use the memory of the others, and makes a stream on each but the
 * first. False after a message. */
bool devices_open(const int *ordinals, int count);
void devices_close(void);
/* How many are open; 0: devices_open() was not called. */
int devices_count(void);

/* Makes a device the caller's current one, 0 to devices_count() - 1. False after a message. */
bool devices_select(int device);
/* The same for the device that the memory is on, if several are open. */
bool devices_select_home(const void *memory);
/* Waits for everything on the current device if it is not device 0, whose stream orders what is
 * enqueued there; then selects device 0. */
bool devices_back(void);

/* The streams on which work for each device is enqueued, all of which go on from where `stream` is;
 * stream[0] is `stream` itself. False after a message. */
bool devices_fork(cudaStream_t stream, int devices, cudaStream_t streams[GEMM_DEVICES]);
/* `stream` goes on after the others. Selects device 0. */
bool devices_join(cudaStream_t stream, int devices);
/* Between the two, devices_fork() and devices_join() enqueue nothing: the streams have forked once,
 * and join once. False after a message. */
bool devices_begin(cudaStream_t stream);
bool devices_end(cudaStream_t stream);
/* True outside of these two; false after a message. */
bool devices_may_copy(void);

#endif
