/*
 * device.h: what the files of the CUDA backend share: the open device and how a failed call is
 * reported.
 */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include <cuda_runtime.h>

#include "gemm.h"

struct cuda_device {
    int ordinal;
    int sm_count;
    enum gemm_type type; /* of the elements, for the libraries and the ceilings */
    cudaStream_t stream; /* everything runs on this one */
};
extern struct cuda_device cuda_device;

/* True if `status` is success. Otherwise says on stderr what was attempted ("copying A to the
 * device") and the runtime's reason, clears the runtime's error, and returns false. */
bool cuda_ok(cudaError_t status, const char *attempt);

/* A function of the driver, as of the CUDA version `version` (12000 is 12.0), looked up at run time
 * so that a machine without a driver can still start the program. NULL after a message. */
void *cuda_driver_function(const char *name, unsigned version);

/* Releases what timing has allocated (run.c). */
void timer_close(void);

#endif
