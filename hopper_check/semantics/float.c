/*
 * float.c: PTX ISA, "Floating Point Instructions" of fp32 and fp64.
 *
 * C's operators are IEEE 754's, as PTX's are with .rn. Other roundings and .sat: rounded.c.
 */
#include <math.h>

#include "semantics/define.h"
#include "semantics/floating.h"

__attribute__((noinline)) void float_saw_nan(const struct operation *op, struct frame *frame) {
    for (int i = 1; i <= 3 && i < op->source->operands; ++i)
        thread_check_register(op, VALUE(reg_u32, i));
}

#define A(type) VALUE(reg_##type, 1)
#define B(type) VALUE(reg_##type, 2)
#define C(type) VALUE(reg_##type, 3)
#define F32(name, value)                                                                           \
    static void name(const struct operation *op, struct frame *frame) { put_f32(op, frame, value); }
#define F64(name, value)                                                                           \
    static void name(const struct operation *op, struct frame *frame) { put_f64(op, frame, value); }
#define FTZ(name, value) F32(name, flushed(value))

F32(add_f32, A(f32) + B(f32))
F32(sub_f32, A(f32) - B(f32))
F32(mul_f32, A(f32) * B(f32))
F32(div_f32, A(f32) / B(f32))
F32(fma_f32, fmaf(A(f32), B(f32), C(f32)))
F32(sqrt_f32, sqrtf(A(f32)))
F32(rcp_f32, 1.0f / A(f32))
FTZ(add_ftz, flushed(A(f32)) + flushed(B(f32)))
FTZ(sub_ftz, flushed(A(f32)) - flushed(B(f32)))
FTZ(mul_ftz, flushed(A(f32)) * flushed(B(f32)))
FTZ(fma_ftz, fmaf(flushed(A(f32)), flushed(B(f32)), flushed(C(f32))))

FTZ(rcp_ftz, 1.0f / flushed(A(f32)))
FTZ(div_ftz, flushed(A(f32)) / flushed(B(f32)))
FTZ(sqrt_ftz, sqrtf(flushed(A(f32))))
FTZ(abs_ftz, fabsf(flushed(A(f32))))
FTZ(neg_ftz, -flushed(A(f32)))

F64(add_f64, A(f64) + B(f64))
F64(sub_f64, A(f64) - B(f64))
F64(mul_f64, A(f64) * B(f64))
F64(div_f64, A(f64) / B(f64))
F64(fma_f64, fma(A(f64), B(f64), C(f64)))
F64(sqrt_f64, sqrt(A(f64)))
F64(rcp_f64, 1.0 / A(f64))

/* The other operand if one is a NaN; -0 is less than +0. */
#define EXTREME(name, first)                                                                       \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const reg_f64 a = A(f64), b = B(f64);                                                      \
        put_f64(op, frame, isnan(a) ? b : isnan(b) ? a : (first) ? a : b);                         \
    }
EXTREME(min_f64, a < b || (a == b && signbit(a)))
EXTREME(max_f64, a > b || (a == b && !signbit(a)))
/* .NaN: a NaN if one of the operands is. .xorsign.abs: of their magnitudes, with the product of
 * their signs. */
static void extreme_of(const struct operation *op, struct frame *frame, float a, float b,
                       bool larger, bool nan, bool xorsign) {
    const bool negative = (signbit(a) != 0) != (signbit(b) != 0);
    if (isunordered(a, b)) nan_seen_f32(op, frame);
    if (xorsign) {
        a = fabsf(a);
        b = fabsf(b);
    }
    const bool first = a == b ? (signbit(a) != 0) != larger : (a < b) != larger;
    const float x = isnan(a) ? b : isnan(b) || first ? a : b;
    put_f32(op, frame, nan && isunordered(a, b) ? (float)NAN : xorsign && negative ? -x : x);
}
#define EXTREME_OF(name, larger, flush, nan, xorsign)                                              \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const float a = A(f32), b = B(f32);                                                        \
        extreme_of(op, frame, flush ? flushed(a) : a, flush ? flushed(b) : b, larger, nan,         \
                   xorsign);                                                                       \
    }
