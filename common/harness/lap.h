/*
 * lap.h: the kernels that a run is for, by its options and by what the machine has.
 */
#ifndef HARNESS_LAP_H
#define HARNESS_LAP_H

#include "harness/options.h"

struct lap {
    bool more;                                    /* it is one of several */
    const struct gemm_kernel **kernels, **traced; /* [count]; traced[i] may be NULL */
    const char **selected; /* [count]: the variant that stands for the chapter, or NULL */
    const struct kernel_entry **entries; /* [count] */
    struct gemm_kernel *copies;          /* [2 * count] */
    int count;
    bool refused; /* a kernel is left out because its file does not compile */
};

/* What the options select, from kernel *next of the registry on, and sets that to where the next
 * lap begins. A program's only lap has all of them. A tour has several, each of kernels that follow
 * each other and compute one kind of problem of one type; its first kernel decides on the type,
 * unless the options do, and on the k if it is for one alone: these go into `options`. None are
 * left: *next is the registry's end. free_lap() releases it. */
struct lap select_kernels(struct options *options, int *next);
void free_lap(struct lap *lap);

/* The lowest compute capability that runs one of them, for backend_options.oldest. */
int oldest_of(const struct lap *lap);

/* Leaves out the kernels that this machine cannot run, that are not compiled for the type, or whose
 * file does not compile, and says so: in a line each, or in one for all that need another GPU. If
 * none is left, EXIT_NO_DEVICE, or for one that does not compile EXIT_USAGE. */
enum exit_code leave_out(struct lap *lap, const struct backend_info *device, enum gemm_type type,
                         int gpus);

#endif
