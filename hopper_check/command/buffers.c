/* buffers.c: descriptions of memory on the command line, and what becomes of them. */
#include "command/buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "sim/models/element_values.h"
#include "sim/models/tensor_map.h"
#include "splitmix64.h"

static const struct {
    const char *name, *npy;
    int bytes;
    enum gemm_type gemm; /* of a tensor map */
    enum tensor_map_whole whole;
} types[] = {
    {"f16", "<f2", 2, GEMM_FP16, WHOLE_NONE},     {"bf16", "<u2", 2, GEMM_BF16, WHOLE_NONE},
    {"e4m3", "|u1", 1, GEMM_E4M3, WHOLE_NONE},    {"f32", "<f4", 4, GEMM_FP32, WHOLE_NONE},
    {"f64", "<f8", 8, GEMM_FP32, WHOLE_NONE},     {"i8", "|i1", 1, GEMM_E4M3, WHOLE_SIGNED},
    {"u8", "|u1", 1, GEMM_E4M3, WHOLE_UNSIGNED},  {"i16", "<i2", 2, GEMM_FP16, WHOLE_SIGNED},
    {"u16", "<u2", 2, GEMM_FP16, WHOLE_UNSIGNED}, {"i32", "<i4", 4, GEMM_FP32, WHOLE_SIGNED},
    {"u32", "<u4", 4, GEMM_FP32, WHOLE_UNSIGNED}, {"i64", "<i8", 8, GEMM_FP32, WHOLE_SIGNED},
    {"u64", "<u8", 8, GEMM_FP32, WHOLE_UNSIGNED}};

static bool complain(const char *text, const char *why) {
    fprintf(stderr, "hopper_check: %s: %s\n", text, why);
    return false;
}

static int type_index(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
        if (!strcmp(types[i].name, name)) return (int)i;
    return -1;
}

/* "NAME=": its length in *rest. */
static bool take_name(const char *text, char name[NAME_LENGTH], const char **rest) {
    const size_t length = strcspn(text, "=");
    if (!text[length] || !length || length >= NAME_LENGTH) return false;
    memcpy(name, text, length);
    name[length] = 0;
    *rest = text + length + 1;
    return true;
}

/* ---- contents ---- */

/* Whole numbers from -4 to 4 are exact in every type, and so are their sums of products. */
static void put_integer(const char *type, unsigned char *to, int value) {
    const uint64_t bits = (uint64_t)(int64_t)value;
    const float f = (float)value;
    const double d = value;
    const int i = type_index(type);
    uint16_t half;
    if (!strcmp(type, "f16") || !strcmp(type, "bf16")) {
        half = element_nearest(f, *type == 'b');
        memcpy(to, &half, sizeof half);
    } else if (!strcmp(type, "e4m3")) {
        *to = e4m3_nearest(f);
    } else if (!strcmp(type, "f32")) {
        memcpy(to, &f, sizeof f);
    } else if (!strcmp(type, "f64")) {
        memcpy(to, &d, sizeof d);
    } else {
        memcpy(to, &bits, (size_t)types[i].bytes);
    }
}

static void fill_integers(struct buffer *b, uint64_t seed) {
    const size_t count = b->initial.rows * b->initial.columns;
    for (size_t i = 0; i < count; ++i)
        put_integer(b->type, b->initial.data + i * (size_t)b->initial.element_bytes,
                    (int)(splitmix64(&seed) % 9) - 4);
}

static bool make_contents(struct buffer *b, const char *shape, const char *text) {
    enum { MOST_BYTES = 1 << 30 };
    int used = 0;
    unsigned rows, columns;
    if (sscanf(shape, "%ux%u%n", &rows, &columns, &used) != 2 || !rows || !columns)
        return complain(text, "expected ROWSxCOLUMNS, or a file that ends with .npy");
    const int i = type_index(b->type);
    b->initial.rows = rows;
    b->initial.columns = columns;
    b->initial.element_bytes = types[i].bytes;
    snprintf(b->initial.type, sizeof b->initial.type, "%s", types[i].npy);
    if ((uint64_t)rows * columns > MOST_BYTES / (unsigned)types[i].bytes)
        return complain(text, "more than 1 GiB");
    b->initial.data = calloc((size_t)rows * columns, (size_t)types[i].bytes);
    if (!b->initial.data) return complain(text, "no memory for it");
    const char *const source = shape + used;
    if (!*source || !strcmp(source, ":zeros")) return true;
    if (strncmp(source, ":integers", 9) != 0 || (source[9] && source[9] != ':'))
        return complain(text, "a buffer holds zeros, integers[:SEED], or a file");
    fill_integers(b, source[9] ? strtoull(source + 10, NULL, 0) : 1);
    return true;
}

