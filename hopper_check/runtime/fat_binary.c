/* fat_binary.c: finding the entry, and unpacking it. */
#include "runtime/fat_binary.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/session.h"
#include "runtime/unpack.h"

enum { KIND_PTX = 1, KIND_MACHINE_CODE = 2, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };
enum { LATEST_TARGET = 90 };
static const uint32_t WRAPPER_MAGIC = 0x466243b1, HEADER_MAGIC = 0xba55ed50;

struct wrapper {
    uint32_t magic, version;
    const unsigned char *data;
    const void *linked; /* of relocatable device code */
};

struct header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of the entries */
};

struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t padded_bytes; /* of what follows the header */
    uint32_t packed_bytes; /* of it, if it is compressed */
    uint32_t options_at;
    uint16_t minor, major; /* of the PTX's version */
    uint32_t target;       /* 90 */
    uint32_t name_at, name_bytes;
    uint64_t flags, unused, unpacked_bytes;
};

static size_t unpack(const struct entry *e, const unsigned char *from, char *to) {
    size_t size = 0;
    if (e->flags & FLAG_ZSTD)
        size = unpack_zstd(from, e->packed_bytes, (unsigned char *)to, e->unpacked_bytes);
    else if (e->flags & FLAG_LZ4)
        size = unpack_lz4(from, e->packed_bytes, (unsigned char *)to, e->unpacked_bytes);
    if (size == SIZE_MAX)
        session_refuse(REFUSED_INPUT,
                       "the program's PTX is compressed with zstd, and there is no libzstd.so.1 "
                       "here: install it, or compile with nvcc's --no-compress");
    return size;
}

static char *text_of(const struct entry *e, const unsigned char *at) {
    const unsigned char *const from = at + e->header_bytes;
    const bool packed = e->packed_bytes != 0;
    const size_t room = packed ? e->unpacked_bytes : e->padded_bytes;
    char *const text = calloc(1, room + 1);
    size_t size = text ? room : 0;
    if (text && packed)
        size = unpack(e, from, text);
    else if (text)
        memcpy(text, from, room);
    if (!size)
        session_refuse(REFUSED_INPUT, "the program's PTX cannot be unpacked: compile with nvcc's "
                                      "--no-compress");
    return text;
}

/* How well its target suits: 91 for sm_90a, 90 for sm_90; 0: not at all. A letter is known from the
 * text alone. */
static int rank_of(const struct entry *e, const char *text) {
    const char *const target = strstr(text, ".target sm_");
    char *end = NULL;
    const long number = target ? strtol(target + strlen(".target sm_"), &end, 10) : 0;
    const bool letter = end && (*end == 'a' || *end == 'f');
    if (e->target > LATEST_TARGET || number > LATEST_TARGET) return 0;
    if (letter) return number == LATEST_TARGET ? LATEST_TARGET + 1 : 0;
    return (int)number;
}

static void take_name(const struct entry *e, const unsigned char *at, struct fat_ptx *out) {
    out->name[0] = 0;
    if (e->name_bytes && e->name_at + (size_t)e->name_bytes <= e->header_bytes)
        snprintf(out->name, sizeof out->name, "%.*s", (int)e->name_bytes,
                 (const char *)at + e->name_at);
}

bool fat_binary_ptx(const void *binary, struct fat_ptx *out) {
    struct wrapper wrapper;
    struct header header;
    int best = 0;
    *out = (struct fat_ptx){.text = NULL};
    memcpy(&wrapper, binary, sizeof wrapper.magic);
    const unsigned char *data = binary;
    if (wrapper.magic == WRAPPER_MAGIC) {
        memcpy(&wrapper, binary, sizeof wrapper);
        data = wrapper.data;
    }
    memcpy(&header, data, sizeof header);
    if (header.magic != HEADER_MAGIC) return false;
    const unsigned char *at = data + header.header_bytes, *const end = at + header.bytes;
    struct entry e;
    for (; at + sizeof e <= end; at += e.header_bytes + e.padded_bytes) {
        memcpy(&e, at, sizeof e);
        out->machine += e.kind == KIND_MACHINE_CODE;
        if (!e.header_bytes) return false;
        if (e.kind != KIND_PTX) continue;
        char *const text = text_of(&e, at);
        const int rank = rank_of(&e, text);
        out->others += rank == 0;
        if (rank <= best) {
            free(text);
            continue;
        }
        best = rank;
        free(out->text);
        out->text = text;
        take_name(&e, at, out);
    }
    return true;
}
