/* broken_registry.c: the table of a program with one kernel, which is broken. */
#include "harness/registry.h"

extern const struct gemm_kernel kernel_broken;
const struct kernel_entry kernel_registry[] = {{{[GEMM_BF16] = &kernel_broken}, 1, true, NULL, 0}};
const struct kernel_entry kernel_trace_registry[] = {
    {{[GEMM_BF16] = &kernel_broken}, 1, true, NULL, 0}};
const char *const kernel_sources[] = {KERNEL_SOURCE};
const char *const program_target = "broken_05";
const int kernel_registry_count = 1;
const bool program_is_tour = false;
