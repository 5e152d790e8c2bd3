/* npy.c: numpy.lib.format: a magic, the length of a header, the header, the elements. */
#include "command/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, ALIGNMENT = 64 };

static bool complain(const char *path, const char *why) {
    fprintf(stderr, "hopper_check: %s: %s\n", path, why);
    return false;
}

/* The value behind a key of the header, which is a Python dictionary. */
static const char *value_of(const char *header, const char *key) {
    const char *at = strstr(header, key);
    at = at ? strchr(at, ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : "";
}

static bool read_header(const char *header, struct npy *out) {
    const char *type = value_of(header, "'descr'"), *shape = value_of(header, "'shape'");
    out->rows = out->columns = 1;
    if (*type != '\'' || *shape != '(') return false;
    const size_t length = strcspn(type + 1, "'");
    if (length < 3 || length >= sizeof out->type || type[1] == '>') return false;
    memcpy(out->type, type + 1, length);
    out->element_bytes = atoi(out->type + 2);
    if (out->element_bytes < 1 || out->element_bytes > 8) return false;
    if (strncmp(value_of(header, "'fortran_order'"), "False", 5) != 0) return false;
    for (++shape; *shape && *shape != ')';) {
        char *end;
        const unsigned long long extent = strtoull(shape, &end, 10);
        if (end == shape) break;
        if (extent > 1u << 30 || out->rows > 1u << 30) return false;
        out->rows *= out->columns;
        out->columns = (size_t)extent;
        shape = end + strspn(end, ", ");
    }
    return true;
}

bool npy_read(const char *path, struct npy *out) {
    unsigned char begin[MAGIC_BYTES + 6] = {0};
    char header[4096] = "";
    memset(out, 0, sizeof *out);
    FILE *const file = fopen(path, "rb");
    if (!file) return complain(path, "cannot be opened");
    size_t length = 0;
    bool good = fread(begin, 1, MAGIC_BYTES + 4, file) == MAGIC_BYTES + 4 &&
                !memcmp(begin, magic, MAGIC_BYTES);
    if (good) length = begin[8] | (size_t)begin[9] << 8;
    if (good && begin[6] > 1)
        good = fread(begin + 10, 1, 2, file) == 2 && begin[10] == 0 && begin[11] == 0;
    good = good && length < sizeof header && fread(header, 1, length, file) == length &&
           read_header(header, out);
    if (!good) {
        fclose(file);
        return complain(path, "is no array that can be read: .npy, C order, little endian, "
                              "elements of at most 8 bytes");
    }
    const size_t bytes = out->rows * out->columns * (size_t)out->element_bytes;
    out->data = malloc(bytes ? bytes : 1);
    good = out->data && fread(out->data, 1, bytes, file) == bytes;
    fclose(file);
    return good || complain(path, "is shorter than its header says");
}

bool npy_write(const char *path, const struct npy *array) {
    char header[256];
    const int used = snprintf(header, sizeof header,
                              "{'descr': '%s', 'fortran_order': False, 'shape': (%zu, %zu), }",
                              array->type, array->rows, array->columns);
    const int begin = MAGIC_BYTES + 4;
    const int length = (begin + used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - begin;
    const unsigned char version[] = {1, 0, (unsigned char)length, (unsigned char)(length >> 8)};
    const size_t bytes = array->rows * array->columns * (size_t)array->element_bytes;
    FILE *const file = fopen(path, "wb");
    if (!file) return complain(path, "cannot be written");
    bool good = fwrite(magic, 1, MAGIC_BYTES, file) == MAGIC_BYTES &&
                fwrite(version, 1, sizeof version, file) == sizeof version &&
                fprintf(file, "%-*s\n", length - 1, header) == length &&
                fwrite(array->data, 1, bytes, file) == bytes;
    good &= fclose(file) == 0;
    return good || complain(path, "cannot be written");
}
