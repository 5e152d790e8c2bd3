/*
 * unit_tensor_map.c: every element of every box lands where a formula in rows and columns says,
 * whatever part of the box is outside; and every argument that the driver's encoder refuses is
 * refused.
 */
#include <string.h>

#include "services/plan.h"
#include "services/batch.h"
#include "sim/models/tensor_map.h"
#include "tests/support/expect.h"

static unsigned char memory[1 << 16] __attribute__((aligned(256)));

static struct tensor_map_fields fields(int rows, int columns, int ld, int box_rows, int box_columns,
                                       int size, enum gemm_swizzle swizzle) {
    return (struct tensor_map_fields){.base = memory,
                                      .rows = rows,
                                      .columns = columns,
                                      .pitch = ld * size,
                                      .box_rows = box_rows,
                                      .box_columns = box_columns,
                                      .element_bytes = size,
                                      .type = size == 4 ? GEMM_FP32 : GEMM_FP16,
                                      .swizzle = swizzle};
}

/* Which elements of a box are inside, one by one. */
static void test_box(const struct tensor_map_fields *f, int row, int column) {
    for (int r = 0; r < f->box_rows; ++r) {
        const struct box_row in = tensor_map_box_row(f, row, column, r);
        for (int c = 0; c < f->box_columns; ++c) {
            const int64_t global_row = (int64_t)row + r, global_column = (int64_t)column + c;
            const bool inside = global_row >= 0 && global_row < f->rows && global_column >= 0 &&
                                global_column < f->columns;
            EXPECT(inside == (c >= in.first && c < in.last), "box (%d, %d), element (%d, %d)", row,
                   column, r, c);
            if (!inside || c != in.first) continue;
            const unsigned char *const expected =
                memory + global_row * f->pitch + global_column * f->element_bytes;
            EXPECT(in.global == expected, "box (%d, %d), row %d: %td bytes off", row, column, r,
                   in.global - expected);
        }
    }
}

/* 2 x 3 slices of 4 rows, of 5 x 4 x 8 x 16 halves whose planes are laid out by strides. */
static void test_outer_dimensions(void) {
    struct tensor_map_fields f = fields(8, 16, 16, 4, 16, 2, SWIZZLE_NONE), back;
    struct tensor_map map;
    f.rank = 4;
    f.outer_extent[0] = 4;
    f.outer_extent[1] = 5;
    f.outer_pitch[0] = 1024;
    f.outer_pitch[1] = 8192;
    f.outer_box[0] = 3;
    f.outer_box[1] = 2;
    EXPECT(!tensor_map_encode(&map, &f) && tensor_map_decode(&map, &back), "four dimensions");
    EXPECT(tensor_map_box_lines(&back) == 24 && tensor_map_box_bytes(&back) == 24 * 32, "%d lines",
           tensor_map_box_lines(&back));
    back.outer_at[0] = 2;
    back.outer_at[1] = -1;
    for (int line = 0; line < 24; ++line) {
        const int row = 6 + line % 4, plane = 2 + line / 4 % 3, volume = -1 + line / 12;
        const struct box_row in = tensor_map_box_row(&back, 6, 0, line);
        const bool inside = row < 8 && plane < 4 && volume >= 0;
        EXPECT(inside == (in.last == 16), "line %d is inside: %d", line, inside);
        if (inside)
            EXPECT(in.global == memory + volume * 8192 + plane * 1024 + row * 32,
                   "line %d begins at %td", line, in.global - memory);
    }
    f.outer_pitch[1] = 8;
    EXPECT(tensor_map_encode(&map, &f) != NULL, "a stride of 8 bytes");
}

