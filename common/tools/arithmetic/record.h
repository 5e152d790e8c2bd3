/*
 * record.h: what build/gpu/arithmetic recorded, and the short form that docs/results keeps of it.
 *
 * The short form is text. Its first line is JSON and says where, when and how it was recorded. Then
 * come, for every type of arithmetic_types in order, a line "type NAME cases N operands HASH
 * results HASH", and a line "added", "not added" (the designed cases' tiles) or "class N" before
 * the marks of its tiles, 16 to a line. A tile's mark is the low 24 bits of the hash of its
 * results, in four characters of base64.
 */
#ifndef TOOLS_ARITHMETIC_RECORD_H
#define TOOLS_ARITHMETIC_RECORD_H

#include <stdio.h>

#include "tools/arithmetic/tiles.h"

enum { ARITHMETIC_MAGIC = 0x48413031, DESIGNED_PARTS = 2, MOST_CASES = 1 << 17 };

struct type_record {
    size_t cases;
    uint64_t operands_hash, results_hash;
    uint32_t designed[DESIGNED_PARTS][MOST_CASES / CASES_OF_TILE]; /* marks: added, not added */
    uint32_t class[TILE_CLASSES][TILES_OF_CLASS];
};

static inline uint32_t tile_mark(uint64_t hash) { return (uint32_t)hash & 0xffffff; }

/* Writes the short form of a GPU program's file, without its first line. */
bool compact_record(FILE *raw, FILE *out);
/* Reads the next type of a short form, which must be this one; the first type after the first line.
 */
bool read_type_record(FILE *in, const struct arithmetic_type *type, struct type_record *record);

#endif