bool buffers_add(struct buffers *buffers, const char *text, bool writable) {
    if (buffers->count == MOST_BUFFERS) return complain(text, "too many buffers");
    struct buffer *const b = &buffers->buffer[buffers->count];
    const char *rest;
    memset(b, 0, sizeof *b);
    if (!take_name(text, b->name, &rest)) return complain(text, "expected NAME=TYPE:...");
    const size_t length = strcspn(rest, ":");
    if (!rest[length] || length >= sizeof b->type) return complain(text, "expected NAME=TYPE:...");
    memcpy(b->type, rest, length);
    if (type_index(b->type) < 0)
        return complain(text, "a type is f16, bf16, e4m3, f32, f64, or i8 to u64");
    if (buffers_find(buffers, b->name)) return complain(text, "the name is given twice");
    b->writable = writable;
    rest += length + 1;
    const size_t size = strlen(rest);
    if (size > 4 && !strcmp(rest + size - 4, ".npy")) {
        if (!npy_read(rest, &b->initial)) return false;
        if (b->initial.element_bytes != types[type_index(b->type)].bytes)
            return complain(text, "the file's elements have another size than the type");
    } else if (!make_contents(b, rest, text)) {
        return false;
    }
    ++buffers->count;
    return true;
}

/* "4x128x64", outermost first, as [2] = 4, [1] = 128, [0] = 64: how many; 0: it is none. */
static int take_extents(const char **text, char between, int most, int64_t *extent) {
    int64_t given[MOST_RANK];
    int count = 0;
    for (;; ++*text) {
        char *end;
        if (count == most) return 0;
        given[count++] = strtoll(*text, &end, 10);
        if (end == *text || given[count - 1] < 0) return 0;
        *text = end;
        if (*end != between) break;
    }
    for (int i = 0; i < count; ++i)
        extent[i] = given[count - 1 - i];
    return count;
}

/* Of the buffer as it is: rows, one behind the other. */
static void usual_shape(struct map *m) {
    m->extent[0] = (int64_t)(m->rank > 1 ? m->buffer->initial.columns
                                         : m->buffer->initial.rows * m->buffer->initial.columns);
    m->extent[1] = (int64_t)m->buffer->initial.rows;
    m->stride[1] = (int64_t)m->buffer->initial.columns;
}

/* BOX[:SWIZZLE[:EXTENTS:STRIDES]]; the innermost stride is 1 and not given. */
static const char *parse_map(struct map *m, const char *text) {
    static const int widths[] = {0, 32, 64, 128};
    char *end;
    m->rank = take_extents(&text, 'x', MOST_RANK, m->box);
    if (!m->rank) return "expected NAME=BUFFER:BOX[:SWIZZLE[:EXTENTS:STRIDES]]";
    if (*text == ':') {
        const long width = strtol(text + 1, &end, 10);
        int i = 0;
        while (i < 4 && widths[i] != width)
            ++i;
        if (i == 4 || end == text + 1) return "a swizzle is 32, 64 or 128 bytes, or 0";
        m->swizzle = (enum gemm_swizzle)i;
        text = end;
    }
    if (!*text) {
        if (m->rank > 2) return "the extents and strides of a box of more than two are missing";
        usual_shape(m);
        return NULL;
    }
    if (*text++ != ':' || take_extents(&text, 'x', MOST_RANK, m->extent) != m->rank)
        return "it has to have as many extents as its box";
    if (m->rank > 1 &&
        (*text++ != ':' || take_extents(&text, ',', MOST_RANK - 1, m->stride + 1) != m->rank - 1 ||
         *text))
        return "it has to have one stride fewer than its box has extents, with commas between";
    return NULL;
}

bool buffers_add_map(struct buffers *buffers, const char *text) {
    if (buffers->maps == MOST_BUFFERS) return complain(text, "too many maps");
    struct map *const m = &buffers->map[buffers->maps];
    char of[NAME_LENGTH];
    const char *rest;
    memset(m, 0, sizeof *m);
    const size_t length = take_name(text, m->name, &rest) ? strcspn(rest, ":") : 0;
    if (!length || length >= sizeof of || !rest[length])
        return complain(text, "expected NAME=BUFFER:BOX[:SWIZZLE[:EXTENTS:STRIDES]]");
    memcpy(of, rest, length);
    of[length] = 0;
    m->buffer = buffers_find(buffers, of);
    if (!m->buffer) return complain(text, "there is no such buffer in front of it");
    const char *const fault = parse_map(m, rest + length + 1);
    if (fault) return complain(text, fault);
    ++buffers->maps;
    return true;
}