static void test_boxes(void) {
    enum { BOX_ROWS = 8, BOX_COLUMNS = 32 };
    const int extents[] = {
        1, 7, BOX_ROWS - 1, BOX_ROWS, BOX_ROWS + 1, BOX_COLUMNS - 1, BOX_COLUMNS, BOX_COLUMNS + 1};
    const int count = sizeof extents / sizeof *extents;
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j) {
            const struct tensor_map_fields f =
                fields(extents[i], extents[j], (extents[j] + 7) / 8 * 8, BOX_ROWS, BOX_COLUMNS, 2,
                       SWIZZLE_64B);
            struct tensor_map map;
            const char *const fault = tensor_map_encode(&map, &f);
            EXPECT(!fault, "%d x %d: %s", extents[i], extents[j], fault);
            for (int row = -9; row <= 40; row += 7)
                for (int column = -33; column <= 40; ++column)
                    test_box(&f, row, column);
        }
    const struct tensor_map_fields f = fields(4, 8, 8, 4, 8, 4, SWIZZLE_32B);
    EXPECT(tensor_map_box_bytes(&f) == 128, "%u", tensor_map_box_bytes(&f));
    test_box(&f, 2147483647, 0);
    test_box(&f, 0, -2147483647 - 1);
}

/* A store writes whole chunks of 16 bytes, into the padding if need be, and nothing else. */
static void test_stores(void) {
    for (int columns = 1; columns <= 40; ++columns) {
        const struct tensor_map_fields f = fields(4, columns, 40, 4, 32, 2, SWIZZLE_64B);
        for (int column = -8; column <= 40; column += 8) {
            const struct box_row in = tensor_map_store_row(&f, 0, column, 1);
            for (int c = 0; c < 32; ++c) {
                const int chunk = (column + c + 40) / 8 - 5; /* rounded down */
                const bool written = chunk >= 0 && chunk * 8 < columns;
                EXPECT(written == (c >= in.first && c < in.last),
                       "%d columns, box at %d, element %d", columns, column, c);
            }
        }
        EXPECT(tensor_map_store_row(&f, 3, 0, 1).last == 0, "a row beyond the last");
    }
}

/* The swizzle exchanges 16-byte chunks within rows; all offsets of a box are different. */
static void test_offsets(void) {
    for (int mode = SWIZZLE_NONE; mode <= SWIZZLE_128B; ++mode) {
        const int width = mode ? 16 << mode : 64;
        const struct tensor_map_fields f =
            fields(16, 64, 64, 16, width / 2, 2, (enum gemm_swizzle)mode);
        bool seen[2048] = {false};
        for (int r = 0; r < 16; ++r)
            for (int c = 0; c < width / 2; ++c) {
                const int linear = r * width + c * 2;
                const int chunks = 1 << mode, chunk = linear % (16 << mode) / 16;
                const int moved = (chunk ^ (linear / 128 % chunks)) - chunk;
                const int expected = mode ? linear + 16 * moved : linear;
                const int got = (int)tensor_map_box_offset(&f, 0x400 * 7, r, c);
                EXPECT(got == expected, "mode %d (%d, %d): %d, expected %d", mode, r, c, got,
                       expected);
                EXPECT(got >= 0 && got < 2048 && !seen[got], "offset %d twice", got);
                if (got >= 0 && got < 2048) seen[got] = true;
            }
    }
}

static bool accepted(struct tensor_map_fields f) {
    struct tensor_map map;
    return !tensor_map_encode(&map, &f);
}

static void refuse(const char *argument, struct tensor_map_fields f) {
    struct tensor_map map;
    const char *const fault = tensor_map_encode(&map, &f);
    EXPECT(fault && !strncmp(fault, argument, strlen(argument)) && fault[strlen(argument)] == ':',
           "%s should be at fault: %s", argument, fault ? fault : "accepted");
}

#define WITH(member, value)                                                                        \
    ({                                                                                             \
        struct tensor_map_fields with_ = good;                                                     \
        with_.member = (value);                                                                    \
        with_;                                                                                     \
    })

