/*
 * convert.c: PTX ISA, "Data Movement and Conversion Instructions": cvt.
 *
 * A conversion reads a value, exactly, as a whole number or as fp64, and writes it with the
 * rounding that the opcode says. Both ends are chosen once, when the instruction is decoded.
 */
#include <math.h>
#include <string.h>

#include "program/instructions.h"
#include "semantics/floating.h"
#include "sim/models/element_values.h"

enum { OPTION_FROM, OPTION_TO, OPTION_ROUNDING, OPTION_SATURATE, OPTION_REGISTER };

enum number { U8, S8, U16, S16, U32, S32, U64, S64, F16, BF16, F32, F64, NUMBERS };
static const char *const number_names[] = {"u8",  "s8",  "u16",  "s16", "u32", "s32", "u64",
                                           "s64", "f16", "bf16", "f32", "f64", NULL};
static const int number_bytes[NUMBERS] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
static bool is_signed(enum number n) { return n == S8 || n == S16 || n == S32 || n == S64; }
static bool is_float(enum number n) { return n >= F16; }

enum rounding { NEAREST, TO_ZERO, DOWN, UP };
static const char *const float_roundings[] = {"rn", "rz", "rm", "rp", NULL};
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
        return VALUE(reg_f32, 1);
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
static uint16_t element_rounded(double x, bool bf16, enum rounding how) {
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
    if (op->option[OPTION_SATURATE]) x = isnan(x) || x < 0 ? 0 : x > 1 ? 1 : x;
    switch ((enum number)op->option[OPTION_TO]) {
    case F16:
        VALUE(reg_u16, 0) = element_rounded(x, false, how);
        break;
    case BF16:
        VALUE(reg_u16, 0) = element_rounded(x, true, how);
        break;
    case F32:
        VALUE(reg_f32, 0) = narrowed(x, how);
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

/* fp64 has not every 64-bit number: rounding one to fp32 goes there directly. */
static void whole_to_float(const struct operation *op, struct frame *frame) {
    const int64_t value = read_whole(op, frame);
    const bool is_unsigned = op->option[OPTION_FROM] == U64;
    switch ((enum number)op->option[OPTION_TO]) {
    case F32:
        VALUE(reg_f32, 0) = is_unsigned ? (float)(uint64_t)value : (float)value;
        break;
    case F64:
        VALUE(reg_f64, 0) = is_unsigned ? (double)(uint64_t)value : (double)value;
        break;
    default:
        write_float(op, frame, is_unsigned ? (double)(uint64_t)value : (double)value);
    }
}

/* ---- two fp32 to a pair of 16-bit or 8-bit numbers: operand 1 is the upper ---- */

static void pack_elements(const struct operation *op, struct frame *frame) {
    const bool bf16 = op->option[OPTION_TO] == BF16;
    const float upper = VALUE(reg_f32, 1), lower = VALUE(reg_f32, 2);
    if (isunordered(upper, lower)) float_saw_nan(op, frame);
    uint32_t pair = element_nearest(lower, bf16) | (uint32_t)element_nearest(upper, bf16) << 16;
    for (int shift = 0; op->option[OPTION_SATURATE] && shift < 32; shift += 16) /* .relu */
        if ((pair >> shift & 0x8000) && (pair >> shift & 0xffff) != 0x7fff)
            pair &= ~(UINT32_C(0xffff) << shift);
    VALUE(reg_u32, 0) = pair;
}

static void pack_e4m3(const struct operation *op, struct frame *frame) {
    const float upper = VALUE(reg_f32, 1), lower = VALUE(reg_f32, 2);
    if (isunordered(upper, lower)) float_saw_nan(op, frame);
    VALUE(reg_u16, 0) = (uint16_t)(e4m3_nearest(lower) | e4m3_nearest(upper) << 8);
}

/* Every e4m3 is an fp16. */
static void unpack_e4m3(const struct operation *op, struct frame *frame) {
    const uint16_t pair = VALUE(reg_u16, 1);
    VALUE(reg_u32, 0) = element_nearest(e4m3_value((uint8_t)pair), false) |
                        (uint32_t)element_nearest(e4m3_value((uint8_t)(pair >> 8)), false) << 16;
}

/* To tf32, which is fp32 with 10 bits of fraction: to the nearest, ties away from zero (.rna) or to
 * the even one (.rn), or toward zero. */
static void to_tf32(const struct operation *op, struct frame *frame) {
    enum { LOST = 13 };
    const uint32_t bits = VALUE(reg_u32, 1), half = 1u << (LOST - 1);
    if (isnan(VALUE(reg_f32, 1))) float_saw_nan(op, frame);
    const uint32_t even = half - 1 + (bits >> LOST & 1);
    const uint32_t add = op->option[OPTION_ROUNDING] == TO_ZERO   ? 0
                         : op->option[OPTION_ROUNDING] == NEAREST ? even
                                                                  : half;
    const bool finite = (bits >> 23 & 255) != 255;
    uint32_t value = (finite ? bits + add : bits) & ~((1u << LOST) - 1);
    if (op->option[OPTION_SATURATE] && (int32_t)value < 0) value = 0; /* .relu */
    VALUE(reg_u32, 0) = isnan(VALUE(reg_f32, 1)) ? 0x7fffffff : value;
}

static void unpack_e5m2(const struct operation *op, struct frame *frame) {
    const uint16_t pair = VALUE(reg_u16, 1); /* an e5m2 is an fp16's upper half */
    VALUE(reg_u32, 0) = (uint32_t)(pair & 0xff) << 8 | (uint32_t)(pair >> 8) << 24;
}

/* ---- decoding ---- */

static bool decode_pairs(struct decoder *d) {
    if (d->words < 3) return false;
    const char *const to = d->word[d->words - 2], *const from = d->word[d->words - 1];
    const bool elements = !strcmp(to, "f16x2") || !strcmp(to, "bf16x2");
    if (!strcmp(to, "e4m3x2") && !strcmp(from, "f32")) {
        require(d, "rn");
        require(d, "satfinite");
        d->op->run = pack_e4m3;
        take_operands(d, "hff");
    } else if (!strcmp(to, "f16x2") && !strcmp(from, "e4m3x2")) {
        require(d, "rn");
        d->op->run = unpack_e4m3;
        take_operands(d, "wh");
    } else if (!strcmp(to, "f16x2") && !strcmp(from, "e5m2x2")) {
        require(d, "rn");
        d->op->run = unpack_e5m2;
        take_operands(d, "wh");
    } else if (!strcmp(to, "tf32") && !strcmp(from, "f32")) {
        const bool away = take(d, "rna");
        const int how = away ? UP : take_one_of(d, float_roundings);
        if (how != UP && how != NEAREST && how != TO_ZERO)
            refuse(d, "this conversion is not modelled");
        d->op->option[OPTION_ROUNDING] = how;
        d->op->option[OPTION_SATURATE] = take(d, "relu");
        d->op->run = to_tf32;
        take_operands(d, "wf");
    } else if (elements && !strcmp(from, "f32")) {
        require(d, "rn");
        d->op->option[OPTION_SATURATE] = take(d, "relu");
        d->op->option[OPTION_TO] = *to == 'b' ? BF16 : F16;
        d->op->run = pack_elements;
        take_operands(d, "wff");
    } else {
        return false;
    }
    d->next += 2;
    return true;
}

static char wide_letter(enum number n) {
    return number_bytes[n] <= 2 ? 'H' : number_bytes[n] == 4 ? 'W' : 'D';
}

static void decode_cvt(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    struct operation *const op = d->op;
    op->flow = FLOW_PLAIN;
    if (decode_pairs(d)) return;
    const int whole = take_one_of(d, whole_roundings);
    const int rounding = whole < 0 ? take_one_of(d, float_roundings) : -1;
    if (take(d, "ftz")) refuse(d, "conversions that flush subnormals are not modelled yet");
    op->option[OPTION_SATURATE] = take(d, "sat");
    const int to = take_one_of(d, number_names), from = take_one_of(d, number_names);
    need_operands(d, 2, 2);
    if (to < 0 || from < 0) refuse(d, "this conversion is not modelled");
    if (d->why) return;
    const bool to_float = is_float((enum number)to), from_float = is_float((enum number)from);
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
    if (!from_float && to_float && rounding > NEAREST)
        refuse(d, "only .rn is modelled for whole numbers");
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