bool buffers_add_file(struct buffers *buffers, const char *text, bool expect) {
    char name[NAME_LENGTH];
    const char *file;
    if (!take_name(text, name, &file)) return complain(text, "expected NAME=FILE.npy");
    struct buffer *const b = buffers_find(buffers, name);
    if (!b) return complain(text, "there is no such buffer in front of it");
    *(expect ? &b->expect : &b->write) = file;
    return true;
}

struct buffer *buffers_find(struct buffers *buffers, const char *name) {
    for (int i = 0; i < buffers->count; ++i)
        if (!strcmp(buffers->buffer[i].name, name)) return &buffers->buffer[i];
    return NULL;
}

const struct map *buffers_find_map(const struct buffers *buffers, const char *name) {
    for (int i = 0; i < buffers->maps; ++i)
        if (!strcmp(buffers->map[i].name, name)) return &buffers->map[i];
    return NULL;
}

bool map_encode(const struct map *map, struct tensor_map *out) {
    const struct buffer *const b = map->buffer;
    const int type = type_index(b->type), bytes = types[type].bytes;
    struct tensor_map_fields f = {.base = b->memory,
                                  .rows = map->rank > 1 ? map->extent[1] : 1,
                                  .columns = map->extent[0],
                                  .box_rows = map->rank > 1 ? (int)map->box[1] : 1,
                                  .box_columns = (int)map->box[0],
                                  .element_bytes = bytes,
                                  .type = types[type].gemm,
                                  .whole = types[type].whole,
                                  .swizzle = map->swizzle,
                                  .rank = map->rank};
    f.pitch = map->rank > 1 ? map->stride[1] * bytes : (f.columns * bytes + 15) / 16 * 16;
    for (int i = 2; i < map->rank; ++i) {
        f.outer_pitch[i - 2] = map->stride[i] * bytes;
        f.outer_extent[i - 2] = (uint32_t)map->extent[i];
        f.outer_box[i - 2] = (uint16_t)map->box[i];
    }
    const char *const fault = tensor_map_encode(out, &f);
    return !fault || complain(map->name, fault);
}

/* ---- runs ---- */

static size_t bytes_of(const struct buffer *b) {
    return b->initial.rows * b->initial.columns * (size_t)b->initial.element_bytes;
}

bool buffers_allocate(struct buffers *buffers) {
    for (int i = 0; i < buffers->count; ++i) {
        struct buffer *const b = &buffers->buffer[i];
        b->memory = backend_alloc(bytes_of(b), b->name, b->writable);
        if (!b->memory) return complain(b->name, "no memory for it");
        backend_copy_in(b->memory, b->initial.data, bytes_of(b));
    }
    for (int i = 0; i < buffers->maps; ++i) {
        struct map *const m = &buffers->map[i];
        struct tensor_map encoded __attribute__((aligned(64)));
        m->memory = backend_alloc(sizeof encoded, m->name, false);
        if (!m->memory) return complain(m->name, "no memory for it");
        if (!map_encode(m, &encoded)) return false;
        backend_copy_in(m->memory, &encoded, sizeof encoded);
    }
    return true;
}

void buffers_free(struct buffers *buffers) {
    for (int i = 0; i < buffers->count; ++i) {
        if (buffers->buffer[i].memory) backend_free(buffers->buffer[i].memory);
        buffers->buffer[i].memory = NULL;
    }
    for (int i = 0; i < buffers->maps; ++i) {
        if (buffers->map[i].memory) backend_free(buffers->map[i].memory);
        buffers->map[i].memory = NULL;
    }
}

static bool compare(const struct buffer *b, size_t *different) {
    struct npy wanted;
    const size_t bytes = bytes_of(b), element = (size_t)b->initial.element_bytes;
    if (!npy_read(b->expect, &wanted)) return false;
    const bool same_shape = wanted.rows * wanted.columns * (size_t)wanted.element_bytes == bytes;
    for (size_t at = 0; same_shape && at < bytes; at += element) {
        if (!memcmp(wanted.data + at, (const char *)b->memory + at, element)) continue;
        if (!*different)
            printf("%s[%zu][%zu] differs from %s\n", b->name, at / element / b->initial.columns,
                   at / element % b->initial.columns, b->expect);
        ++*different;
    }
    free(wanted.data);
    return same_shape || complain(b->expect, "has another size than the buffer");
}

bool buffers_finish(const struct buffers *buffers, size_t *different) {
    for (int i = 0; i < buffers->count; ++i) {
        const struct buffer *const b = &buffers->buffer[i];
        struct npy array = b->initial;
        array.data = b->memory;
        if (b->write && !npy_write(b->write, &array)) return false;
        if (b->expect && !compare(b, different)) return false;
    }
    return true;
}
