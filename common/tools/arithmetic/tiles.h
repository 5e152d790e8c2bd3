/*
 * tiles.h: operands that show how the Tensor Core adds, the same ones wherever they are made.
 *
 * Two sources. Random tiles come in classes, and each is made from its type, class and index alone.
 * Designed cases are single dot products: 64 of them make a tile, whose diagonal they are; what is
 * off the diagonal mixes one's A with another's B.
 */
#ifndef TOOLS_ARITHMETIC_TILES_H
#define TOOLS_ARITHMETIC_TILES_H

#include <stddef.h>

#include "tools/arithmetic/formats.h"

enum {
    TILE_M = 64,
    TILE_MOST_N = 256,
    STEP_BYTES = 32, /* of a row that one instruction takes: 16 elements of k, or 32 */
    MOST_STEPS = 4,
    MOST_K = 32 * MOST_STEPS,
    CASES_OF_TILE = 64,
};

/* An instruction with its element types. */
struct arithmetic_type {
    const char *name;
    struct element_format a, b;
    bool warp; /* mma.sync, not wgmma */
};
enum { ARITHMETIC_TYPES = 8 };
extern const struct arithmetic_type arithmetic_types[ARITHMETIC_TYPES];

struct tile_shape {
    int n, steps;
    bool accumulate;
};

struct tile {
    struct tile_shape shape;
    uint8_t a[TILE_M * STEP_BYTES * MOST_STEPS];      /* [row][k], rows without a gap */
    uint8_t b[TILE_MOST_N * STEP_BYTES * MOST_STEPS]; /* [column][k] */
    uint32_t c[TILE_M * TILE_MOST_N];                 /* [row][column]: the accumulators before */
};

/* Elements of k of one instruction. */
static inline int step_k(const struct arithmetic_type *type) { return STEP_BYTES / type->a.bytes; }

static inline uint16_t get_element(const uint8_t *row, int k, int bytes) {
    return bytes == 1 ? row[k] : (uint16_t)(row[2 * k] | row[2 * k + 1] << 8);
}
static inline void put_element(uint8_t *row, int k, int bytes, uint16_t bits) {
    row[bytes * k] = (uint8_t)bits;
    if (bytes == 2) row[2 * k + 1] = (uint8_t)(bits >> 8);
}

/* ---- random tiles ---- */

enum tile_class {
    CLASS_NORMAL,    /* sums of uniform numbers */
    CLASS_WIDE,      /* exponents uniform in a window of each tile's own */
    CLASS_CANCEL,    /* products that cancel, and an accumulator that cancels their sum */
    CLASS_SUBNORMAL, /* A's elements are subnormal, or nearly so */
    CLASS_MODERATE,  /* exponents within a few of each other */
    CLASS_SPECIAL,   /* wide, here and there infinities, NaNs, zeros, the extremes */
    CLASS_RAW,       /* any bits */
    CLASS_HEAVY,     /* an accumulator far above the products, as late in a long sum */
    CLASS_SPARSE,    /* wide, most elements zero */
    CLASS_CHAIN,     /* four instructions in a row on the same accumulators */
    CLASS_INTEGERS,  /* small ones: every model has the same result, the exact one */
    TILE_CLASSES
};
enum {
    TILES_OF_CLASS = 1280,
    NARROW_TILES = 1024,      /* the first of a class have n = 8, the rest every n in turn */
    ACCUMULATING_TILES = 896, /* of the narrow ones; the rest of these start from zero */
    FULL_TILES = 20,          /* of a class, whose results are recorded bit by bit */
};

struct tile_shape random_tile_shape(enum tile_class class, int index);
void random_tile(const struct arithmetic_type *type, enum tile_class class, int index,
                 struct tile *tile);

/* ---- designed cases ---- */

struct dot_case {
    uint16_t a[32], b[32];
    uint32_t c;
};
/* All of a type, a multiple of CASES_OF_TILE; the caller frees them. Exits if there is no memory.
 */
struct dot_case *designed_cases(const struct arithmetic_type *type, size_t *count);
/* The tile of CASES_OF_TILE cases. */
void designed_tile(const struct arithmetic_type *type, const struct dot_case *cases,
                   bool accumulate, struct tile *tile);

/* ---- sums ---- */

#define HASH_START 0xcbf29ce484222325u
/* Continues a hash over words. */
uint64_t hash_words(uint64_t hash, const uint32_t *words, size_t count);
uint64_t hash_operands(uint64_t hash, const struct arithmetic_type *type, const struct tile *tile);

#endif
