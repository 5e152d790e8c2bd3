/*
 * slots.h: where a thread's registers lie in its frame.
 *
 * A wgmma owns its accumulators, and reads its fragments of A, for as long as it is under way. The
 * simulator takes both as arrays, so each list of registers that a wgmma names gets neighbouring
 * places; so do those of mma.sync and ldmatrix, where that can be had.
 */
#ifndef PROGRAM_SLOTS_H
#define PROGRAM_SLOTS_H

#include "ptx/module.h"

struct slots {
    int *at;                /* by register: its offset */
    bool *of_wgmma;         /* by register: some wgmma names it */
    int bytes;              /* of all registers */
    int floats, floats_end; /* sums of fp32 lie here */
};

struct slots slots_of(const struct ptx_function *function, struct arena *arena);
/* Do the elements of this vector lie behind one another, 4 bytes each? */
bool slots_adjoin(const struct slots *slots, const struct ptx_operand *vector);

#endif
