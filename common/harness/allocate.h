/*
 * allocate.h: memory that the program cannot go on without.
 */
#ifndef HARNESS_ALLOCATE_H
#define HARNESS_ALLOCATE_H

#include <stddef.h>

/* Zeroed memory, never NULL. `what` completes "no memory for ...". Any thread. */
void *allocate(size_t count, size_t size, const char *what);
/* Where there is none: the program ends with a complaint and EXIT_NO_DEVICE. */
void no_memory_for(const char *what) __attribute__((noreturn));

#endif
