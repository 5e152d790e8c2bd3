/*
 * convert.c: PTX ISA, "Data Movement and Conversion Instructions": cvt.
 *
 * A conversion reads a value, exactly, as a whole number or as fp64, and writes it with the
 * rounding that the opcode says. Both ends are chosen once, when the instruction is decoded.
 */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "program/instructions.h"
#include "semantics/convert.h"
#include "semantics/floating.h"
#include "sim/models/element_values.h"

enum { OPTION_FROM, OPTION_TO, OPTION_ROUNDING, OPTION_SATURATE, OPTION_REGISTER, OPTION_FLUSH };
enum { RELU = 2 }; /* in place of .sat: nothing below 0 */

enum number { U8, S8, U16, S16, U32, S32, U64, S64, F16, BF16, F32, F64, NUMBERS };
static const char *const number_names[] = {"u8",  "s8",  "u16",  "s16", "u32", "s32", "u64",
                                           "s64", "f16", "bf16", "f32", "f64", NULL};
static const int number_bytes[NUMBERS] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
static bool is_signed(enum number n) { return n == S8 || n == S16 || n == S32 || n == S64; }
static bool is_float(enum number n) { return n >= F16; }

const char *const float_roundings[] = {"rn", "rz", "rm", "rp", NULL};
static const char *const whole_roundings[] = {"rni", "rzi", "rmi", "rpi", NULL};

/* ---- whole numbers ---- */

static int64_t read_whole(const struct operation *op, const struct frame *frame) {
    switch ((enum number)op->option[OPTION_FROM]) {
    case U8:
        return VALUE(reg_u8, 1);
    case S8:
        return VALUE(reg_s8, 1);
    case U16:
        return VALUE(reg_u16, 1);
    case S16:
        return VALUE(reg_s16, 1);
    case U32:
        return VALUE(reg_u32, 1);
    case S32:
        return VALUE(reg_s32, 1);
    default:
        return VALUE(reg_s64, 1);
    }
}

/* The register may be wider than the type: it gets the sign, or zeros. */
static void write_whole(const struct operation *op, struct frame *frame, uint64_t value) {
    const enum number to = (enum number)op->option[OPTION_TO];
    const int shift = 64 - 8 * number_bytes[to];
    value =
        is_signed(to) ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
    switch (op->option[OPTION_REGISTER]) {
    case 2:
        VALUE(reg_u16, 0) = (uint16_t)value;
        break;
    case 4:
        VALUE(reg_u32, 0) = (uint32_t)value;
        break;
    default:
        VALUE(reg_u64, 0) = value;
        break;
    }
}

static void whole_to_whole(const struct operation *op, struct frame *frame) {
    write_whole(op, frame, (uint64_t)read_whole(op, frame));
}

static int64_t least_of(enum number n) {
    return is_signed(n) ? -(INT64_C(1) << (8 * number_bytes[n] - 1)) : 0;
}
static uint64_t most_of(enum number n) {
    return ~UINT64_C(0) >> (64 - 8 * number_bytes[n] + is_signed(n));
}

static void saturate(const struct operation *op, struct frame *frame) {
    const enum number from = (enum number)op->option[OPTION_FROM],
                      to = (enum number)op->option[OPTION_TO];
    const int64_t value = read_whole(op, frame);
    const bool negative = from != U64 && value < 0;
    if (negative && value < least_of(to))
        write_whole(op, frame, (uint64_t)least_of(to));
    else if (!negative && (uint64_t)value > most_of(to))
        write_whole(op, frame, most_of(to));
    else
        write_whole(op, frame, (uint64_t)value);
}

/* ---- floating point ---- */

static double read_float(const struct operation *op, struct frame *frame) {
    switch ((enum number)op->option[OPTION_FROM]) {
    case F16:
        return element_value(VALUE(reg_u16, 1), false);
    case BF16:
        return element_value(VALUE(reg_u16, 1), true);
    case F32:
        if (isnan(VALUE(reg_f32, 1))) float_saw_nan(op, frame);
        return op->option[OPTION_FLUSH] ? flushed(VALUE(reg_f32, 1)) : VALUE(reg_f32, 1);
    default:
        return VALUE(reg_f64, 1);
    }
}

