/*
 * session.h: the one process in which a program runs: what the command has told it, and what it
 * tells the command. runs.h of the command has the other end.
 */
#ifndef RUNTIME_SESSION_H
#define RUNTIME_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/simulation.h"

/* What the command says through the environment. */
struct session {
    int sms;
    enum sim_schedule schedule;
    uint64_t seed, step_limit, branch_limit;
    double launch_limit; /* seconds that a launch may take; 0: any */
    bool elect_any, doubtful;
    const char *report; /* report_page.h: the directory, or NULL */
    int report_launch;
    bool follow_all; /* memory that a launch only reads, too */
};

/* Opens the simulator at the first call. A program that hopper_check has not started ends here. */
const struct session *session_get(void);

/* A line for the command: a word, then fields, each with a tab before it. */
void session_tell(const char *word, const char *const *field, int fields);

/* Why the verdict of this run is not the program's own. The codes are those of the command. */
enum refusal_code { REFUSED_INPUT = 2, REFUSED_INCOMPLETE = 5 };
/* Tells why the program cannot go on, in one sentence, and ends the process. */
void session_refuse(enum refusal_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
/* A sentence for people that changes no verdict; the command prints it once. */
void session_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Around every call that uses the simulator: host threads take turns. A thread may nest them. */
void session_enter(void);
void session_leave(void);
bool session_is_ours(void); /* has this thread entered it? */

#endif
