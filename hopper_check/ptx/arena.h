/*
 * arena.h: memory that lives as long as the module that it describes.
 */
#ifndef PTX_ARENA_H
#define PTX_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_block *newest;
};

/* Zeroed, 16-byte aligned. Where there is no memory the program ends with one line on stderr. */
void *arena_alloc(struct arena *arena, size_t bytes);
/* A copy of `length` characters, with a NUL. */
char *arena_text(struct arena *arena, const char *text, size_t length);
/* Room for one more element behind `count`: returns `array`, or a larger copy of it. An array grows
 * when `count` is a power of two, so it must only ever grow by this. */
void *arena_grow(struct arena *arena, void *array, int count, size_t element);
void arena_free(struct arena *arena);

/* ARENA_PUSH(arena, array, count): the address of a new element, zeroed. */
#define ARENA_PUSH(arena, array, count)                                                            \
    ((array) = arena_grow(arena, array, count, sizeof *(array)), &(array)[(count)++])

#endif
