/*
 * function_name.h: what a function of this process is called, also one that is static.
 */
#ifndef TESTS_FUNCTION_NAME_H
#define TESTS_FUNCTION_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the name into `text`; false: its object is stripped, or cannot be read. */
bool function_name(const void *function, char *text, size_t size);

#endif
