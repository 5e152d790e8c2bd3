/*
 * inspect_error.h: what the Tensor Core's way of adding costs in long sums.
 *
 * Sums of k products: in bf16, fp16 and e4m3, and in e4m3 with the sums of every 128 products added
 * up in fp32. Only the error of adding is counted: the exact sum is that of the elements as they
 * are.
 */
#ifndef TOOLS_INSPECT_INSPECT_ERROR_H
#define TOOLS_INSPECT_INSPECT_ERROR_H

#include <stdint.h>
#include <stdio.h>

enum { ERROR_LENGTHS = 5, ERROR_SUMS = 4, ERROR_INPUTS = 2 };
extern const int error_lengths[ERROR_LENGTHS]; /* k */
extern const char *const error_sums[ERROR_SUMS];
extern const char *const error_inputs[ERROR_INPUTS];

/* In percent of the exact sums' root mean square. */
struct sum_error {
    double rms;      /* of the errors */
    double short_by; /* mean of the errors toward zero */
};
struct error_table {
    struct sum_error of[ERROR_INPUTS][ERROR_LENGTHS][ERROR_SUMS];
    uint64_t hash; /* of all sums, bit by bit */
};

/* Prints how the simulator's error grows with k. `record`, if not NULL, is a file of the errors
 * that a GPU measured: its sums have to be the same, bit by bit. `figure`, if not NULL, is a file:
 * the errors are drawn into it, the measured ones, too, and not printed. The exit code; a message
 * to stderr if it is not 0. */
int inspect_error(FILE *out, const char *record, const char *figure);

#endif
