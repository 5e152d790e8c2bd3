/*
 * host_memory.h: memory that the simulator itself needs. Where there is none, the kernel has made
 * no mistake and the launch cannot go on: it is no hazard, and the program ends with one line on
 * stderr and EXIT_NO_DEVICE. Inside a launch and outside of one, on any stack.
 */
#ifndef SIM_CORE_HOST_MEMORY_H
#define SIM_CORE_HOST_MEMORY_H

#include <stddef.h>

/* Zeroed. `what` completes "no memory for ..."; never NULL. */
void *host_zeroed(size_t count, size_t size, const char *what);
/* At an address that is a multiple of `alignment`, as `bytes` are; contents undefined. */
void *host_aligned(size_t alignment, size_t bytes, const char *what);
/* realloc() */
void *host_grown(void *memory, size_t count, size_t size, const char *what);
/* Zeroed, at a page's beginning, where the system takes memory only for what is touched; NULL if
 * there are no such addresses. */
void *host_sparse(size_t bytes);
void host_sparse_free(void *memory, size_t bytes);
void host_memory_ends(const char *what) __attribute__((noreturn));

#endif
