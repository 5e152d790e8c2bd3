/*
 * launch_bounds.h: the launch bounds of the kernels in this program, or in this shared object.
 *
 * Kernels lie in one section for each number of CTAs that their launch bounds ask for
 * (sim/hopper/thread.h), and the linker tells where it begins and ends: each object its own. In
 * WebAssembly it does so for a section of records.
 */
#ifndef SIM_CORE_LAUNCH_BOUNDS_H
#define SIM_CORE_LAUNCH_BOUNDS_H

#include <stdint.h>

#ifdef __ELF__
#define FOR_EACH_CTA_COUNT(f) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8)
#define SECTION_BOUNDS(ctas)                                                                       \
    extern const char __start_sim_kernels_##ctas[] __attribute__((weak, visibility("hidden")));    \
    extern const char __stop_sim_kernels_##ctas[] __attribute__((weak, visibility("hidden")));
#define IN_SECTION(ctas)                                                                           \
    if ((uintptr_t)__start_sim_kernels_##ctas <= address &&                                        \
        address < (uintptr_t)__stop_sim_kernels_##ctas)                                            \
        return ctas;
FOR_EACH_CTA_COUNT(SECTION_BOUNDS)
#else
#define FOR_EACH_CTA_COUNT(f)
#endif

#ifdef __wasm__
#include "sim/hopper/thread.h"
extern const struct sim_launch_bounds __start_sim_launch_bounds[] __attribute__((weak));
extern const struct sim_launch_bounds __stop_sim_launch_bounds[] __attribute__((weak));
#endif

/* The second number of KERNEL(threads, ctas); 0: the kernel is not one of this object's. */
static inline int launch_bounds_here(const void *kernel) {
    const uintptr_t address = (uintptr_t)kernel;
    (void)address;
    FOR_EACH_CTA_COUNT(IN_SECTION)
#ifdef __wasm__
    for (const struct sim_launch_bounds *b = __start_sim_launch_bounds;
         b < __stop_sim_launch_bounds; ++b)
        if (b->kernel->function == kernel) return b->ctas;
#endif
    return 0;
}

#endif