static double rounded(double x, enum rounding how) {
    switch (how) {
    case NEAREST:
        return nearbyint(x);
    case TO_ZERO:
        return trunc(x);
    case DOWN:
        return floor(x);
    default:
        return ceil(x);
    }
}

/* A NaN becomes 0, and what is out of range the nearest that is in it. */
static void float_to_whole(const struct operation *op, struct frame *frame) {
    const enum number to = (enum number)op->option[OPTION_TO];
    const double x = rounded(read_float(op, frame), (enum rounding)op->option[OPTION_ROUNDING]);
    const double least = (double)least_of(to),
                 beyond = ldexp(1, 8 * number_bytes[to] - is_signed(to));
    uint64_t value = 0;
    if (x >= beyond)
        value = most_of(to);
    else if (x <= least)
        value = (uint64_t)least_of(to);
    else if (!isnan(x))
        value = is_signed(to) ? (uint64_t)(int64_t)x : (uint64_t)x;
    write_whole(op, frame, value);
}

/* The fp32 next to x in this direction. */
static float narrowed(double x, enum rounding how) {
    const float nearest = (float)x;
    const bool above = (double)nearest > x, below = (double)nearest < x;
    if (how == NEAREST || isnan(x) || (!above && !below)) return nearest;
    const bool down = how == DOWN || (how == TO_ZERO && x > 0);
    if (down) return above ? nextafterf(nearest, -INFINITY) : nearest;
    return below ? nextafterf(nearest, INFINITY) : nearest;
}

/* The 16-bit number next to x in this direction. */
uint16_t element_rounded(double x, bool bf16, enum rounding how) {
    /* Rounded to odd, so that nothing is rounded twice. */
    float f = narrowed(x, TO_ZERO);
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if ((double)f != x && !isnan(x) && !(bits & 1)) bits |= 1;
    memcpy(&f, &bits, sizeof f);
    const uint16_t nearest = element_nearest(f, bf16);
    const double value = element_value(nearest, bf16);
    if (how == NEAREST || isnan(x) || value == x) return nearest;
    const bool smaller = how == TO_ZERO || (how == DOWN) == (x > 0); /* in magnitude */
    const bool is_larger = fabs(value) > fabs(x);
    return (uint16_t)(nearest + (smaller ? -(int)is_larger : (int)!is_larger));
}

static void write_float(const struct operation *op, struct frame *frame, double x) {
    static const uint32_t nan32 = 0x7fffffff;
    const enum rounding how = (enum rounding)op->option[OPTION_ROUNDING];
    if (op->option[OPTION_SATURATE] == RELU)
        x = x <= 0 ? 0 : x;
    else if (op->option[OPTION_SATURATE])
        x = saturated(x);
    switch ((enum number)op->option[OPTION_TO]) {
    case F16:
        VALUE(reg_u16, 0) = element_rounded(x, false, how);
        break;
    case BF16:
        VALUE(reg_u16, 0) = element_rounded(x, true, how);
        break;
    case F32:
        VALUE(reg_f32, 0) = narrowed(x, how);
        if (op->option[OPTION_FLUSH]) VALUE(reg_f32, 0) = flushed(VALUE(reg_f32, 0));
        if (isnan(x)) VALUE(reg_u32, 0) = nan32;
        break;
    default:
        VALUE(reg_f64, 0) = x;
        if (isnan(x)) VALUE(reg_u64, 0) = UINT64_C(0x7fffffffffffffff);
    }
}

static void float_to_float(const struct operation *op, struct frame *frame) {
    write_float(op, frame, read_float(op, frame));
}

/* cvt.rni.f32.f32 and its sisters: a whole number of the same type. */
static void float_to_whole_float(const struct operation *op, struct frame *frame) {
    write_float(op, frame,
                rounded(read_float(op, frame), (enum rounding)op->option[OPTION_ROUNDING]));
}

/* fp64 has not every 64-bit number: rounding one to fp32 or fp64 goes there directly, and on the
 * way to 16 bits it is rounded to odd, so that nothing is rounded twice. */
