/*
 * w4.h: 4-bit weights in the order of w4_block.h, made e4m3 in registers.
 *
 * A word holds eight weights. Four of them lie where four e4m3 have their signs and the lowest bits
 * of their mantissas, and the other four lie there after a rotation by four bits:
 *
 *     an e4m3            s eeee mmm    exponent field 0: a subnormal, mmm * 2^-9
 *     a byte             S mmms MMM    S MMM is a weight of the first four; mmm, s are of others
 *     W4_MASK, a byte    1 0000 111
 *
 * PTX ISA: lop3.b32, shf.r.wrap.b32.
 */
#ifndef HOPPER_W4_H
#define HOPPER_W4_H

#include "hopper/thread.h"

#define W4_MASK 0x87878787u
/* What an e4m3 of w4_to_e4m3() is multiplied by to be the weight. */
#define W4_UNIT 512.0f

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

#else
#include "sim/hopper/w4.h"
#endif

#endif
