/*
 * blocks.h: what the program has allocated. Memory of the GPU is not the host's: while the host's
 * code runs, it lies in pages that the host may not touch, and one that does so is told of.
 */
#ifndef RUNTIME_BLOCKS_H
#define RUNTIME_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

enum block_kind {
    BLOCK_DEVICE,     /* cudaMalloc() and the like: not the host's */
    BLOCK_PINNED,     /* cudaMallocHost() */
    BLOCK_MANAGED,    /* cudaMallocManaged() */
    BLOCK_REGISTERED, /* the program's own memory: cudaHostRegister() */
};

struct block {
    unsigned char *base;
    size_t bytes;
    enum block_kind kind;
    const char *label;
    bool open; /* the host's code could touch it */
};

/* Within a session. NULL: the host has no memory, or there are too many. */
void *block_new(size_t bytes, const char *label, enum block_kind kind);
bool block_register(void *memory, size_t bytes, const char *label);
void block_free(const struct block *block);
/* The one that this lies in, or NULL: a variable of a module is in none. */
const struct block *block_of(const void *pointer);

/* Until the session is left this process may touch the block that this lies in, or for NULL all of
 * them; then blocks_close() is due. */
void blocks_open(const void *pointer);
void blocks_close(void);

/* From now on a touch of the host's is a finding, `host-access`, and ends the program. */
void blocks_watch(void);

#endif
