/*
 * gpu_state.h: the GPU that backend_open() has opened.
 */
#ifndef GPU_GPU_STATE_H
#define GPU_GPU_STATE_H

#include <cuda_runtime.h>

#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_state {
    int ordinal;
    int sm_count;
    bool is_hopper;      /* of compute capability 9.0: the ceilings and rivals for sm_90a run */
    enum gemm_type type; /* of the operands, for the libraries and the ceilings */
    cudaStream_t stream; /* everything runs on this one */
};
extern struct gpu_state gpu_state;

/* Indices into backend_settings. */
enum { SETTING_LAUNCHES, SETTINGS };

/* Releases what timing has allocated (timed_runs.c). */
void timer_close(void);

#ifdef __cplusplus
}
#endif
#endif
