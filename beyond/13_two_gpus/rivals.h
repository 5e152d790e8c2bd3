/*
 * rivals.h: what the kernels of this chapter are timed beside, in one rotation: cuBLAS with NCCL.
 */
#ifndef BEYOND_13_TWO_GPUS_RIVALS_H
#define BEYOND_13_TWO_GPUS_RIVALS_H

#include "backend.h"
#include "split.h"

/* Those for the layouts that a problem has; how many. */
int split_rivals(const struct gemm_problem *problems, const bool has_layout[SPLIT_LAYOUTS],
                 struct contender *out, int room);

#endif
