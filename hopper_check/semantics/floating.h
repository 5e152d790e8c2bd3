/*
 * floating.h: NaNs. An accumulator that a wgmma owns holds one with a mark (sim/units/
 * accumulators.h), and so does every copy of it; arithmetic that meets a NaN looks for the mark.
 */
#ifndef SEMANTICS_FLOATING_H
#define SEMANTICS_FLOATING_H

#include "machine/thread.h"

/* Some operand from the second on is a NaN: reports it if it is such an accumulator. */
void float_saw_nan(const struct operation *op, struct frame *frame);

static inline void nan_seen_f32(const struct operation *op, struct frame *frame) {
    float_saw_nan(op, frame);
}
static inline void nan_seen_f64(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
}

/* Of fp16 and bf16: the sum, and the smaller or larger, as add, min and max have them. */
uint16_t half_sum(uint16_t a, uint16_t b, bool bf16);
uint16_t half_extreme(uint16_t a, uint16_t b, bool bf16, bool larger);

#endif
