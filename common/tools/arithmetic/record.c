/* record.c: the short form, written and read. */
#include "tools/arithmetic/record.h"

#include <stdlib.h>
#include <string.h>

enum { MARK = 4, MARKS_OF_LINE = 16 };

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_marks(FILE *out, const uint64_t *hashes, size_t stride, size_t tiles) {
    for (size_t i = 0; i < tiles; ++i) {
        const uint32_t mark = tile_mark(hashes[i * stride]);
        for (int d = MARK - 1; d >= 0; --d)
            fputc(digits[mark >> 6 * d & 63], out);
        if (i % MARKS_OF_LINE == MARKS_OF_LINE - 1 || i == tiles - 1) fputc('\n', out);
    }
}

static bool compact_type(FILE *raw, FILE *out, int which, uint64_t *hashes) {
    uint32_t header[8];
    uint64_t sums[2];
    if (fread(header, sizeof header, 1, raw) != 1 || fread(sums, sizeof sums, 1, raw) != 1 ||
        header[0] != ARITHMETIC_MAGIC || header[1] != (uint32_t)which || header[2] > MOST_CASES ||
        header[3] != TILE_CLASSES || header[4] != TILES_OF_CLASS || header[5] != FULL_TILES)
        return false;
    fprintf(out, "type %s cases %u operands %016llx results %016llx\n",
            arithmetic_types[which].name, header[2], (unsigned long long)sums[0],
            (unsigned long long)sums[1]);
    const size_t tiles = header[2] / CASES_OF_TILE;
    if (fseek(raw, (long)header[2] * DESIGNED_PARTS * 4, SEEK_CUR) ||
        fread(hashes, DESIGNED_PARTS * sizeof *hashes, tiles, raw) != tiles)
        return false;
    fputs("added\n", out);
    put_marks(out, hashes, DESIGNED_PARTS, tiles);
    fputs("not added\n", out);
    put_marks(out, hashes + 1, DESIGNED_PARTS, tiles);
    for (int class = 0; class < TILE_CLASSES; ++class) {
        if (fread(hashes, sizeof *hashes, TILES_OF_CLASS, raw) != TILES_OF_CLASS ||
            fseek(raw, FULL_TILES * TILE_M * 8 * 4, SEEK_CUR))
            return false;
        fprintf(out, "class %d\n", class);
        put_marks(out, hashes, 1, TILES_OF_CLASS);
    }
    return true;
}

bool compact_record(FILE *raw, FILE *out) {
    uint64_t *const hashes = malloc(MOST_CASES * sizeof *hashes);
    bool good = hashes != NULL;
    for (int which = 0; good && which < ARITHMETIC_TYPES; ++which)
        good = compact_type(raw, out, which, hashes);
    free(hashes);
    return good && !ferror(out);
}

static bool get_marks(FILE *in, uint32_t *marks, size_t tiles) {
    for (size_t i = 0; i < tiles; ++i) {
        char text[MARK + 1];
        if (fscanf(in, " %4s", text) != 1 || strlen(text) != MARK) return false;
        marks[i] = 0;
        for (int d = 0; d < MARK; ++d) {
            const char *const at = strchr(digits, text[d]);
            if (!at) return false;
            marks[i] = marks[i] << 6 | (uint32_t)(at - digits);
        }
    }
    return true;
}

bool read_type_record(FILE *in, const struct arithmetic_type *type, struct type_record *record) {
    char name[16], word[16];
    unsigned long long operands, results;
    if (fscanf(in, " type %15s cases %zu operands %llx results %llx", name, &record->cases,
               &operands, &results) != 4 ||
        strcmp(name, type->name) || record->cases > MOST_CASES)
        return false;
    record->operands_hash = operands;
    record->results_hash = results;
    const size_t tiles = record->cases / CASES_OF_TILE;
    if (fscanf(in, " %15s", word) != 1 || strcmp(word, "added") ||
        !get_marks(in, record->designed[0], tiles) || fscanf(in, " not %15s", word) != 1 ||
        strcmp(word, "added") || !get_marks(in, record->designed[1], tiles))
        return false;
    for (int class = 0; class < TILE_CLASSES; ++class) {
        int number;
        if (fscanf(in, " class %d", &number) != 1 || number != class ||
            !get_marks(in, record->class[class], TILES_OF_CLASS))
            return false;
    }
    return true;
}
