/*
 * launch.h: launching a program on the simulator.
 */
#ifndef MACHINE_LAUNCH_H
#define MACHINE_LAUNCH_H

#include "gemm.h"
#include "machine/thread.h"

/* Without another limit: branches in a turn of a thread, and turns of all threads. */
enum { BRANCH_LIMIT = 100000000, STEP_LIMIT = 1000000000 };

/* May this program be launched so? False after a message on stderr. */
bool launch_acceptable(const struct launch *launch);
/* Bytes of shared memory of a CTA. */
size_t launch_shared_bytes(const struct launch *launch);
/* Behind them, where the kernel asks for it, the system's own begin. */
enum { RESERVED_SHARED_BYTES = 1024 };
size_t launch_reserved_shared_at(const struct launch *launch);
/* The module's variables get their memory and what they begin with, and lose it. A launch does both
 * unless it keeps them. False after a message. */
bool launch_place_variables(const struct ptx_module *module);
void launch_free_variables(const struct ptx_module *module);
/* What the simulator answers about a launch like this one. */
int launch_ask(const struct launch *launch, int (*answer)(const struct gemm_launch *launch));
/* Runs it to its end, as part of a run (backend_run()). `args` begins with a gemm_args, which the
 * simulator looks into; the kernel's parameters lie in it from launch->parameters_at on. */
enum gemm_status launch_run(struct launch *launch, const void *args, size_t args_bytes);

#endif
