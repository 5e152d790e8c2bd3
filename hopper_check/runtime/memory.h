/*
 * memory.h: what the host asks for global memory, and copies.
 */
#ifndef RUNTIME_MEMORY_H
#define RUNTIME_MEMORY_H

#include <stdbool.h>

#include "runtime/blocks.h"
#include "runtime/cuda.h"

/* `what` names it in reports, with a number behind. The first 256 MB of it are no usual numbers. */
cudaError_t memory_new(void **pointer, size_t bytes, const char *what, enum block_kind kind);
/* The program's own memory, until memory_free(). */
cudaError_t memory_register(void *pointer, size_t bytes, const char *what);
/* Of one of these kinds; of another it fails, and people are told which function is right. */
#define KIND(kind) (1u << (kind))
cudaError_t memory_free(void *pointer, unsigned kinds);
/* Is it in global memory? `left`: bytes from there to the end of its block. */
bool memory_is_device(const void *pointer, size_t *left);
/* Checks those of the two that lie in global memory, and copies. */
cudaError_t memory_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t memory_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind);
/* Rows of a pattern of 1, 2 or 4 bytes. */
cudaError_t memory_fill(void *to, size_t pitch, uint32_t pattern, int pattern_bytes, size_t width,
                        size_t height);

#endif
