/*
 * problem_kind.h: a kind of problem: D = A * B (product_kind.c), or another, as a chapter supplies
 * it.
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
    bool near; /* a kernel may count its elements in an int: not as far apart as PITCHES_FAR */
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
    int devices;                       /* of kind_memory; 0: it has not been opened */
    void *memory;                      /* what its open() has made */
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

/* Where a problem lies for kernels that run on several devices (gemm_kernel.several_devices). The
 * operands of one device are there as always (buffers.h), for libraries. */
struct kind_memory {
    /* Puts the operands into the memory of `devices` devices, for those of the kernels that are for
     * several, and makes output 0. EXIT_NO_DEVICE after a complaint if the memory cannot be had. */
    enum exit_code (*open)(struct kind_problem *p, const struct buffers *buffers,
                           const struct gemm_kernel *const *kernels, int count, int devices);
    void (*close)(struct kind_problem *p);
    /* Fills in what such a kernel has to be told of the problem of a set. */
    void (*fill_in)(const struct kind_problem *p, const struct buffers *buffers,
                    const struct gemm_kernel *kernel, int output, int set,
                    struct gemm_problem *problem);
    /* The recorder's buffer on a device: as gemm_problem.trace. */
    void (*set_trace)(const struct kind_problem *p, int device, struct trace_record *buffer);
    /* Before a run: makes the output if it is not there yet, and fills it with NaN. */
    bool (*poison)(struct kind_problem *p, const struct buffers *buffers, int output);
    /* Puts D together: a view as buffers_read() makes it. *clean: no device has written what is not
     * its own; else complains in the name of `what`. */
    bool (*read)(const struct kind_problem *p, const struct buffers *buffers,
                 const struct gemm_kernel *kernel, int output, int set, const char *what,
                 uint16_t *view, bool *clean);
    /* Where a device has 'A' or 'D', that is, the output of this number. */
    const struct slab *(*slab)(const struct kind_problem *p, const struct gemm_kernel *kernel,
                               char matrix, int device, int output);
};

struct problem_kind {
    const char *name;    /* "bias": in JSON, and in the table's heading with the next; NULL: not */
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
    /* How A and B are kept, for these kernels; NULL: elements_format. */
    const struct operand_format *(*format)(enum gemm_type type,
                                           const struct gemm_kernel *const *kernels, int count);
    /* How they are kept for a library that leaves such a result; NULL: D is not comparable. If this
     * is NULL itself, products are. */
    const struct operand_format *(*read_as)(const struct operands *o, enum contender_result result);
    /* The largest whole number in A and B with which every sum of so many products is exact, for
     * these kernels; 0: there is none. NULL: as their format has it. */
    int (*integer_limit)(const struct gemm_kernel *const *kernels, int count, int terms,
                         enum gemm_type type);
    /* What the kernels are told of a problem, and behind it what the functions below need of it.
     * Fills in `of_kind`, so many bytes of zeros. NULL: there is nothing to tell. */
    void (*prepare)(const struct kind_problem *p, void *of_kind);
    size_t of_kind_bytes;
    /* Adds what follows from where A, B, D and the matrices lie. NULL: nothing. */
    void (*locate)(const struct kind_problem *p, void *of_kind);
    /* Changes the extents where they are not m, n, k and m x n. NULL: they are. */
    void (*extents)(const struct kind_problem *p, struct kind_extents *extents);
    /* Does this row of 'A', 'B' or 'D' lie between others and belong to nothing? As padding: in an
     * operand the harness fills it, in D it must not be written. NULL: none does. */
    bool (*is_gap)(const struct kind_problem *p, char matrix, int row);
    /* Declares matrices (at most GEMM_MATRICES); how many. NULL: none. */
    int (*matrices)(const struct kind_problem *p, struct kind_matrix *matrix);
    /* Makes a row of an input, `columns` elements of its type; from p->source if it draws. */
    bool draws;
    void (*fill)(const struct kind_problem *p, int matrix, int row, void *elements);
    /* Must an output (KIND_D, or a matrix) be the value, correctly rounded, bit for bit? NULL: for
     * integers and zeros. */
    bool (*is_exact)(const struct kind_problem *p, int matrix);
    /* What D must be, all of it at once. NULL: as the next ones have it. False if there is no
     * memory for it. */
    bool (*reference)(const struct kind_problem *p, struct reference *reference);
    /* An element of an output in fp64; from operands_product() and p->host. It may be infinite if
     * `infinite` says that such elements are expected. Several threads. */
    double (*value)(const struct kind_problem *p, int matrix, int row, int column);
    bool (*infinite)(const struct kind_problem *p, int matrix); /* NULL: never */
    /* How far from `value`, the element's or a library's, a correct kernel may be before it rounds
     * the result to the output's type. Once for each sample; for other elements only where a
     * library's result is compared: then it is O(1). */
    double (*error)(const struct kind_problem *p, int matrix, int row, int column, double value);
    /* Sums of a kernel that it rounds to D's type before it adds them up. NULL: none. */
    int (*rounded_parts)(const struct kind_problem *p, const struct gemm_kernel *kernel);
    /* Multiplications that value() takes; NULL: k. */
    double (*cost)(const struct kind_problem *p, int matrix);
    double (*flops)(int m, int n, int k); /* that speeds are computed with; NULL: 2 m n k */
    /* Libraries that compute this kind, as backend_baselines() writes them; `wanted` is not 0.
     * NULL: none. */
    int (*baselines)(const struct gemm_problem *problems, int count, uint32_t wanted,
                     struct contender *out, int room);
    /* The one of them with whose result all others are compared, wanted or not; NULL: none. */
    const char *library;
    const struct kind_memory *memory; /* NULL: no kernel is for several devices */
    /* Further members of the JSON object, each with ", " behind it. NULL: none. */
    void (*json)(FILE *out);
};

