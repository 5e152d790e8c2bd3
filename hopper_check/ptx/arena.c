/* arena.c: blocks that are freed together. */
#include "ptx/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *before;
    size_t used, room;
    unsigned char bytes[] __attribute__((aligned(16)));
};

void *arena_alloc(struct arena *arena, size_t bytes) {
    enum { BLOCK = 64 << 10, NO_MEMORY = 3 };
    bytes = (bytes + 15) & ~(size_t)15;
    struct arena_block *block = arena->newest;
    if (!block || block->room - block->used < bytes) {
        const size_t room = bytes > BLOCK ? bytes : BLOCK;
        block = calloc(1, sizeof *block + room);
        if (!block) {
            fprintf(stderr, "hopper_check: no memory for the program's %zu bytes\n", room);
            exit(NO_MEMORY);
        }
        block->room = room;
        block->before = arena->newest;
        arena->newest = block;
    }
    void *const memory = block->bytes + block->used;
    block->used += bytes;
    return memory;
}

char *arena_text(struct arena *arena, const char *text, size_t length) {
    char *const copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

void *arena_grow(struct arena *arena, void *array, int count, size_t element) {
    if (count & (count - 1)) return array;
    void *const larger = arena_alloc(arena, (count ? 2 * (size_t)count : 1) * element);
    if (count) memcpy(larger, array, (size_t)count * element);
    return larger;
}

void arena_free(struct arena *arena) {
    while (arena->newest) {
        struct arena_block *const block = arena->newest;
        arena->newest = block->before;
        free(block);
    }
}
