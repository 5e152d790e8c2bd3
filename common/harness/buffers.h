/*
 * buffers.h: the problem in the backend's memory.
 *
 * Operands rotate among `sets` copies, which together with one contender's outputs exceed twice the
 * L2. So a timed run finds the cache as a large program would leave it, except where a large output
 * leaves one set. Every contender has outputs of its own, one for each set, to be verified later.
 *
 * The matrices of one kind lie in one allocation, a guard before, between and after them; where the
 * backend checks bounds itself there is one set and no guard.
 */
#ifndef HARNESS_BUFFERS_H
#define HARNESS_BUFFERS_H

#include "backend.h"
#include "harness/reference.h"

/* Matrices of one kind: guard, matrix, guard, matrix, ..., guard. In elements of 16 bits, whatever
 * the type. */
struct slab {
    uint16_t *memory;
    int64_t elements; /* of one matrix, from its first to its last */
    /* It is moved in so many pieces, which are this long and this far apart there: the whole of it,
     * or rows that lie far apart. On the host there is nothing between them. */
    int64_t pieces, piece, apart;
    int64_t stride; /* from one matrix to the next */
    int64_t total;
};

enum { MAX_OUTPUTS = 160 };

struct buffers {
    int sets;
    int64_t guard;                       /* elements */
    int64_t rows, columns_padded, pitch; /* of D: on the host, and there */
    struct slab a, b, outputs[MAX_OUTPUTS];
    int output_count;
    void *workspace;
    size_t workspace_bytes;
    uint32_t *tile_counters;       /* [sets][GEMM_COUNTERS] */
    struct gemm_problem *problems; /* [sets]; d is that of output 0 */
};

/* Memory for a slab with the sets and guards of `buffers`, on one of the GPUs. False after a
 * complaint. */
bool slab_alloc(struct slab *slab, const struct buffers *buffers, int gpu, int64_t elements,
                const char *label, bool writable);
/* The same on the first GPU, for a matrix of `rows` rows: `row` long on the host, `pitch` apart
 * there. */
bool slab_alloc_rows(struct slab *slab, const struct buffers *buffers, int64_t rows, int64_t row,
                     int64_t pitch, const char *label, bool writable);
/* Its matrix of a set. */
uint16_t *slab_matrix(const struct buffers *buffers, const struct slab *slab, int set);
/* One matrix in every place of the slab, `padding` everywhere else. */
bool slab_fill(const struct buffers *buffers, const struct slab *slab, const uint16_t *host,
               uint16_t padding);
/* The same number in all of it, guards included. */
bool slab_poison(const struct slab *slab, uint16_t pattern);
/* Elements of the view on the host that slab_read() makes of a set: guard, matrix, guard. */
int64_t slab_view_elements(const struct buffers *buffers, const struct slab *slab);
bool slab_read(const struct buffers *buffers, const struct slab *slab, int set, uint16_t *view);

/* How many sets a problem of this size takes; `outputs`: that will be made for each. */
int buffers_sets(const struct operands *operands, const struct backend_info *device, int outputs);

/* Puts the operands into memory and makes output 0. EXIT_NO_DEVICE after a complaint if the memory
 * cannot be had. */
enum exit_code buffers_open(struct buffers *buffers, const struct operands *operands,
                            const struct backend_info *device, int sets, size_t workspace_bytes);
void buffers_close(struct buffers *buffers);

/* Makes one more output; its number, or -1 after a complaint. */
int buffers_add_output(struct buffers *buffers);
/* Where the output's matrix of a set lies. */
element_t *buffers_output(const struct buffers *buffers, int output, int set);

/* Before a run: fills an output (all sets) and the workspace with NaN, zeroes the tile counters. */
bool buffers_poison(const struct buffers *buffers, int output);

/* slab_view_elements() and slab_read() of an output. */
int64_t buffers_view_elements(const struct buffers *buffers);
bool buffers_read(const struct buffers *buffers, int output, int set, uint16_t *view);
/* Did every launch leave the tile counters of this set zero? Complains in the name of `what`. */
bool buffers_counters_zero(const struct buffers *buffers, int set, const char *what);

#endif