static void whole_to_float(const struct operation *op, struct frame *frame) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    const volatile int64_t value = read_whole(op, frame);
    const bool is_unsigned = op->option[OPTION_FROM] == U64;
    const enum number to = (enum number)op->option[OPTION_TO];
    volatile double x;
    fesetround(to == F32 || to == F64 ? modes[op->option[OPTION_ROUNDING]] : FE_TOWARDZERO);
    if (to == F32)
        x = is_unsigned ? (float)(uint64_t)value : (float)value;
    else
        x = is_unsigned ? (double)(uint64_t)value : (double)value;
    fesetround(FE_TONEAREST);
    const bool exact =
        fabs(x) < 0x1p53 || (is_unsigned ? x < 0x1p64 && (uint64_t)x == (uint64_t)value
                                         : x < 0x1p63 && (int64_t)x == value);
    double result = x;
    uint64_t bits;
    memcpy(&bits, &result, sizeof bits);
    if (to != F32 && to != F64 && !exact) bits |= 1;
    memcpy(&result, &bits, sizeof result);
    write_float(op, frame, result);
}

/* ---- decoding ---- */

static char wide_letter(enum number n) {
    return number_bytes[n] <= 2 ? 'H' : number_bytes[n] == 4 ? 'W' : 'D';
}

static void decode_cvt(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    struct operation *const op = d->op;
    op->flow = FLOW_PLAIN;
    if (decode_packed(d)) return;
    const int whole = take_one_of(d, whole_roundings);
    const int rounding = whole < 0 ? take_one_of(d, float_roundings) : -1;
    const bool flush = take(d, "ftz");
    op->option[OPTION_SATURATE] = take(d, "sat");
    if (take(d, "relu")) op->option[OPTION_SATURATE] = RELU;
    const int to = take_one_of(d, number_names), from = take_one_of(d, number_names);
    need_operands(d, 2, 2);
    if (to < 0 || from < 0) refuse(d, "this conversion is not modelled");
    if (d->why) return;
    const bool to_float = is_float((enum number)to), from_float = is_float((enum number)from);
    if (op->option[OPTION_SATURATE] == RELU && (from != F32 || (to != F16 && to != BF16)))
        refuse(d, "this conversion is not modelled");
    if (flush && to != F32 && from != F32)
        refuse(d, "there is no such instruction: nothing can be flushed");
    /* GPUs keep subnormals on the way to fp16, but for a rounding to whole numbers. */
    op->option[OPTION_FLUSH] = flush && (to != F16 || whole >= 0);
    op->option[OPTION_FROM] = from;
    op->option[OPTION_TO] = to;
    op->option[OPTION_ROUNDING] = whole >= 0 ? whole : rounding >= 0 ? rounding : NEAREST;
    if (!to_float && !from_float)
        op->run = op->option[OPTION_SATURATE] ? saturate : whole_to_whole;
    else if (!to_float)
        op->run = float_to_whole;
    else if (!from_float)
        op->run = whole_to_float;
    else
        op->run = whole >= 0 ? float_to_whole_float : float_to_float;
    if (!to_float && from_float && whole < 0) refuse(d, "a rounding to whole numbers is missing");
    if (!to_float && !from_float && op->option[OPTION_SATURATE] &&
        least_of((enum number)to) <= least_of((enum number)from) &&
        most_of((enum number)to) >= most_of((enum number)from))
        refuse(d, "there is no such instruction: nothing can be saturated");
    const bool widens = from_float && number_bytes[to] > number_bytes[from];
    if (to_float && !widens && to != from && whole < 0 && rounding < 0)
        refuse(d, "a rounding is missing");
    if ((whole >= 0 && (!from_float || (to_float && to != from))) ||
        (rounding >= 0 && (!to_float || widens || to == from)))
        refuse(d, "there is no such instruction: nothing can be rounded");
    op->at[0] = written_operand(d, &o[0],
                                to_float && to != F16 && to != BF16 ? to == F32 ? 'f' : 'g'
                                : to_float                          ? 'h'
                                                                    : wide_letter((enum number)to));
    op->at[1] = read_operand(d, &o[1],
                             from_float && from != F16 && from != BF16 ? from == F32 ? 'f' : 'g'
                             : from_float                              ? 'h'
                                          : wide_letter((enum number)from));
    op->option[OPTION_REGISTER] = register_bytes(d, &o[0]);
}

static const struct family families[] = {
    {"cvt", decode_cvt, MODELLED, "Data Movement and Conversion Instructions: cvt"},
};
const struct family_group convert_families = FAMILY_GROUP(families);
