/*
 * griddepcontrol.h: a kernel that begins before the kernel ahead of it on the stream is complete.
 *
 * A launch that is early (enum gemm_early) depends on the kernel ahead of it through the two
 * instructions below alone. In a launch that is not early the first has no effect, and neither has
 * the second unless the next launch on the stream is early. CUDA C++ Programming Guide:
 * "Programmatic Dependent Launch and Synchronization". PTX ISA: griddepcontrol.
 */
#ifndef HOPPER_GRIDDEPCONTROL_H
#define HOPPER_GRIDDEPCONTROL_H

#include "hopper/thread.h"

#ifdef __CUDACC__

/* Waits until the kernel ahead of this one is complete, and all that it has written is visible
 * to this grid. The same holds for the kernels before that one if each of them that was launched
 * early has itself waited; a kernel that never waits may end before its predecessor does. What
 * follows in this thread comes after it; another thread's accesses do if a barrier or an
 * mbarrier orders them after this thread's wait. Without it an early launch may read what is not
 * yet written, and overwrite what is still read. Any thread. PTX ISA: griddepcontrol.wait. */
DEVICE void griddepcontrol_wait(void) { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/* Allows the next launch on the stream to begin, if it is early: its CTAs start where there is room
 * when every CTA of this grid has called this or has ended. It orders nothing: the next kernel's
 * wait is for the end of this grid. A CTA's second call has no effect. Any thread. PTX ISA:
 * griddepcontrol.launch_dependents. */
DEVICE void griddepcontrol_launch_dependents(void) {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

#else
#include "sim/hopper/griddepcontrol.h"
#endif

#endif