static void test_arguments(void) {
    const struct tensor_map_fields good = fields(100, 60, 64, 128, 64, 2, SWIZZLE_128B);
    struct tensor_map map;
    struct tensor_map_fields back;
    EXPECT(!tensor_map_encode(&map, &good), "good");
    refuse("base", WITH(base, NULL));
    refuse("base", WITH(base, memory + 8));
    refuse("rows", WITH(rows, 0));
    refuse("rows", WITH(rows, (INT64_C(1) << 32) + 1));
    refuse("columns", WITH(columns, 0));
    refuse("ld", WITH(pitch, 136));
    refuse("ld", WITH(pitch, 0));
    refuse("ld", WITH(pitch, INT64_C(1) << 40));
    refuse("ld", WITH(pitch, 112)); /* shorter than 60 elements */
    refuse("box_rows", WITH(box_rows, 0));
    refuse("box_rows", WITH(box_rows, 257));
    refuse("box_columns", WITH(box_columns, 0));
    refuse("box_columns", WITH(box_columns, 264));
    refuse("box_columns", WITH(box_columns, 20)); /* 40 bytes */
    refuse("box_columns", WITH(box_columns, 72)); /* wider than the swizzle */
    refuse("swizzle", WITH(swizzle, (enum gemm_swizzle)4));
    refuse("type", WITH(element_bytes, 0));
    EXPECT(tensor_map_encode(NULL, &good), "no map");
    EXPECT(accepted(WITH(rows, INT64_C(1) << 32)), "2^32 rows");
    EXPECT(accepted(WITH(swizzle, SWIZZLE_NONE)), "no swizzle");
    EXPECT(accepted(WITH(box_rows, 256)), "256 rows");

    EXPECT(tensor_map_decode(&map, &back) && back.rows == 100 && back.base == memory, "decodes");
    ((unsigned char *)&map)[20] ^= 1;
    EXPECT(!tensor_map_decode(&map, &back), "a damaged map");
    memset(&map, 0, sizeof map);
    EXPECT(!tensor_map_decode(&map, &back), "an empty map");
    memset(&map, 0xb7, sizeof map);
    EXPECT(!tensor_map_decode(&map, &back), "an uninitialized map");

    EXPECT(gemm_tensor_map(&map, GEMM_BF16, memory, 100, 60, 64, 128, 64, SWIZZLE_128B) == GEMM_OK,
           "ok");
    EXPECT(gemm_tensor_map(&map, GEMM_FP32, memory, 100, 60, 64, 128, 64, SWIZZLE_128B) ==
               GEMM_UNSUPPORTED,
           "64 fp32 are wider than the swizzle");
    EXPECT(gemm_tensor_map(&map, GEMM_E4M3, memory, 100, 120, 128, 128, 128, SWIZZLE_128B) ==
                   GEMM_OK &&
               tensor_map_decode(&map, &back) && back.element_bytes == 1 && back.pitch == 128 &&
               tensor_map_box_bytes(&back) == 128 * 128,
           "128 e4m3 are as wide as the swizzle");
    EXPECT(gemm_tensor_map(&map, GEMM_E4M3, memory, 100, 60, 72, 128, 64, SWIZZLE_128B) ==
               GEMM_UNSUPPORTED,
           "72 e4m3 are no multiple of 16 bytes");
    EXPECT(gemm_tensor_map(&map, (enum gemm_type)9, memory, 100, 60, 64, 128, 64, SWIZZLE_128B) ==
               GEMM_UNSUPPORTED,
           "a type that is none");
    EXPECT(gemm_tensor_map(&map, GEMM_FP16, memory, 100, 60, INT64_MAX, 128, 64, SWIZZLE_128B) ==
               GEMM_UNSUPPORTED,
           "a pitch that overflows");
}

