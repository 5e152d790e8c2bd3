/*
 * reference.h: what D must be, and how far from it a correct kernel may land.
 *
 * The reference is A * B in fp64 on the CPU, of the elements that samples.h chooses.
 *
 * The bound. A correct kernel adds the k exact products in fp32, in an unspecified order, and
 * rounds the sum once to 16 bits. Let q be the root of the sum over i of (a_i * b_i)^2.
 *
 * Partial sums: the inputs are symmetric around zero, so given the magnitudes the signs of the
 * products are independent coin flips. Then the sums along the way exceed 8 q with a probability
 * below 4 exp(-32) = 5e-14 (Hoeffding for one, Levy for the largest), and sqrt(k) q never (Cauchy
 * and Schwarz). So take |partial sum| <= min(8, sqrt(k)) q.
 *
 * Errors of the additions, in units of 2^-23 of the partial sum. fp32 on the CUDA cores rounds each
 * of k additions by at most half a unit. The Tensor Core (docs/numerics.md) aligns 8 products or
 * more and the accumulator to the largest of them, cuts each 25 bits below it, a quarter of a unit,
 * and the result behind its 24th bit, one unit. The errors of the CUDA cores, and of the products,
 * whose cuts have their signs, are a random walk again: 8 times the root of the sum of squares. The
 * cuts of the accumulator and of the result go towards zero always, and add up. A few more are the
 * ends, and the sums of a k that is cut into parts. So
 *
 *     steps(k) = 8 * sqrt(k) / 2 + 5/4 * k / 8 + 32
 *
 * And q^2 <= sqrt(sum of a_i^4 * sum of b_i^4), which costs O(mk + nk) for all elements together.
 * With |x|_4 = (sum of x^4)^(1/4):
 *
 *     accumulation(i, j) = steps(k) * 2^-23 * min(8, sqrt(k)) * |a_i|_4 * |b_j|_4
 *     bound(i, j) = accumulation(i, j) + half_ulp(|reference(i, j)| + accumulation(i, j))
 *
 * e4m3: the Tensor Core adds 32 products and the accumulator in a step, each cut to 13 bits below
 * the exponent of the greatest, M, and cuts the result to 13 bits behind its first. So each of a
 * step's 34 errors is at most 2^-13 M. Those of the products have the products' signs, coin flips
 * again: they add up like a random walk. The other two go towards zero always, and add up along a
 * chain of steps, which ends where the sum is promoted, after L = 128 of k (tensor_scales: never,
 * L = k). The errors of different chains are independent in sign: flip all signs of a chain, and
 * they are flipped. Let Q be the sum of (scale * q)^2 of all chains, S the greatest of them, and B
 * their number. In each step the squares of all chains' M add up to no more than
 * G^2 = Q + 2 sqrt(32 S Q) + 64 S, but for a probability of exp(-32) (Hsu, Kakade, Zhang 2012: "A
 * tail inequality for quadratic forms of subgaussian random vectors"). Then
 *
 *     products          8 * sqrt(L) * 2^-13 * G                (L products, L / 32 steps; Azuma)
 *     the other two     min(8, sqrt(B)) * L / 16 * 2^-13 * G   (Hoeffding; Cauchy and Schwarz)
 *     promotion in fp32 (B + 2) * 2^-23 * min(8, sqrt(k)) * sqrt(Q)
 *     accumulation      their sum
 *
 * and of each chain (scale * q)^2 is bounded by |.|_4 as above, of elements times scales.
 *
 * Kernels for several devices add up parts, sums over a slice of k each, which may have been
 * rounded to 16 bits before (gemm_kernel.rounds_parts). By the same argument as above a part is at
 * most P = min(8, sqrt(k)) |a_i|_4 |b_j|_4, so each of them adds half_ulp(P) to the bound.
 *
 * w4a8: the same, promoted always. A weight may be a subnormal e4m3, and of that the Tensor Core
 * takes the least normal exponent: that of weight 8. So M may be greater than any product, and
 * for the bound each weight counts as 8, but for 0, whose products have no exponent.
 *
 * RESULT_E4M3_WEIGHTS: a weight is the e4m3 nearest to the product of weight and scale. One below
 * 2^-6 is subnormal and counts as 2^-6, and the sum is never promoted, as with tensor_scales.
 * Integers have a bound, too, because a sum over all of k may need more than 14 bits.
 *
 * The bound grows with k (for random input between k and k^1.5; of promoted e4m3 as k^0.5) and with
 * |A| * |B|; for zeros it is zero. Integer input has no bound: all sums are exact, so D must be the
 * reference rounded to nearest even, bit for bit. The signs of zeros are not compared.
 */
#ifndef HARNESS_REFERENCE_H
#define HARNESS_REFERENCE_H

#include "harness/operands.h"
#include "harness/samples.h"

/* What one output must be. */
struct reference {
    bool complete;          /* the samples are all elements */
    struct sample *samples; /* row by row if complete */
    int64_t count;
    bool integers;  /* the input is INPUT_INTEGER */
    bool is_scaled; /* e4m3 and w4a8 */
    /* [m][chains], [n][chains]: of 16 bits their product is accumulation(i, j), and chains is 1; of
     * e4m3 and w4a8 they are |.|_4 of the chains, scaled. */
    float *row_norm, *column_norm;
    int chains;
    double addition_errors; /* of 16 bits: steps(k) * 2^-23 */
    /* Of e4m3 and w4a8: each sample for the real data, and what G and the root of Q are multiplied
     * by. */
    double *real;
    double chain_errors, promotion_errors;
    /* Of another kind of problem, what stands for accumulation(i, j); NULL: this is A * B. */
    double (*error)(const void *of, int row, int column, double value);
    const void *of;
    double *sample_error;            /* its value for each sample; NULL: there is no other kind */
    const struct reference *product; /* its product's bound; NULL: this is that of A * B itself */
};

/* Makes the operands, of whole numbers from -limit to limit if they are integers. `tensor_scales`:
 * of e4m3, see there. False if there is no memory for them. */
bool operands_make(struct operands *operands, int m, int n, int k, enum gemm_type type,
                   enum input_kind input, uint64_t seed, int limit, bool tensor_scales);

/* False if there is no memory for it. */
bool reference_make(struct reference *reference, const struct operands *operands);
/* Without samples: only what reference_accumulation() needs. */
bool reference_make_bound(struct reference *reference, const struct operands *operands);
void reference_free(struct reference *reference);

/* accumulation(i, j) */
double reference_accumulation(const struct reference *reference, int row, int column);
/* How far an output may be from `value` before it is rounded: that, or the kind's own. */
double reference_error(const struct reference *reference, int row, int column, double value);

/* Keeps small operands decoded, for the two below: otherwise they decode a row at every call. */
void operands_decode(struct operands *operands);
/* A row of 'A' or 'B' without its scales; in `buffer`, of k elements, if it is not kept decoded. */
const float *operands_row(const struct operands *operands, char matrix, int row, float *buffer);
/* An element of A * B in fp64. */
double operands_product(const struct operands *operands, int row, int column);

/* Of operands of 16 bits: |partial sum| is at most this. */
double reference_partial_sum(const struct reference *reference, int row, int column);

/* Half a unit in the last place of a number of this type and magnitude. */
double half_ulp(double magnitude, enum gemm_type type);

#endif
