/* tensor_map.c: making, checking and walking tensor maps. */
#include "sim/models/tensor_map.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "services/plan.h"
#include "gemm_types.h"
#include "services/batch.h"

/* The simulator's encoding. The checksum tells a map from bytes that merely resemble one. */
enum { FIELDS_BYTES = offsetof(struct tensor_map_fields, outer_at) };
struct encoding {
    uint64_t magic;
    unsigned char fields[FIELDS_BYTES];
    uint64_t checksum;
};
static_assert(sizeof(struct encoding) <= sizeof(struct tensor_map), "the encoding must fit");

#define MAP_MAGIC UINT64_C(0x70616d726f736e74)

/* FNV-1a over everything before the checksum. */
static uint64_t checksum(const struct encoding *e) {
    const unsigned char *bytes = (const unsigned char *)e;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < offsetof(struct encoding, checksum); ++i)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static const char *im2col_fault(const struct tensor_map_fields *f) {
    const int space = f->rank - 2;
    if (space < 1) return "rank: im2col has 3 .. 5 dimensions";
    const int limit = space == 1 ? 1 << 15 : space == 2 ? 1 << 7 : 1 << 4;
    for (int i = 0; i < space; ++i) {
        const int64_t extent = i ? f->outer_extent[i - 1] : f->rows;
        if (f->lower[i] < -limit || f->lower[i] >= limit || f->upper[i] < -limit ||
            f->upper[i] >= limit)
            return "a corner of the box of pixels is out of its range";
        if (extent + f->upper[i] <= f->lower[i]) return "the box of pixels is empty";
        if (f->outer_box[i] < 1 || f->outer_box[i] > 8) return "a pixel's stride must be 1 .. 8";
    }
    return NULL;
}

const char *tensor_map_fault(const struct tensor_map_fields *f) {
    const int64_t max_extent = INT64_C(1) << 32, max_pitch = INT64_C(1) << 40;
    const int64_t inner = (int64_t)f->box_columns * f->element_bytes;
    if (f->element_bytes == 0) return "type: must be GEMM_FP16, GEMM_BF16, GEMM_E4M3 or GEMM_FP32";
    if ((unsigned)f->swizzle > SWIZZLE_128B)
        return "swizzle: must be SWIZZLE_NONE, SWIZZLE_32B, SWIZZLE_64B or SWIZZLE_128B";
    if (!f->base) return "base: is NULL";
    if ((uintptr_t)f->base % 16) return "base: must be 16-byte aligned";
    if (f->rows < 1 || f->rows > max_extent) return "rows: must be 1 .. 2^32";
    if (f->columns < 1 || f->columns > max_extent) return "columns: must be 1 .. 2^32";
    if (f->pitch <= 0 || f->pitch >= max_pitch)
        return "ld: the row pitch must be positive and less than 2^40 bytes";
    if (f->pitch % 16) return "ld: the row pitch must be a multiple of 16 bytes";
    if (f->rank <= 2 && f->pitch < f->columns * f->element_bytes)
        return "ld: the row pitch is shorter than a row, so rows would overlap";
    if (f->box_rows < 1 || f->box_rows > (f->im2col ? 1024 : 256))
        return f->im2col ? "pixels per column: must be 1 .. 1024" : "box_rows: must be 1 .. 256";
    if (f->box_columns < 1 || f->box_columns > 256) return "box_columns: must be 1 .. 256";
    if (inner % 16) return "box_columns: a row of the box must be a multiple of 16 bytes";
    if (f->swizzle != SWIZZLE_NONE && inner > 16 << f->swizzle)
        return "box_columns: a row of the box is wider than the swizzle";
    if (f->rank < 0 || f->rank > TENSOR_MAP_MAX_RANK) return "rank: must be 1 .. 5";
    for (int i = 0; i < tensor_map_outer(f); ++i) {
        if (!f->outer_extent[i]) return "an extent must be 1 .. 2^32";
        if (f->outer_pitch[i] < 0 || f->outer_pitch[i] >= max_pitch || f->outer_pitch[i] % 16)
            return "a stride must be a multiple of 16, less than 2^40 bytes";
        if (!f->im2col && (f->outer_box[i] < 1 || f->outer_box[i] > 256))
            return "a box extent must be 1 .. 256";
    }
    return f->im2col ? im2col_fault(f) : NULL;
}

