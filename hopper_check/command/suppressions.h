/*
 * suppressions.h: findings that are known, by their rule and both lines.
 */
#ifndef COMMAND_SUPPRESSIONS_H
#define COMMAND_SUPPRESSIONS_H

#include <stdbool.h>

/* Each line of the file is RULE FILE:LINE [FILE:LINE], in either order of the two; # begins a
 * comment. FILE is the end of a path: "kernel.cu" or "source/kernel.cu". Marks the findings that
 * match. False after a message. */
bool suppressions_apply(const char *path);

#endif
