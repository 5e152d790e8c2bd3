/*
 * wmma.h: matrices of wmma in the registers of a warp.
 *
 * Which element a register of a lane holds is not specified, so that a kernel may only compute with
 * all alike. Here lane l holds the elements from l * part on, row by row, where `part` is a lane's
 * part; fragments of fp16, which have more room than that, hold them twice or more. Each element is
 * read and written by the lane that holds it.
 */
#ifndef SEMANTICS_WMMA_H
#define SEMANTICS_WMMA_H

#include "program/decoder.h"
#include "sim/core/threads.h"

enum { WMMA_SHAPES = 5, WMMA_MOST_REGISTERS = 8, WMMA_MOST_EXTENT = 32, WMMA_MOST_K = 16 };

struct wmma_shape {
    const char *name;
    int m, n, k;
};
extern const struct wmma_shape wmma_shapes[WMMA_SHAPES];
/* The shape that the opcode's next word names; refuses where it names none. */
const struct wmma_shape *wmma_take_shape(struct decoder *d);

/* Of one of the matrices 'a', 'b', 'c' and 'd'. */
struct wmma_fragment {
    int rows, columns, bits, registers;
};
struct wmma_fragment wmma_fragment_of(char matrix, const struct wmma_shape *shape, int bits,
                                      bool bf16);

static inline int wmma_lane_part(const struct wmma_fragment *f) {
    return f->rows * f->columns / WARP_SIZE;
}
static inline int wmma_in_register(const struct wmma_fragment *f) {
    return f->bits == 64 ? 1 : 32 / f->bits;
}

/* The lane's element i, and setting it where all are 0 before. */
uint64_t wmma_get(const struct wmma_fragment *f, const uint64_t *registers, int i);
void wmma_put(const struct wmma_fragment *f, uint64_t *registers, int i, uint64_t bits);

/* Registers: of op->list from `first` on; and to its beginning. */
void wmma_read(const struct operation *op, const struct frame *frame, int first,
               const struct wmma_fragment *f, uint64_t *to);
void wmma_write(const struct operation *op, struct frame *frame, const struct wmma_fragment *f,
                const uint64_t *from);

/* Ends the launch without a verdict if the warp has fewer than 32 threads. */
void wmma_need_whole_warp(const struct operation *op);

#endif
