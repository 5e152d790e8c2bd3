/*
 * gemm_scales.h: operands of 8 and 4 bits, whose elements mean something only with their scales
 * (chapters 11 and 12).
 *
 * In e4m3 problems, A and B hold 8-bit elements with scales, lda and ldb are multiples of 16, and D
 * is bf16. In w4a8 problems the same holds for A, and B holds 4-bit weights and their scales in
 * blocks (w4_block.h).
 */
#ifndef GEMM_SCALES_H
#define GEMM_SCALES_H

#include <stdint.h>

/* An element of 8 bits: sign, 4 bits of exponent, 3 of mantissa. No infinities; the greatest number
 * is 448. In these problems the pointers of gemm_problem and gemm_args to elements of A and B are
 * pointers to this type. */
typedef struct {
    uint8_t bits;
} e4m3_t;

/* What an e4m3 means: in A times the scale of its row and its block of k, in B times that of its
 * block of columns and of k. Scales are stored so that those which a tile needs for one block of k
 * lie side by side; pitches are multiples of 16 bytes, the padding is anything. In w4a8 problems a
 * row of A has one scale, whatever the block: a is [1][pitch_a], and b is NULL. A kernel with
 * gemm_kernel.tensor_scales, of e4m3, takes the first scale of A and the first of B for all of
 * them, so its problems must have no others. */
enum { SCALE_BLOCK = 128 }; /* elements of k, and of n */
struct gemm_scales {
    const float *a;       /* [ceil(k / SCALE_BLOCK)][pitch_a], of m rows each */
    const float *b;       /* [ceil(n / SCALE_BLOCK)][pitch_b], of the blocks of k */
    int pitch_a, pitch_b; /* floats, multiples of 4 */
};

#endif