const char *tensor_map_encode(struct tensor_map *map, const struct tensor_map_fields *fields) {
    if (!map) return "map: is NULL";
    if ((uintptr_t)map % 64) return "map: must be 64-byte aligned";
    const char *const fault = tensor_map_fault(fields);
    if (!fault) tensor_map_write(map, fields);
    return fault;
}

void tensor_map_write(struct tensor_map *map, const struct tensor_map_fields *fields) {
    struct encoding e;
    memset(&e, 0, sizeof e);
    e.magic = MAP_MAGIC;
    memcpy(e.fields, fields, FIELDS_BYTES);
    e.checksum = checksum(&e);
    memset(map, 0, sizeof *map);
    memcpy(map, &e, sizeof e);
}

bool tensor_map_decode(const struct tensor_map *map, struct tensor_map_fields *out) {
    struct encoding e;
    memcpy(&e, map, sizeof e);
    if (e.magic != MAP_MAGIC || e.checksum != checksum(&e)) return false;
    memset(out, 0, sizeof *out);
    memcpy(out, e.fields, FIELDS_BYTES);
    return true;
}

uint32_t tensor_map_box_bytes(const struct tensor_map_fields *f) {
    return (uint32_t)(tensor_map_box_lines(f) * f->box_columns * f->element_bytes);
}

/* From `at` on in steps, and behind `end` anew from `first`: where step *count is, and in *count
 * how often it has begun anew. */
static int64_t walk(int64_t at, int64_t first, int64_t end, int64_t step, int64_t *count) {
    const int64_t ahead = at < end ? (end - at + step - 1) / step : 1;
    const int64_t round = (end - first + step - 1) / step, behind = *count - ahead;
    if (behind < 0) {
        at += *count * step;
        *count = 0;
        return at;
    }
    *count = 1 + behind / round;
    return first + behind % round * step;
}

/* Where pixel r of an im2col box lies, which begins in this column of the image; false: in none. */
static bool pixel_of(const struct tensor_map_fields *f, int64_t column, int64_t r,
                     int64_t *offset) {
    const int space = f->rank - 2; /* the dimension behind them counts images */
    bool inside = true;
    for (int i = 0; i < space; ++i) {
        const int64_t extent = i ? f->outer_extent[i - 1] : f->rows;
        const int64_t at = walk(i ? f->outer_at[i - 1] : column, f->lower[i], extent + f->upper[i],
                                f->outer_box[i], &r) +
                           f->pixel_offset[i];
        inside &= at >= 0 && at < extent;
        *offset += at * (i ? f->outer_pitch[i - 1] : f->pitch);
    }
    r += f->outer_at[space - 1];
    *offset += r * f->outer_pitch[space - 1];
    return inside && r >= 0 && r < f->outer_extent[space - 1];
}

static bool line_of(const struct tensor_map_fields *f, int64_t row, int r, int64_t *offset) {
    for (int i = 0, line = r / f->box_rows; i < tensor_map_outer(f); ++i) {
        const int64_t at = f->outer_at[i] + line % f->outer_box[i];
        if (at < 0 || at >= f->outer_extent[i]) return false;
        *offset += at * f->outer_pitch[i];
        line /= f->outer_box[i];
    }
    row += r % f->box_rows;
    *offset += row * f->pitch;
    return row >= 0 && row < f->rows;
}

static struct box_row meet(const struct tensor_map_fields *f, int64_t columns, int64_t row,
                           int64_t column, int r) {
    struct box_row result = {0, 0, NULL};
    int64_t offset = 0;
    if (!(f->im2col ? pixel_of(f, row, r, &offset) : line_of(f, row, r, &offset))) return result;
    const int64_t first = column < 0 ? -column : 0;
    const int64_t inside = columns - column;
    const int64_t last = inside < f->box_columns ? inside : f->box_columns;
    if (first >= last) return result;
    result.first = (int)first;
    result.last = (int)last;
    result.global = f->base + offset + (column + first) * f->element_bytes;
    return result;
}

