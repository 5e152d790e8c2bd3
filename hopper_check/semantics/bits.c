/*
 * bits.c: PTX ISA, "Logic and Shift Instructions", and the instructions on fields of bits.
 */
#include "semantics/define.h"

/* ---- logic; a predicate is 0 or 1 ---- */

#define FOR_BITS(define, name, value)                                                              \
    define(name##_16, u16, u16, value) define(name##_32, u32, u32, value)                          \
        define(name##_64, u64, u64, value)
FOR_BITS(DEFINE2, and, a &b)
FOR_BITS(DEFINE2, or, a | b)
FOR_BITS(DEFINE2, xor, a ^ b)
FOR_BITS(DEFINE1, not, ~a)
FOR_BITS(DEFINE1, cnot, a == 0)
DEFINE1(not_pred, u32, u32, !a)

/* Bit i of the table is the value for a, b, c with the bits of i: a is the highest. */
static void lop3(const struct operation *op, struct frame *frame) {
    const uint32_t a = VALUE(reg_u32, 1), b = VALUE(reg_u32, 2), c = VALUE(reg_u32, 3);
    const uint32_t table = VALUE(reg_u32, 4);
    uint32_t result = 0;
    for (int i = 0; i < 8; ++i)
        if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    VALUE(reg_u32, 0) = result;
}

static const struct scalar logic[] = {
    {"and.b16", and_16, "hhh"},   {"and.b32", and_32, "www"},  {"and.b64", and_64, "ddd"},
    {"and.pred", and_32, "ppp"},  {"or.b16", or_16, "hhh"},    {"or.b32", or_32, "www"},
    {"or.b64", or_64, "ddd"},     {"or.pred", or_32, "ppp"},   {"xor.b16", xor_16, "hhh"},
    {"xor.b32", xor_32, "www"},   {"xor.b64", xor_64, "ddd"},  {"xor.pred", xor_32, "ppp"},
    {"not.b16", not_16, "hh"},    {"not.b32", not_32, "ww"},   {"not.b64", not_64, "dd"},
    {"not.pred", not_pred, "pp"}, {"cnot.b16", cnot_16, "hh"}, {"cnot.b32", cnot_32, "ww"},
    {"cnot.b64", cnot_64, "dd"},  {"lop3.b32", lop3, "wwwww"},
};
const struct scalar_group logic_group =
    SCALAR_GROUP("Logic and Shift Instructions", MODELLED, logic);

/* ---- shifts: amounts beyond the width shift everything out ---- */

#define SHIFT(name, type, width, shifted, out)                                                     \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const reg_##type a = VALUE(reg_##type, 1);                                                 \
        const uint32_t n = VALUE(reg_u32, 2);                                                      \
        VALUE(reg_##type, 0) = (reg_##type)(n < width ? shifted : out);                            \
    }
SHIFT(shl_16, u16, 16, a << n, 0)
SHIFT(shl_32, u32, 32, a << n, 0)
SHIFT(shl_64, u64, 64, a << n, 0)
SHIFT(shr_u16, u16, 16, a >> n, 0)
SHIFT(shr_u32, u32, 32, a >> n, 0)
SHIFT(shr_u64, u64, 64, a >> n, 0)
SHIFT(shr_s16, s16, 16, a >> n, a < 0 ? -1 : 0)
SHIFT(shr_s32, s32, 32, a >> n, a < 0 ? -1 : 0)
SHIFT(shr_s64, s64, 64, a >> n, a < 0 ? -1 : 0)

/* A funnel: operand 1 is the low half. */
#define FUNNEL(name, amount, value)                                                                \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const uint64_t both = (uint64_t)VALUE(reg_u32, 2) << 32 | VALUE(reg_u32, 1);               \
        const uint32_t c = VALUE(reg_u32, 3), n = amount;                                          \
        VALUE(reg_u32, 0) = (uint32_t)(value);                                                     \
    }
FUNNEL(shf_l_wrap, c & 31, both << n >> 32)
FUNNEL(shf_r_wrap, c & 31, both >> n)
FUNNEL(shf_l_clamp, c < 32 ? c : 32, both << n >> 32)
FUNNEL(shf_r_clamp, c < 32 ? c : 32, both >> n)

/* ---- fields ---- */

DEFINE1(popc_32, u32, u32, __builtin_popcount(a))
DEFINE1(popc_64, u32, u64, __builtin_popcountll(a))
DEFINE1(clz_32, u32, u32, a ? __builtin_clz(a) : 32)
DEFINE1(clz_64, u32, u64, a ? __builtin_clzll(a) : 64)
DEFINE1(bfind_u32, u32, u32, a ? 31 - __builtin_clz(a) : -1)
DEFINE1(bfind_s32, u32, u32,
        (a ^ a >> 31) && a != UINT32_MAX ? 31 - __builtin_clz((int32_t)a < 0 ? ~a : a) : -1)
DEFINE1(bfind_u64, u32, u64, a ? 63 - __builtin_clzll(a) : -1)

DEFINE1(bfind_s64, u32, u64,
        (a ^ a >> 63) && a != UINT64_MAX ? 63 - __builtin_clzll((int64_t)a < 0 ? ~a : a) : -1)
/* How far to shift left so that the bit comes to be the highest. */
DEFINE1(shiftamt_u32, u32, u32, a ? __builtin_clz(a) : -1)
DEFINE1(shiftamt_u64, u32, u64, a ? __builtin_clzll(a) : -1)
DEFINE1(shiftamt_s32, u32, s32,
        a < 0 ? ~a ? __builtin_clz(~(uint32_t)a) : -1
        : a   ? __builtin_clz((uint32_t)a)
              : -1)
DEFINE1(shiftamt_s64, u32, s64,
        a < 0 ? ~a ? __builtin_clzll(~(uint64_t)a) : -1
        : a   ? __builtin_clzll((uint64_t)a)
              : -1)

/* b ones from bit a on. */
static uint32_t ones(uint32_t position, uint32_t length) {
    const uint64_t end = (uint64_t)position + length;
    const uint64_t below = position < 32 ? (UINT64_C(1) << position) - 1 : UINT32_MAX;
    return (uint32_t)(((end < 32 ? UINT64_C(1) << end : UINT64_C(1) << 32) - 1) & ~below);
}
DEFINE2(bmsk_clamp, u32, u32, ones(a, b))
DEFINE2(bmsk_wrap, u32, u32, ones(a & 31, b & 31))

static uint64_t reversed(uint64_t bits, int width) {
    uint64_t result = 0;
    for (int i = 0; i < width; ++i)
        result |= (bits >> i & 1) << (width - 1 - i);
    return result;
}
DEFINE1(brev_32, u32, u32, reversed(a, 32))
DEFINE1(brev_64, u64, u64, reversed(a, 64))

/* `length` bits from `position` on; behind the highest one comes zero, or the sign. The ISA has
 * both from 0 to 255; on the GPU higher bits count in the form of 64 bits, and in that of 32 they
 * do not. */
static uint64_t extracted(uint64_t a, uint32_t position, uint32_t length, int width, bool sign) {
    const uint32_t mask_of_both = width == 32 ? 255 : UINT32_MAX;
    position &= mask_of_both;
    length &= mask_of_both;
    if (!length) return 0;
    const uint64_t last = (uint64_t)position + length - 1;
    const uint32_t top = last < (uint32_t)width ? (uint32_t)last : (uint32_t)width - 1;
    const uint64_t fill = sign && a >> top & 1 ? ~UINT64_C(0) : 0;
    if (position >= (uint32_t)width) return fill;
    const uint32_t bits = top - position + 1;
    const uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : ~UINT64_C(0);
    return (a >> position & mask) | (fill & ~mask);
}
#define EXTRACT(name, type, width, sign)                                                           \
    static void name(const struct operation *op, struct frame *frame) {                            \
        VALUE(reg_##type, 0) = (reg_##type)extracted(VALUE(reg_##type, 1), VALUE(reg_u32, 2),      \
                                                     VALUE(reg_u32, 3), width, sign);              \
    }
EXTRACT(bfe_u32, u32, 32, false)
EXTRACT(bfe_s32, u32, 32, true)
EXTRACT(bfe_u64, u64, 64, false)
EXTRACT(bfe_s64, u64, 64, true)

static uint64_t inserted(uint64_t a, uint64_t b, uint32_t position, uint32_t length, int width) {
    const uint32_t mask_of_both = width == 32 ? 255 : UINT32_MAX;
    position &= mask_of_both;
    length &= mask_of_both;
    if (!length || position >= (uint32_t)width) return b;
    const uint64_t mask = (length < 64 ? (UINT64_C(1) << length) - 1 : ~UINT64_C(0)) << position;
    return (b & ~mask) | (a << position & mask);
}
#define INSERT(name, type, width)                                                                  \
    static void name(const struct operation *op, struct frame *frame) {                            \
        VALUE(reg_##type, 0) = (reg_##type)inserted(VALUE(reg_##type, 1), VALUE(reg_##type, 2),    \
                                                    VALUE(reg_u32, 3), VALUE(reg_u32, 4), width);  \
    }
INSERT(bfi_32, u32, 32)
INSERT(bfi_64, u64, 64)

/* Four bytes of eight, the lowest are operand 1's; bit 3 of a selector repeats the byte's sign. */
static void prmt(const struct operation *op, struct frame *frame) {
    const uint64_t bytes = (uint64_t)VALUE(reg_u32, 2) << 32 | VALUE(reg_u32, 1);
    const uint32_t selector = VALUE(reg_u32, 3);
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
        const uint32_t s = selector >> 4 * i & 15, byte = (uint32_t)(bytes >> 8 * (s & 7)) & 255;
        result |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
    }
    VALUE(reg_u32, 0) = result;
}

