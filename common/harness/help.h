/*
 * help.h: what --help prints.
 */
#ifndef HARNESS_HELP_H
#define HARNESS_HELP_H

/* On stdout. */
void print_help(void);

#endif
