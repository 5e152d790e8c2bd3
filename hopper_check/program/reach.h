/*
 * reach.h: which instructions of a function can be executed.
 */
#ifndef PROGRAM_REACH_H
#define PROGRAM_REACH_H

#include "ptx/module.h"

/* brx.idx: what it may go to; NULL: it is another instruction. */
const struct ptx_targets *targets_of(const struct ptx_function *f, const struct ptx_instruction *s);

/* By instruction: can it be reached from the first one? */
bool *reach(const struct ptx_function *f, struct arena *arena);

#endif
