/*
 * empty_kernels.h: two kernels that do nothing, to find out what a launch alone costs the host.
 */
#ifndef TOOLS_RECORD_EMPTY_KERNELS_H
#define TOOLS_RECORD_EMPTY_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

/* The __global__ functions: with an int as parameter, and with a struct gemm_args. */
const void *empty_kernel_int(void);
const void *empty_kernel_args(void);

#ifdef __cplusplus
}
#endif
#endif
