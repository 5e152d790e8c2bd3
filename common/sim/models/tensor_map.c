/* tensor_map.c: making, checking and walking tensor maps. */
#include "sim/models/tensor_map.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "services/plan.h"
#include "gemm_types.h"
#include "services/batch.h"

/* The simulator's encoding. The checksum tells a map from bytes that merely resemble one. */
struct encoding {
    uint64_t magic;
    struct tensor_map_fields fields;
    uint64_t checksum;
};
static_assert(sizeof(struct encoding) <= sizeof(struct tensor_map), "the encoding must fit");

#define MAP_MAGIC UINT64_C(0x70616d726f736e74)

/* FNV-1a over everything before the checksum; the structure was zeroed first, so padding is part of
 * it. */
static uint64_t checksum(const struct encoding *e) {
    const unsigned char *bytes = (const unsigned char *)e;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < offsetof(struct encoding, checksum); ++i)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
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
    if (f->box_rows < 1 || f->box_rows > 256) return "box_rows: must be 1 .. 256";
    if (f->box_columns < 1 || f->box_columns > 256) return "box_columns: must be 1 .. 256";
    if (inner % 16) return "box_columns: a row of the box must be a multiple of 16 bytes";
    if (f->swizzle != SWIZZLE_NONE && inner > 16 << f->swizzle)
        return "box_columns: a row of the box is wider than the swizzle";
    if (f->rank < 0 || f->rank > TENSOR_MAP_MAX_RANK) return "rank: must be 1 .. 5";
    for (int i = 0; i < tensor_map_outer(f); ++i) {
        if (!f->outer_extent[i]) return "an extent must be 1 .. 2^32";
        if (f->outer_pitch[i] < 0 || f->outer_pitch[i] >= max_pitch || f->outer_pitch[i] % 16)
            return "a stride must be a multiple of 16, less than 2^40 bytes";
        if (f->outer_box[i] < 1 || f->outer_box[i] > 256) return "a box extent must be 1 .. 256";
    }
    return NULL;
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
    e.fields.base = fields->base;
    e.fields.rows = fields->rows;
    e.fields.columns = fields->columns;
    e.fields.pitch = fields->pitch;
    e.fields.box_rows = fields->box_rows;
    e.fields.box_columns = fields->box_columns;
    e.fields.element_bytes = fields->element_bytes;
    e.fields.type = fields->type;
    e.fields.swizzle = fields->swizzle;
    e.fields.rank = fields->rank;
    memcpy(e.fields.outer_pitch, fields->outer_pitch, sizeof e.fields.outer_pitch);
    memcpy(e.fields.outer_extent, fields->outer_extent, sizeof e.fields.outer_extent);
    memcpy(e.fields.outer_box, fields->outer_box, sizeof e.fields.outer_box);
    e.checksum = checksum(&e);
    memset(map, 0, sizeof *map);
    memcpy(map, &e, sizeof e);
}

bool tensor_map_decode(const struct tensor_map *map, struct tensor_map_fields *out) {
    struct encoding e;
    memcpy(&e, map, sizeof e);
    if (e.magic != MAP_MAGIC || e.checksum != checksum(&e)) return false;
    *out = e.fields;
    return true;
}

uint32_t tensor_map_box_bytes(const struct tensor_map_fields *f) {
    return (uint32_t)(tensor_map_box_lines(f) * f->box_columns * f->element_bytes);
}

static struct box_row meet(const struct tensor_map_fields *f, int64_t columns, int64_t row,
                           int64_t column, int r) {
    struct box_row result = {0, 0, NULL};
    int64_t offset = 0;
    for (int i = 0, line = r / f->box_rows; i < tensor_map_outer(f); ++i) {
        const int64_t at = f->outer_at[i] + line % f->outer_box[i];
        if (at < 0 || at >= f->outer_extent[i]) return result;
        offset += at * f->outer_pitch[i];
        line /= f->outer_box[i];
    }
    r %= f->box_rows;
    if (row + r < 0 || row + r >= f->rows) return result;
    const int64_t first = column < 0 ? -column : 0;
    const int64_t inside = columns - column;
    const int64_t last = inside < f->box_columns ? inside : f->box_columns;
    if (first >= last) return result;
    result.first = (int)first;
    result.last = (int)last;
    result.global = f->base + offset + (row + r) * f->pitch + (column + first) * f->element_bytes;
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
