/*
 * inspect_sum.h: one sum of the Tensor Core, term by term.
 */
#ifndef TOOLS_INSPECT_INSPECT_SUM_H
#define TOOLS_INSPECT_INSPECT_SUM_H

#include <stdio.h>

/* Prints how the Tensor Core adds products, as in "1.5x2,-3x0.25", to an accumulator: the terms'
 * exponents, what is left of them after the alignment, and the result. Numbers are rounded to the
 * type (fp16, bf16, e4m3 or e5m2; the accumulator to fp32). NULL, or what is wrong. */
const char *inspect_sum(FILE *out, const char *type, const char *products, const char *accumulator);

#endif
