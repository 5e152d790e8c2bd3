/*
 * program_options.h: the command line of hopper_check ./program. Names that compute-sanitizer has
 * mean what they mean there.
 */
#ifndef COMMAND_PROGRAM_OPTIONS_H
#define COMMAND_PROGRAM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "command/findings.h"
#include "command/results.h"
#include "sim/core/simulation.h"

struct planned_run {
    enum sim_schedule schedule;
    uint64_t seed; /* of random */
};

struct program_options {
    char **program; /* its name, its arguments and NULL */
    struct planned_run plan[MOST_RUNS];
    int runs;
    bool keep_going; /* after a run with findings */
    int jobs;        /* runs at the same time */
    int sms;
    uint64_t step_limit, branch_limit, launch_limit; /* launch_limit: seconds; 0: any */
    bool elect_any, doubtful;
    bool follow_all; /* memory that a launch only reads, too */
    struct launch_filter filter;
    int error_exitcode, print_limit;
    const char *json, *sarif, *log_file, *suppressions;
    const char *report; /* a directory for the page of a launch */
};

/* False after a message on stderr. */
bool program_options_parse(int argc, char **argv, struct program_options *options);
void program_options_help(FILE *out);

#endif
