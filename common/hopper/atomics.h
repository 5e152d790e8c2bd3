/*
 * atomics.h: words of global memory through which CTAs tell each other something: counters and
 * flags.
 *
 * An ordinary load or store must not race with another thread's. A *strong* access may: those below
 * are. Each has a *scope*, the threads among which it is strong, and *semantics*. Relaxed orders
 * nothing else. A release puts what the thread did before it, and what it has learned of others,
 * before whatever follows an acquire that has seen it. Both scopes must contain the other thread:
 * .gpu from CTA to CTA, .sys from device to device.
 *
 * fence_acq_rel() and a relaxed write behind it are a release, too; a relaxed read and
 * fence_acq_rel() behind it are an acquire. So the usual way is, for CTAs that leave parts of a sum
 * and let the last one add them up: all threads store; __syncthreads(); one thread:
 * fence_acq_rel(SCOPE_GPU), atomic_add_relaxed(), fence_acq_rel(SCOPE_GPU); __syncthreads().
 *
 * None of this reaches the async proxy: what the TMA has stored is not there before
 * bulk_wait_group(), and what it is to load after ordinary stores of the same launch needs
 * fence_proxy_async_global(). docs/memory-order.md.
 *
 * PTX ISA: "Memory Consistency Model", ld, st, atom, red, fence.
 */
#ifndef HOPPER_ATOMICS_H
#define HOPPER_ATOMICS_H

#include "hopper/thread.h"

/* The threads of the CTA, of its cluster, of the device, of all devices and the host. */
enum scope { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };

#ifdef __CUDACC__

/* One of four instructions: `scope` is a constant, so that the compiler leaves the other three
 * out. */
#define AT_SCOPE(scope, instruction)                                                               \
    do {                                                                                           \
        if ((scope) == SCOPE_CTA) instruction(".cta");                                             \
        else if ((scope) == SCOPE_CLUSTER) instruction(".cluster");                                \
        else if ((scope) == SCOPE_GPU) instruction(".gpu");                                        \
        else instruction(".sys");                                                                  \
    } while (0)
#define LOAD(semantics, scope)                                                                     \
    asm volatile("ld." semantics scope ".global.b32 %0, [%1];"                                     \
                 : "=r"(value) : "l"(word) : "memory")
#define STORE(semantics, scope)                                                                    \
    asm volatile("st." semantics scope ".global.b32 [%0], %1;" ::"l"(word), "r"(value) : "memory")
#define ATOMIC_ADD(semantics, scope)                                                               \
    asm volatile("atom." semantics scope ".global.add.u32 %0, [%1], %2;"                           \
                 : "=r"(before) : "l"(word), "r"(value) : "memory")
#define REDUCE_ADD(semantics, scope)                                                               \
    asm volatile("red." semantics scope ".global.add.u32 [%0], %1;"                                \
                 ::"l"(word), "r"(value) : "memory")

/* The word, as some thread has written it; orders nothing else. May be called in a loop: the
 * compiler keeps every load. Any thread. PTX ISA: ld.relaxed. */
DEVICE uint32_t ld_global_relaxed(const uint32_t *word, enum scope scope) {
    uint32_t value;
#define INSTRUCTION(in) LOAD("relaxed", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return value;
}

/* The same; what was released with the value that it sees comes before what this thread does next.
 * Any thread. PTX ISA: ld.acquire. */
DEVICE uint32_t ld_global_acquire(const uint32_t *word, enum scope scope) {
    uint32_t value;
#define INSTRUCTION(in) LOAD("acquire", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return value;
}

/* Writes the word; orders nothing else, but behind fence_acq_rel() it releases what was before the
 * fence. Any thread. PTX ISA: st.relaxed. */
DEVICE void st_global_relaxed(uint32_t *word, uint32_t value, enum scope scope) {
#define INSTRUCTION(in) STORE("relaxed", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

/* The same, and releases all that this thread did before and has acquired or met at barriers. Any
 * thread. PTX ISA: st.release. */
DEVICE void st_global_release(uint32_t *word, uint32_t value, enum scope scope) {
#define INSTRUCTION(in) STORE("release", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

/* Adds to the word and returns what it was before, in one step as seen by the threads of the scope.
 * An atomic passes on what earlier ones have released to the word. Any thread. PTX ISA: atom. */
DEVICE uint32_t atomic_add_relaxed(uint32_t *word, uint32_t value, enum scope scope) {
    uint32_t before;
#define INSTRUCTION(in) ATOMIC_ADD("relaxed", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return before;
}

/* The same, and acquires. */
DEVICE uint32_t atomic_add_acquire(uint32_t *word, uint32_t value, enum scope scope) {
    uint32_t before;
#define INSTRUCTION(in) ATOMIC_ADD("acquire", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return before;
}

/* The same, and releases. */
DEVICE uint32_t atomic_add_release(uint32_t *word, uint32_t value, enum scope scope) {
    uint32_t before;
#define INSTRUCTION(in) ATOMIC_ADD("release", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return before;
}

/* The same, and does both: what the last arriver at a counter needs. */
DEVICE uint32_t atomic_add_acq_rel(uint32_t *word, uint32_t value, enum scope scope) {
    uint32_t before;
#define INSTRUCTION(in) ATOMIC_ADD("acq_rel", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return before;
}

/* Adds to the word without a result, so that the thread does not wait for it. Any thread. PTX ISA:
 * red. */
DEVICE void red_add_relaxed(uint32_t *word, uint32_t value, enum scope scope) {
#define INSTRUCTION(in) REDUCE_ADD("relaxed", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

/* The same, and releases. */
DEVICE void red_add_release(uint32_t *word, uint32_t value, enum scope scope) {
#define INSTRUCTION(in) REDUCE_ADD("release", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

/* Orders this thread's accesses before it, and what it has learned of others at barriers, before
 * its strong writes behind it; and its strong reads before it, with what they have seen, before its
 * accesses behind it. Does not wait for other threads, and does not cover theirs unless a barrier
 * stands in between. The fence and the access must be the same thread's. (__threadfence() is
 * fence.sc.gpu: the same and more.) Any thread. PTX ISA: fence.acq_rel. */
DEVICE void fence_acq_rel(enum scope scope) {
#define INSTRUCTION(in) asm volatile("fence.acq_rel" in ";" ::: "memory")
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

#undef AT_SCOPE
#undef LOAD
#undef STORE
#undef ATOMIC_ADD
#undef REDUCE_ADD

#else
#include "sim/hopper/atomics.h"
#endif

#endif
