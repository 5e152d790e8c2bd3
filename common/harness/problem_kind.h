/*
 * problem_kind.h: a kind of problem other than D = A * B, as a chapter supplies it.
 *
 * A and B are made as always, of the type and input that the command line asks for; D has the type
 * that it always has. The kind says how large they are, declares further matrices, fills those that
 * are inputs, and knows what each element of an output must be. The harness does the rest: memory,
 * guards, padding, the choice of samples, runs, verification, timing, reports.
 */
#ifndef HARNESS_PROBLEM_KIND_H
#define HARNESS_PROBLEM_KIND_H

#include <stdio.h>

#include "harness/buffers.h"
#include "harness/verify.h"

/* A matrix besides A, B and D. */
struct kind_matrix {
    const char *label; /* "bias"; in complaints and in the simulator's reports */
    enum gemm_type type;
    int rows, columns;
    bool output;
};

enum { KIND_D = -1 }; /* the output D, where a matrix is named by its index */

/* One problem, as the kind's functions see it. */
struct kind_problem {
    const struct problem_kind *kind;
    int m, n, k; /* as on the command line */
    enum gemm_type type;
    enum input_kind input;
    uint64_t seed;
    const struct operands *operands;   /* A and B: operands_product(), operands_row() */
    const struct reference *product;   /* its bound: reference_accumulation() */
    const struct input_source *source; /* 16-bit elements like those of A and B: input_fill_row() */
    void *of_kind;                     /* as prepare() has filled it in; gemm_problem.of_kind */
    int count;
    struct kind_matrix matrix[GEMM_MATRICES];
    int64_t ld[GEMM_MATRICES], device_ld[GEMM_MATRICES]; /* on the host, and there */
    void *host[GEMM_MATRICES];                           /* inputs, [rows][ld]; NULL: an output */
};

struct kind_extents {
    int64_t a_rows, b_rows, k; /* of the operands; at least 1 */
    int64_t d_rows, d_columns;
};

/* What the runs of --check and of the sweeps take of an option (kind_options.h). Every option has
 * one. */
struct kind_choice {
    uint64_t usual[2]; /* the values in most runs, in turn */
    int usuals;        /* how many; at least 1 */
    /* Of a number, the greatest value that a run draws, and in the few runs of this option alone;
     * of names all take part. */
    uint64_t drawn, most;
};

struct problem_kind {
    const char *name;    /* "bias": in JSON, and in the table's heading with */
    const char *formula; /* "D = A * B + bias" */
    /* Options of the command line that its programs have; their values are the kind's to read. */
    struct backend_setting *options;
    const struct kind_choice *choices; /* [option_count] */
    int option_count;
    /* What is wrong with their values together, after "attention: "; NULL: nothing, or it may be
     * NULL itself. */
    const char *(*refuse)(void);
    /* The only k that its kernels compute; 0: any. */
    int depth;
    /* How many terms an element has besides the k products, if integer input makes it exact. */
    int further_terms;
    /* What the kernels are told of a problem, and behind it what the functions below need of it.
     * Fills in `of_kind`, so many bytes of zeros. NULL: there is nothing to tell. */
    void (*prepare)(const struct kind_problem *p, void *of_kind);
    size_t of_kind_bytes;
    /* Changes the extents where they are not m, n, k and m x n. NULL: they are. */
    void (*extents)(const struct kind_problem *p, struct kind_extents *extents);
    /* Declares matrices (at most GEMM_MATRICES); how many. NULL: none. */
    int (*matrices)(const struct kind_problem *p, struct kind_matrix *matrix);
    /* Makes a row of an input, `columns` elements of its type. */
    void (*fill)(const struct kind_problem *p, int matrix, int row, void *elements);
    /* Must an output (KIND_D, or a matrix) be the value, correctly rounded, bit for bit? NULL: for
     * integers and zeros. */
    bool (*is_exact)(const struct kind_problem *p, int matrix);
    /* An element of an output in fp64; from operands_product() and p->host. It may be infinite if
     * `infinite` says that such elements are expected. Several threads. */
    double (*value)(const struct kind_problem *p, int matrix, int row, int column);
    bool (*infinite)(const struct kind_problem *p, int matrix); /* NULL: never */
    /* How far from `value`, the element's or a library's, a correct kernel may be before it rounds
     * the result to the output's type. Once for each sample; for other elements only where a
     * library's result is compared: then it is O(1). */
    double (*error)(const struct kind_problem *p, int matrix, int row, int column, double value);
    /* Multiplications that value() takes; NULL: k. */
    double (*cost)(const struct kind_problem *p, int matrix);
    double (*flops)(int m, int n, int k); /* that speeds are computed with; NULL: 2 m n k */
    /* Libraries that compute this kind, as backend_baselines() writes them. NULL: none. */
    int (*baselines)(const struct gemm_problem *problems, int count, struct contender *out,
                     int room);
    /* Further members of the JSON object, each with ", " behind it. NULL: none. */
    void (*json)(FILE *out);
};

/* ---- for the harness ---- */

/* The further matrices of a problem on the device, like buffers.h's, and what outputs must be. */
struct kind_run {
    struct kind_problem problem; /* kind NULL: this is D = A * B */
    struct reference product, d, reference[GEMM_MATRICES];
    struct input_source source;
    struct slab input[GEMM_MATRICES], output[GEMM_MATRICES][MAX_OUTPUTS];
};

/* The FLOPs of a problem that a kernel computes; NULL: a library. */
static inline double kind_flops(const struct gemm_kernel *kernel, int m, int n, int k) {
    return kernel && kernel->kind && kernel->kind->flops ? kernel->kind->flops(m, n, k)
                                                         : 2.0 * m * n * k;
}

/* Before operands are made: m, n, k, type, input and seed, from these what the kind prepares, and
 * the extents. */
struct kind_extents kind_begin(struct kind_run *run, const struct problem_kind *kind, int m, int n,
                               int k, enum gemm_type type, enum input_kind input, uint64_t seed);
/* Makes the matrices, and, after kind_begin() with a kind, the references. False after a
 * complaint. */
bool kind_open(struct kind_run *run, const struct buffers *buffers, const struct operands *operands,
               int integer_limit);
void kind_close(struct kind_run *run);

/* The matrices of a set, with an output that kind_poison() has made. */
void kind_fill_in(const struct kind_run *run, const struct buffers *buffers, int output, int set,
                  struct gemm_problem *problem);
/* Before a run: makes the output if it is not there yet, and fills it with NaN. */
bool kind_poison(struct kind_run *run, const struct buffers *buffers, int output);
/* What an output (KIND_D, or a matrix) must be. */
bool kind_is_exact(const struct kind_run *run, int matrix);
/* Verifies the outputs besides D, and adds what is wrong to the verdict. False after a message. */
bool kind_check(const struct kind_run *run, const struct buffers *buffers, const char *what,
                int output, int set, struct verdict *verdict);

#endif
