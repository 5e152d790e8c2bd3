/*
 * registers.h: moving registers between warpgroups.
 *
 * A CTA starts with the same number of registers in every thread. A warpgroup that needs fewer
 * returns some to the CTA's pool. A warpgroup that needs more takes them from the pool and waits
 * until they are available. All four warps of a warpgroup must execute the same instruction, with
 * a constant from 24 to 256 in steps of 8, and must synchronize before the next one. PTX ISA:
 * setmaxnreg.
 */
#ifndef HOPPER_REGISTERS_H
#define HOPPER_REGISTERS_H

#include "hopper/thread.h"

#ifdef __CUDACC__

/* Returns all but `count` registers per thread to the pool. The whole warpgroup. */
#define setmaxnreg_dec(count) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count))
/* Takes registers until each thread has `count`; blocks while the pool has too few. The whole
 * warpgroup. */
#define setmaxnreg_inc(count) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count))

#else
#include "sim/hopper/registers.h"
#endif

#endif
