/*
 * atomics.h: words of global memory through which CTAs synchronize: counters and flags. A word has
 * 32 bits, or 64 where a name ends in _b64.
 *
 * An ordinary load or store must not race with an access of another thread. A *strong* access may.
 * All accesses below are strong. Each has a *scope*, the set of threads among which it is strong,
 * and *semantics*. Relaxed semantics order nothing else. A release makes the thread's earlier
 * accesses, and those that were ordered before them, precede everything that follows an acquire
 * which has read the released value. The scope of each must contain the other thread: .gpu between
 * CTAs, .sys between devices.
 *
 * A relaxed write after fence_acq_rel() is also a release, and a relaxed read before
 * fence_acq_rel() is also an acquire. When CTAs leave parts of a sum and the last CTA adds them up,
 * the usual sequence is: all threads store; __syncthreads(); one thread calls
 * fence_acq_rel(SCOPE_GPU), atomic_add_relaxed(), fence_acq_rel(SCOPE_GPU); __syncthreads().
 *
 * None of this reaches the async proxy. What the TMA stores is complete only after
 * bulk_wait_group(). A TMA load of data that ordinary stores of the same launch wrote needs
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
#define ATOMIC_ADD_B64(semantics, scope)                                                           \
    asm volatile("atom." semantics scope ".global.add.u64 %0, [%1], %2;"                           \
                 : "=l"(before) : "l"(word), "l"(value) : "memory")
#define ATOMIC_CAS_B64(semantics, scope)                                                           \
    asm volatile("atom." semantics scope ".global.cas.b64 %0, [%1], %2, %3;"                       \
                 : "=l"(before) : "l"(word), "l"(expected), "l"(value) : "memory")
#define REDUCE_ADD(semantics, scope)                                                               \
    asm volatile("red." semantics scope ".global.add.u32 [%0], %1;"                                \
                 ::"l"(word), "r"(value) : "memory")

/* Returns the word as some thread has written it; orders nothing else. May be called in a loop: the
 * compiler keeps every load. Any thread. PTX ISA: ld.relaxed. */
DEVICE uint32_t ld_global_relaxed(const uint32_t *word, enum scope scope) {
    uint32_t value;
#define INSTRUCTION(in) LOAD("relaxed", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return value;
}

/* The same as an acquire: what was released with the returned value precedes this thread's later
 * accesses. Any thread. PTX ISA: ld.acquire. */
DEVICE uint32_t ld_global_acquire(const uint32_t *word, enum scope scope) {
    uint32_t value;
#define INSTRUCTION(in) LOAD("acquire", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return value;
}

/* Writes the word; orders nothing else, but after fence_acq_rel() it releases what preceded the
 * fence. Any thread. PTX ISA: st.relaxed. */
DEVICE void st_global_relaxed(uint32_t *word, uint32_t value, enum scope scope) {
#define INSTRUCTION(in) STORE("relaxed", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

/* The same as a release of this thread's earlier accesses and of all that was ordered before them,
 * by an acquire or a barrier. Any thread. PTX ISA: st.release. */
DEVICE void st_global_release(uint32_t *word, uint32_t value, enum scope scope) {
#define INSTRUCTION(in) STORE("release", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

/* Adds to the word and returns its value from before, in one step for the threads of the scope.
 * An atomic passes on what earlier atomics have released to the word. Any thread. PTX ISA: atom. */
DEVICE uint32_t atomic_add_relaxed(uint32_t *word, uint32_t value, enum scope scope) {
    uint32_t before;
#define INSTRUCTION(in) ATOMIC_ADD("relaxed", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return before;
}

/* The same, with an acquire. */
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

/* The same with both, as the last CTA that arrives at a counter needs it. */
DEVICE uint32_t atomic_add_acq_rel(uint32_t *word, uint32_t value, enum scope scope) {
    uint32_t before;
#define INSTRUCTION(in) ATOMIC_ADD("acq_rel", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return before;
}

/* The same on 64 bits. */
DEVICE uint64_t atomic_add_acq_rel_b64(uint64_t *word, uint64_t value, enum scope scope) {
    uint64_t before;
#define INSTRUCTION(in) ATOMIC_ADD_B64("acq_rel", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return before;
}

/* Writes the word if its value is `expected`, and returns its value from before, in one step for
 * the threads of the scope. Any thread. PTX ISA: atom.cas. */
DEVICE uint64_t atomic_cas_relaxed_b64(uint64_t *word, uint64_t expected, uint64_t value,
                                       enum scope scope) {
    uint64_t before;
#define INSTRUCTION(in) ATOMIC_CAS_B64("relaxed", in)
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
    return before;
}

/* Adds to the word and returns nothing, so the thread does not wait for a result. Any thread. PTX
 * ISA: red. */
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

/* Orders this thread's earlier accesses, and accesses of others that a barrier has ordered before
 * them, before its later strong writes. Orders its earlier strong reads, and what they have
 * acquired, before its later accesses. Does not wait for other threads, and does not cover their
 * accesses without a barrier in between. One thread must execute both the fence and the access.
 * (__threadfence() is fence.sc.gpu, which is stronger.) Any thread. PTX ISA: fence.acq_rel. */
DEVICE void fence_acq_rel(enum scope scope) {
#define INSTRUCTION(in) asm volatile("fence.acq_rel" in ";" ::: "memory")
    AT_SCOPE(scope, INSTRUCTION);
#undef INSTRUCTION
}

#undef AT_SCOPE
#undef LOAD
#undef STORE
#undef ATOMIC_ADD
#undef ATOMIC_ADD_B64
#undef ATOMIC_CAS_B64
#undef REDUCE_ADD

#else
#include "sim/hopper/atomics.h"
#endif

#endif
