/*
 * operands.h: A and B on the host, and how far apart their rows are and those of D.
 */
#ifndef HARNESS_OPERANDS_H
#define HARNESS_OPERANDS_H

#include "harness/inputs.h"
#include "harness/operand_format.h"

/* A and B on the host, their padding included. */
struct operands {
    int m, n, k;
    int64_t lda, ldb, ldd;
    int64_t device_lda, device_ldb, device_ldd; /* in the backend's memory: farther, with _FAR */
    int d_rows, d_columns; /* m and n, but for other kinds of problems (problem_kind.h) */
    enum gemm_type type;
    enum input_kind input;
    uint64_t seed;
    const struct operand_format *format;
    void *of_format;
    uint16_t *a; /* [m][lda]; of 8-bit elements, bytes */
    uint16_t *b; /* [n][ldb], or packed */
    /* operands_decode(): [m][k] and [n][k], without scales; or NULL. */
    float *decoded_a, *decoded_b;
    bool whole; /* of the decoded: sums of their products are exact in fp32, too */
};

/* How far apart the rows of A, B and D are: as near as their alignment allows, or further, by
 * distances that the seed draws; those of A and B then differ. Or, on one simulated device, so far
 * that 32 bits cannot count the elements between two rows. Set before the operands are made. */
enum pitches { PITCHES_LEAST, PITCHES_DRAWN, PITCHES_FAR, PITCHES };
extern enum pitches operand_pitches;

/* How far apart such rows are in the backend's memory: `ld`, but for PITCHES_FAR. */
int64_t device_pitch(int rows, int64_t ld);

/* The multiple of 8 that a matrix of this many columns is padded to. */
int64_t leading_dimension(int columns);
/* The same of an operand: of e4m3 and w4a8, a multiple of 16. */
int64_t operand_leading_dimension(int columns, enum gemm_type type);

/* Sets all pitches, as m, n, k, type and seed have them; D is m x n. */
void operands_set_pitches(struct operands *operands);
/* Sets d_rows, d_columns and ldd, where D is not m x n. */
void operands_set_d(struct operands *operands, int rows, int columns);
/* Bytes of 'A' or 'B' with its padding. */
int64_t operand_bytes(const struct operands *operands, char matrix);
void operands_free(struct operands *operands);

#endif
