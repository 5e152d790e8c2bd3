/*
 * instructions.h: the table of the instructions that are known, and how far each is modelled.
 */
#ifndef PROGRAM_INSTRUCTIONS_H
#define PROGRAM_INSTRUCTIONS_H

#include <stdio.h>

#include "program/decoder.h"

enum fidelity {
    MODELLED,    /* the result has the bits of the ISA, and what it orders is checked */
    APPROXIMATE, /* the result is within the ISA's bound, and need not have the GPU's bits */
    ORDERING,    /* no effect of its own here; what it orders is checked */
    REFUSED
};

/* An opcode whose operands are all of registers: what it computes, and a letter for each operand
 * (decoder.h). */
struct scalar {
    const char *opcode;
    operation_run *run;
    const char *letters;
};

/* Opcodes of one kind, in a file of semantics/. */
struct scalar_group {
    const char *section; /* of the PTX ISA */
    enum fidelity fidelity;
    const struct scalar *row;
    int rows;
};
#define SCALAR_GROUP(section, fidelity, table)                                                     \
    { section, fidelity, table, sizeof(table) / sizeof *(table) }

/* All opcodes that begin with these words. */
struct family {
    const char *words;
    decode_instruction *decode; /* NULL: refused */
    enum fidelity fidelity;
    const char *section; /* of the PTX ISA; of a refused one, why */
};
struct family_group {
    const struct family *row;
    int rows;
};
#define FAMILY_GROUP(table)                                                                        \
    { table, sizeof(table) / sizeof *(table) }

/* semantics/: */
extern const struct scalar_group integer_group, carry_group, wide_integer_group, logic_group,
    bit_group, select_group, float_group, double_group, half_group, approximate_group,
    approximate_half_group;
extern const struct family_group compare_families, convert_families, memory_families,
    atomic_families, address_families, warp_families, matrix_families, barrier_families,
    mbarrier_families, copy_families, bulk_families, tensor_copy_families, tensor_families,
    control_families, tensor_map_families, rounded_families, test_families, pack_families,
    wmma_families, wmma_move_families, video_families;

/* Decodes d->source into d->op, or refuses it. */
void instruction_decode(struct decoder *d);
/* Prints the table, a line for each opcode or family. */
void instructions_print(FILE *out);
/* The same in four lines: opcodes, without their forms, by how far they are modelled. */
void instructions_summary(FILE *out);

#endif
