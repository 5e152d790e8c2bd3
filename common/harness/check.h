/*
 * check.h: --check, many small runs of one kernel, up to the first that something is wrong with.
 */
#ifndef HARNESS_CHECK_H
#define HARNESS_CHECK_H

#include "harness/options.h"

/* Runs everything that backend_check_runs() lists, and some runs more that options->seed draws, on
 * all cores; says on stdout what was run. The first run of the list that fails is shown as
 * `program` shows it alone, with the command line; its exit code is returned. The device is not
 * open, and no other thread has been started. Host thread. */
enum exit_code check_kernel(const struct gemm_kernel *kernel, const struct options *options,
                            const char *program);

/* One run: the exit code that a program has. The device is not open. */
enum exit_code check_run_once(const struct gemm_kernel *kernel,
                              const struct backend_options *options, const struct check_run *run);

#endif
