/*
 * branches.h: which branches of the kernels --check has taken, in a build with HOPPER_BRANCHES. In
 * any other nothing is counted.
 */
#ifndef HARNESS_BRANCHES_H
#define HARNESS_BRANCHES_H

#include <stdbool.h>

/* Counts go to a directory of their own; before a process is started that runs kernels. False, with
 * a message, if there can be none. Host thread. */
bool branches_begin(void);

/* Adds this process's counts to those of the others; before it ends. Its main thread. */
void branches_keep(void);

/* Says on stdout what was counted, and removes the directory. False, with a message, if that cannot
 * be done. Host thread, when the processes have ended. */
bool branches_end(bool say);

#endif
