/*
 * demangle.h: the name of a C++ function as its source has it, without parameters.
 */
#ifndef PTX_DEMANGLE_H
#define PTX_DEMANGLE_H

#include "ptx/arena.h"

/* "cute::SM90_TMA_STORE_2D::copy" of _ZN4cute17SM90_TMA_STORE_2D4copyE...; template arguments and
 * the names of unnamed namespaces are left out. What is not a mangled name, or one beyond this, is
 * returned as it is. Itanium C++ ABI, "Mangling". */
const char *demangle(struct arena *arena, const char *name);

#endif
