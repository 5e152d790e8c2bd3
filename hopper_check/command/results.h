/*
 * results.h: what one run of a program has left in its file (runtime/session.h has the other end).
 */
#ifndef COMMAND_RESULTS_H
#define COMMAND_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

struct results {
    bool loaded;    /* the program has met the runtime */
    bool under_way; /* a launch has begun and not ended */
    int number;     /* of the launch that began last; 1: the first */
    int named;      /* launches so far with the filter's name */
    bool counts;    /* that launch passes the filter */
    int launches;   /* that have ended, of those */
    uint64_t executed, checked;
    uint64_t so_far; /* instructions of the launch under way, as told last; 0: nothing was told */
    int refused;     /* a code of runtime/session.h; 0: nothing was */
    char *why;       /* a sentence; or NULL */
    char *kernel;    /* of the launch that began last; or NULL */
};

/* Of which launches something is reported and counted. */
struct launch_filter {
    const char *kernel; /* in its name; NULL: of all */
    int skip;           /* the first of these */
    int count;          /* and no more of those behind; < 0: all */
};

/* Adds the findings to those of findings.h, in the run that findings_run() has named, and the notes
 * to the list. */
void results_read(const char *path, const struct launch_filter *filter, struct results *results);
/* Each note once. NULL: there are no more. */
const char *results_note(int i);

#endif
