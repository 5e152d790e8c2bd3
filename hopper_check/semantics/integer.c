/*
 * integer.c: PTX ISA, "Integer Arithmetic Instructions" of 16, 32 and 64 bits.
 *
 * Sums, differences and low products have the same bits for signed and unsigned operands, so both
 * are computed as unsigned, where C defines what overflows.
 */
#include "semantics/define.h"

#define FOR_BITS(define, name, value)                                                              \
    define(name##_16, u16, u16, value) define(name##_32, u32, u32, value)                          \
        define(name##_64, u64, u64, value)
#define FOR_TYPES(define, name, value)                                                             \
    FOR_BITS(define, name##_u, value)                                                              \
    define(name##_s_16, s16, s16, value) define(name##_s_32, s32, s32, value)                      \
        define(name##_s_64, s64, s64, value)

FOR_BITS(DEFINE2, add, a + b)
FOR_BITS(DEFINE2, sub, a - b)
FOR_BITS(DEFINE2, mul, (uint64_t)a *b)
FOR_BITS(DEFINE3, mad, (uint64_t)a *b + c)
FOR_TYPES(DEFINE2, min, a < b ? a : b)
FOR_TYPES(DEFINE2, max, a > b ? a : b)
FOR_BITS(DEFINE1, neg, 0 - a)

/* Of 16 bits, two at a time; .relu: nothing below 0. */
#define PAIR(name, type, value)                                                                    \
    static void name(const struct operation *op, struct frame *frame) {                            \
        uint32_t result = 0;                                                                       \
        for (int shift = 0; shift < 32; shift += 16) {                                             \
            const reg_##type a = (reg_##type)(VALUE(reg_u32, 1) >> shift),                         \
                             b = (reg_##type)(VALUE(reg_u32, 2) >> shift);                         \
            result |= (uint32_t)(uint16_t)(value) << shift;                                        \
        }                                                                                          \
        VALUE(reg_u32, 0) = result;                                                                \
    }
#define NO_LESS_THAN_0(x) ((x) < 0 ? 0 : (x))
PAIR(add_pair, u16, a + b)
PAIR(min_pair_u, u16, a < b ? a : b)
PAIR(max_pair_u, u16, a > b ? a : b)
PAIR(min_pair_s, s16, a < b ? a : b)
PAIR(max_pair_s, s16, a > b ? a : b)
PAIR(min_pair_relu, s16, NO_LESS_THAN_0(a < b ? a : b))
PAIR(max_pair_relu, s16, NO_LESS_THAN_0(a > b ? a : b))
DEFINE2(min_relu, s32, s32, NO_LESS_THAN_0(a < b ? a : b))
DEFINE2(max_relu, s32, s32, NO_LESS_THAN_0(a > b ? a : b))
DEFINE1(abs_16, u16, s16, a < 0 ? 0u - (unsigned)a : (unsigned)a)
DEFINE1(abs_32, u32, s32, a < 0 ? 0u - (unsigned)a : (unsigned)a)
DEFINE1(abs_64, u64, s64, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)

/* Division by zero has no specified value; the quotient's bits are all ones here, as on the GPU.
 * The most negative number divided by -1 overflows. */
DEFINE2(div_u16, u16, u16, b ? a / b : -1)
DEFINE2(div_u32, u32, u32, b ? a / b : UINT32_MAX)
DEFINE2(div_u64, u64, u64, b ? a / b : UINT64_MAX)
DEFINE2(div_s16, s16, s16, b ? (int)a / b : -1)
DEFINE2(div_s32, u32, s32, !b ? -1 : b == -1 ? (int64_t)(0 - (uint32_t)a) : (int64_t)a / b)
DEFINE2(div_s64, u64, s64, !b ? UINT64_MAX : b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b))
DEFINE2(rem_u16, u16, u16, b ? a % b : a)
DEFINE2(rem_u32, u32, u32, b ? a % b : a)
DEFINE2(rem_u64, u64, u64, b ? a % b : a)
DEFINE2(rem_s16, s16, s16, b ? (int)a % b : a)
DEFINE2(rem_s32, s32, s32, !b ? a : b == -1 ? 0 : a % b)
DEFINE2(rem_s64, s64, s64, !b ? a : b == -1 ? 0 : a % b)

static inline uint64_t high_u64(uint64_t a, uint64_t b) {
    return (uint64_t)((unsigned __int128)a * b >> 64);
}
static inline uint64_t high_s64(int64_t a, int64_t b) {
    return (uint64_t)((unsigned __int128)((__int128)a * b) >> 64);
}
DEFINE2(mul_hi_u16, u16, u16, (uint32_t)a *b >> 16)
DEFINE2(mul_hi_s16, u16, s16, (uint32_t)((int32_t)a *b) >> 16)
DEFINE2(mul_hi_u32, u32, u32, (uint64_t)a *b >> 32)
DEFINE2(mul_hi_s32, u32, s32, (uint64_t)((int64_t)a *b) >> 32)
DEFINE2(mul_hi_u64, u64, u64, high_u64(a, b))
DEFINE2(mul_hi_s64, u64, s64, high_s64(a, b))
DEFINE3(mad_hi_u32, u32, u32, ((uint64_t)a * b >> 32) + c)
DEFINE3(mad_hi_s32, u32, s32, (uint32_t)((uint64_t)((int64_t)a *b) >> 32) + (uint32_t)c)
DEFINE3(mad_hi_u64, u64, u64, high_u64(a, b) + c)
DEFINE3(mad_hi_s64, u64, s64, high_s64(a, b) + (uint64_t)c)
DEFINE2(mul_wide_u16, u32, u16, (uint32_t)a *b)
DEFINE2(mul_wide_s16, s32, s16, (int32_t)a *b)
DEFINE2(mul_wide_u32, u64, u32, (uint64_t)a *b)
DEFINE2(mul_wide_s32, s64, s32, (int64_t)a *b)
DEFINE3(mad_hi_u16, u16, u16, ((uint32_t)a * b >> 16) + c)
DEFINE3(mad_hi_s16, u16, s16, ((uint32_t)((int32_t)a * b) >> 16) + (uint32_t)c)
#define DISTANCE(bits)                                                                             \
    DEFINE3(sad_u##bits, u##bits, u##bits, (a > b ? a - b : b - a) + c)                            \
    DEFINE3(sad_s##bits, u##bits, s##bits,                                                         \
            (a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a) + (uint64_t)c)
DISTANCE(16)
DISTANCE(32)
DISTANCE(64)

/* .sat: the nearest number that a register holds. */
static int32_t saturated(int64_t x) {
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}
DEFINE2(add_sat, s32, s32, saturated((int64_t)a + b))
DEFINE2(sub_sat, s32, s32, saturated((int64_t)a - b))
DEFINE3(mad_hi_sat, s32, s32, saturated(((int64_t)a * b >> 32) + c))

/* Products of 24 bits have 48: the lower 32, or the upper. */
static int64_t low_24(int32_t x) { return (int32_t)((uint32_t)x << 8) >> 8; }
DEFINE2(mul24_lo_u32, u32, u32, (uint64_t)(a & 0xffffff) * (b & 0xffffff))
DEFINE2(mul24_hi_u32, u32, u32, (uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 16)
DEFINE2(mul24_lo_s32, u32, s32, low_24(a) * low_24(b))
DEFINE2(mul24_hi_s32, u32, s32, low_24(a) * low_24(b) >> 16)
DEFINE3(mad24_lo_u32, u32, u32, (uint64_t)(a & 0xffffff) * (b & 0xffffff) + c)
DEFINE3(mad24_hi_u32, u32, u32, ((uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 16) + c)
DEFINE3(mad24_lo_s32, u32, s32, low_24(a) * low_24(b) + c)
DEFINE3(mad24_hi_s32, u32, s32, (low_24(a) * low_24(b) >> 16) + c)
DEFINE3(mad24_hi_sat, s32, s32, saturated((low_24(a) * low_24(b) >> 16) + c))

/* Sums of four products of bytes, or of two of a 16-bit number and a byte. */
static int32_t part_of(uint32_t word, int i, int bits, bool sign) {
    const uint32_t up = word << (32 - bits * (i + 1));
    return sign ? (int32_t)up >> (32 - bits) : (int32_t)(up >> (32 - bits));
}
static uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool a_sign, bool b_sign) {
    for (int i = 0; i < 4; ++i)
        c += (uint32_t)(part_of(a, i, 8, a_sign) * part_of(b, i, 8, b_sign));
    return c;
}
static uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, bool a_sign, bool b_sign, int from) {
    for (int i = 0; i < 2; ++i)
        c += (uint32_t)(part_of(a, i, 16, a_sign) * part_of(b, from + i, 8, b_sign));
    return c;
}
#define DOTS(types, a_sign, b_sign)                                                                \
    DEFINE3(dp4a_##types, u32, u32, dot4(a, b, c, a_sign, b_sign))                                 \
    DEFINE3(dp2a_lo_##types, u32, u32, dot2(a, b, c, a_sign, b_sign, 0))                           \
    DEFINE3(dp2a_hi_##types, u32, u32, dot2(a, b, c, a_sign, b_sign, 2))
DOTS(uu, false, false)
DOTS(us, false, true)
DOTS(su, true, false)
DOTS(ss, true, true)

/* The third operand is twice as wide. */
#define MAD_WIDE(name, out, type, product)                                                         \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const reg_##type a = VALUE(reg_##type, 1), b = VALUE(reg_##type, 2);                       \
        VALUE(reg_##out, 0) = (reg_##out)(product) + VALUE(reg_##out, 3);                          \
    }
MAD_WIDE(mad_wide_u16, u32, u16, (uint32_t)a *b)
MAD_WIDE(mad_wide_s16, u32, s16, (int32_t)a *b)
MAD_WIDE(mad_wide_u32, u64, u32, (uint64_t)a *b)
MAD_WIDE(mad_wide_s32, u64, s32, (int64_t)a *b)

/* ---- carries: add.cc leaves one, addc takes it; sub.cc leaves 1 if it has not borrowed, as GPUs
 * do. PTX ISA, "Extended-Precision Integer Arithmetic Instructions" ---- */

#define CARRY(name, type, value, carried, leaves)                                                  \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const reg_##type a = VALUE(reg_##type, 1), b = VALUE(reg_##type, 2);                       \
        const reg_##type c = (reg_##type)frame->carry, r = (reg_##type)(value);                    \
        (void)c;                                                                                   \
        if (leaves) frame->carry = carried;                                                        \
        VALUE(reg_##type, 0) = r;                                                                  \
    }
#define CARRIES(type)                                                                              \
    CARRY(add_cc_##type, type, a + b, r < a, true)                                                 \
    CARRY(addc_##type, type, a + b + c, 0, false)                                                  \
    CARRY(addc_cc_##type, type, a + b + c, r < a || (c && r == a), true)                           \
    CARRY(sub_cc_##type, type, a - b, a >= b, true)                                                \
    CARRY(subc_##type, type, a - b - !c, 0, false)                                                 \
    CARRY(subc_cc_##type, type, a - b - !c, a > b || (c && a == b), true)
CARRIES(u32)
CARRIES(u64)

/* A product's half, as the first operand of one of those. */
#define MAD_CARRY(name, type, product, carried, leaves)                                            \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const reg_##type x = VALUE(reg_##type, 1), y = VALUE(reg_##type, 2);                       \
        const reg_##type a = (reg_##type)(product), b = VALUE(reg_##type, 3);                      \
        const reg_##type c = (reg_##type)frame->carry,                                             \
                         r = (reg_##type)(a + b + (carried ? c : 0));                              \
        if (leaves) frame->carry = carried ? r < a || (c && r == a) : r < a;                       \
        VALUE(reg_##type, 0) = r;                                                                  \
    }
#define MAD_CARRIES(half, type, product)                                                           \
    MAD_CARRY(mad_##half##_cc, type, product, false, true)                                         \
    MAD_CARRY(madc_##half, type, product, true, false)                                             \
    MAD_CARRY(madc_##half##_cc, type, product, true, true)
MAD_CARRIES(lo_32, u32, x *y)
MAD_CARRIES(lo_64, u64, x *y)
MAD_CARRIES(hi_u32, u32, (uint64_t)x *y >> 32)
MAD_CARRIES(hi_s32, u32, (uint64_t)((int64_t)(int32_t)x *(int32_t)y) >> 32)
MAD_CARRIES(hi_u64, u64, high_u64(x, y))
MAD_CARRIES(hi_s64, u64, high_s64((int64_t)x, (int64_t)y))

#define BITS(opcode, f, h, w, d)                                                                   \
    {opcode ".u16", f##_16, h}, {opcode ".s16", f##_16, h}, {opcode ".u32", f##_32, w},            \
        {opcode ".s32", f##_32, w}, {opcode ".u64", f##_64, d}, {                                  \
        opcode ".s64", f##_64, d                                                                   \
    }
#define SIGNED_BITS(opcode, f, h, w, d)                                                            \
    {opcode ".s16", f##_16, h}, {opcode ".s32", f##_32, w}, { opcode ".s64", f##_64, d }
#define TYPES(opcode, f, h, w, d)                                                                  \
    {opcode ".u16", f##u16, h}, {opcode ".s16", f##s16, h}, {opcode ".u32", f##u32, w},            \
        {opcode ".s32", f##s32, w}, {opcode ".u64", f##u64, d}, {                                  \
        opcode ".s64", f##s64, d                                                                   \
    }
#define EXTREMES(opcode, f)                                                                        \
    {opcode ".u16", f##_u_16, "hhh"}, {opcode ".s16", f##_s_16, "hhh"},                            \
        {opcode ".u32", f##_u_32, "www"}, {opcode ".s32", f##_s_32, "www"},                        \
        {opcode ".u64", f##_u_64, "ddd"}, {                                                        \
        opcode ".s64", f##_s_64, "ddd"                                                             \
    }

static const struct scalar integers[] = {
    BITS("add", add, "hhh", "www", "ddd"),
    BITS("sub", sub, "hhh", "www", "ddd"),
    BITS("mul.lo", mul, "hhh", "www", "ddd"),
    BITS("mad.lo", mad, "hhhh", "wwww", "dddd"),
    TYPES("div", div_, "hhh", "www", "ddd"),
    TYPES("rem", rem_, "hhh", "www", "ddd"),
    EXTREMES("min", min),
    EXTREMES("max", max),
    SIGNED_BITS("neg", neg, "hh", "ww", "dd"),
    SIGNED_BITS("abs", abs, "hh", "ww", "dd"),
    TYPES("sad", sad_, "hhhh", "wwww", "dddd"),
    {"add.sat.s32", add_sat, "www"},
    {"sub.sat.s32", sub_sat, "www"},
    {"add.u16x2", add_pair, "www"},
    {"add.s16x2", add_pair, "www"},
    {"min.u16x2", min_pair_u, "www"},
    {"max.u16x2", max_pair_u, "www"},
    {"min.s16x2", min_pair_s, "www"},
    {"max.s16x2", max_pair_s, "www"},
    {"min.relu.s16x2", min_pair_relu, "www"},
    {"max.relu.s16x2", max_pair_relu, "www"},
    {"min.s16x2.relu", min_pair_relu, "www"},
    {"max.s16x2.relu", max_pair_relu, "www"},
    {"min.relu.s32", min_relu, "www"},
    {"max.relu.s32", max_relu, "www"},
};
const struct scalar_group integer_group =
    SCALAR_GROUP("Integer Arithmetic Instructions", MODELLED, integers);

#define CARRYING(opcode, f)                                                                        \
    {opcode ".u32", f##_u32, "www"}, {opcode ".s32", f##_u32, "www"},                              \
        {opcode ".u64", f##_u64, "ddd"}, {                                                         \
        opcode ".s64", f##_u64, "ddd"                                                              \
    }
#define MAD_CARRYING(part, half_u32, half_s32, half_u64, half_s64)                                 \
    {"mad." part ".cc.u32", mad_##half_u32##_cc, "wwww"},                                          \
        {"mad." part ".cc.s32", mad_##half_s32##_cc, "wwww"},                                      \
        {"mad." part ".cc.u64", mad_##half_u64##_cc, "dddd"},                                      \
        {"mad." part ".cc.s64", mad_##half_s64##_cc, "dddd"},                                      \
        {"madc." part ".u32", madc_##half_u32, "wwww"},                                            \
        {"madc." part ".s32", madc_##half_s32, "wwww"},                                            \
        {"madc." part ".u64", madc_##half_u64, "dddd"},                                            \
        {"madc." part ".s64", madc_##half_s64, "dddd"},                                            \
        {"madc." part ".cc.u32", madc_##half_u32##_cc, "wwww"},                                    \
        {"madc." part ".cc.s32", madc_##half_s32##_cc, "wwww"},                                    \
        {"madc." part ".cc.u64", madc_##half_u64##_cc, "dddd"}, {                                  \
        "madc." part ".cc.s64", madc_##half_s64##_cc, "dddd"                                       \
    }
static const struct scalar carrying[] = {
    MAD_CARRYING("lo", lo_32, lo_32, lo_64, lo_64),
    MAD_CARRYING("hi", hi_u32, hi_s32, hi_u64, hi_s64),
    CARRYING("add.cc", add_cc),
    CARRYING("addc", addc),
    CARRYING("addc.cc", addc_cc),
    CARRYING("sub.cc", sub_cc),
    CARRYING("subc", subc),
    CARRYING("subc.cc", subc_cc),
};
const struct scalar_group carry_group =
    SCALAR_GROUP("Extended-Precision Integer Arithmetic Instructions", MODELLED, carrying);

#define TWO_TYPES(opcode, f, letters)                                                              \
    {opcode ".u32", f##u32, letters}, { opcode ".s32", f##s32, letters }
#define DOT_ROWS(opcode, f)                                                                        \
    {opcode ".u32.u32", f##_uu, "wwww"}, {opcode ".u32.s32", f##_us, "wwww"},                      \
        {opcode ".s32.u32", f##_su, "wwww"}, {                                                     \
        opcode ".s32.s32", f##_ss, "wwww"                                                          \
    }
static const struct scalar wide[] = {
    TYPES("mul.hi", mul_hi_, "hhh", "www", "ddd"),
    {"mul.wide.u16", mul_wide_u16, "whh"},
    {"mul.wide.s16", mul_wide_s16, "whh"},
    {"mul.wide.u32", mul_wide_u32, "dww"},
    {"mul.wide.s32", mul_wide_s32, "dww"},
    TYPES("mad.hi", mad_hi_, "hhhh", "wwww", "dddd"),
    {"mad.hi.sat.s32", mad_hi_sat, "wwww"},
    TWO_TYPES("mul24.lo", mul24_lo_, "www"),
    TWO_TYPES("mul24.hi", mul24_hi_, "www"),
    TWO_TYPES("mad24.lo", mad24_lo_, "wwww"),
    TWO_TYPES("mad24.hi", mad24_hi_, "wwww"),
    {"mad24.hi.sat.s32", mad24_hi_sat, "wwww"},
    DOT_ROWS("dp4a", dp4a),
    DOT_ROWS("dp2a.lo", dp2a_lo),
    DOT_ROWS("dp2a.hi", dp2a_hi),
    {"mad.wide.u16", mad_wide_u16, "whhw"},
    {"mad.wide.s16", mad_wide_s16, "whhw"},
    {"mad.wide.u32", mad_wide_u32, "dwwd"},
    {"mad.wide.s32", mad_wide_s32, "dwwd"},
};
const struct scalar_group wide_integer_group =
    SCALAR_GROUP("Integer Arithmetic Instructions", MODELLED, wide);
