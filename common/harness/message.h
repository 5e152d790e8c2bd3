/*
 * message.h: what the program says on stderr: complaints, and a progress line on a terminal.
 */
#ifndef HARNESS_MESSAGE_H
#define HARNESS_MESSAGE_H

#include <stdbool.h>

/* Takes the program's name from argv[0]; decides whether progress is shown. Before the others. */
void message_open(const char *argv0);
const char *message_program(void);
/* As it was called; empty: not known. One that the shell has found in $PATH has no directory. */
const char *message_path(void);

/* One line on stderr, with the program's name before it, unless it begins with that. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Replaces the progress line; nothing happens unless stderr is a terminal. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);
/* Is stderr a terminal? */
bool progress_shown(void);

#endif
