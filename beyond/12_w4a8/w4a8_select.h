/*
 * w4a8_select.h: which configuration of the chapter's kernels computes a problem.
 */
#ifndef W4A8_SELECT_H
#define W4A8_SELECT_H

#include "gemm.h"

/* The configuration with the fewest predicted cycles on the current device. NULL: none fits it, or
 * there is none; the reason is on stderr. Of the problem only the extents count. Host thread. */
const struct gemm_kernel *w4a8_selected_kernel(const struct gemm_problem *problem);

/* The form of a kernel for launches that begin before the kernel ahead of them ends, and load
 * weights meanwhile; the kernel itself if it has none. Host thread. */
const struct gemm_kernel *w4a8_ahead_form(const struct gemm_kernel *kernel);

#endif
