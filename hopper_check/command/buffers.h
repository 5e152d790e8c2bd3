/*
 * buffers.h: the memory that a kernel gets, and tensor maps of it.
 */
#ifndef COMMAND_BUFFERS_H
#define COMMAND_BUFFERS_H

#include "command/npy.h"
#include "gemm.h"

enum { MOST_BUFFERS = 64, NAME_LENGTH = 64, MOST_RANK = 5 };

struct buffer {
    char name[NAME_LENGTH];
    char type[8]; /* "bf16" */
    bool writable;
    struct npy initial;         /* what it holds at the beginning of every run */
    const char *write, *expect; /* files; NULL: none */
    void *memory;               /* during a run */
};

struct map {
    char name[NAME_LENGTH];
    const struct buffer *buffer;
    int rank; /* the innermost dimension is [0] */
    int64_t box[MOST_RANK], extent[MOST_RANK], stride[MOST_RANK]; /* strides in elements */
    enum gemm_swizzle swizzle;
    void *
        memory; /* a copy of it in global memory, during a run: for a parameter that points there */
};

struct buffers {
    struct buffer buffer[MOST_BUFFERS];
    struct map map[MOST_BUFFERS];
    int count, maps;
};

/* NAME=TYPE:ROWSxCOLUMNS[:zeros], NAME=TYPE:ROWSxCOLUMNS:integers[:SEED], NAME=TYPE:FILE.npy. These
 * return false after a message on stderr. */
bool buffers_add(struct buffers *buffers, const char *text, bool writable);
/* NAME=BUFFER:ROWSxCOLUMNS[:SWIZZLE]: boxes of so many elements, the swizzle in bytes. */
bool buffers_add_map(struct buffers *buffers, const char *text);
/* NAME=FILE: of --write, or of --expect. */
bool buffers_add_file(struct buffers *buffers, const char *text, bool expect);

struct buffer *buffers_find(struct buffers *buffers, const char *name);
const struct map *buffers_find_map(const struct buffers *buffers, const char *name);
bool map_encode(const struct map *map, struct tensor_map *out);

/* Around a run, while the backend is open. */
bool buffers_allocate(struct buffers *buffers);
void buffers_free(struct buffers *buffers);
/* Writes what is to be written, and compares what is to be compared; *different: elements. */
bool buffers_finish(const struct buffers *buffers, size_t *different);

#endif
