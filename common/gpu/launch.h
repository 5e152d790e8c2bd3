/*
 * launch.h: the two halves of gemm_launch_kernel(), for launches on several devices. Both return
 * false after a message.
 */
#ifndef GPU_LAUNCH_H
#define GPU_LAUNCH_H

#include <stdbool.h>

#include "gemm.h"

/* Checks the launch, and sets the kernel's attributes on the current device. */
bool launch_prepare(const struct gemm_launch *launch);
/* Enqueues it there; `parameter` is the kernel's only one. */
bool launch_enqueue(const struct gemm_launch *launch, const void *parameter);

#endif
