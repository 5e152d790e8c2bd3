/*
 * verify.h: is this output right?
 *
 * Before a run D, its padding and the guards around it are filled with a NaN. Afterwards every
 * element must have been written and agree with the reference (reference.h), and everything around,
 * of which there may be whole rows, must be as it was. On the GPU every element is compared with
 * the library's result, too: two results of which each may be off by its bound. A NaN or an
 * infinity never agrees with anything.
 */
#ifndef HARNESS_VERIFY_H
#define HARNESS_VERIFY_H

#include "harness/reference.h"
#include "harness/stored.h"

struct comparison {
    bool verified;
    int64_t mismatches; /* elements that are wrong, or changed and outside D */
    double max_error;   /* largest |got - expected| seen; NaN if something was not finite */
    double error_bound; /* what was allowed there */
    /* Of e4m3 and real data: where the error comes from, as root mean squares over the samples, in
     * units of that of the exact product of the real data. */
    bool has_parts;
    double quantization; /* what the elements with their scales mean, for the real data */
    double accumulation; /* what is left of the output's error without the next */
    double rounding;     /* what the output's type would have cost an exact sum */
};

/* One output on the host. */
struct output_view {
    const char *what;  /* "06_wgmma" or "06_wgmma, timed run, buffer 3": begins every complaint */
    const char *label; /* "D" */
    const struct gemm_kernel *kernel; /* for its tile; NULL: a library, or no matrix of tiles */
    const void *memory;               /* guard, [rows][ld], guard */
    int64_t guard;                    /* in 16 bits, whatever the type */
    int rows, columns;
    int64_t ld;
    enum gemm_type type;
    bool exact;        /* the exact value, correctly rounded, bit for bit */
    bool infinite;     /* some elements may be infinite, if they must be */
    bool rounded_sums; /* partial sums may have been rounded to D's type: a wider bound */
    int rounded_parts; /* sums that were rounded to D's type before they were added up */
};

/* Checks an output; what is wrong is said on stderr. `library`: [rows][ld], a result that has
 * passed this check itself, or NULL. */
struct comparison verify_output(const struct output_view *output, const struct reference *reference,
                                const void *library);

#endif
