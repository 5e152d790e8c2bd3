/*
 * estimate.h: how long a launch will take here, so that nobody waits for an hour without having
 * been told. Seconds of a processor.
 */
#ifndef RUNTIME_ESTIMATE_H
#define RUNTIME_ESTIMATE_H

#include "machine/thread.h"
#include "runtime/modules.h"

/* A launch begins with these parameters. One that is expected to take longer than the session
 * allows ends the process, with the advice. */
void estimate_begin(const struct kernel *kernel, const struct launch *launch,
                    const unsigned char *parameters);
/* A CTA of it begins: what the CTAs before it have taken tells more. */
void estimate_progress(struct launch *launch);

#endif