/* The modes that are made for one use: byte i of the result is byte f(i) of the eight, where the
 * selector has two bits. */
#define PRMT_MODE(name, f)                                                                         \
    static void prmt_##name(const struct operation *op, struct frame *frame) {                     \
        const uint64_t bytes = (uint64_t)VALUE(reg_u32, 2) << 32 | VALUE(reg_u32, 1);              \
        const int s = (int)(VALUE(reg_u32, 3) & 3);                                                \
        uint32_t result = 0;                                                                       \
        for (int i = 0; i < 4; ++i)                                                                \
            result |= (uint32_t)(bytes >> 8 * (f)&255) << 8 * i;                                   \
        VALUE(reg_u32, 0) = result;                                                                \
    }
PRMT_MODE(f4e, s + i)
PRMT_MODE(b4e, (8 + s - i) % 8)
PRMT_MODE(rc8, s)
PRMT_MODE(ecl, i > s ? i : s)
PRMT_MODE(ecr, i < s ? i : s)
PRMT_MODE(rc16, (s & 1) * 2 + i % 2)

/* The place of the bit that is set, `offset` such bits away from the one at `base`. */
static uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t offset) {
    const int step = offset < 0 ? -1 : 1;
    int64_t left = offset ? (int64_t)offset * step - 1 : 0;
    if (base > 31 || (!offset && !(mask >> base & 1))) return UINT32_MAX;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && left-- == 0) return (uint32_t)at;
    return UINT32_MAX;
}
DEFINE3(fns, u32, u32, find_nth_set(a, b, (int32_t)c))

