/*
 * pack.c: PTX ISA, "Data Movement and Conversion Instructions": cvt between registers of several
 * numbers, and to tf32; cvt.pack.
 */
#include <math.h>
#include <string.h>

#include "program/instructions.h"
#include "semantics/convert.h"
#include "semantics/floating.h"
#include "sim/models/element_values.h"

enum { OPTION_BF16, OPTION_E5M2, OPTION_ROUNDING, OPTION_SATURATE };
enum { OPTION_BITS, OPTION_SIGNED, OPTION_FROM_SIGNED };

/* ---- two fp32 to a pair of 16-bit or 8-bit numbers: operand 1 is the upper ---- */

static void pack_elements(const struct operation *op, struct frame *frame) {
    const bool bf16 = op->option[OPTION_BF16];
    const float upper = VALUE(reg_f32, 1), lower = VALUE(reg_f32, 2);
    if (isunordered(upper, lower)) float_saw_nan(op, frame);
    const enum rounding how = (enum rounding)op->option[OPTION_ROUNDING];
    uint32_t pair = element_rounded(lower, bf16, how) | (uint32_t)element_rounded(upper, bf16, how)
                                                            << 16;
    for (int shift = 0; op->option[OPTION_SATURATE] && shift < 32; shift += 16) /* .relu */
        if ((pair >> shift & 0x8000) && (pair >> shift & 0xffff) != 0x7fff)
            pair &= ~(UINT32_C(0xffff) << shift);
    VALUE(reg_u32, 0) = pair;
}

/* .satfinite: what is too large becomes the largest, in e5m2 also an infinity. */
static uint8_t byte_nearest(float x, bool e5m2, bool relu) {
    enum { E5M2_LARGEST = 0x7b, E5M2_NAN = 0x7f };
    if (relu && !(x > 0) && !isnan(x)) return 0;
    if (!e5m2) return e4m3_nearest(x);
    if (isnan(x)) return E5M2_NAN;
    const uint8_t sign = signbit(x) ? 0x80 : 0;
    /* An e5m2 is an fp16's upper half: rounded to odd there, it is rounded once. */
    const uint16_t half = element_rounded(fabsf(x), false, TO_ZERO);
    const bool odd = element_value(half, false) != fabsf(x);
    const uint32_t up = (half + 0x7fu + (half >> 8 & 1) + (odd && (half & 0xff) == 0x80)) >> 8;
    return (uint8_t)(sign | (up > E5M2_LARGEST ? E5M2_LARGEST : up));
}

static void pack_bytes(const struct operation *op, struct frame *frame) {
    const float upper = VALUE(reg_f32, 1), lower = VALUE(reg_f32, 2);
    const bool e5m2 = op->option[OPTION_E5M2], relu = op->option[OPTION_SATURATE];
    if (isunordered(upper, lower)) float_saw_nan(op, frame);
    VALUE(reg_u16, 0) =
        (uint16_t)(byte_nearest(lower, e5m2, relu) | byte_nearest(upper, e5m2, relu) << 8);
}

static void pack_halves(const struct operation *op, struct frame *frame) {
    const uint32_t pair = VALUE(reg_u32, 1);
    const bool e5m2 = op->option[OPTION_E5M2], relu = op->option[OPTION_SATURATE];
    const float lower = element_value((uint16_t)pair, false),
                upper = element_value((uint16_t)(pair >> 16), false);
    VALUE(reg_u16, 0) =
        (uint16_t)(byte_nearest(lower, e5m2, relu) | byte_nearest(upper, e5m2, relu) << 8);
}

static uint16_t half_relu(uint16_t half) { return half & 0x8000 && half <= 0xfc00 ? 0 : half; }

