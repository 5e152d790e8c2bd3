/*
 * cta_launch.cu: the time between two CTAs on one SM.
 */
#include "tools/probe/probe_kernel.h"

/* 0: the SM; 1 and 2: its clock when the CTA begins and ends, `k` cycles later. Launched with so
 * much shared memory that an SM takes one CTA at a time. */
KERNEL(384, 1) cta(KERNEL_ARGS args) {
    const uint64_t begin = clock_now();
    if (threadIdx.x) return;
    uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    while (clock_now() - begin < (uint64_t)args.k) {
    }
    result(&args, 0, sm);
    result(&args, 1, begin);
    result(&args, 2, clock_now());
}

PROBE(cta, 384, 200 << 10)
