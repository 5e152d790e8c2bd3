/*
 * runs.h: a program's runs, each in a process of its own, several at a time.
 */
#ifndef COMMAND_RUNS_H
#define COMMAND_RUNS_H

#include "command/options.h"
#include "command/program_options.h"
#include "command/results.h"

struct run {
    char name[40]; /* "random (seed 3)" */
    int status;    /* of waitpid() */
    bool ended;    /* else it was not begun, or was broken off */
    struct results results;
};

/* Makes those runs that are planned, up to the first one with findings unless they are to go on; of
 * later ones nothing is kept, so what is found does not depend on how many run at the same time.
 * Returns how many are kept. < 0: after a message. */
int runs_make(const struct program_options *options, const char *path, struct run *run);
bool runs_interrupted(void);

/* The run-th of those that are planned, once more, for the page of its launch with this number.
 * False after a message. */
bool runs_report(const struct program_options *options, const char *path, int run, int launch);

/* What a run says: EXIT_CLEAN, or why not, in a sentence; findings are not looked at. */
enum exit run_verdict(const struct run *run, char *why, int size);

#endif
