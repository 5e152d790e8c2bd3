/*
 * checksum.h: a checksum of device memory, taken on the device.
 */
#ifndef GPU_CHECKSUM_H
#define GPU_CHECKSUM_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues the adding of the checksum of `elements` 16-bit elements to *sum, in global memory. The
 * sum does not depend on the order of threads, but on every element's place. */
cudaError_t checksum_add(const void *memory, size_t elements, unsigned long long *sum,
                         cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
