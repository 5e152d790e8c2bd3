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
 * Operands in another format have another bound (operand_format.h).
 *
 * The bound grows with k (for random input between k and k^1.5) and with |A| * |B|; for zeros it is
 * zero. Integer input has no bound: all sums are exact, so D must be the reference rounded to
 * nearest even, bit for bit. The signs of zeros are not compared.
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
    bool integers; /* the input is INPUT_INTEGER */
    double *real;  /* each sample of what the operands were made from; NULL: of themselves */
    const struct operand_format *format; /* what the next ones belong to: */
    /* [m][chains], [n][chains]; of elements_format, whose chains is 1, their product is
     * accumulation(i, j). */
    float *row_norm, *column_norm;
    int chains;
    double addition_errors; /* steps(k) * 2^-23 */
    double chain_errors, promotion_errors;
    /* Of another kind of problem, what stands for accumulation(i, j); NULL: this is A * B. */
    double (*error)(const void *of, int row, int column, double value);
    const void *of;
    bool (*is_gap)(const void *of, int row); /* does the row belong to nothing? NULL: none does */
    double *sample_error; /* error()'s value for each sample; NULL: there is no other kind */
    const struct reference *product; /* its product's bound; NULL: this is that of A * B itself */
};

/* Makes the operands, of whole numbers from -limit to limit if they are integers. False if there is
 * no memory for them. */
bool operands_make(struct operands *operands, const struct operand_format *format, int m, int n,
                   int k, enum gemm_type type, enum input_kind input, uint64_t seed, int limit);

/* False if there is no memory for it. */
bool reference_make(struct reference *reference, const struct operands *operands);
/* Without samples: only what reference_accumulation() needs. */
bool reference_make_bound(struct reference *reference, const struct operands *operands);
void reference_free(struct reference *reference);

/* For the bound: |x|_4 of each row and chain of `chain` elements, times `scale`; rounded up a
 * little, for the rounding here. [row][ceil(k / chain)]; NULL: there is no memory for them. */
struct norm_terms {
    int chain;
    double scale;
    /* What the elements of a row count as, if not as what they are; and what those of a chain,
     * which begins with this element, are multiplied by. Each may be NULL. */
    void (*weigh)(const struct operands *o, char matrix, float *values);
    float (*factor)(const struct operands *o, char matrix, int row, int first);
};
float *reference_norms(const struct operands *o, char matrix, struct norm_terms terms);

/* steps(k) * 2^-23 */
double reference_addition_errors(int k);

/* accumulation(i, j) */
double reference_accumulation(const struct reference *reference, int row, int column);
static inline bool reference_is_gap(const struct reference *reference, int row) {
    return reference->is_gap && reference->is_gap(reference->of, row);
}
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