struct box_row tensor_map_box_row(const struct tensor_map_fields *f, int64_t row, int64_t column,
                                  int r) {
    return meet(f, f->columns, row, column, r);
}

struct box_row tensor_map_store_row(const struct tensor_map_fields *f, int64_t row, int64_t column,
                                    int r) {
    const int64_t chunk = 16 / f->element_bytes;
    return meet(f, (f->columns + chunk - 1) / chunk * chunk, row, column, r);
}

/* Keeps the product from overflowing. */
static int64_t bytes_of(int64_t elements, int element_bytes) {
    const int64_t limit = INT64_C(1) << 50;
    return (elements > limit ? limit : elements < -limit ? -limit : elements) * element_bytes;
}

static struct tensor_map_fields fields_of(enum gemm_type type, const void *base, int64_t rows,
                                          int columns, int64_t ld, int box_rows, int box_columns,
                                          enum gemm_swizzle swizzle) {
    const int element_bytes = (unsigned)type <= GEMM_FP32 ? gemm_type_bytes(type) : 0;
    return (struct tensor_map_fields){.base = (const unsigned char *)base,
                                      .rows = rows,
                                      .columns = columns,
                                      .pitch = bytes_of(ld, element_bytes),
                                      .box_rows = box_rows,
                                      .box_columns = box_columns,
                                      .element_bytes = element_bytes,
                                      .type = type,
                                      .swizzle = swizzle};
}

static enum gemm_status encode(struct tensor_map *map, const struct tensor_map_fields *f,
                               int64_t ld) {
    const char *const fault = f->rows > INT32_MAX ? "rows: must be 1 .. 2147483647"
                              : f->rank == 3 && ld < f->columns
                                  ? "ld: the row pitch is shorter than a row"
                                  : tensor_map_encode(map, f);
    if (!fault) return GEMM_OK;
    fprintf(stderr,
            "error: gemm_tensor_map: %s (matrix %lld x %lld, ld %lld, box %d x %d, swizzle %d)\n",
            fault, (long long)f->rows, (long long)f->columns, (long long)ld, f->box_rows,
            f->box_columns, (int)f->swizzle);
    return GEMM_UNSUPPORTED;
}

enum gemm_status gemm_tensor_map(struct tensor_map *map, enum gemm_type type, const void *base,
                                 int64_t rows, int columns, int64_t ld, int box_rows,
                                 int box_columns, enum gemm_swizzle swizzle) {
    const struct tensor_map_fields f =
        fields_of(type, base, rows, columns, ld, box_rows, box_columns, swizzle);
    return encode(map, &f, ld);
}

enum gemm_status gemm_tensor_map_3d(struct tensor_map *map, enum gemm_type type, const void *base,
                                    int matrices, int64_t stride, int64_t rows, int columns,
                                    int64_t ld, int box_rows, int box_columns,
                                    enum gemm_swizzle swizzle) {
    struct tensor_map_fields f =
        fields_of(type, base, rows, columns, ld, box_rows, box_columns, swizzle);
    if (matrices == 1) stride = ld;
    f.rank = 3;
    f.outer_pitch[0] = stride > 0 ? bytes_of(stride, f.element_bytes) : -1;
    f.outer_extent[0] = matrices > 0 ? (uint32_t)matrices : 0;
    f.outer_box[0] = 1;
    return encode(map, &f, ld);
}

enum gemm_status gemm_tensor_map_move(struct tensor_map *map, const void *base) {
    struct tensor_map_fields fields;
    const char *fault = "is not one that gemm_tensor_map() has made";
    if (tensor_map_decode(map, &fields)) {
        fields.base = (const unsigned char *)base;
        fault = tensor_map_encode(map, &fields);
    }
    if (!fault) return GEMM_OK;
    fprintf(stderr, "error: gemm_tensor_map_move: %s\n", fault);
    return GEMM_UNSUPPORTED;
}
