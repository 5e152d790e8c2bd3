/* print.h: what a kernel prints. CUDA C++ Programming Guide, "Formatted Output". */
#ifndef SEMANTICS_PRINT_H
#define SEMANTICS_PRINT_H

#include <stdio.h>

/* The values lie one behind the other, each at a multiple of its size. Returns how many there were.
 * `out` NULL: nothing is printed. */
int print_values(const char *format, const unsigned char *values, FILE *out);

#endif
