/*
 * convert.h: roundings of conversions.
 */
#ifndef SEMANTICS_CONVERT_H
#define SEMANTICS_CONVERT_H

#include "program/decoder.h"

enum rounding { NEAREST, TO_ZERO, DOWN, UP };
extern const char *const float_roundings[]; /* their words */

/* The fp16 or bf16 next to x in this direction. */
uint16_t element_rounded(double x, bool bf16, enum rounding how);

/* Decodes a cvt between registers of several numbers, or to tf32; false: it is none. */
bool decode_packed(struct decoder *d);

#endif
