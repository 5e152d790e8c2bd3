/*
 * quantize.h: e4m3 and 4-bit operands, their scales, and the real data that they were made from.
 *
 * The real data are the input's 16-bit numbers (inputs.h, as bf16), times a power of two from 1/4
 * to 4 for each block that gets a scale: 1 x 128 of A, 128 x 128 of B. So neighbouring scales
 * differ, as those of a network's layers do, and the wrong one shows. A scale is the greatest
 * magnitude of its block (tensor_scales: of the matrix) over 448, and an element the e4m3 that is
 * nearest to the quotient.
 *
 * Whole numbers are not quantized, but are e4m3 themselves; their scales are 1 or 2, by block
 * (tensor_scales: 2 for A and 1/2 for B).
 *
 * w4a8: in A, a row has one scale. In B, each row has one for every 128 of k, and the elements are
 * whole numbers up to 7 (w4_block.h), as which greater whole numbers count, too.
 */
#ifndef HARNESS_QUANTIZE_H
#define HARNESS_QUANTIZE_H

#include "harness/reference.h"

/* Makes a, b and the scales of e4m3 or w4a8 operands whose other members are set, of whole numbers
 * from -limit to limit if they are integers. False if there is no memory for them. */
bool quantize_operands(struct operands *operands, int limit);

/* The real data of a row of 'A' or 'B'. */
void real_row(const struct operands *operands, char matrix, int row, float *values);

/* The scale of a row of A or B, and a block of k. */
float scale_of(const struct operands *operands, char matrix, int row, int block);

#endif
