/*
 * find_kernel.h: a kernel of the program, by its names.
 */
#ifndef TESTS_SUPPORT_FIND_KERNEL_H
#define TESTS_SUPPORT_FIND_KERNEL_H

#include <string.h>

#include "harness/registry.h"

/* For bf16 if it is for that. `variant`: "" is the chapter's own kernel. NULL: there is none. */
static inline const struct gemm_kernel *find_kernel(const char *name, const char *variant) {
    for (int i = 0; i < kernel_registry_count; ++i) {
        const struct gemm_kernel *const kernel = kernel_of_any_type(&kernel_registry[i]);
        if (!strcmp(kernel->name, name) && !strcmp(kernel->variant ? kernel->variant : "", variant))
            return kernel;
    }
    return NULL;
}

#endif
