/* mma.h: mma.sync of the shapes and types that the book's kernels do not have. */
#ifndef SEMANTICS_MMA_H
#define SEMANTICS_MMA_H

#include "program/decoder.h"

void decode_other_mma(struct decoder *d);

#endif
