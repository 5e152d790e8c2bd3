/* watch.c: the copy of a kernel's frame at a wgmma.fence. */
#include "sim/units/registers/watch.h"

#include "sim/core/storage.h"

__attribute__((noinline)) const void *register_watch_stack(void) {
    return __builtin_frame_address(0);
}

/* The frame has variables that are out of scope, and the sanitizer's gaps between variables. */
__attribute__((no_sanitize("address"))) static void copy_frames(struct register_watch *watch,
                                                                struct sim_cluster *cluster,
                                                                const unsigned char *begin,
                                                                const unsigned char *end) {
    watch->bytes = 0;
    if (!end) return;
    const size_t bytes = (size_t)(end - begin) & ~(sizeof(uint64_t) - 1);
    if (bytes > WATCHED_FRAME) return; /* nothing is concluded from such a frame */
    if (bytes > watch->room) {
        watch->copy = sim_arena_alloc(cluster, bytes);
        watch->room = bytes;
    }
    for (size_t i = 0; i < bytes / sizeof(uint64_t); ++i)
        watch->copy[i] = ((const volatile uint64_t *)begin)[i];
    watch->begin = begin;
    watch->bytes = bytes;
}

void register_watch_fence(struct sim_thread *thread) {
    struct sim_cluster *const cluster = thread->cta->cluster;
    /* What the processor's registers hold for the kernel is on the stack now. */
    __builtin_unwind_init();
    if (!thread->registers) thread->registers = sim_arena_alloc(cluster, sizeof *thread->registers);
    thread->registers->reads = 0;
    thread->registers->loads = 0;
    for (; thread->registers->first < thread->registers->end; ++thread->registers->first)
        thread->registers->touched[thread->registers->first] = 0;
    thread->registers->first = TOUCHED;
    thread->registers->end = 0;
    if (thread->self.named_registers) return;
    copy_frames(thread->registers, cluster, register_watch_stack(), thread->self.parameters);
}

const void *register_watch_at_fence(const struct register_watch *watch, const void *address,
                                    size_t bytes) {
    const uintptr_t offset = (uintptr_t)address - (uintptr_t)watch->begin;
    if (offset >= watch->bytes || watch->bytes - offset < bytes) return NULL;
    return (const unsigned char *)watch->copy + offset;
}

bool register_watch_touched(const struct sim_thread *thread, const void *address, int words) {
    const size_t end = (uintptr_t)thread->self.parameters - (uintptr_t)address;
    if (!thread->registers || end - 1 >= WATCHED_FRAME) return false;
    for (int i = 0; i < words; ++i) {
        const size_t word = (end - 1) / sizeof(uint32_t) - (size_t)i;
        if (thread->registers->touched[word / 64] >> word % 64 & 1) return true;
    }
    return false;
}

bool register_watch_held(const struct register_watch *watch, uint32_t word) {
    const uint32_t *const words = (const uint32_t *)watch->copy;
    for (size_t i = 0; i < watch->bytes / sizeof word; ++i)
        if (words[i] == word) return true;
    return false;
}
