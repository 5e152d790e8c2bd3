/*
 * memory.h: matrices in the simulator's memory, for tests that launch a chapter's kernel
 * themselves.
 */
#ifndef BEYOND_TESTS_KINDS_MEMORY_H
#define BEYOND_TESTS_KINDS_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "harness/experiment.h"
#include "tests/support/expect.h"

/* A copy of so many bytes, and no more. */
static inline void *put(const void *host, size_t bytes) {
    void *const memory = backend_alloc(bytes, "input", true);
    if (!memory || !backend_copy_in(memory, host, bytes)) exit(1);
    return memory;
}

static inline void *filled(size_t bytes, uint8_t byte) {
    void *const host = malloc(bytes);
    if (!host) exit(1);
    memset(host, byte, bytes);
    return host;
}

static inline void run(const struct gemm_kernel *kernel, const struct gemm_problem *problem) {
    const struct contender contender = contender_of_kernel(kernel);
    double cycles;
    EXPECT(backend_run(&contender, problem, &cycles) == RUN_OK, "%s%s%s fails", kernel->name,
           kernel->variant ? ":" : "", kernel->variant ? kernel->variant : "");
}

#endif
