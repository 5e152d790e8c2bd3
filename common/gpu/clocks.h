/*
 * clocks.h: the SM's clock, read on the device.
 */
#ifndef GPU_CLOCKS_H
#define GPU_CLOCKS_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CLOCKS_CTAS_PER_SM = 2 }; /* so that the grid fills the GPU and every SM gets one */

/* An SM's two clocks at one moment. */
struct clock_reading {
    unsigned long long cycles;      /* clock64: SM clocks */
    unsigned long long nanoseconds; /* globaltimer */
    unsigned sm;
};

/* Enqueues a kernel that reads both clocks once in each of its sms * CLOCKS_CTAS_PER_SM CTAs.
 * `readings`: global memory. */
cudaError_t clocks_read(struct clock_reading *readings, int sms, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
