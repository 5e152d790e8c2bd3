/* arguments.c: from words of the command line to bytes. */
#include "command/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 64 };

static bool complain(const struct ptx_function *f, int i, const char *text, const char *why) {
    fprintf(stderr, "hopper_check: parameter %d of %s, %s: %s\n", i + 1, f->name, text, why);
    return false;
}

static bool encode_number(const char *text, struct ptx_type type, unsigned char *to) {
    char *end;
    errno = 0;
    if (type.kind == KIND_FLOAT && type.bytes >= 4) {
        const double value = strtod(text, &end);
        const float narrow = (float)value;
        memcpy(to, type.bytes == 4 ? (const void *)&narrow : (const void *)&value,
               (size_t)type.bytes);
    } else {
        const uint64_t bits =
            *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
        const uint64_t high = type.bytes < 8 ? bits >> 8 * type.bytes : 0,
                       sign = type.bytes < 8 ? ~UINT64_C(0) >> 8 * type.bytes : 0;
        if (high && high != sign) return false;
        memcpy(to, &bits, (size_t)type.bytes);
    }
    return end != text && !*end && !errno;
}

/* What has a name: a buffer's address, or a map. 0: nothing has; < 0: it does not fit. */
static int encode_name(struct buffers *buffers, const char *text, size_t room, unsigned char *to) {
    const struct buffer *const b = buffers_find(buffers, text);
    const struct map *const m = buffers_find_map(buffers, text);
    struct tensor_map encoded __attribute__((aligned(64)));
    if (b) {
        if (room < sizeof b->memory) return -1;
        memcpy(to, &b->memory, sizeof b->memory);
        return 1;
    }
    if (!m) return 0;
    if (room >= sizeof m->memory && room < sizeof encoded) {
        memcpy(to, &m->memory, sizeof m->memory);
        return m->memory ? 1 : -1;
    }
    if (room < sizeof encoded || !map_encode(m, &encoded)) return -1;
    memcpy(to, &encoded, sizeof encoded);
    return 1;
}

/* OFFSET=NAME, or OFFSET=TYPE:NUMBER */
static bool encode_field(struct buffers *buffers, const char *text, size_t bytes,
                         unsigned char *to) {
    char *value;
    const unsigned long long offset = strtoull(text, &value, 0);
    if (value == text || *value != '=' || offset >= bytes) return false;
    ++value;
    const int named = encode_name(buffers, value, bytes - offset, to + offset);
    if (named) return named > 0;
    const char *const number = strchr(value, ':');
    struct ptx_type type;
    char name[8] = "";
    if (!number || (size_t)(number - value) >= sizeof name) return false;
    memcpy(name, value, (size_t)(number - value));
    if (*name == 'i') *name = 's';
    return ptx_type_of(name, strlen(name), &type) && (size_t)type.bytes <= bytes - offset &&
           encode_number(number + 1, type, to + offset);
}

static bool encode_struct(struct buffers *buffers, const char *text, size_t bytes,
                          unsigned char *to) {
    for (++text; *text && *text != '}'; text += *text == ',') {
        char field[MOST_TEXT];
        const size_t length = strcspn(text, ",}");
        if (length >= sizeof field) return false;
        memcpy(field, text, length);
        field[length] = 0;
        if (!encode_field(buffers, field, bytes, to)) return false;
        text += length;
    }
    return !strcmp(text, "}");
}

bool arguments_encode(const struct ptx_function *f, struct buffers *buffers, char *const *texts,
                      int count, unsigned char *to) {
    if (count != f->params) {
        fprintf(stderr, "hopper_check: %s has %d parameters, and %d are given:", f->name, f->params,
                count);
        for (int i = 0; i < f->params; ++i)
            fprintf(stderr, " %s (%zu bytes)", f->param[i].name, f->param[i].bytes);
        fputc('\n', stderr);
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const struct ptx_variable *const p = &f->param[i];
        if (*texts[i] == '{') {
            if (!encode_struct(buffers, texts[i], p->bytes, to + p->offset))
                return complain(f, i, texts[i], "a field does not fit, or is no OFFSET=VALUE");
            continue;
        }
        const int named = encode_name(buffers, texts[i], p->bytes, to + p->offset);
        if (named < 0) return complain(f, i, texts[i], "does not fit the parameter");
        if (named) continue;
        if ((size_t)p->type.bytes != p->bytes || !encode_number(texts[i], p->type, to + p->offset))
            return complain(f, i, texts[i], "is no buffer, no map, and no number that fits");
    }
    return true;
}
