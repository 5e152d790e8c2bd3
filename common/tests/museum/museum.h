/*
 * museum.h: what an exhibit of docs/museum.md is written in, and what it gives to museum.c.
 *
 * An exhibit is one file, compiled twice, with FIXED 0 and 1. Its kernel is a few lines around one
 * mistake that public code made; what the fix adds or replaces stands between #if FIXED and #endif,
 * and a comment "accused: KIND" stands on each line that the simulator names. A, B and D are
 * squares of MUSEUM_EXTENT bf16 elements; the tensor maps have boxes of BOX_ROWS squared in the
 * 128 B swizzle. Place n of a matrix is its n-th box, down the columns of boxes.
 *
 * The comment at the top ends with what the pages and the practice have of the exhibit:
 *
 *     title, project    what the bug is called here, whose it was, and where it is told
 *     kind              what is wrong, in a word, and whether it is "a practice" of many
 *     symptom           what the project saw of it
 *     run, reports      options of the program, if not --schedule time, and the kind of the first
 *                       hazard that it then reports
 *     does              what the kernel is for; with that the practice asks for the line
 */
#ifndef TESTS_MUSEUM_MUSEUM_H
#define TESTS_MUSEUM_MUSEUM_H

#include "gemm.h"

enum {
    MUSEUM_EXTENT = 256,
    BOX_ROWS = 64,
    BOX_ELEMENTS = BOX_ROWS * BOX_ROWS,
    BOX_BYTES = BOX_ELEMENTS * 2,
    BOX_CHUNKS = BOX_BYTES / 16,
    MUSEUM_BOXES = MUSEUM_EXTENT / BOX_ROWS, /* along a side */
};

#define PLACE_ROW(n) ((n) % MUSEUM_BOXES * BOX_ROWS)
#define PLACE_COLUMN(n) ((n) / MUSEUM_BOXES * BOX_ROWS)
/* The first element of 16-byte chunk i of place n in a matrix, and of a box in shared memory. */
#define MATRIX_CHUNK(n, i)                                                                         \
    ((PLACE_ROW(n) + (int)(i) / 8) * MUSEUM_EXTENT + PLACE_COLUMN(n) + (int)(i) % 8 * 8)
#define BOX_CHUNK(i) (((i) / 8 * 8 + (((i) ^ (i) / 8) & 7)) * 8)

/* A's tensor map in global memory, where the host has copied it before the launch. */
enum { MUSEUM_MAP_WORD = 32 };
#define MUSEUM_MAP_A(args) ((const struct tensor_map *)(args.tile_counter + MUSEUM_MAP_WORD))

#ifdef __cplusplus
extern "C" {
#endif

/* One form of an exhibit. */
struct museum_form {
    const void *kernel;
    int grid, cluster, threads;
    size_t smem_bytes;
    /* Elements of D that are not what they ought to be; on the host. */
    int (*count_wrong)(const uint16_t *a, const uint16_t *b, const uint16_t *d);
    enum gemm_machine machine;
};
#ifdef MUSEUM_FORM
extern const struct museum_form MUSEUM_FORM;
#endif

struct museum_exhibit {
    const char *name;                  /* "01_empty_sequence" */
    const struct museum_form *form[2]; /* [FIXED] */
};
extern const struct museum_exhibit museum_exhibits[];
extern const int museum_exhibit_count;

#ifdef __cplusplus
}
#endif

/* The last line of an exhibit; and of one for Blackwell, which the GPU's program does not have. */
#define EXHIBIT(...) EXHIBIT_ON(MACHINE_HOPPER, __VA_ARGS__)
#define BLACKWELL_EXHIBIT(...) EXHIBIT_ON(MACHINE_BLACKWELL, __VA_ARGS__)
#define EXHIBIT_ON(machine, kernel, grid, cluster, threads, smem, check)                           \
    const struct museum_form MUSEUM_FORM = {                                                       \
        (const void *)kernel, grid, cluster, threads, sizeof(smem), check, machine,                \
    }

/* Elements of D that differ from A's, in places first .. last - 1. */
static inline int count_not_copied(const uint16_t *a, const uint16_t *d, int first, int last) {
    int wrong = 0;
    for (int n = first; n < last; ++n)
        for (int i = 0; i < BOX_ELEMENTS; ++i) {
            const int at =
                (PLACE_ROW(n) + i / BOX_ROWS) * MUSEUM_EXTENT + PLACE_COLUMN(n) + i % BOX_ROWS;
            wrong += d[at] != a[at];
        }
    return wrong;
}

#endif
