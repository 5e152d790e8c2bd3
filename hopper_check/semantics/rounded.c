/*
 * rounded.c: PTX ISA, "Floating Point Instructions": arithmetic of fp32 and fp64 with a rounding,
 * .ftz and .sat in any combination. The most usual ones have functions of their own (float.c).
 */
#include <fenv.h>

#include "semantics/define.h"
#include "semantics/floating.h"

enum { OPTION_ROUNDING, OPTION_FLUSH, OPTION_SATURATE };
static const char *const roundings[] = {"rn", "rz", "rm", "rp", NULL};
static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static float operand_f32(const struct operation *op, const struct frame *frame, int i) {
    return op->option[OPTION_FLUSH] ? flushed(VALUE(reg_f32, i)) : VALUE(reg_f32, i);
}
static double operand_f64(const struct operation *op, const struct frame *frame, int i) {
    return VALUE(reg_f64, i);
}

static void finish_f32(const struct operation *op, struct frame *frame, float x) {
    if (x != x) float_saw_nan(op, frame);
    if (op->option[OPTION_SATURATE]) x = (float)saturated(x);
    put_f32(op, frame, op->option[OPTION_FLUSH] ? flushed(x) : x);
}
static void finish_f64(const struct operation *op, struct frame *frame, double x) {
    put_f64(op, frame, x);
}

/* The operands are read, and the result is kept, between the two changes of the mode. */
#define ROUNDED(name, type, value)                                                                 \
    static void name##_##type(const struct operation *op, struct frame *frame) {                   \
        volatile reg_##type result;                                                                \
        const volatile reg_##type a = operand_##type(op, frame, 1),                                \
                                  b = operand_##type(op, frame, 2),                                \
                                  c = operand_##type(op, frame, 3);                                \
        (void)b, (void)c;                                                                          \
        fesetround(modes[op->option[OPTION_ROUNDING]]);                                            \
        result = value;                                                                            \
        fesetround(FE_TONEAREST);                                                                  \
        finish_##type(op, frame, result);                                                          \
    }
#define BOTH(name, value_f32, value_f64) ROUNDED(name, f32, value_f32) ROUNDED(name, f64, value_f64)
BOTH(add, a + b, a + b)
BOTH(sub, a - b, a - b)
BOTH(mul, a *b, a *b)
BOTH(fma, fmaf(a, b, c), fma(a, b, c))
BOTH(div, a / b, a / b)
BOTH(rcp, 1 / a, 1 / a)
BOTH(sqrt, sqrtf(a), sqrt(a))

static void decode(struct decoder *d, operation_run *f32, operation_run *f64, int operands) {
    const int rounding = take_one_of(d, roundings);
    d->op->option[OPTION_ROUNDING] = rounding < 0 ? 0 : rounding;
    d->op->option[OPTION_FLUSH] = take(d, "ftz");
    d->op->option[OPTION_SATURATE] = take(d, "sat");
    const bool wide =
        !d->op->option[OPTION_FLUSH] && !d->op->option[OPTION_SATURATE] && take(d, "f64");
    if (!wide) require(d, "f32");
    if (d->why) return;
    d->op->flow = FLOW_PLAIN;
    d->op->run = wide ? f64 : f32;
    take_operands(d, &(wide ? "ggggg" : "fffff")[4 - operands]);
}
static void decode_add(struct decoder *d) { decode(d, add_f32, add_f64, 2); }
static void decode_sub(struct decoder *d) { decode(d, sub_f32, sub_f64, 2); }
static void decode_mul(struct decoder *d) { decode(d, mul_f32, mul_f64, 2); }
static void decode_fma(struct decoder *d) { decode(d, fma_f32, fma_f64, 3); }
static void decode_div(struct decoder *d) { decode(d, div_f32, div_f64, 2); }
static void decode_rcp(struct decoder *d) { decode(d, rcp_f32, rcp_f64, 1); }
static void decode_sqrt(struct decoder *d) { decode(d, sqrt_f32, sqrt_f64, 1); }

#define SECTION "Floating Point Instructions: "
static const struct family families[] = {
    {"add", decode_add, MODELLED, SECTION "add"}, {"sub", decode_sub, MODELLED, SECTION "sub"},
    {"mul", decode_mul, MODELLED, SECTION "mul"}, {"fma", decode_fma, MODELLED, SECTION "fma"},
    {"mad", decode_fma, MODELLED, SECTION "mad"}, {"div", decode_div, MODELLED, SECTION "div"},
    {"rcp", decode_rcp, MODELLED, SECTION "rcp"}, {"sqrt", decode_sqrt, MODELLED, SECTION "sqrt"},
};
const struct family_group rounded_families = FAMILY_GROUP(families);
