/*
 * tensor_map.h: what is inside a struct tensor_map in the simulator, and the walk over a box.
 *
 * The real encoding is opaque; this one has the same meaning. CUDA driver API:
 * cuTensorMapEncodeTiled.
 */
#ifndef SIM_MODELS_TENSOR_MAP_H
#define SIM_MODELS_TENSOR_MAP_H

#include "gemm.h"

enum { TENSOR_MAP_MAX_RANK = 5, TENSOR_MAP_OUTER = TENSOR_MAP_MAX_RANK - 2, TENSOR_MAP_SPACE = 3 };

struct tensor_map_fields {
    /* First: CUTLASS clears bit 21 of the second word of a map, for the sake of some drivers. Here
     * that is one of box_rows, and 0. */
    int box_rows, box_columns;
    const unsigned char *base;
    int64_t rows, columns; /* of the matrix, elements */
    int64_t pitch;         /* bytes from row to row */
    int element_bytes;
    enum gemm_type type;
    enum gemm_swizzle swizzle;
    /* Dimensions beyond rows and columns, the innermost first: the box has box_rows rows for each
     * of their combinations. */
    int rank;                              /* 0 stands for 2 */
    int64_t outer_pitch[TENSOR_MAP_OUTER]; /* bytes */
    uint32_t outer_extent[TENSOR_MAP_OUTER];
    uint16_t outer_box[TENSOR_MAP_OUTER];
    uint8_t whole; /* enum tensor_map_whole: whether elements are whole numbers */
    /* im2col: the box is box_rows pixels of box_columns channels. rows is the width, the outer
     * dimensions but for the last are height and depth. Pixels are taken one behind the other from
     * the box that begins `lower` from the first one of the image and ends `upper` from the last
     * one; outer_box says how far apart they are, of width, height and depth. */
    uint8_t im2col;
    int16_t lower[TENSOR_MAP_SPACE], upper[TENSOR_MAP_SPACE];
    /* From here on no part of a map: where a box lies in the outer dimensions, and of im2col what
     * the instruction adds to each pixel's place. */
    int32_t outer_at[TENSOR_MAP_OUTER];
    uint16_t pixel_offset[TENSOR_MAP_SPACE];
};

/* Reductions ask: copies move bytes, whatever they mean. */
enum tensor_map_whole { WHOLE_NONE, WHOLE_UNSIGNED, WHOLE_SIGNED };

static inline int tensor_map_outer(const struct tensor_map_fields *f) {
    return f->rank > 2 ? f->rank - 2 : 0;
}
/* Rows of the box, those of all its outer dimensions; of im2col, pixels. */
static inline int tensor_map_box_lines(const struct tensor_map_fields *f) {
    int lines = f->box_rows;
    if (f->im2col) return lines;
    for (int i = 0; i < tensor_map_outer(f); ++i)
        lines *= f->outer_box[i];
    return lines;
}

/* Returns NULL and encodes, or returns a sentence that names the argument at fault. */
const char *tensor_map_encode(struct tensor_map *map, const struct tensor_map_fields *fields);

/* NULL, or a sentence that names the field at fault. */
const char *tensor_map_fault(const struct tensor_map_fields *fields);
/* Encodes whatever the fields are: a map that is being edited need not be valid. */
void tensor_map_write(struct tensor_map *map, const struct tensor_map_fields *fields);

/* False if `map` was not made by one of these, or was damaged since. */
bool tensor_map_decode(const struct tensor_map *map, struct tensor_map_fields *out);

/* Bytes a box occupies in shared memory, and counts down on a barrier: all of it, also what is out
 * of bounds. */
uint32_t tensor_map_box_bytes(const struct tensor_map_fields *f);

/* Where row r of a box, of tensor_map_box_lines(), at (row, column) meets the matrix: elements
 * [first, last) of the box row are inside, and `global` is the address of element `first`.
 * first == last: nothing is. */
struct box_row {
    int first, last;
    const unsigned char *global;
};
/* What a load reads; the rest is zeros. */
struct box_row tensor_map_box_row(const struct tensor_map_fields *f, int64_t row, int64_t column,
                                  int r);
/* What a store writes. The GPU writes whole chunks of 16 bytes: if a row of the matrix is no
 * multiple of them, the box's elements up to the next multiple go into the row's padding. (Seen on
 * an H200; the manual does not say so.) */
struct box_row tensor_map_store_row(const struct tensor_map_fields *f, int64_t row, int64_t column,
                                    int r);

/* Byte offset of element (r, c) in a box stored at shared address `shared`, swizzle included: what
 * is added to `shared`. Exact for any address; the swizzle acts on absolute bits, so the result
 * depends on where the box lies. */
static inline uint32_t tensor_map_box_offset(const struct tensor_map_fields *f, uint32_t shared,
                                             int r, int c) {
    const uint32_t linear = shared + (uint32_t)((r * f->box_columns + c) * f->element_bytes);
    return (linear ^ ((linear >> 3) & (((1u << f->swizzle) - 1) << 4))) - shared;
}

#endif
