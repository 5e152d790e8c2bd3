/*
 * global_memory.h: the allocations of global memory, their bounds, and which may be written.
 */
#ifndef SIM_CORE_GLOBAL_MEMORY_H
#define SIM_CORE_GLOBAL_MEMORY_H

#include "services/devices.h"
#include "sim/core/threads.h"

enum sim_access { SIM_READ, SIM_WRITE };

/* In the memory of a device, 0 to GEMM_DEVICES - 1, which all devices can reach. */
void *global_alloc(int device, size_t bytes, const char *label, bool writable);
/* Memory that its owner has, and that kernels may use until global_free(), which leaves it to him.
 * False: there is no room for another block. */
bool global_adopt(void *memory, size_t bytes, const char *label);
void global_free(void *memory);
void global_free_all(void);
/* Where the byte lies in the simulated memory, for caches that must behave the same in every run:
 * each device has 8 GB of addresses. */
enum { DEVICE_SHIFT = 33 };
uint64_t global_device_address(const void *pointer);
/* "D + 128". Returns text. */
const char *global_where(const void *pointer, char *text, size_t size);

/* May [pointer, pointer + bytes) be accessed so: does it lie in one allocation, in one that may be
 * written if this is a write? Else a hazard ("global-bounds", "global-read-only"), once per line,
 * and GLOBAL_REFUSED, which is false: leave the access out. */
enum global_kind { GLOBAL_REFUSED, GLOBAL_INPUT, GLOBAL_WRITABLE };
enum global_kind sim_global_check(const void *pointer, size_t bytes, enum sim_access access);

/* Of what global_alloc() has made writable, launches from here on may write to all, or to none but
 * what follows. */
void global_let_write(bool all);
/* And to the allocation that this lies in, if there is one. */
void global_let_write_to(const void *pointer);
/* Called, unless it is NULL, when a launch writes to one that it was not let to: what it says of
 * the launch is wrong, and not the launch. It does not return. */
extern void (*global_unforeseen)(const char *label);

/* While it is not NULL, says what is wrong with an access outside of all allocations, in place of
 * the usual report: whoever accesses knows more. */
extern void (*global_outside)(const void *pointer, size_t bytes, enum sim_access access);

/* What order/ keeps of an allocation: a block that is freed with it, NULL at first. NULL for an
 * address outside of all. *offset: of the address in the allocation, *bytes: of the allocation. */
void **global_cells_of(const void *pointer, size_t *offset, size_t *bytes);
/* Makes that block, or makes it anew, of zeros; `what` completes "no memory for ...". */
void *global_cells_make(const void *pointer, size_t bytes, const char *what);

#endif
