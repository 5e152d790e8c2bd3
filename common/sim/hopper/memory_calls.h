/*
 * memory_calls.h: memset(), memcpy() and memmove() of a kernel's own code.
 *
 * Where the compiler tells the simulator of loads and stores (units/registers/calls.c), it does not
 * tell of what these functions do. So kernels call the simulator's, but for copies so short that
 * the compiler makes a load and a store of them.
 */
#ifndef SIM_HOPPER_MEMORY_CALLS_H
#define SIM_HOPPER_MEMORY_CALLS_H

#include <stdint.h>
#include <string.h>

void *sim_memset(void *to, int byte, size_t bytes);
void *sim_memcpy(void *to, const void *from, size_t bytes);
void *sim_memmove(void *to, const void *from, size_t bytes);

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIM_WATCHES_MEMORY 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define SIM_WATCHES_MEMORY 1
#endif

#ifdef __clang__
#define SIM_SHORT_COPY 0 /* bytes */
#else
#define SIM_SHORT_COPY sizeof(uint64_t)
#endif

#ifdef SIM_WATCHES_MEMORY
#define SIM_COPY(name, to, from, bytes)                                                            \
    (__builtin_constant_p(bytes) && (bytes) <= SIM_SHORT_COPY                                      \
         ? __builtin_##name(to, from, bytes)                                                       \
         : sim_##name(to, from, bytes))
#define memset(to, byte, bytes) sim_memset(to, byte, bytes)
#define memcpy(to, from, bytes) SIM_COPY(memcpy, to, from, bytes)
#define memmove(to, from, bytes) SIM_COPY(memmove, to, from, bytes)
#endif

#endif
