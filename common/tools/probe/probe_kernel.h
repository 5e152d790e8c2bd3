/*
 * probe_kernel.h: what the probes' kernels have in common.
 */
#ifndef TOOLS_PROBE_PROBE_KERNEL_H
#define TOOLS_PROBE_PROBE_KERNEL_H

#include "hopper/thread.h"
#include "tools/probe/probe.h"

DEVICE uint64_t clock_now(void) {
    uint64_t cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    return cycles;
}

DEVICE void result(const struct gemm_args *args, int index, uint64_t value) {
    ((uint64_t *)args->workspace)[blockIdx.x * RESULTS + index] = value;
}

/* Keeps ptxas from removing what only leads to this value: it is stored if `n` is negative, which
 * it never is. */
DEVICE void use(const struct gemm_args *args, uint32_t value) {
    if (args->n < 0) ((uint32_t *)args->workspace)[threadIdx.x] = value;
}

#define PROBE(function, most_threads, smem)                                                        \
    const struct probe_kernel probe_##function = {(const void *)function, #function, most_threads, \
                                                  smem};

#endif
