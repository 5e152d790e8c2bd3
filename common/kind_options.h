/*
 * kind_options.h: which values of a kind's options the runs of --check and of the sweeps have. They
 * follow from what the kind says of each option (struct kind_choice) and from the boundaries of the
 * kernel's record (gemm_boundaries.h).
 */
#ifndef KIND_OPTIONS_H
#define KIND_OPTIONS_H

#include "backend.h"

/* What is missing for runs of it, after "attention: "; NULL: nothing. */
const char *kind_lacks(const struct problem_kind *kind);

/* Draws values for a problem with this k (of a kind with `depth`: another number), the usual ones
 * with the first seed; sets the options. Returns the problem's k. */
int kind_drawn_k(const struct gemm_kernel *kernel, int k, uint64_t seed);

enum { KIND_VALUES = 32 }; /* of one option, at most */
/* The values of an option in kind_option_sets(). A number: the least ones, powers of two from 8 and
 * the next, those around the kernel's boundaries, and one beyond twice each boundary. A name: all.
 * How many. */
int kind_values(const struct gemm_kernel *kernel, int option, uint64_t value[KIND_VALUES]);

enum { KIND_SETS = 64 }; /* at most */
struct kind_set {
    uint64_t value[KIND_OPTIONS];
};
/* Values for all options together, each of kind_values() in two of the sets. With a number come the
 * two least choices of the other numbers that the kind accepts. How many sets. */
int kind_option_sets(const struct gemm_kernel *kernel, struct kind_set sets[KIND_SETS]);
/* The least of all: numbers at their lowest, names as usual. */
struct kind_set kind_least_set(const struct gemm_kernel *kernel);

/* The options' present values; and sets them. */
struct kind_set kind_get(const struct gemm_kernel *kernel);
void kind_set_options(const struct gemm_kernel *kernel, const struct kind_set *set);

#endif
