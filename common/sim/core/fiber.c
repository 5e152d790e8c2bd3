/*
 * fiber.c: the context switch and the stacks.
 *
 * The switch saves what the calling convention says a callee keeps (x86-64 System V: rbx, rbp,
 * r12-r15; AAPCS64: x19-x30, d8-d15) on the old stack, swaps stack pointers, and returns on the
 * other side. WebAssembly has a way of its own, fiber_asyncify.h. Everywhere else, or with
 * -DSIM_UCONTEXT, POSIX ucontext does it, some twenty times slower because it saves the signal mask
 * with a system call.
 */
#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(__wasm__) && !defined(SIM_UCONTEXT)
#define SIM_UCONTEXT 1
#endif

#include "sim/core/fiber.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if SIM_UCONTEXT
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#if FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
enum { STACK_BYTES = 512 << 10 };
#elif defined(__wasm__)
/* Most variables are WebAssembly's locals and lie on no stack; those of a suspended fiber are saved
 * at the stack's low end. */
enum { STACK_BYTES = 32 << 10, SAVED_BYTES = 2 << 10 };
#else
enum { STACK_BYTES = 128 << 10 };
#endif
enum { SLAB_STACKS = 64 };
/* Each guard page costs two of the mappings that a process may have (65530 by default on Linux);
 * stacks beyond so many do without. */
enum { GUARDED_STACKS = 8192 };

struct sim_fiber {
    void (*entry)(void *);
    void *argument;
    unsigned char *stack; /* lowest usable byte; a guard page lies below */
    size_t stack_bytes;
    int number;       /* of the stack in the pool */
    void *fake_stack; /* AddressSanitizer's */
    struct sim_fiber *next_free;
#if SIM_UCONTEXT
    ucontext_t context;
#else
    void *stack_pointer; /* while it is suspended */
#endif
#if defined(__wasm__)
    struct saved_frames {
        void *top, *end;
    } saved; /* as Asyncify wants it */
    enum { FIBER_NEW, FIBER_RUNS, FIBER_SUSPENDED, FIBER_REWINDS } state;
#endif
};

static struct sim_fiber *running; /* NULL: the scheduler */
static struct sim_fiber *free_fibers;
static int stacks_made;

/* A slab of stacks with their fibers, one mapping. */
struct slab {
    struct slab *next;
    void *memory;
    size_t bytes;
    struct sim_fiber fiber[SLAB_STACKS];
};
static struct slab *slabs;

/* ---- the switch ---- */

#if SIM_UCONTEXT

static ucontext_t scheduler_context;

static void fiber_main(void);

static void prepare(struct sim_fiber *fiber) {
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = fiber->stack_bytes;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, fiber_main, 0);
}

static void switch_to_fiber(struct sim_fiber *fiber) {
    swapcontext(&scheduler_context, &fiber->context);
}

static void switch_to_scheduler(struct sim_fiber *fiber) {
    swapcontext(&fiber->context, &scheduler_context);
}

#elif defined(__wasm__)

#include "sim/core/fiber_asyncify.h"

#else

static void *scheduler_stack_pointer;

/* Saves the callee-saved registers and the stack pointer in *save, and continues where `to` was
 * saved. The name is fixed so that it is the same with and without a leading underscore. */
extern void fiber_switch(void **save, void *to) __asm__("sim_fiber_switch");
static void fiber_main(void) __asm__("sim_fiber_main") __attribute__((used));

#if defined(__x86_64__)

__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_fiber_switch\n"
        "sim_fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n");

/* The first switch pops six zeros and returns into fiber_main, with the stack as after a call. */
static void prepare(struct sim_fiber *fiber) {
    uintptr_t top = (uintptr_t)fiber->stack + fiber->stack_bytes;
    uint64_t *word = (uint64_t *)(top & ~(uintptr_t)15);
    *--word = 0; /* where fiber_main would return to */
    *--word = (uint64_t)(uintptr_t)fiber_main;
    for (int i = 0; i < 6; ++i)
        *--word = 0;
    fiber->stack_pointer = word;
}

#else /* arm64 */

__asm__(".text\n"
        ".p2align 4\n"
        ".globl sim_fiber_switch\n"
        "sim_fiber_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n");

/* x30 of the first switch is fiber_main, everything else zero. */
static void prepare(struct sim_fiber *fiber) {
    enum { FRAME_WORDS = 160 / 8, X30 = 88 / 8 };
    uintptr_t top = ((uintptr_t)fiber->stack + fiber->stack_bytes) & ~(uintptr_t)15;
    uint64_t *frame = (uint64_t *)top - FRAME_WORDS;
    memset(frame, 0, FRAME_WORDS * sizeof *frame);
    frame[X30] = (uint64_t)(uintptr_t)fiber_main;
    fiber->stack_pointer = frame;
}

#endif

static void switch_to_fiber(struct sim_fiber *fiber) {
    fiber_switch(&scheduler_stack_pointer, fiber->stack_pointer);
}

