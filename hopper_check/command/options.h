/*
 * options.h: the command line of hopper_check.
 */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include <stdio.h>

#include "command/buffers.h"
#include "machine/launch.h"
#include "sim/core/simulation.h"

/* The exit codes. Those that the book's programs have, too, mean the same (backend.h). */
enum exit {
    EXIT_CLEAN = 0,     /* every run ended, nothing was reported, nothing compared is different */
    EXIT_DIFFERENT = 1, /* a buffer holds something else than --expect, or a launch was refused */
    EXIT_BAD_INPUT = 2, /* the command line, or PTX that cannot be read, or of another target */
    EXIT_NO_MEMORY = 3, /* of the host */
    EXIT_FINDINGS = 4,  /* the simulator has reported something; beats EXIT_DIFFERENT */
    EXIT_INCOMPLETE = 5 /* the kernel has an instruction that is not modelled: no verdict */
};

struct options {
    const char *command; /* "run", "list", "instructions" */
    const char *ptx, *entry;
    struct launch launch;
    bool cluster_given;
    int sms;
    bool schedule[SIM_SCHEDULES];
    uint64_t seed, step_limit;
    bool doubtful; /* the rules in doubt (sim/core/doubt.h) */
    const char *json;
    struct buffers buffers;
    char **argument;
    int arguments;
};

/* False after a message on stderr. `argv` lives as long as the options. */
bool options_parse(int argc, char **argv, struct options *options);
void options_help(FILE *out);

/* Says on stderr what is wrong with an option. Returns false. */
bool options_complain(const char *option, const char *value, const char *why);
/* A whole number from `least` to `most`, in C's notation. False after a message. */
bool options_number(const char *option, const char *text, uint64_t least, uint64_t most,
                    uint64_t *out);
/* *out: it is `yes`, and not `no`. False after a message: it is neither. */
bool options_choice(const char *option, const char *text, const char *yes, const char *no,
                    bool *out);

#endif
