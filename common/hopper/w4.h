/*
 * w4.h: 4-bit weights in the order of w4_block.h, made e4m3 in registers.
 *
 * A word holds eight weights. Four of them lie where four e4m3 have their signs and the lowest bits
 * of their mantissas, and the other four lie there after a rotation by four bits:
 *
 *     an e4m3            s eeee mmm    exponent field 0: a subnormal, mmm * 2^-9
 *     a byte             S mmms MMM    S MMM is a weight of the first four; the rest is of others
 *     W4_MASK, a byte    1 0000 111
 *
 * PTX ISA: lop3.b32, shf.r.wrap.b32, prmt.b32.
 */
#ifndef HOPPER_W4_H
#define HOPPER_W4_H

#include "hopper/thread.h"

#define W4_MASK 0x87878787u
#define W4_SIGNS 0x80808080u
/* What an e4m3 of w4_to_e4m3() is multiplied by to be the weight. */
#define W4_UNIT 512.0f
/* A table for w4_to_e4m3_by_table(): the e4m3 of 0 to 3, and of 4 to 7. */
#define W4_TABLE {0x44403800u, 0x4e4c4a48u}

#ifdef __CUDACC__

/* Makes `count` words, a constant, 2 * count registers of four e4m3 each, 2^-9 times the weights:
 * e4m3[2 i] and e4m3[2 i + 1] of words[i]. Three instructions for a word: lop3, shf, lop3. Whole
 * warps call. */
DEVICE void w4_to_e4m3(uint32_t *e4m3, const uint32_t *words, int count) {
    UNROLL for (int i = 0; i < count; ++i) {
        e4m3[2 * i] = words[i] & W4_MASK;
        e4m3[2 * i + 1] = __funnelshift_r(words[i], words[i], 4) & W4_MASK;
    }
}

/* The same by a table of any eight e4m3, one for each magnitude. prmt takes a byte of eight by
 * three bits, four times; two more put the bytes in order. Nine instructions for a word. Whole
 * warps call. */
DEVICE void w4_to_e4m3_by_table(uint32_t *e4m3, const uint32_t *words, const uint32_t table[2],
                                int count) {
    UNROLL for (int i = 0; i < count; ++i) {
        const uint32_t at = words[i] & 0x77777777u; /* bit 3 would copy the byte's sign */
        const uint32_t low = __byte_perm(table[0], table[1], at);
        const uint32_t high = __byte_perm(table[0], table[1], at >> 16);
        e4m3[2 * i] = __byte_perm(low, high, 0x6420) | (words[i] & W4_SIGNS);
        e4m3[2 * i + 1] = __byte_perm(low, high, 0x7531) |
                          (__funnelshift_r(words[i], words[i], 4) & W4_SIGNS);
    }
}

#else
#include "sim/hopper/w4.h"
#endif

#endif
