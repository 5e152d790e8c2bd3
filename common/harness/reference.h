/*
 * reference.h: what D must be, and how far from it a correct kernel may land.
 *
 * The reference is A * B in fp64 on the CPU: all elements of a small problem; of a large one the first, the last and a random
 * row and column, and one random element of every 128 x 128 block.
 *
 * The bound. A correct kernel adds the k exact products in fp32, in an order nobody specifies, and rounds the sum once to
 * 16 bits. Let q = sqrt(sum over i of (a_i * b_i)^2).
 *
 *  - Partial sums. The inputs are symmetric around zero, so given the magnitudes the signs of the products are
 *    independent coin flips: any sum of some of them exceeds 8 q with probability below 4 * exp(-32) = 5e-14 (Hoeffding, and Levy for the
 *    largest along the way). It never exceeds sqrt(k) * q (Cauchy-Schwarz). So |partial sum| <= min(8, sqrt(k)) * q.
 *  - Errors of the additions. fp32 on the CUDA cores rounds each of k additions by at most 2^-24 of the partial sum. The Tensor Core
 *    adds groups of products to the accumulator after aligning all to the largest and cutting off what lies
 *    below its last place: at most 2^-23 of the largest for each product and the accumulator, and again for the
 *    result; with groups of eight or more 5/4 k in all, and a few for the ends. So steps(k) = 5/4 k + 32 errors of at most 2^-23.
 *  - q^2 <= sqrt(sum a_i^4 * sum b_i^4) (Cauchy-Schwarz), which costs O(mk + nk) for all elements together.
 *
 *   accumulation(i, j) = steps(k) * 2^-23 * min(8, sqrt(k)) * |a_i|_4 * |b_j|_4      with |x|_4 = (sum x^4)^(1/4)
 *   bound(i, j) = accumulation + half a unit in the last place (16 bits) of |reference| + accumulation
 *
 * It grows with k (as k^1.5 for random input) and with |A| * |B|; for zeros it is zero. Integer input has no bound: all sums are
 * exact, so D must be the reference rounded to nearest even, bit for bit. The signs of zeros are not compared.
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
