/*
 * stale.h: is the program older than the source that it was built from?
 */
#ifndef HARNESS_STALE_H
#define HARNESS_STALE_H

#include "harness/registry.h"

/* One line on stderr, with the command that builds the program anew, if a selected kernel's file
 * has changed since. Says nothing where the sources are not at hand. */
void warn_if_stale(const struct kernel_entry *const *entries, int count);

#endif
