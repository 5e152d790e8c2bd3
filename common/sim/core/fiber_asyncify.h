/*
 * fiber_asyncify.h: the switch for WebAssembly, where no program can exchange its own stack. Part
 * of fiber.c.
 *
 * Binaryen's pass Asyncify lets functions return early and come back. To suspend, the frames from
 * fiber_suspend() down to the entry return one after the other and leave their locals in `saved`.
 * To resume, the entry is called again and the frames go forward to where they were. The
 * scheduler's frames stay where they are: for it, resuming is an ordinary call.
 *
 * The pass has to know which functions may suspend. It finds them by itself through direct calls;
 * the one call through a pointer that may, of the kernel, stands in thread_main() of grid.c, which
 * common/cmake/Modules.cmake names.
 */
#ifndef SIM_CORE_FIBER_ASYNCIFY_H
#define SIM_CORE_FIBER_ASYNCIFY_H

/* The pass replaces these four imports. */
#define ASYNCIFY(name) __attribute__((import_module("asyncify"), import_name(#name)))
ASYNCIFY(start_unwind) extern void unwind_begins(struct saved_frames *to);
ASYNCIFY(stop_unwind) extern void unwind_ends(void);
ASYNCIFY(start_rewind) extern void rewind_begins(struct saved_frames *from);
ASYNCIFY(stop_rewind) extern void rewind_ends(void);

__asm__(".globaltype __stack_pointer, i32\n");

static inline void *stack_pointer(void) {
    void *value;
    __asm__ volatile("global.get __stack_pointer\n\tlocal.set %0" : "=r"(value));
    return value;
}

static inline void set_stack_pointer(void *value) {
    __asm__ volatile("local.get %0\n\tglobal.set __stack_pointer" : : "r"(value));
}

/* No page can be protected here: a word between the saved frames and the stack tells of either's
 * overflow. */
static const uint64_t CANARY = 0x5ca1ab1e0ddba11u;

static uint64_t *canary_of(struct sim_fiber *fiber) {
    return (uint64_t *)(void *)(fiber->stack + SAVED_BYTES);
}

static void prepare(struct sim_fiber *fiber) {
    fiber->saved.top = fiber->stack;
    fiber->saved.end = fiber->stack + SAVED_BYTES;
    *canary_of(fiber) = CANARY;
    fiber->stack_pointer =
        (void *)(((uintptr_t)fiber->stack + fiber->stack_bytes) & ~(uintptr_t)15);
    fiber->state = FIBER_NEW;
}

static __attribute__((noinline)) void switch_to_fiber(struct sim_fiber *fiber) {
    void *const mine = stack_pointer();
    if (fiber->state == FIBER_SUSPENDED) {
        fiber->state = FIBER_REWINDS;
        rewind_begins(&fiber->saved);
    } else {
        fiber->state = FIBER_RUNS;
    }
    set_stack_pointer(fiber->stack_pointer);
    fiber->entry(fiber->argument);
    unwind_ends();
    fiber->stack_pointer = stack_pointer();
    set_stack_pointer(mine);
    if (*canary_of(fiber) == CANARY) return;
    fprintf(stderr, "the stack of a simulated thread has overflowed\n");
    abort();
}

static __attribute__((noinline)) void switch_to_scheduler(struct sim_fiber *fiber) {
    if (fiber->state == FIBER_REWINDS) {
        rewind_ends();
        fiber->state = FIBER_RUNS;
    } else {
        fiber->state = FIBER_SUSPENDED;
        unwind_begins(&fiber->saved);
    }
}

#endif
