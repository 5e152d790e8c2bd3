/* empty_kernels.cu: the kernels. */
#include "tools/record/empty_kernels.h"

#include "gemm.h"
#include "hopper/thread.h"

static __global__ void with_int(int number) { (void)number; }

KERNEL(32, 1) with_args(KERNEL_ARGS args) { (void)args; }

const void *empty_kernel_int(void) { return (const void *)with_int; }
const void *empty_kernel_args(void) { return (const void *)with_args; }
