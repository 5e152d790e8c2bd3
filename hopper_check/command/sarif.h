/*
 * sarif.h: findings in the form that code hosts show at a line: OASIS, Static Analysis Results
 * Interchange Format, version 2.1.0.
 */
#ifndef COMMAND_SARIF_H
#define COMMAND_SARIF_H

#include <stdio.h>

/* `why`: no verdict, for this reason; NULL: there is one. */
void sarif_write(FILE *out, const char *why);

#endif
