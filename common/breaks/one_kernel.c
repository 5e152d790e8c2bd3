/*
 * one_kernel.c: the registry of a program of one kernel, GEMM_KERNEL, for ONE_TYPE. With
 * ONE_TOUR true it is a tour, which has --chapters, else it has --check. See program.py.
 */
#include "harness/registry.h"

extern const struct gemm_kernel GEMM_KERNEL;
const struct kernel_entry kernel_registry[] = {{{[ONE_TYPE] = &GEMM_KERNEL}, 1, true, NULL, 0}};
const struct kernel_entry kernel_trace_registry[] = {
    {{[ONE_TYPE] = TRACE ? &GEMM_KERNEL : NULL}, 1, true, NULL, 0}};
const char *const kernel_sources[] = {NULL};
const char *const program_target = NULL;
const int kernel_registry_count = 1;
const bool program_is_tour = ONE_TOUR;
