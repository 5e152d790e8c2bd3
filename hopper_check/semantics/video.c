/*
 * video.c: PTX ISA, "Scalar Video Instructions": vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, on
 * whole registers. A byte or a half of one has no operand here, so these forms are refused.
 *
 * Operands of either sign become numbers that are wide enough for every intermediate result; what
 * is left of the last one is its lower 32 bits.
 */
#include "program/instructions.h"

enum {
    OPTION_HOW,
    OPTION_SIGNS, /* of d, a and b: bits 0, 1 and 2 */
    OPTION_SATURATES,
    OPTION_WRAPS,
    OPTION_SECOND
};
enum how { ADD, SUB, ABSDIFF, MIN, MAX, SHL, SHR };
enum { SECOND_NONE = -1, SECOND_ADD, SECOND_MIN, SECOND_MAX };
static const char *const second_words[] = {"add", "min", "max", NULL};

static int64_t number(uint32_t bits, bool is_signed) {
    return is_signed ? (int64_t)(int32_t)bits : (int64_t)bits;
}

static int64_t first(enum how how, int64_t a, int64_t b, bool wraps) {
    const int most = 32;
    const int64_t amount = wraps ? b & 31 : b > most ? most : b;
    switch (how) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case ABSDIFF:
        return a < b ? b - a : a - b;
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case SHL:
        return a * (INT64_C(1) << amount);
    case SHR:
        return a >> amount;
    }
    return 0;
}

static int64_t saturated(int64_t x, bool is_signed) {
    const int64_t least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : UINT32_MAX;
    return x < least ? least : x > most ? most : x;
}

static void video(const struct operation *op, struct frame *frame) {
    const int signs = op->option[OPTION_SIGNS], second = op->option[OPTION_SECOND];
    const bool signed_d = signs & 1;
    int64_t x = first((enum how)op->option[OPTION_HOW], number(VALUE(reg_u32, 1), signs & 2),
                      number(VALUE(reg_u32, 2), signs & 4), op->option[OPTION_WRAPS]);
    if (op->option[OPTION_SATURATES]) x = saturated(x, signed_d);
    if (second != SECOND_NONE) {
        const int64_t c = number(VALUE(reg_u32, 3), signed_d);
        const bool takes_c = second == SECOND_MIN ? c < x : c > x;
        if (second == SECOND_ADD)
            x = (int64_t)((uint64_t)x + (uint64_t)c);
        else if (takes_c)
            x = c;
    }
    VALUE(reg_u32, 0) = (uint32_t)x;
}

static void decode_video(struct decoder *d, enum how how) {
    const bool shifts = how >= SHL;
    int signs = 0;
    for (int i = 0; i < 3; ++i) {
        const bool is_signed = take(d, "s32");
        if (!is_signed) require(d, "u32");
        if (is_signed) signs |= 1 << i;
    }
    if (shifts && signs & 4) refuse(d, "there is no such instruction");
    d->op->option[OPTION_HOW] = how;
    d->op->option[OPTION_SIGNS] = signs;
    d->op->option[OPTION_SATURATES] = take(d, "sat");
    d->op->option[OPTION_WRAPS] = shifts && take(d, "wrap");
    if (shifts && !d->op->option[OPTION_WRAPS]) require(d, "clamp");
    d->op->option[OPTION_SECOND] = take_one_of(d, second_words);
    d->op->flow = FLOW_PLAIN;
    d->op->run = video;
    take_operands(d, d->op->option[OPTION_SECOND] == SECOND_NONE ? "www" : "wwww");
}

#define DECODE(name, how)                                                                          \
    static void decode_##name(struct decoder *d) { decode_video(d, how); }
DECODE(vadd, ADD)
DECODE(vsub, SUB)
DECODE(vabsdiff, ABSDIFF)
DECODE(vmin, MIN)
DECODE(vmax, MAX)
DECODE(vshl, SHL)
DECODE(vshr, SHR)

#define VIDEO(name)                                                                                \
    { #name, decode_##name, MODELLED, "Scalar Video Instructions: " #name }
static const struct family families[] = {VIDEO(vadd), VIDEO(vsub), VIDEO(vabsdiff), VIDEO(vmin),
                                         VIDEO(vmax), VIDEO(vshl), VIDEO(vshr)};
const struct family_group video_families = FAMILY_GROUP(families);
