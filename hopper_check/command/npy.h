/*
 * npy.h: arrays in NumPy's file format, version 1 to 3: C order, little endian.
 */
#ifndef COMMAND_NPY_H
#define COMMAND_NPY_H

#include <stdbool.h>
#include <stddef.h>

struct npy {
    char type[8]; /* "<f2" */
    int element_bytes;
    size_t rows, columns; /* all dimensions but the last are rows */
    unsigned char *data;  /* the caller's to free */
};

/* False after a message on stderr. */
bool npy_read(const char *path, struct npy *out);
bool npy_write(const char *path, const struct npy *array);

#endif
