/*
 * probe_report.h: between the probes' main and what runs them.
 */
#ifndef TOOLS_PROBE_PROBE_REPORT_H
#define TOOLS_PROBE_PROBE_REPORT_H

#include "backend.h"
#include "tools/probe/probe.h"

/* Opens the GPU and allocates what the probes use; EXIT_VERIFIED, or the code to leave with. */
enum exit_code probe_open(void);

#endif
