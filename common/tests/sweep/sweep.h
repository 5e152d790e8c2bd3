/*
 * sweep.h: what the parts of the sweep share: which kernels, and one run of one.
 */
#ifndef TESTS_SWEEP_SWEEP_H
#define TESTS_SWEEP_SWEEP_H

#include "harness/experiment.h"
#include "harness/options.h"
#include "harness/registry.h"

enum { SWEEP_ALL = -1 };

struct sweep {
    const char *chapter, *variant; /* chapter NULL: all; variant "all": each, NULL: its own */
    const char *may_differ; /* the kernel, as its label says, of which repeated runs may differ */
    uint64_t seed;
    int triples, random, repeat; /* how many; of the three modes, the one that is not 0 */
    int schedule;                /* --schedule's value; SWEEP_ALL: each in turn */
    int type;                    /* enum gemm_type; SWEEP_ALL: in turn */
    int gpus_there;              /* that the backend has */
    int capability;              /* of these; 0: the simulator's */
    int launches; /* of kernels for several, in each run; 0: one, in --triples one to three */
    int sms;
    int flight;  /* launches of these kernels in flight, of which each is verified; 0: none */
    int rotate;  /* a variant computes one random shape in this many */
    int largest; /* extent that most random sizes stay below; 0: the backend's default */
    struct problem_size size; /* of repeated runs; m 0: the backend's default */
    bool long_k;
};

/* One run of a kernel. */
struct trial {
    struct problem_size size;
    enum input_kind input;
    enum padding padding;
    uint64_t seed;
    enum gemm_type type;
    int launches;      /* of a kernel for several; 0: one */
    int sms, schedule; /* the simulator's, and its seed; no meaning on a GPU */
    uint64_t schedule_seed;
};

struct sweep_counts {
    int runs, failures, hazards;
};

/* Is this one of the kernels asked for, whatever it needs? */
bool sweep_selects(const struct sweep *sweep, const struct kernel_entry *entry);
/* The kernel in this type. NULL if it is not asked for, not compiled for the type, or needs more
 * GPUs than there are. */
const struct gemm_kernel *sweep_kernel(const struct sweep *sweep, const struct kernel_entry *entry,
                                       enum gemm_type type);
/* Adds the outcome of a run; prints the command that repeats a bad one alone. */
void sweep_count(struct sweep_counts *counts, const struct gemm_kernel *kernel,
                 const struct trial *trial, enum exit_code code);
/* The kernels that may be launched early begin as early as the trial's extents happen to say; the
 * pitches are drawn. */
void sweep_launch_as(const struct trial *trial);
/* Opens the backend as the trial wants it. */
enum exit_code sweep_open(const struct trial *trial, struct backend_info *info);
/* How many schedules the backend has, and which of them is random; 1 and 0 on a GPU. */
int sweep_schedules(void);
int sweep_random_schedule(void);
/* One of `count` choices; uses `random` up. */
int sweep_draw(uint64_t *random, int count);

/* The i-th random problem, and the rest from `common`. */
struct trial sweep_draw_trial(const struct sweep *sweep, const struct trial *common, int i);

/* The modes. */
enum exit_code sweep_edges(const struct sweep *sweep, struct sweep_counts *counts);
enum exit_code sweep_random(const struct sweep *sweep, struct sweep_counts *counts);
enum exit_code sweep_repeat(const struct sweep *sweep, struct sweep_counts *counts);
enum exit_code sweep_flight(const struct sweep *sweep, struct sweep_counts *counts);

#endif
