/*
 * formats.h: e4m3 and 4-bit operands, their scales, and the real data that they were made from.
 *
 * The real data are the input's 16-bit numbers (inputs.h, as bf16), times a power of two from 1/4
 * to 4 for each block that gets a scale: 1 x 128 of A, 128 x 128 of B. So neighbouring scales
 * differ, as those of a network's layers do, and the wrong one shows. A scale is the greatest
 * magnitude of its block (tensors_format: of the matrix) over 448, and an element the e4m3 that is
 * nearest to the quotient.
 *
 * Whole numbers are not quantized, but are e4m3 themselves; their scales are 1 or 2, by block
 * (tensors_format: 2 for A and 1/2 for B).
 *
 * w4a8: in A, a row has one scale. In B, each row has one for every 128 of k, and the elements are
 * whole numbers up to 7 (w4_block.h), as which greater whole numbers count, too.
 *
 * The bound, as in harness/reference.h. The Tensor Core adds 32 products and the accumulator in a
 * step, each cut to 13 bits below the exponent of the greatest, M, and cuts the result to 13 bits
 * behind its first. So each of a step's 34 errors is at most 2^-13 M. Those of the products have
 * the products' signs, coin flips again: they add up like a random walk. The other two go towards
 * zero always, and add up along a chain of steps, which ends where the sum is promoted, after
 * L = 128 of k (tensors_format: never, L = k). The errors of different chains are independent in
 * sign: flip all signs of a chain, and they are flipped. Let Q be the sum of (scale * q)^2 of all
 * chains, S the greatest of them, and B their number. In each step the squares of all chains' M add
 * up to no more than G^2 = Q + 2 sqrt(32 S Q) + 64 S, but for a probability of exp(-32) (Hsu,
 * Kakade, Zhang 2012: "A tail inequality for quadratic forms of subgaussian random vectors"). Then
 *
 *     products          8 * sqrt(L) * 2^-13 * G                (L products, L / 32 steps; Azuma)
 *     the other two     min(8, sqrt(B)) * L / 16 * 2^-13 * G   (Hoeffding; Cauchy and Schwarz)
 *     promotion in fp32 (B + 2) * 2^-23 * min(8, sqrt(k)) * sqrt(Q)
 *     accumulation      their sum
 *
 * and of each chain (scale * q)^2 is bounded by |.|_4 as there, of elements times scales. For
 * random input it grows as k^0.5.
 *
 * w4a8: the same, promoted always. A weight may be a subnormal e4m3, and of that the Tensor Core
 * takes the least normal exponent: that of weight 8. So M may be greater than any product, and
 * for the bound each weight counts as 8, but for 0, whose products have no exponent.
 *
 * RESULT_E4M3_WEIGHTS: a weight is the e4m3 nearest to the product of weight and scale. One below
 * 2^-6 is subnormal and counts as 2^-6, and the sum is never promoted, as with tensors_format.
 * Integers have a bound, too, because a sum over all of k may need more than 14 bits.
 */
#ifndef SCALED_FORMATS_H
#define SCALED_FORMATS_H

#include "harness/problem_kind.h"
#include "scaled/scales.h"

/* Of the Tensor Core's sums 14 bits are kept, and whole-number scales of both operands multiply to
 * at most 4. */
enum { E4M3_EXACT_SUM = 1 << 14, MOST_INTEGER_SCALE = 4 };

/* e4m3 with a scale for each block, or one for all of A and one for all of B; w4a8, and w4a8 as
 * RESULT_E4M3_WEIGHTS has it, of operands that weights_format has made. */
extern const struct operand_format blocks_format, tensors_format, weights_format,
    e4m3_weights_format;

/* In operands.of_format. */
struct scaled_operands {
    float *scale_a, *scale_b; /* struct gemm_scales says what lies where */
    int scale_a_pitch, scale_b_pitch;
    /* Of w4a8, what the blocks were made from: scale_b is [n][scale_b_pitch], and the weights: */
    int8_t *weights;            /* [n][k] */
    struct input_source source; /* of the real data */
};

static inline const struct scaled_operands *scaled_of(const struct operands *o) {
    return o->of_format;
}

/* The real data of a row of 'A' or 'B'. */
void real_row(const struct operands *operands, char matrix, int row, float *values);

/* The scale of a row of A or B, and a block of k. */
float scale_of(const struct operands *operands, char matrix, int row, int block);

/* operand_format.make(), of all of them. */
bool quantize_operands(struct operands *operands, int limit);
/* w4a8, in both formats. */
static inline bool has_weights(const struct operands *o) { return o->type == GEMM_W4A8; }

/* ---- for a kind whose operands have scales ---- */

/* As problem_kind has them, of the scales alone. */
int scaled_matrices(const struct kind_problem *p, struct kind_matrix *matrix);
void scaled_fill(const struct kind_problem *p, int matrix, int row, void *elements);
/* A row of MATRIX_SCALES_A or MATRIX_SCALES_B. */
void scaled_row(const struct operands *o, int matrix, int row, float *scales);

#endif
