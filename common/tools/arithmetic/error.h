/*
 * error.h: what the Tensor Core's way of adding costs in long sums.
 *
 * Sums of k products: in bf16, fp16 and e4m3, and in e4m3 with the sums of every 128 products
 * added up in fp32 on the CPU. Only the error of adding is counted: the exact sum is that of the
 * elements as they are. Who multiplies is the caller's choice: the GPU, or the simulator.
 */
#ifndef TOOLS_ARITHMETIC_ERROR_H
#define TOOLS_ARITHMETIC_ERROR_H

#include <stdio.h>

#include "tools/arithmetic/tiles.h"

enum { ERROR_LENGTHS = 5, ERROR_SUMS = 4, ERROR_INPUTS = 2 };
extern const int error_lengths[ERROR_LENGTHS]; /* k */
extern const char *const error_sums[ERROR_SUMS];
extern const char *const error_inputs[ERROR_INPUTS];

/* In per cent of the exact sums' root mean square. */
struct sum_error {
    double rms;      /* of the errors */
    double short_by; /* mean of the errors toward zero */
};
struct error_table {
    struct sum_error of[ERROR_INPUTS][ERROR_LENGTHS][ERROR_SUMS];
    uint64_t hash; /* of all sums, bit by bit */
};

/* Multiplies a tile of arithmetic_types[which] and adds to its accumulators: results [row][column].
 * False if that failed. */
typedef bool tile_multiply(int which, const struct tile *tile, uint32_t *results);

/* False if a multiplication failed. */
bool measure_errors(struct error_table *table, tile_multiply *multiply);
void print_errors(const struct error_table *table, FILE *out);
/* Reads what print_errors() printed, behind any other lines. False if it is not complete. */
bool read_errors(struct error_table *table, FILE *in);

#endif
