/*
 * arguments.h: the values of a kernel's parameters.
 */
#ifndef COMMAND_ARGUMENTS_H
#define COMMAND_ARGUMENTS_H

#include "command/buffers.h"
#include "ptx/module.h"

/* Writes the parameters to `to`, as PTX lays them out. `texts` has one for each: a number, the name
 * of a buffer or of a map, or what a struct holds, {OFFSET=VALUE,...}, where a number has its type
 * in front, i32:200. False after a message on stderr. */
bool arguments_encode(const struct ptx_function *function, struct buffers *buffers,
                      char *const *texts, int count, unsigned char *to);

#endif
