/*
 * whole_numbers.h: matrices of small whole numbers, whose product is exact but for one rounding.
 */
#ifndef TESTS_CALLS_WHOLE_NUMBERS_H
#define TESTS_CALLS_WHOLE_NUMBERS_H

#include <stdint.h>
#include <stdlib.h>

#include "element_codec.h"

enum { NAN_16 = 0x7fff };

/* A leading dimension with room after the columns. */
static inline int64_t padded(int columns) { return (columns + 7) / 8 * 8 + 8; }

/* Whole numbers from -3 to 3, and NaN between the rows. Returns them. */
static inline int *fill(uint16_t *matrix, enum gemm_type type, int rows, int columns, int64_t ld) {
    int *values = calloc((size_t)rows * (size_t)columns, sizeof *values);
    if (!values) exit(1);
    for (int row = 0; row < rows; ++row)
        for (int64_t column = 0; column < ld; ++column) {
            const int value = rand() % 7 - 3;
            matrix[row * ld + column] =
                column < columns ? encode_element((float)value, type) : NAN_16;
            if (column < columns) values[row * columns + column] = value;
        }
    return values;
}

/* Elements of D that are not the product, or not NaN in its padding. */
static inline int product_errors(const uint16_t *d, enum gemm_type type, int m, int n, int k,
                                 int64_t ldd, const int *a_values, const int *b_values) {
    int wrong = 0;
    for (int row = 0; row < m; ++row)
        for (int64_t column = 0; column < ldd; ++column) {
            int sum = 0;
            for (int i = 0; i < k && column < n; ++i)
                sum += a_values[row * k + i] * b_values[column * k + i];
            wrong +=
                d[row * ldd + column] != (column < n ? encode_element((float)sum, type) : NAN_16);
        }
    return wrong;
}

#endif
