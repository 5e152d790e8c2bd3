/*
 * progress.h: what is told of a launch that takes long: to the command each second how far it is,
 * for the case that it is interrupted, and to people one line after ten seconds.
 */
#ifndef RUNTIME_PROGRESS_H
#define RUNTIME_PROGRESS_H

#include "machine/thread.h"

/* `number`: of the launch; `name`: of the kernel. Both stay until the end. */
void progress_begin(const struct launch *launch, int number, const char *name);
void progress_end(void);

#endif