static const struct scalar bits[] = {
    {"shl.b16", shl_16, "hhw"},
    {"shl.b32", shl_32, "www"},
    {"shl.b64", shl_64, "ddw"},
    {"shr.b16", shr_u16, "hhw"},
    {"shr.u16", shr_u16, "hhw"},
    {"shr.s16", shr_s16, "hhw"},
    {"shr.b32", shr_u32, "www"},
    {"shr.u32", shr_u32, "www"},
    {"shr.s32", shr_s32, "www"},
    {"shr.b64", shr_u64, "ddw"},
    {"shr.u64", shr_u64, "ddw"},
    {"shr.s64", shr_s64, "ddw"},
    {"shf.l.wrap.b32", shf_l_wrap, "wwww"},
    {"shf.r.wrap.b32", shf_r_wrap, "wwww"},
    {"shf.l.clamp.b32", shf_l_clamp, "wwww"},
    {"shf.r.clamp.b32", shf_r_clamp, "wwww"},
    {"fns.b32", fns, "wwww"},
    {"popc.b32", popc_32, "ww"},
    {"popc.b64", popc_64, "wd"},
    {"clz.b32", clz_32, "ww"},
    {"clz.b64", clz_64, "wd"},
    {"bfind.u32", bfind_u32, "ww"},
    {"bfind.s32", bfind_s32, "ww"},
    {"bfind.u64", bfind_u64, "wd"},
    {"bfind.s64", bfind_s64, "wd"},
    {"bfind.shiftamt.u32", shiftamt_u32, "ww"},
    {"bfind.shiftamt.u64", shiftamt_u64, "wd"},
    {"bfind.shiftamt.s32", shiftamt_s32, "ww"},
    {"bfind.shiftamt.s64", shiftamt_s64, "wd"},
    {"bmsk.clamp.b32", bmsk_clamp, "www"},
    {"bmsk.wrap.b32", bmsk_wrap, "www"},
    {"brev.b32", brev_32, "ww"},
    {"brev.b64", brev_64, "dd"},
    {"bfe.u32", bfe_u32, "wwww"},
    {"bfe.s32", bfe_s32, "wwww"},
    {"bfe.u64", bfe_u64, "ddww"},
    {"bfe.s64", bfe_s64, "ddww"},
    {"bfi.b32", bfi_32, "wwwww"},
    {"bfi.b64", bfi_64, "dddww"},
    {"prmt.b32", prmt, "wwww"},
    {"prmt.b32.f4e", prmt_f4e, "wwww"},
    {"prmt.b32.b4e", prmt_b4e, "wwww"},
    {"prmt.b32.rc8", prmt_rc8, "wwww"},
    {"prmt.b32.ecl", prmt_ecl, "wwww"},
    {"prmt.b32.ecr", prmt_ecr, "wwww"},
    {"prmt.b32.rc16", prmt_rc16, "wwww"},
};
const struct scalar_group bit_group = SCALAR_GROUP("Logic and Shift Instructions", MODELLED, bits);
