/*
 * calls.c: loads and stores of a kernel's own variables.
 *
 * Kernels are compiled with -fsanitize=thread (cmake/Toolchain.cmake), so the compiler calls these
 * functions before such an access. The names and types are the compiler's; its own library for the
 * option is not linked. Variables whose address is never taken are left out, and accumulators are
 * not among those: a wgmma gets their address. memset(), memcpy() and memmove() are no such
 * accesses to the compiler, so kernels call the simulator's (sim/hopper/memory_calls.h).
 */
#include <string.h>

#include "sim/units/registers/watch.h"

static inline void touched(const void *address, size_t bytes, bool write) {
    const struct sim_thread *const thread = sim_thread();
    if (thread && thread->registers) register_watch_touch(thread, address, bytes, write);
}

#define ACCESS(bytes)                                                                              \
    void __tsan_read##bytes(void *address);                                                        \
    void __tsan_write##bytes(void *address);                                                       \
    void __tsan_unaligned_read##bytes(void *address);                                              \
    void __tsan_unaligned_write##bytes(void *address);                                             \
    void __tsan_read##bytes(void *address) { touched(address, bytes, false); }                     \
    void __tsan_write##bytes(void *address) { touched(address, bytes, true); }                     \
    void __tsan_unaligned_read##bytes(void *address) { touched(address, bytes, false); }           \
    void __tsan_unaligned_write##bytes(void *address) { touched(address, bytes, true); }

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(void *address, intptr_t bytes);
void __tsan_write_range(void *address, intptr_t bytes);
void __tsan_read_range(void *address, intptr_t bytes) { touched(address, (size_t)bytes, false); }
void __tsan_write_range(void *address, intptr_t bytes) { touched(address, (size_t)bytes, true); }

/* sim/hopper/memory_calls.h */

void *sim_memset(void *to, int byte, size_t bytes) {
    touched(to, bytes, true);
    return memset(to, byte, bytes);
}

void *sim_memcpy(void *to, const void *from, size_t bytes) {
    touched(from, bytes, false);
    touched(to, bytes, true);
    return memcpy(to, from, bytes);
}

void *sim_memmove(void *to, const void *from, size_t bytes) {
    touched(from, bytes, false);
    touched(to, bytes, true);
    return memmove(to, from, bytes);
}

/* When a program, or a function of a compiler that calls them nevertheless, begins and ends. */
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void *unused);
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void *unused) { (void)unused; }
