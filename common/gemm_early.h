/*
 * gemm_early.h: when a launch may begin, and what its kernel has to do for that
 * (hopper/griddepcontrol.h). Chapters 01 to 09 launch in order.
 */
#ifndef GEMM_EARLY_H
#define GEMM_EARLY_H

enum gemm_early {
    GEMM_IN_ORDER = 0, /* when everything before it on the stream is complete */
    /* While kernels before it on the stream still run. The kernel accesses no global memory before
     * griddepcontrol_wait(). */
    GEMM_EARLY,
    /* The same, but it may read B before the wait: no kernel that may still be running writes B. */
    GEMM_EARLY_B
};

#endif
