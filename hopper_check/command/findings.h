/*
 * findings.h: what the simulator reports in all runs, grouped by cause: the rule, and the two
 * lines.
 */
#ifndef COMMAND_FINDINGS_H
#define COMMAND_FINDINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/core/simulation.h"

/* From here on reports are gathered, and the simulator prints none. */
void findings_begin(void);
/* The runs that follow have this schedule. */
void findings_schedule(enum sim_schedule schedule);
int findings_count(void);
/* Has a run come to something that is not modelled? */
bool findings_incomplete(void);
/* The line in the kernel first, then the chain of calls from there into what is inlined. */
void findings_print(FILE *out);
/* An array of objects. */
void findings_json(FILE *out);

/* A string of JSON. */
void json_string(FILE *out, const char *text);

#endif
