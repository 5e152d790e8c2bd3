/*
 * reduction.h: what an atomic or a reduction makes of an element in memory and its operand.
 */
#ifndef SEMANTICS_REDUCTION_H
#define SEMANTICS_REDUCTION_H

#include <stdbool.h>
#include <stddef.h>

struct decoder;

enum reduction_function { ADD, MIN, MAX, AND, OR, XOR, INC, DEC, EXCH, CAS };
enum reduction_type { U32, S32, B32, U64, S64, B64, F32, F64, F16, BF16, F16X2, BF16X2, B16, B128 };
static inline bool reduction_is_bitwise(int function) { return function >= AND && function <= XOR; }

enum { REDUCTION_MOST_BYTES = 16 };
struct reduction {
    enum reduction_function function;
    enum reduction_type type;
    unsigned char operand[REDUCTION_MOST_BYTES];
    unsigned char other[REDUCTION_MOST_BYTES]; /* what CAS writes, if it finds the operand */
};

/* The opcode's next word as one of them; < 0: it is none. */
int take_function(struct decoder *d);
int take_reduction_type(struct decoder *d);

size_t reduction_bytes(enum reduction_type type);
/* Has `atom` or `red` this function of this type? */
bool reduction_exists(enum reduction_function function, enum reduction_type type);
/* `object`: a struct reduction. A strong_change (sim/units/strong.h). */
void reduction_apply(const void *before, void *after, const void *object);

#endif
