/*
 * cuda_call.h: how a failed call of the CUDA runtime is reported, and functions of the driver.
 * Needs nothing but the runtime, so that the services a chapter calls (launch.c,
 * encode_tensor_map.c) can be linked without the harness's backend.
 */
#ifndef GPU_CUDA_CALL_H
#define GPU_CUDA_CALL_H

#include <cuda_runtime.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if `status` is success. Otherwise says on stderr what was attempted ("copying A to the
 * GPU") and the runtime's reason, clears the runtime's error, and returns false. Host thread. */
bool cuda_ok(cudaError_t status, const char *attempt);

/* A function of the driver, as of the CUDA version `version` (12000 is 12.0), looked up at run time
 * so that a machine without a driver can still start the program. NULL after a message. Host
 * thread. */
void *cuda_driver_function(const char *name, unsigned version);

#ifdef __cplusplus
}
#endif
#endif
