/*
 * watch.h: what a thread did to its registers since its last wgmma.fence.
 *
 * The registers of a kernel are variables of C, and most accesses to them call no wrapper. Four
 * things are known nevertheless: which words of the stack the kernel's own code has touched, if the
 * compiler can be told to say so (calls.c), the values that wrappers took (packed,
 * converted, stored), the places that ldmatrix or a conversion filled, and what the kernel's stack
 * frame held at the fence, for comparison with what a wgmma finds there. units/wgmma/fences.c draws
 * the conclusions.
 */
#ifndef SIM_UNITS_REGISTERS_WATCH_H
#define SIM_UNITS_REGISTERS_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "sim/core/doubt.h"
#include "sim/core/threads.h"

enum { WATCHED_READS = 256, WATCHED_LOADS = 64 };
/* Bytes of the stack, below the kernel's parameter; and a bit for each word of them. */
enum { WATCHED_FRAME = 32 << 10, TOUCHED = WATCHED_FRAME / 4 / 64 };

/* Of a thread that has executed a wgmma.fence. Lists that are full take no more. */
struct register_watch {
    int reads, loads;                /* since the fence */
    uint32_t read[WATCHED_READS];    /* values, in the order in which wrappers took them */
    const void *load[WATCHED_LOADS]; /* where ldmatrix or a conversion wrote four registers */
    uint64_t touched[TOUCHED];  /* words of the stack, counted from the kernel's parameter down; if
                                 * rules in doubt are off, read and not written */
    size_t first, end;          /* of these, those that are not 0 */
    const unsigned char *begin; /* of the frame */
    size_t bytes, room;         /* of the frame, and of its copy */
    uint64_t *copy;
};

/* The thread, which is running, executes a wgmma.fence: forgets what came before, and copies the
 * frames from the caller's up to the kernel's. */
void register_watch_fence(struct sim_thread *thread);

/* The lowest address of the stack of the function that calls, which has put the processor's
 * registers there by __builtin_unwind_init(). */
const void *register_watch_stack(void);

/* What `bytes` bytes at `address` were at the fence; NULL if that is not known. */
const void *register_watch_at_fence(const struct register_watch *watch, const void *address,
                                    size_t bytes);
/* Did the frame hold this word anywhere at the fence? */
bool register_watch_held(const struct register_watch *watch, uint32_t word);

/* The kernel's own code reads or writes these bytes, wherever they are. A write that changes a
 * value is found without this; one that does not counts, unless the rules in doubt are off
 * (DOUBT_UNCHANGED_REGISTER). */
static inline void register_watch_touch(const struct sim_thread *thread, const void *address,
                                        size_t bytes, bool write) {
    struct register_watch *const watch = thread->registers;
    const size_t end = (uintptr_t)thread->self.parameters - (uintptr_t)address;
    if (end - 1 >= WATCHED_FRAME) return; /* in no frame, or too far down */
    for (size_t at = 0; at < bytes && at < end; at += sizeof(uint32_t)) {
        const size_t word = (end - 1 - at) / sizeof(uint32_t), i = word / 64;
        if (watch->first > i) watch->first = i;
        if (watch->end <= i) watch->end = i + 1;
        const uint64_t bit = (uint64_t)1 << word % 64;
        if (write && !doubtful_rules)
            watch->touched[i] &= ~bit;
        else
            watch->touched[i] |= bit;
    }
}
/* Has it touched one of these words since the fence? */
bool register_watch_touched(const struct sim_thread *thread, const void *address, int words);

/* A wrapper takes a register's value. */
static inline void register_watch_read(const struct sim_thread *thread, uint32_t bits) {
    struct register_watch *const watch = thread->registers;
    if (watch && watch->reads < WATCHED_READS) watch->read[watch->reads++] = bits;
}

/* ldmatrix, or a conversion, writes four registers. */
static inline void register_watch_load(const struct sim_thread *thread, const void *registers) {
    struct register_watch *const watch = thread->registers;
    if (watch && watch->loads < WATCHED_LOADS) watch->load[watch->loads++] = registers;
}

#endif
