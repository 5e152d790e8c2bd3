#include "harness/samples.h"

#include <math.h>

#include "harness/inputs.h"

/* Multiplications and additions that a complete reference may take, and about what a sampled one
 * takes. */
static const double complete_limit = 0x1p28;

enum { LINES = 3, BLOCK = 128 };

bool samples_are_all(int rows, int columns, double cost) {
    return (double)rows * columns * (cost + 16) <= complete_limit;
}

int64_t samples_room(int rows, int columns, double cost) {
    const int64_t blocks = ((int64_t)rows / BLOCK + 1) * ((int64_t)columns / BLOCK + 1);
    return samples_are_all(rows, columns, cost) ? (int64_t)rows * columns
                                                : LINES * ((int64_t)rows + columns) + blocks;
}

/* A row or column that would take too long is sampled in steps, odd so that they meet every
 * position in a tile. */
static int line_step(int length, double cost) {
    const int step = (int)ceil((double)length * cost / complete_limit);
    return step <= 1 ? 1 : step | 1;
}

/* Some rows and columns. */
static int64_t place_lines(struct sample *samples, int rows, int columns, double cost,
                           uint64_t seed) {
    const int of_rows[LINES] = {0, (int)(input_hash(seed, 0) % (uint64_t)rows), rows - 1};
    const int of_columns[LINES] = {0, (int)(input_hash(seed, 1) % (uint64_t)columns), columns - 1};
    int64_t count = 0;
    for (int i = 0; i < 2 * LINES; ++i) {
        const bool is_row = i < LINES;
        const int *lines = is_row ? of_rows : of_columns;
        const int length = is_row ? columns : rows, line = i % LINES;
        if (line > 0 && lines[line] == lines[line - 1]) continue;
        for (int64_t moving = 0; moving < length; moving += line_step(length, cost))
            samples[count++] = is_row ? (struct sample){lines[line], (int)moving, 0}
                                      : (struct sample){(int)moving, lines[line], 0};
    }
    return count;
}

/* One element of every block. Thinned out where blocks are so many or so deep that they would take
 * longer than the rows and columns. */
static int64_t place_blocks(struct sample *samples, int rows, int columns, double cost,
                            uint64_t seed) {
    const int64_t across = ((int64_t)columns + BLOCK - 1) / BLOCK;
    const double blocks = ceil((double)rows / BLOCK) * (double)across;
    const double affordable = fmax(256, 2 * complete_limit / cost);
    const double stride = blocks > affordable ? ceil(blocks / affordable) : 1;
    const int64_t count = (int64_t)ceil(blocks / stride);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t block = i * (int64_t)stride;
        const int64_t row0 = block / across * BLOCK, column0 = block % across * BLOCK;
        const uint64_t random = input_hash(seed, 2 + (uint64_t)block);
        const int64_t high = row0 + BLOCK < rows ? BLOCK : rows - row0;
        const int64_t wide = column0 + BLOCK < columns ? BLOCK : columns - column0;
        samples[i] = (struct sample){(int)(row0 + (int64_t)(random & 0xffff) % high),
                                     (int)(column0 + (int64_t)(random >> 16 & 0xffff) % wide), 0};
    }
    return count;
}

int64_t samples_place(struct sample *samples, int rows, int columns, double cost, uint64_t seed) {
    if (!samples_are_all(rows, columns, cost)) {
        const uint64_t own = input_hash(seed, 'S');
        const int64_t lines = place_lines(samples, rows, columns, cost, own);
        return lines + place_blocks(samples + lines, rows, columns, cost, own);
    }
    int64_t count = 0;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            samples[count++] = (struct sample){row, column, 0};
    return count;
}