static void switch_to_scheduler(struct sim_fiber *fiber) {
    fiber_switch(&fiber->stack_pointer, scheduler_stack_pointer);
}

#endif

/* ---- telling AddressSanitizer which stack is the current one ---- */

#if FIBER_ASAN

static void *scheduler_fake_stack;
static const void *scheduler_stack;
static size_t scheduler_stack_bytes;

static void leaving_scheduler(struct sim_fiber *fiber) {
    __sanitizer_start_switch_fiber(&scheduler_fake_stack, fiber->stack, fiber->stack_bytes);
}
static void back_in_scheduler(void) {
    __sanitizer_finish_switch_fiber(scheduler_fake_stack, NULL, NULL);
}
static void arrived_in_fiber(struct sim_fiber *fiber) {
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &scheduler_stack, &scheduler_stack_bytes);
}
static void leaving_fiber(struct sim_fiber *fiber, int for_good) {
    __sanitizer_start_switch_fiber(for_good ? NULL : &fiber->fake_stack, scheduler_stack,
                                   scheduler_stack_bytes);
}
static void forget_stack(struct sim_fiber *fiber) {
    __asan_unpoison_memory_region(fiber->stack, STACK_BYTES);
    fiber->fake_stack = NULL;
}

#else

static void leaving_scheduler(struct sim_fiber *fiber) { (void)fiber; }
static void back_in_scheduler(void) {}
static void arrived_in_fiber(struct sim_fiber *fiber) { (void)fiber; }
static void leaving_fiber(struct sim_fiber *fiber, int for_good) { (void)fiber, (void)for_good; }
static void forget_stack(struct sim_fiber *fiber) { fiber->fake_stack = NULL; }

#endif

#if !defined(__wasm__)
static void fiber_main(void) {
    arrived_in_fiber(running);
    running->entry(running->argument);
    abort(); /* entry must not return */
}
#endif

void fiber_resume(struct sim_fiber *fiber) {
    running = fiber;
    leaving_scheduler(fiber);
    switch_to_fiber(fiber);
    back_in_scheduler();
    running = NULL;
}

void fiber_suspend(void) {
    struct sim_fiber *self = running;
    leaving_fiber(self, 0);
    switch_to_scheduler(self);
    arrived_in_fiber(self);
}

void fiber_exit(void) {
    leaving_fiber(running, 1);
    switch_to_scheduler(running);
    abort();
}

/* ---- stacks ---- */

#if defined(__wasm__)
static size_t page_bytes(void) { return 0; }
static void *map(size_t bytes) { return aligned_alloc(64, bytes); }
static void unmap(void *memory, size_t bytes) { (void)bytes, free(memory); }
static void protect(void *page, size_t bytes) { (void)page, (void)bytes; }
#else
static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }
static void *map(size_t bytes) {
    void *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}
static void unmap(void *memory, size_t bytes) { munmap(memory, bytes); }
static void protect(void *page, size_t bytes) { mprotect(page, bytes, PROT_NONE); }
#endif

static int make_slab(void) {
    size_t page = page_bytes();
    size_t stride = STACK_BYTES + page; /* the page below each stack catches its overflow */
    struct slab *slab = calloc(1, sizeof *slab);
    if (!slab) return 0;
    slab->bytes = stride * SLAB_STACKS;
    slab->memory = map(slab->bytes);
    if (!slab->memory) {
        free(slab);
        return 0;
    }
    for (int i = SLAB_STACKS - 1; i >= 0; --i) {
        struct sim_fiber *fiber = &slab->fiber[i];
        unsigned char *base = (unsigned char *)slab->memory + i * stride;
        if (stacks_made < GUARDED_STACKS) protect(base, page);
        fiber->stack = base + page;
        fiber->number = stacks_made++;
        /* Stacks that all begin at the same offset in a page would fight for the same cache sets.
         */
        fiber->stack_bytes = STACK_BYTES - (size_t)(fiber->number * 5 % 64) * 64;
        fiber->next_free = free_fibers;
        free_fibers = fiber;
    }
    slab->next = slabs;
    slabs = slab;
    return 1;
}

struct sim_fiber *fiber_new(void (*entry)(void *), void *argument) {
    if (!free_fibers && !make_slab()) return NULL;
    struct sim_fiber *fiber = free_fibers;
    free_fibers = fiber->next_free;
    forget_stack(fiber);
    fiber->entry = entry;
    fiber->argument = argument;
    prepare(fiber);
    return fiber;
}

void fiber_free(struct sim_fiber *fiber) {
    fiber->next_free = free_fibers;
    free_fibers = fiber;
}

void fiber_pool_trim(int kept) {
    if (stacks_made <= kept) return;
    while (slabs) {
        struct slab *slab = slabs;
        slabs = slab->next;
        unmap(slab->memory, slab->bytes);
        free(slab);
    }
    free_fibers = NULL;
    stacks_made = 0;
}
