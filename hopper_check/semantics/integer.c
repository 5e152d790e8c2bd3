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
DEFINE3(sad_u32, u32, u32, (a > b ? a - b : b - a) + c)
DEFINE3(sad_s32, u32, s32,
        (a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a) + (uint32_t)c)

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

/* ---- carries: add.cc leaves one, addc takes it; sub.cc leaves a borrow. PTX ISA,
 * "Extended-Precision Integer Arithmetic Instructions" ---- */

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
    CARRY(sub_cc_##type, type, a - b, a < b, true)                                                 \
    CARRY(subc_##type, type, a - b - c, 0, false)                                                  \
    CARRY(subc_cc_##type, type, a - b - c, a < b || (c && a == b), true)
CARRIES(u32)
CARRIES(u64)

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
    {"sad.u32", sad_u32, "wwww"},
    {"sad.s32", sad_s32, "wwww"},
};
const struct scalar_group integer_group =
    SCALAR_GROUP("Integer Arithmetic Instructions", MODELLED, integers);

#define CARRYING(opcode, f)                                                                        \
    {opcode ".u32", f##_u32, "www"}, {opcode ".s32", f##_u32, "www"},                              \
        {opcode ".u64", f##_u64, "ddd"}, {                                                         \
        opcode ".s64", f##_u64, "ddd"                                                              \
    }
static const struct scalar carrying[] = {
    CARRYING("add.cc", add_cc), CARRYING("addc", addc), CARRYING("addc.cc", addc_cc),
    CARRYING("sub.cc", sub_cc), CARRYING("subc", subc), CARRYING("subc.cc", subc_cc),
};
const struct scalar_group carry_group =
    SCALAR_GROUP("Extended-Precision Integer Arithmetic Instructions", MODELLED, carrying);

static const struct scalar wide[] = {
    TYPES("mul.hi", mul_hi_, "hhh", "www", "ddd"),
    {"mul.wide.u16", mul_wide_u16, "whh"},
    {"mul.wide.s16", mul_wide_s16, "whh"},
    {"mul.wide.u32", mul_wide_u32, "dww"},
    {"mul.wide.s32", mul_wide_s32, "dww"},
    {"mad.hi.u32", mad_hi_u32, "wwww"},
    {"mad.hi.s32", mad_hi_s32, "wwww"},
    {"mad.hi.u64", mad_hi_u64, "dddd"},
    {"mad.hi.s64", mad_hi_s64, "dddd"},
    {"mad.wide.u16", mad_wide_u16, "whhw"},
    {"mad.wide.s16", mad_wide_s16, "whhw"},
    {"mad.wide.u32", mad_wide_u32, "dwwd"},
    {"mad.wide.s32", mad_wide_s32, "dwwd"},
};
const struct scalar_group wide_integer_group =
    SCALAR_GROUP("Integer Arithmetic Instructions", MODELLED, wide);
