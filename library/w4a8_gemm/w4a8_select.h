/*
 * w4a8_select.h: which configuration of the library's kernels computes a problem.
 */
#ifndef W4A8_SELECT_H
#define W4A8_SELECT_H

#include "gemm.h"

/* The configuration with the fewest predicted cycles on the current device. NULL: none fits it, or
 * there is none; the reason is on stderr. Of the problem only the extents count. Host thread. */
const struct gemm_kernel *w4a8_selected_kernel(const struct gemm_problem *problem);

#endif
