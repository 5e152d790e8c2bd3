/*
 * global_memory.h: the allocations of global memory, their bounds, and who may write where.
 */
#ifndef SIM_CORE_GLOBAL_MEMORY_H
#define SIM_CORE_GLOBAL_MEMORY_H

#include "sim/core/threads.h"

enum sim_access { SIM_READ, SIM_WRITE };

void *global_alloc(size_t bytes, const char *label, bool writable);
void global_free(void *memory);
void global_free_all(void);
/* A launch begins: each element of its D has no writer yet. */
void global_launch_begin(void);

/* Where the byte lies in the simulated memory, for caches that must behave the same in every run.
 */
uint64_t global_device_address(const void *pointer);
/* "D + 128". Returns text. */
const char *global_where(const void *pointer, char *text, size_t size);

/* Is [pointer, pointer + bytes) inside one allocation, writable if `write`? Else a hazard
 * ("global-bounds", "global-read-only"), once per line, and false: leave the access out. */
bool sim_global_check(const void *pointer, size_t bytes, enum sim_access access);
/* Notes that the running thread's launch stores these bytes of D or of a workspace (not for
 * reductions): hazard "global-write-write" if another thread stored there in the same launch. For
 * TMA stores: the issuing thread. */
void sim_global_wrote(struct sim_thread *thread, const void *pointer, size_t bytes);

#endif
