/*
 * registry.h: the kernels that a program is linked with. The build generates the definitions.
 */
#ifndef HARNESS_REGISTRY_H
#define HARNESS_REGISTRY_H

#include "gemm.h"
#include "gemm_machine.h"

enum { ELEMENT_TYPES = 4 }; /* GEMM_FP16, GEMM_BF16, GEMM_E4M3, GEMM_W4A8 */

/* A chapter's own kernel, or one of its variants, as its chapter(...) in CMakeLists.txt declares
 * it. */
struct kernel_entry {
    const struct gemm_kernel *of_type[ELEMENT_TYPES]; /* NULL: not compiled for this type */
    int gpus;                                         /* that it needs */
    bool step;        /* one of those that the tour runs, and its table shows */
    const char *from; /* the step that it builds on, "08_persistent_pingpong:persistent"; NULL: the
                       * step before */
    int ptx; /* the lowest compute capability that its PTX is for, 80 for 8.0; 0: it has none, and
              * runs on that of its machine alone */
};

/* Chapters come in order; in a chapter its steps first, in the order in which they are read. */
extern const struct kernel_entry kernel_registry[];
/* The same kernels compiled with the recorder in them; all NULL where there is no such object. */
extern const struct kernel_entry kernel_trace_registry[];
extern const int kernel_registry_count;
/* The file that each of them is compiled from; NULL: not known. Only for programs with the
 * harness's main(), as the next. */
extern const char *const kernel_sources[];
/* What builds the program: "sim_05_tma_mbarrier"; NULL: not known. */
extern const char *const program_target;
/* Does the program run chapters side by side (true), or one chapter and its variants? */
extern const bool program_is_tour;

/* The kernel for one type, or NULL. */
static inline const struct gemm_kernel *kernel_of_type(const struct kernel_entry *entry,
                                                       enum gemm_type type) {
    return entry->of_type[type];
}

/* The kernel for bf16, or for the type that there is: for what does not depend on the type. */
static inline const struct gemm_kernel *kernel_of_any_type(const struct kernel_entry *entry) {
    return entry->of_type[GEMM_BF16]   ? entry->of_type[GEMM_BF16]
           : entry->of_type[GEMM_FP16] ? entry->of_type[GEMM_FP16]
           : entry->of_type[GEMM_E4M3] ? entry->of_type[GEMM_E4M3]
                                       : entry->of_type[GEMM_W4A8];
}

/* The compute capability of the machine that it is for. */
static inline int capability_of_entry(const struct kernel_entry *entry) {
    return gemm_machine_record(kernel_of_any_type(entry)->machine)->capability;
}

/* Is there code in it for a GPU of this compute capability? (0: the simulator.) The driver compiles
 * PTX for the GPU that it finds. */
static inline bool entry_runs_on(const struct kernel_entry *entry, int compute_capability) {
    return compute_capability == 0 || compute_capability == capability_of_entry(entry) ||
           (entry->ptx > 0 && compute_capability >= entry->ptx);
}

/* GPUs that it gets unless --gpus says otherwise: one, unless it is for several. */
static inline int gpus_of_entry(const struct kernel_entry *entry) {
    const bool several = kernel_of_any_type(entry)->several_devices;
    return several && entry->gpus < 2 ? 2 : entry->gpus;
}

/* Is any of the program's kernels compiled for the type? */
static inline bool registry_has_type(enum gemm_type type) {
    for (int i = 0; i < kernel_registry_count; ++i)
        if (kernel_of_type(&kernel_registry[i], type)) return true;
    return false;
}

#endif