/* A batch: each matrix begins `stride` behind the one before, and ends with its own last row. */
static void test_batch(void) {
    enum { MATRICES = 3, ROWS = 5, COLUMNS = 12, LD = 16, STRIDE = 7 * LD, BOX = 4 };
    struct tensor_map map;
    struct tensor_map_fields f;
#define MAKE(matrices, stride, ld)                                                                 \
    gemm_tensor_map_3d(&map, GEMM_BF16, memory, matrices, stride, ROWS, COLUMNS, ld, BOX, 16,      \
                       SWIZZLE_NONE)
    EXPECT(MAKE(MATRICES, STRIDE, LD) == GEMM_OK && tensor_map_decode(&map, &f), "a batch");
    EXPECT(tensor_map_box_lines(&f) == BOX, "a box has rows of one matrix: %d",
           tensor_map_box_lines(&f));
    for (int matrix = -1; matrix <= MATRICES; ++matrix)
        for (int row = -BOX; row < ROWS + BOX; ++row) {
            f.outer_at[0] = matrix;
            const struct box_row in = tensor_map_box_row(&f, row, 0, 0);
            const bool inside = matrix >= 0 && matrix < MATRICES && row >= 0 && row < ROWS;
            EXPECT(in.last == (inside ? COLUMNS : 0), "matrix %d, row %d: %d columns", matrix, row,
                   in.last);
            EXPECT(!inside || in.global == memory + 2 * (matrix * STRIDE + row * LD),
                   "matrix %d, row %d lies elsewhere", matrix, row);
        }
    EXPECT(MAKE(MATRICES, 8, LD) == GEMM_OK, "the next one may begin in the same row");
    EXPECT(MAKE(1, 0, LD) == GEMM_OK, "there is no next one");
    EXPECT(MAKE(0, STRIDE, LD) == GEMM_UNSUPPORTED, "no matrix");
    EXPECT(MAKE(MATRICES, 0, LD) == GEMM_UNSUPPORTED, "no stride");
    EXPECT(MAKE(MATRICES, -STRIDE, LD) == GEMM_UNSUPPORTED, "a negative stride");
    EXPECT(MAKE(MATRICES, STRIDE + 4, LD) == GEMM_UNSUPPORTED, "8 bytes");
    EXPECT(MAKE(MATRICES, INT64_C(1) << 39, LD) == GEMM_UNSUPPORTED, "2^40 bytes");
    EXPECT(MAKE(MATRICES, INT64_MAX / 8 * 8, LD) == GEMM_UNSUPPORTED, "a stride that overflows");
    EXPECT(MAKE(MATRICES, STRIDE, 8) == GEMM_UNSUPPORTED, "a pitch shorter than a row");
#undef MAKE
}

/* A map with another base is the map that would have been made with that base. */
static void test_moves(void) {
    static unsigned char there[64 * 64 * 2] __attribute__((aligned(256)));
    struct tensor_map map, wanted;
    EXPECT(gemm_tensor_map(&map, GEMM_BF16, memory, 60, 60, 64, 32, 64, SWIZZLE_128B) == GEMM_OK &&
               gemm_tensor_map(&wanted, GEMM_BF16, there + 16, 60, 60, 64, 32, 64, SWIZZLE_128B) ==
                   GEMM_OK &&
               memcmp(&map, &wanted, sizeof map) != 0,
           "two maps");
    EXPECT(gemm_tensor_map_move(&map, there + 8) == GEMM_UNSUPPORTED, "8 bytes off");
    EXPECT(gemm_tensor_map_move(&map, NULL) == GEMM_UNSUPPORTED, "to nowhere");
    EXPECT(gemm_tensor_map_move(&map, there + 16) == GEMM_OK &&
               memcmp(&map, &wanted, sizeof map) == 0,
           "moved");
    memset(&map, 0, sizeof map);
    EXPECT(gemm_tensor_map_move(&map, there) == GEMM_UNSUPPORTED, "an empty map");
}

int main(void) {
    test_boxes();
    test_outer_dimensions();
    test_stores();
    test_offsets();
    test_arguments();
    test_batch();
    test_moves();
    return expect_result();
}
