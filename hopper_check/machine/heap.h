/*
 * heap.h: the heap that kernels call malloc and free of.
 *
 * CUDA C++ Programming Guide, "Dynamic Global Memory Allocation and Operations". What it gives
 * outlives the launch, and other launches may use and free it.
 */
#ifndef MACHINE_HEAP_H
#define MACHINE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* cudaLimitMallocHeapSize: bytes that may be in use at once. Counts before the first block. */
size_t heap_limit(void);
void heap_set_limit(size_t bytes);

/* A block, of no value yet. NULL: that would be more than the limit. *exhausted: more has been
 * asked for, one after the other, than is modelled. */
void *heap_alloc(size_t bytes, bool *exhausted);
/* False: it is no block in use. */
bool heap_free(const void *block);

#endif