#define BOTH_EXTREMES(name, flush, nan, xorsign)                                                   \
    EXTREME_OF(min_##name, false, flush, nan, xorsign)                                             \
    EXTREME_OF(max_##name, true, flush, nan, xorsign)
BOTH_EXTREMES(f32, false, false, false)
BOTH_EXTREMES(nan, false, true, false)
BOTH_EXTREMES(ftz, true, false, false)
BOTH_EXTREMES(ftz_nan, true, true, false)
BOTH_EXTREMES(xor, false, false, true)
BOTH_EXTREMES(nan_xor, false, true, true)
BOTH_EXTREMES(ftz_xor, true, false, true)
BOTH_EXTREMES(ftz_nan_xor, true, true, true)

F32(abs_f32, fabsf(A(f32)))
F32(neg_f32, -A(f32))
F64(abs_f64, fabs(A(f64)))
F64(neg_f64, -A(f64))
F32(copysign_f32, copysignf(B(f32), A(f32)))
F64(copysign_f64, copysign(B(f64), A(f64)))

#define EXTREME_ROWS(words, f)                                                                     \
    {"min" words ".f32", min_##f, "fff"}, { "max" words ".f32", max_##f, "fff" }
static const struct scalar floats[] = {
    {"add.f32", add_f32, "fff"},
    {"add.rn.f32", add_f32, "fff"},
    {"add.ftz.f32", add_ftz, "fff"},
    {"add.rn.ftz.f32", add_ftz, "fff"},
    {"sub.f32", sub_f32, "fff"},
    {"sub.rn.f32", sub_f32, "fff"},
    {"sub.ftz.f32", sub_ftz, "fff"},
    {"sub.rn.ftz.f32", sub_ftz, "fff"},
    {"mul.f32", mul_f32, "fff"},
    {"mul.rn.f32", mul_f32, "fff"},
    {"mul.ftz.f32", mul_ftz, "fff"},
    {"mul.rn.ftz.f32", mul_ftz, "fff"},
    {"fma.rn.f32", fma_f32, "ffff"},
    {"fma.rn.ftz.f32", fma_ftz, "ffff"},
    {"mad.rn.f32", fma_f32, "ffff"},
    {"div.rn.f32", div_f32, "fff"},
    {"sqrt.rn.f32", sqrt_f32, "ff"},
    {"rcp.rn.f32", rcp_f32, "ff"},
    {"min.f32", min_f32, "fff"},
    {"max.f32", max_f32, "fff"},
    EXTREME_ROWS(".NaN", nan),
    EXTREME_ROWS(".ftz.NaN", ftz_nan),
    EXTREME_ROWS(".xorsign.abs", xor),
    EXTREME_ROWS(".NaN.xorsign.abs", nan_xor),
    EXTREME_ROWS(".ftz.xorsign.abs", ftz_xor),
    EXTREME_ROWS(".ftz.NaN.xorsign.abs", ftz_nan_xor),
    {"abs.f32", abs_f32, "ff"},
    {"neg.f32", neg_f32, "ff"},
    {"copysign.f32", copysign_f32, "fff"},
    {"div.rn.ftz.f32", div_ftz, "fff"},
    {"sqrt.rn.ftz.f32", sqrt_ftz, "ff"},
    {"rcp.rn.ftz.f32", rcp_ftz, "ff"},
    {"min.ftz.f32", min_ftz, "fff"},
    {"max.ftz.f32", max_ftz, "fff"},
    {"abs.ftz.f32", abs_ftz, "ff"},
    {"neg.ftz.f32", neg_ftz, "ff"},
};
const struct scalar_group float_group =
    SCALAR_GROUP("Floating Point Instructions", MODELLED, floats);

static const struct scalar doubles[] = {
    {"add.f64", add_f64, "ggg"},     {"add.rn.f64", add_f64, "ggg"},
    {"sub.f64", sub_f64, "ggg"},     {"sub.rn.f64", sub_f64, "ggg"},
    {"mul.f64", mul_f64, "ggg"},     {"mul.rn.f64", mul_f64, "ggg"},
    {"fma.rn.f64", fma_f64, "gggg"}, {"mad.rn.f64", fma_f64, "gggg"},
    {"div.rn.f64", div_f64, "ggg"},  {"sqrt.rn.f64", sqrt_f64, "gg"},
    {"rcp.rn.f64", rcp_f64, "gg"},   {"min.f64", min_f64, "ggg"},
    {"max.f64", max_f64, "ggg"},     {"abs.f64", abs_f64, "gg"},
    {"neg.f64", neg_f64, "gg"},      {"copysign.f64", copysign_f64, "ggg"},
};
const struct scalar_group double_group =
    SCALAR_GROUP("Floating Point Instructions", MODELLED, doubles);

/* ---- .approx: the GPU's tables are not specified; these are nearer than their bounds ---- */

F32(ex2_f32, (float)exp2((double)A(f32)))
F32(lg2_f32, (float)log2((double)A(f32)))
F32(rsqrt_f32, (float)(1.0 / sqrt((double)A(f32))))
F32(sin_f32, (float)sin((double)A(f32)))
F32(cos_f32, (float)cos((double)A(f32)))
F32(tanh_f32, (float)tanh((double)A(f32)))
FTZ(ex2_ftz, (float)exp2((double)flushed(A(f32))))
FTZ(lg2_ftz, (float)log2((double)flushed(A(f32))))
FTZ(rsqrt_ftz, (float)(1.0 / sqrt((double)flushed(A(f32)))))
/* PTX ISA, "div": beyond 2^126 in the divisor, .approx gives 0, or of an infinity a NaN. */
static float quotient(float a, float b) {
    if (fabsf(b) > 0x1p126f && !isinf(b)) return isinf(a) ? (float)NAN : a * copysignf(0, b);
    return a / b;
}
F32(div_approx, quotient(A(f32), B(f32)))
FTZ(div_approx_ftz, quotient(flushed(A(f32)), flushed(B(f32))))

FTZ(sin_ftz, (float)sin((double)flushed(A(f32))))
FTZ(cos_ftz, (float)cos((double)flushed(A(f32))))
F64(rsqrt_f64, 1.0 / sqrt(A(f64)))

static const struct scalar approximations[] = {
    {"ex2.approx.f32", ex2_f32, "ff"},
    {"ex2.approx.ftz.f32", ex2_ftz, "ff"},
    {"lg2.approx.f32", lg2_f32, "ff"},
    {"lg2.approx.ftz.f32", lg2_ftz, "ff"},
    {"rcp.approx.f32", rcp_f32, "ff"},
    {"rcp.approx.ftz.f32", rcp_ftz, "ff"},
    {"rsqrt.approx.f32", rsqrt_f32, "ff"},
    {"rsqrt.approx.ftz.f32", rsqrt_ftz, "ff"},
    {"sqrt.approx.f32", sqrt_f32, "ff"},
    {"sqrt.approx.ftz.f32", sqrt_ftz, "ff"},
    {"div.approx.f32", div_approx, "fff"},
    {"div.full.f32", div_f32, "fff"},
    {"div.approx.ftz.f32", div_approx_ftz, "fff"},
    {"div.full.ftz.f32", div_ftz, "fff"},
    {"sin.approx.f32", sin_f32, "ff"},
    {"cos.approx.f32", cos_f32, "ff"},
    {"tanh.approx.f32", tanh_f32, "ff"},
    {"sin.approx.ftz.f32", sin_ftz, "ff"},
    {"cos.approx.ftz.f32", cos_ftz, "ff"},
    {"rsqrt.approx.f64", rsqrt_f64, "gg"},
    {"rcp.approx.ftz.f64", rcp_f64, "gg"},
    {"rsqrt.approx.ftz.f64", rsqrt_f64, "gg"},
};
const struct scalar_group approximate_group =
    SCALAR_GROUP("Floating Point Instructions", APPROXIMATE, approximations);
