/*
 * reference.h: what D must be, and how far from it a correct kernel may land.
 *
 * The reference is A * B in fp64 on the CPU: all elements of a small problem; of a large one the
 * first, the last and a random row and column, and one random element of every 128 x 128 block.
 *
 * The bound. A correct kernel adds the k exact products in fp32, in an order nobody specifies, and
 * rounds the sum once to 16 bits. Let q be the root of the sum over i of (a_i * b_i)^2.
 *
 * Partial sums: the inputs are symmetric around zero, so given the magnitudes the signs of the
 * products are independent coin flips. Then the sums along the way exceed 8 q with a probability
 * below 4 exp(-32) = 5e-14 (Hoeffding for one, Levy for the largest), and sqrt(k) q never (Cauchy
 * and Schwarz). So take |partial sum| <= min(8, sqrt(k)) q.
 *
 * Errors of the additions: fp32 on the CUDA cores rounds each of k additions by at most 2^-24 of
 * the partial sum. The Tensor Core aligns a group of products and the accumulator to the largest of
 * them and cuts off what lies below its last place: at most 2^-23 of the largest for each, and once
 * more for the result. With groups of eight or more these are 5/4 k errors; add a few for the ends.
 * So there are steps(k) = 5/4 k + 32 errors of at most 2^-23 of the partial sum.
 *
 * And q^2 <= sqrt(sum of a_i^4 * sum of b_i^4), which costs O(mk + nk) for all elements together.
 * With |x|_4 = (sum of x^4)^(1/4):
 *
 *     accumulation(i, j) = steps(k) * 2^-23 * min(8, sqrt(k)) * |a_i|_4 * |b_j|_4
 *     bound(i, j) = accumulation(i, j) + half_ulp(|reference(i, j)| + accumulation(i, j))
 *
 * It grows with k (as k^1.5 for random input) and with |A| * |B|; for zeros it is zero. Integer
 * input has no bound: all sums are exact, so D must be the reference rounded to nearest even, bit
 * for bit. The signs of zeros are not compared.
 */
#ifndef HARNESS_REFERENCE_H
#define HARNESS_REFERENCE_H

#include "harness/inputs.h"

/* A and B on the host, their padding included. */
struct operands {
    int m, n, k;
    int64_t lda, ldb, ldd;
    enum gemm_type type;
    enum input_kind kind;
    uint64_t seed;
    uint16_t *a; /* [m][lda] */
    uint16_t *b; /* [n][ldb] */
};

/* One element of A * B. */
struct sample {
    int row, column;
    double value;
};

struct reference {
    bool complete;          /* the samples are all elements */
    struct sample *samples; /* row by row if complete */
    int64_t count;
    float *row_norm, *column_norm; /* [m], [n]: their product is accumulation(i, j) */
};

/* What the padding between k and the leading dimension holds: a NaN in both types. */
enum { OPERAND_PADDING = 0x7fa5 };

/* The multiple of 8 that a matrix of this many columns is padded to. */
int64_t leading_dimension(int columns);

/* Makes the operands. False if there is no memory for them. */
bool operands_make(struct operands *operands, int m, int n, int k, enum gemm_type type,
                   enum input_kind kind, uint64_t seed);
void operands_free(struct operands *operands);

/* Is the problem so small that the reference has all elements? */
bool reference_is_complete(int m, int n, int k);
/* False if there is no memory for it. */
bool reference_make(struct reference *reference, const struct operands *operands);
void reference_free(struct reference *reference);

/* Half a unit in the last place of a 16-bit number of this magnitude. */
double half_ulp(double magnitude, enum gemm_type type);

#endif
