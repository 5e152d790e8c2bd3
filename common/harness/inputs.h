/*
 * inputs.h: what A and B are filled with, and what lies around them.
 *
 * An element depends on the seed, the matrix, its row and its column alone: not on the leading
 * dimension, not on the order of filling. Every kind is symmetric around zero, which verification
 * builds on (see reference.h).
 */
#ifndef HARNESS_INPUTS_H
#define HARNESS_INPUTS_H

#include "gemm_inputs.h"
#include "gemm_types.h"

extern const char *const input_names[INPUT_KINDS];

/* Set before the operands are made. */
extern enum padding operand_padding;
extern const char *const padding_names[PADDINGS];

/* 16 bits of it: an element, two of e4m3, half of one of fp32. Of w4a8, for A. */
uint16_t padding_of(enum gemm_type type);

/* The largest |value| of integer input of 16 bits: with L = limit, k * L * L <= 2^24, and L <= 256,
 * so that bf16 holds it, too; for fp16 also so small that no sum comes near 65504. 0 if k is too
 * large for any. */
int input_integer_limit(int k, enum gemm_type type);

/* What one kind of input draws from: 65536 equally likely elements. */
struct input_source {
    uint16_t element[65536];
    uint64_t seed;
    enum input_kind input;
    enum gemm_type type;
};

/* `limit` bounds the integers; see input_integer_limit. `type` is one of 16 bits. */
void input_prepare(struct input_source *source, enum input_kind input, enum gemm_type type,
                   int limit, uint64_t seed);

/* What a row of INPUT_OUTLIERS is multiplied by: 1, in one of eight rows a tiny number, and in one
 * of eight of A a large one. Large are rows of A alone, and not in fp16, where D would overflow. */
float input_row_factor(const struct input_source *source, char matrix, int row);

/* Fills columns 0 .. columns-1 of one row of matrix 'A' or 'B'. */
void input_fill_row(const struct input_source *source, char matrix, int row, uint16_t *elements,
                    int columns);

/* A random number from a seed and a position, the same on every machine. */
uint64_t input_hash(uint64_t seed, uint64_t position);

#endif
