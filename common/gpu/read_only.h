/*
 * read_only.h: the ceiling of a product that memory limits: what reading B alone takes.
 */
#ifndef GPU_READ_ONLY_H
#define GPU_READ_ONLY_H

#include <stdbool.h>

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues the reading of `bytes` bytes of global memory, a multiple of 16, by all of `sms` SMs.
 * `sink`: 4 bytes that may be overwritten. `early`: begins while the kernels ahead on the stream
 * still run, of which none may write the memory. */
cudaError_t read_only(const void *memory, size_t bytes, void *sink, int sms, bool early,
                      cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
