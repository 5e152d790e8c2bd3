/*
 * findings.h: what the simulator reports in all runs, grouped by cause: the rule, and the two
 * lines.
 */
#ifndef COMMAND_FINDINGS_H
#define COMMAND_FINDINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/core/hazards.h"

struct finding {
    const char *rule;
    struct sim_side side[2];
    int sides;
    char *text;         /* of the first report */
    const char *launch; /* of it; NULL: not said */
    int launch_number;  /* 1: the first; 0: of none */
    uint64_t runs;      /* bits */
    int reports;
    bool suppressed; /* left out of the count and of what is printed */
};

/* From here on reports are gathered, and the simulator prints none. */
void findings_begin(void);
/* A report of the run. `launch` says where it was made, or is NULL: "launch 2, of saxpy"; number:
 * of that launch. */
void findings_add(const struct sim_hazard *hazard, const char *launch, int number);
/* The run that follows, as the list behind "found under" has it: "late". MOST_RUNS at most. */
enum { MOST_RUNS = 64 };
void findings_run(const char *name);
/* Those that are not suppressed. */
int findings_count(void);
int findings_suppressed(void);
/* NULL: there are no more. */
struct finding *findings_get(int i);
/* The first one that is not suppressed, and the first run with it; NULL: there is none. */
const struct finding *findings_first(int *run);
/* Has a run come to something that is not modelled? */
bool findings_incomplete(void);
/* The line in the kernel first, then the chain of calls from there into what is inlined. */
void findings_print(FILE *out, int most);
/* An array of objects. */
void findings_json(FILE *out);

/* A string of JSON. */
void json_string(FILE *out, const char *text);

#endif