/* Every e4m3 is an fp16, and so is every e5m2. */
static void unpack_bytes(const struct operation *op, struct frame *frame) {
    const uint16_t pair = VALUE(reg_u16, 1);
    uint16_t half[2];
    for (int i = 0; i < 2; ++i) {
        const uint8_t byte = (uint8_t)(pair >> 8 * i);
        half[i] = op->option[OPTION_E5M2] ? (uint16_t)(byte << 8)
                                          : element_nearest(e4m3_value(byte), false);
        if ((byte & 0x7f) > 0x7c && op->option[OPTION_E5M2]) half[i] = 0x7fff;
        if (op->option[OPTION_SATURATE]) half[i] = half_relu(half[i]);
    }
    VALUE(reg_u32, 0) = half[0] | (uint32_t)half[1] << 16;
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

/* cvt.pack.sat: two whole numbers, saturated, one behind the other; in front of bytes, of a third
 * operand, what it holds already. */
static void pack_whole(const struct operation *op, struct frame *frame) {
    const int bits = op->option[OPTION_BITS];
    const int64_t range = INT64_C(1) << bits, least = op->option[OPTION_SIGNED] ? -range / 2 : 0;
    uint32_t result = 0;
    for (int i = 1; i <= 2; ++i) {
        const int64_t value =
            op->option[OPTION_FROM_SIGNED] ? VALUE(reg_s32, i) : (int64_t)VALUE(reg_u32, i);
        const int64_t most = least + range - 1;
        const int64_t kept = value < least ? least : value > most ? most : value;
        result = result << bits | ((uint32_t)kept & (uint32_t)(range - 1));
    }
    if (bits == 8) result |= VALUE(reg_u32, 3) << 16;
    VALUE(reg_u32, 0) = result;
}

/* ---- decoding ---- */

/* e4m3 or e5m2, two of them, from two fp32 or a pair of fp16, or to one. */
static bool decode_bytes(struct decoder *d, const char *to, const char *from) {
    const bool pack = !strcmp(to, "e4m3x2") || !strcmp(to, "e5m2x2");
    const bool unpack = !strcmp(from, "e4m3x2") || !strcmp(from, "e5m2x2");
    if (pack == unpack || (unpack && strcmp(to, "f16x2") != 0)) return false;
    require(d, "rn");
    if (pack) require(d, "satfinite");
    d->op->option[OPTION_SATURATE] = take(d, "relu");
    d->op->option[OPTION_E5M2] = (pack ? to : from)[1] == '5';
    d->op->run = unpack ? unpack_bytes : !strcmp(from, "f32") ? pack_bytes : pack_halves;
    if (pack && strcmp(from, "f32") != 0 && strcmp(from, "f16x2") != 0)
        refuse(d, "this conversion is not modelled");
    take_operands(d, unpack ? "wh" : d->op->run == pack_bytes ? "hff" : "hw");
    return true;
}

static void decode_pack(struct decoder *d) {
    static const char *const types[] = {"u16", "s16", "u8", "s8", NULL};
    enum { BYTES = 2 };
    require(d, "sat");
    const int to = take_one_of(d, types);
    d->op->option[OPTION_FROM_SIGNED] = take(d, "s32");
    if (!d->op->option[OPTION_FROM_SIGNED]) require(d, "u32");
    const bool more = take(d, "b32");
    if (to < 0 || more != (to >= BYTES)) refuse(d, "this conversion is not modelled");
    if (d->why) return;
    d->op->flow = FLOW_PLAIN;
    d->op->option[OPTION_BITS] = to < BYTES ? 16 : 8;
    d->op->option[OPTION_SIGNED] = to % 2;
    d->op->run = pack_whole;
    take_operands(d, more ? "wwww" : "www");
}

bool decode_packed(struct decoder *d) {
    if (d->words < 3) return false;
    const char *const to = d->word[d->words - 2], *const from = d->word[d->words - 1];
    const bool elements = !strcmp(to, "f16x2") || !strcmp(to, "bf16x2");
    if (decode_bytes(d, to, from)) {
        d->next += 2;
        return true;
    }
    if (!strcmp(to, "tf32") && !strcmp(from, "f32")) {
        const bool away = take(d, "rna");
        const int how = away ? UP : take_one_of(d, float_roundings);
        if (how != UP && how != NEAREST && how != TO_ZERO)
            refuse(d, "this conversion is not modelled");
        d->op->option[OPTION_ROUNDING] = how;
        d->op->option[OPTION_SATURATE] = take(d, "relu");
        d->op->run = to_tf32;
        take_operands(d, "wf");
    } else if (elements && !strcmp(from, "f32")) {
        const bool to_zero = take(d, "rz");
        if (!to_zero) require(d, "rn");
        d->op->option[OPTION_ROUNDING] = to_zero ? TO_ZERO : NEAREST;
        d->op->option[OPTION_SATURATE] = take(d, "relu");
        d->op->option[OPTION_BF16] = *to == 'b';
        d->op->run = pack_elements;
        take_operands(d, "wff");
    } else {
        return false;
    }
    d->next += 2;
    return true;
}

static const struct family families[] = {
    {"cvt.pack", decode_pack, MODELLED, "Data Movement and Conversion Instructions: cvt.pack"},
};
const struct family_group pack_families = FAMILY_GROUP(families);
