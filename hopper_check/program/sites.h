/*
 * sites.h: what reports call the place of an instruction: the line of the kernel, and the chain of
 * calls from there into what is inlined.
 *
 * The simulator knows a place as a file's name and a line, and tells two names apart by their
 * addresses. So every chain has a copy of the kernel's name for itself, and the copy leads back.
 */
#ifndef PROGRAM_SITES_H
#define PROGRAM_SITES_H

#include "ptx/module.h"

/* The file that the kernel stands in, and the innermost line of it on the way to the instruction;
 * of one without a place, those of the PTX. */
const char *site_file(const struct ptx_module *module, const struct ptx_instruction *instruction,
                      int *line);
/* The name of a place in this file, of this chain (empty: none); the same text for the same
 * three. */
const char *site_name(const char *file, int line, const char *chain);
/* The chain of a name that site_file() gave: "mbarrier_init (hopper/mbarrier.h:27), called by
 * pipeline_init (building_blocks/pipeline.h:58), called at line 110". NULL: nothing is inlined, or
 * it is another name. */
const char *site_chain(const char *file);

#endif
