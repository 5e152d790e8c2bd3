/*
 * floating.h: results of floating point, and NaNs.
 *
 * A NaN that PTX computes is always the same one, and the host's is not. An accumulator that a
 * wgmma owns holds one with a mark (sim/units/registers/accumulators.h), and so does every copy of
 * it; arithmetic that meets a NaN looks for the mark.
 */
#ifndef SEMANTICS_FLOATING_H
#define SEMANTICS_FLOATING_H

#include <math.h>

#include "machine/thread.h"

/* Some operand from the second on is a NaN: reports it if it is such an accumulator. */
void float_saw_nan(const struct operation *op, struct frame *frame);

static inline void nan_seen_f32(const struct operation *op, struct frame *frame) {
    float_saw_nan(op, frame);
}
static inline void nan_seen_f64(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
}

static inline void put_f32(const struct operation *op, struct frame *frame, float value) {
    VALUE(reg_f32, 0) = value;
    if (value == value) return;
    float_saw_nan(op, frame);
    VALUE(reg_u32, 0) = 0x7fffffff;
}

static inline void put_f64(const struct operation *op, struct frame *frame, double value) {
    VALUE(reg_f64, 0) = value;
    if (value != value) VALUE(reg_u64, 0) = UINT64_C(0x7fffffffffffffff);
}

/* .ftz: subnormal operands and results are zeros of their sign. */
static inline float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
/* .sat: a NaN and -0 become +0. */
static inline double saturated(double x) { return x > 0 ? x < 1 ? x : 1 : 0; }

/* Of fp16 and bf16: the sum, and the smaller or larger, as add, min and max have them. */
uint16_t half_sum(uint16_t a, uint16_t b, bool bf16);
uint16_t half_extreme(uint16_t a, uint16_t b, bool bf16, bool larger);

#endif
