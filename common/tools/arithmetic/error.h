/*
 * error.h: what the Tensor Core's way of adding costs in long sums.
 */
#ifndef TOOLS_ARITHMETIC_ERROR_H
#define TOOLS_ARITHMETIC_ERROR_H

/* Prints, for k = 256 ... 65536, the error of sums of k products: in bf16, fp16 and e4m3, and in
 * e4m3 with the sums of every 128 added up in fp32. */
void print_errors(void);

#endif
