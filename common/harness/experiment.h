/*
 * experiment.h: one problem, and the kernels that compute it: run, verify, time, verify again.
 */
#ifndef HARNESS_EXPERIMENT_H
#define HARNESS_EXPERIMENT_H

#include "harness/buffers.h"
#include "harness/problem_kind.h"
#include "harness/timing.h"
#include "harness/verify.h"

struct problem_size {
    int m, n, k;
};

/* What came of one kernel. */
struct kernel_result {
    const struct gemm_kernel *kernel;
    struct problem_size size;
    const char *selected; /* the variant that a kernel with select() has picked; NULL: no choice */
    int before;           /* index of the result of the step that it builds on; -1: none here */
    struct kernel_info info;
    enum exit_code code; /* EXIT_VERIFIED, EXIT_WRONG or EXIT_HAZARD */
    bool compared;       /* the run got so far that `comparison` means something */
    struct comparison comparison;
    double cycles;        /* simulated; < 0: not known */
    struct timing timing; /* all zero: not timed */
};

/* What came of one baseline. */
struct baseline_result {
    struct contender contender;
    enum exit_code code; /* EXIT_VERIFIED or EXIT_WRONG */
    bool compared;       /* `comparison` means something: its result is the problem's product */
    struct comparison comparison;
    struct timing timing; /* all zero: not timed */
};

enum { MAX_BASELINES = 16 };

/* The contender that runs a kernel. */
struct contender contender_of_kernel(const struct gemm_kernel *kernel);

struct experiment {
    const struct backend_info *device;
    struct problem_size size;
    struct operands operands;
    struct reference other_reference; /* of operands read otherwise, once it has been needed */
    struct buffers buffers;
    struct kind_instance kind;
    uint16_t *view;    /* an output on the host: guard, D, guard */
    uint16_t *library; /* [m][ldd], cuBLAS's result; NULL: none */
    struct baseline_result baselines[MAX_BASELINES];
    int baseline_count;
};

/* Makes inputs, reference and buffers for `count` kernels. `timed`: they will be timed, so operands
 * rotate. EXIT_NO_DEVICE after a complaint if there is too little memory. */
enum exit_code experiment_open(struct experiment *experiment, const struct backend_info *device,
                               struct problem_size size, enum gemm_type type, enum input_kind input,
                               uint64_t seed, const struct gemm_kernel *const *kernels, int count,
                               bool timed);
/* The same with so many sets of matrices, each with an output of its own (at most 256); 0: as many
 * as timing needs. */
enum exit_code experiment_open_sets(struct experiment *experiment,
                                    const struct backend_info *device, struct problem_size size,
                                    enum gemm_type type, enum input_kind input, uint64_t seed,
                                    const struct gemm_kernel *const *kernels, int count, int sets);
void experiment_close(struct experiment *experiment);

/* Asks the backend for the baselines of a mask (baseline_list.h), and verifies the result of each.
 * A wrong one stays in the list, will not be timed, and counts in experiment_baselines_code().
 * cuBLAS's result is kept to verify all others with, also if cuBLAS itself is not wanted.
 * EXIT_WRONG after a complaint if it disagrees with the reference. */
enum exit_code experiment_add_baselines(struct experiment *experiment, uint32_t wanted);

/* EXIT_WRONG if one of the baselines is wrong. */
enum exit_code experiment_baselines_code(const struct experiment *experiment);

/* Runs a kernel once and verifies the result; fills in all of `result` but its timing. */
void experiment_verify(struct experiment *experiment, const struct gemm_kernel *kernel,
                       struct kernel_result *result);

/* Runs and verifies it again, if it is for one device and with a workspace: the outputs are
 * poisoned, and the workspace holds what the run before has left. */
void experiment_verify_next(struct experiment *experiment, const struct gemm_kernel *kernel,
                            struct kernel_result *result);

/* When launches may begin (gemm_early.h), of the kernels that are for it; the others launch in
 * order. */
extern enum gemm_early experiment_early;

/* The problem of a set as a kernel gets it, with an output; kernel NULL: a library. */
struct gemm_problem experiment_problem(const struct experiment *experiment,
                                       const struct gemm_kernel *kernel, int output, int set);
/* Before a run: fills the output and the workspaces with NaN, zeroes counters and flags. Makes the
 * output on further devices if the kernel needs it. */
bool experiment_poison(struct experiment *experiment, const struct gemm_kernel *kernel, int output);

/* Runs a kernel once more into a poisoned output; a checksum of the result, of all devices. */
enum run_status experiment_run_again(struct experiment *experiment,
                                     const struct gemm_kernel *kernel, uint64_t *sum);

/* Verifies one output of a contender; false after complaints. */
bool experiment_check_output(struct experiment *experiment, const char *what,
                             const struct contender *contender, int output, int set,
                             struct comparison *comparison);

/* Times the kernels and the baselines that have been verified in one rotation, and verifies every
 * buffer that the timed runs wrote. What fails that loses its speeds. False if a launch failed. */
bool experiment_time(struct experiment *experiment, const struct timing_options *options,
                     struct kernel_result *results, int count, FILE *csv);

/* A buffer for the recorder (gemm_problem.trace), zeroed, or NULL. *memory: what backend_free() has
 * to be given, if not NULL. */
struct trace_record *experiment_trace_buffer(void **memory);

/* Runs a kernel that was compiled with the recorder in it, and gives its records to the timeline.
 */
bool experiment_record(struct experiment *experiment, const struct gemm_kernel *traced);

/* A problem of this size without matrices, as inputs are laid out. */
struct gemm_problem problem_of_size(struct problem_size size);

/* What computes a problem of this size: the kernel itself, or the variant that its select() picks.
 * The device is open. NULL if nothing fits it. */
const struct gemm_kernel *kernel_for_size(const struct gemm_kernel *kernel,
                                          struct problem_size size);

/* "06_wgmma" or "06_wgmma:wait0". Returns text. */
const char *kernel_label(const struct gemm_kernel *kernel, char *text, size_t size);

#endif
