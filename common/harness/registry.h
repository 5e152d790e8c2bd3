/*
 * registry.h: the stages that a program is linked with. The build generates the definitions.
 */
#ifndef HARNESS_REGISTRY_H
#define HARNESS_REGISTRY_H

#include "gemm.h"

/* One chapter, or one variant of a chapter (stage->variant != NULL), compiled for both types. */
struct stage_entry {
    const struct gemm_stage *fp16, *bf16;
};

/* A chapter's own kernel precedes its variants; chapters come in order. */
extern const struct stage_entry stage_registry[];
/* The same stages compiled with the recorder in them; NULL, NULL where there is no such object. */
extern const struct stage_entry stage_trace_registry[];
extern const int stage_registry_count;
/* Does the program run chapters side by side (true), or one chapter and its variants? */
extern const bool program_is_tour;

static inline const struct gemm_stage *stage_of_type(const struct stage_entry *entry,
                                                     enum gemm_type type) {
    return type == GEMM_FP16 ? entry->fp16 : entry->bf16;
}

#endif
