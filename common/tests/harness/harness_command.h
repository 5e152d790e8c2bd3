/*
 * harness_command.h: running a program in a test, and looking at what it said.
 */
#ifndef TESTS_HARNESS_HARNESS_COMMAND_H
#define TESTS_HARNESS_HARNESS_COMMAND_H

#include <stdbool.h>

enum { OUTPUT_ROOM = 65536 };

struct outcome {
    int code; /* exit code; 128 + signal if it was killed */
    char out[OUTPUT_ROOM], err[OUTPUT_ROOM];
};

/* Runs a shell command line; standard output goes to outcome->out, errors to outcome->err. */
void run_command(const char *command, struct outcome *outcome);

/* Lines of a text. */
int count_lines(const char *text);

/* A named expectation; prints what was expected where it does not hold, and counts. */
void expect(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the count of expectations; 0, or 1 if one did not hold. */
int expectations_met(void);

#endif