/* ---- for the harness ---- */

extern const struct problem_kind product_kind; /* D = A * B */
/* Its `reference`, for kinds that differ from it in what A and B are, or in where they lie. */
bool product_reference(const struct kind_problem *p, struct reference *reference);

static inline const struct problem_kind *kind_of(const struct gemm_kernel *kernel) {
    return kernel->kind ? kernel->kind : &product_kind;
}

/* The further matrices of a problem on the device, like buffers.h's, and what outputs must be. */
struct kind_instance {
    struct kind_problem problem;
    struct reference product, d, reference[GEMM_MATRICES];
    struct input_source source;
    struct slab input[GEMM_MATRICES], output[GEMM_MATRICES][MAX_OUTPUTS];
};

/* The FLOPs of a problem that a kernel computes; NULL: a library, as many as of D = A * B. */
static inline double kind_flops(const struct gemm_kernel *kernel, int m, int n, int k) {
    return kernel && kind_of(kernel)->flops ? kind_of(kernel)->flops(m, n, k) : 2.0 * m * n * k;
}

/* How A and B are kept for the kernels, and the largest whole number in them. */
const struct operand_format *kind_format(const struct gemm_kernel *const *kernels, int count,
                                         enum gemm_type type);
int kind_integer_limit(const struct gemm_kernel *const *kernels, int count, int k,
                       enum gemm_type type);

/* Before operands are made: m, n, k, type, input and seed, from these what the kind prepares, and
 * the extents. */
struct kind_extents kind_begin(struct kind_instance *instance, const struct problem_kind *kind,
                               int m, int n, int k, enum gemm_type type, enum input_kind input,
                               uint64_t seed);
/* Fills the rows of A and B that belong to nothing. */
void kind_fill_gaps(const struct kind_instance *instance, struct operands *operands);
/* Makes the matrices and the references. False after a complaint. */
bool kind_open(struct kind_instance *instance, const struct buffers *buffers,
               struct operands *operands, int integer_limit);
void kind_close(struct kind_instance *instance);

/* The matrices of a set, with an output that kind_poison() has made. */
void kind_fill_in(const struct kind_instance *instance, const struct buffers *buffers, int output,
                  int set, struct gemm_problem *problem);
/* Before a run: makes the output if it is not there yet, and fills it with NaN. */
bool kind_poison(struct kind_instance *instance, const struct buffers *buffers, int output);
/* What an output (KIND_D, or a matrix) must be. */
bool kind_is_exact(const struct kind_instance *instance, int matrix);
/* Verifies the outputs besides D, and adds what is wrong to the comparison. False after a
 * message. */
bool kind_check(const struct kind_instance *instance, const struct buffers *buffers,
                const char *what, int output, int set, struct comparison *comparison);

#endif
