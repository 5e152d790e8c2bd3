/*
 * operand_format.h: how the elements of A and B are kept, and what follows from it for what D must
 * be. fp16 and bf16 have elements_format; others come with a kind (problem_kind.h).
 */
#ifndef HARNESS_OPERAND_FORMAT_H
#define HARNESS_OPERAND_FORMAT_H

#include "gemm_types.h"

struct operands;
struct reference;

/* The sum of the products of two rows. */
typedef double dot_function(const float *a, const float *b, int count);

struct operand_format {
    const char *scales; /* what has a scale: "block"; NULL: there are none */
    /* The largest |value| of integer input with which every sum of so many products is exact; 0 if
     * there are too many for any. */
    int (*integer_limit)(int terms, enum gemm_type type);
    /* Makes a, b and of_format, of whole numbers up to `limit` if they are integers. False if there
     * is no memory for them. */
    bool (*make)(struct operands *o, int limit);
    void (*free)(struct operands *o); /* of_format; NULL: there is none */
    /* Bytes of B that is no matrix of elements; NULL: it is one. */
    int64_t (*packed_bytes)(const struct operands *o);
    /* A row of 'A' or 'B' without its scales, and the product of two of them with theirs. */
    void (*decode_row)(const struct operands *o, char matrix, int row, float *values);
    double (*product)(const struct operands *o, int row, int column, const float *a, const float *b,
                      dot_function *dot);
    /* What a row was made from; NULL: itself. */
    void (*real_row)(const struct operands *o, char matrix, int row, float *values);
    /* The bound of reference.h: its norms and factors; and its value. False if there is no memory
     * for it. */
    bool (*make_bound)(struct reference *reference, const struct operands *o);
    double (*accumulation)(const struct reference *reference, int row, int column);
};

extern const struct operand_format elements_format;

#endif
