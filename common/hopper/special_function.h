/*
 * special_function.h: the special-function unit, which approximates what the FMA units cannot
 * compute in an instruction.
 *
 * An SM has 16 lanes of it, four in each sub-partition, so a warp's instruction occupies the unit
 * for 8 cycles, while an FMA occupies its own for one. PTX ISA: "Floating Point Instructions" (ex2,
 * rcp); CUDA C++ Programming Guide, "Arithmetic Instructions", for the rate.
 */
#ifndef HOPPER_SPECIAL_FUNCTION_H
#define HOPPER_SPECIAL_FUNCTION_H

#include <math.h>

#include "hopper/thread.h"

#ifdef __CUDACC__

/* 2^x, with a relative error of at most 2^-22.5; infinity from 128 on. Any thread. PTX ISA:
 * ex2.approx.ftz.f32. */
DEVICE float exp2_approx(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

/* 1 / x, with an error of at most one unit in the last place; 0 of infinity. Any thread. PTX ISA:
 * rcp.approx.ftz.f32. */
DEVICE float reciprocal_approx(float x) {
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
    return reciprocal;
}

#else
#include "sim/hopper/special_function.h"
#endif

#endif
