#include "sim/core/host_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "backend.h"
#include "sim/core/state.h"

void host_memory_ends(const char *what) {
    fprintf(stderr, "%s: no memory for %s; choose smaller sizes, or fewer --sms\n",
            sim.launch && sim.launch->name ? sim.launch->name : "simulator", what);
    exit(EXIT_NO_DEVICE);
}

void *host_zeroed(size_t count, size_t size, const char *what) {
    void *const memory = calloc(count, size);
    if (!memory) host_memory_ends(what);
    return memory;
}

void *host_aligned(size_t alignment, size_t bytes, const char *what) {
    void *const memory = aligned_alloc(alignment, bytes);
    if (!memory) host_memory_ends(what);
    return memory;
}

void *host_sparse(size_t bytes) {
    void *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void host_sparse_free(void *memory, size_t bytes) { munmap(memory, bytes); }

void *host_grown(void *memory, size_t count, size_t size, const char *what) {
    void *const grown = realloc(memory, count * size);
    if (!grown) host_memory_ends(what);
    return grown;
}
