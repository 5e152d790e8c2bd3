/*
 * report.h: between the probes' main and what runs them.
 */
#ifndef CUDA_PROBE_REPORT_H
#define CUDA_PROBE_REPORT_H

#include "cuda/probe/probe.h"
#include "harness/backend.h"

/* Opens the card and allocates what the probes use; EXIT_VERIFIED, or the code to leave with. */
enum exit_code probe_open(void);
void probe_report_as_json(bool json);

#endif
