/*
 * rivals.h: what the kernels of this chapter are timed beside, in one rotation: 08's product alone,
 * the same followed by a kernel that does the rest, and cuBLASLt with and without its epilogues.
 */
#ifndef FUSED_EPILOGUE_RIVALS_H
#define FUSED_EPILOGUE_RIVALS_H

#include "backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The baselines of a kind of problem, as problem_kind.baselines writes them. */
typedef int make_rivals(const struct gemm_problem *problems, int count, uint32_t wanted,
                        struct contender *out, int room);
make_rivals bias_gelu_rivals, fused_rivals, swiglu_rivals, quantize_rivals;

#ifdef __cplusplus
}
#endif
#endif
