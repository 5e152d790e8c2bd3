/*
 * outputs.h: which memory a launch may write to, from the kernel's text: memory that it certainly
 * only reads needs no records of who has read it.
 */
#ifndef RUNTIME_OUTPUTS_H
#define RUNTIME_OUTPUTS_H

#include "ptx/module.h"

struct outputs;

/* Where the addresses of all stores of the kernel come from; lives in the module's arena. */
struct outputs *outputs_of(struct ptx_module *module, const struct ptx_function *kernel);
/* Before a launch with these parameters: other memory becomes read-only for it. */
void outputs_apply(const struct outputs *outputs, const struct ptx_function *kernel,
                   const unsigned char *parameters);

#endif
