/* unpack.c: LZ4 here, Zstandard by the library that nearly every Linux has. */
#include "runtime/unpack.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

/* A length of four bits, and after 15 of bytes up to one that is not 255. False: they end first. */
static int take_length(const unsigned char **at, const unsigned char *end, size_t *length) {
    if (*length < 15) return 1;
    unsigned char more;
    do {
        if (*at == end) return 0;
        more = *(*at)++;
        *length += more;
    } while (more == 255);
    return 1;
}

size_t unpack_lz4(const unsigned char *from, size_t bytes, unsigned char *to, size_t room) {
    enum { LEAST_MATCH = 4 };
    const unsigned char *const end = from + bytes;
    size_t used = 0;
    while (from < end) {
        const unsigned char token = *from++;
        size_t literals = token >> 4, match = token & 15;
        if (!take_length(&from, end, &literals)) return 0;
        if (literals > (size_t)(end - from) || literals > room - used) return 0;
        memcpy(to + used, from, literals);
        used += literals;
        from += literals;
        if (from == end) return used; /* the last sequence has literals alone */
        if (end - from < 2) return 0;
        const size_t distance = from[0] | (size_t)from[1] << 8;
        from += 2;
        if (!take_length(&from, end, &match)) return 0;
        match += LEAST_MATCH;
        if (!distance || distance > used || match > room - used) return 0;
        for (size_t i = 0; i < match; ++i, ++used) /* it may overlap what it makes */
            to[used] = to[used - distance];
    }
    return 0;
}

size_t unpack_zstd(const unsigned char *from, size_t bytes, unsigned char *to, size_t room) {
    void *const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    size_t (*decompress)(void *, size_t, const void *, size_t) = NULL;
    unsigned (*is_error)(size_t) = NULL;
    if (library) {
        *(void **)&decompress = dlsym(library, "ZSTD_decompress");
        *(void **)&is_error = dlsym(library, "ZSTD_isError");
    }
    if (!decompress || !is_error) return SIZE_MAX;
    const size_t size = decompress(to, room, from, bytes);
    return is_error(size) ? 0 : size;
}
