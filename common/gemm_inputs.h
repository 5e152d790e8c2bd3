/*
 * gemm_inputs.h: what the harness can put into the operands of a problem, and around them.
 */
#ifndef GEMM_INPUTS_H
#define GEMM_INPUTS_H

enum input_kind {
    INPUT_UNIFORM, /* in [-1, 1] */
    INPUT_NORMAL,  /* mean 0, deviation 1, in 65536 equally likely steps */
    INPUT_INTEGER, /* whole numbers so small that every sum is exact in fp32 */
    INPUT_ZEROS,
    INPUT_OUTLIERS, /* normal, but some rows are tiny, and some rows of A large */
    INPUT_KINDS
};

/* What is in memory around the operands: the padding between a row's end and the next row, and the
 * guards. A NaN makes a result NaN, unless the kernel has an operation that drops it, as a maximum
 * does. A finite number that is far greater than any operand's shows there, too. */
enum padding { PADDING_NAN, PADDING_FINITE, PADDINGS };

#endif
