/* blocks.c: a table of the blocks, their pages, and the signal of a touch. */
#define _GNU_SOURCE
#include "runtime/blocks.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "backend.h"
#include "runtime/session.h"
#include "sim/core/global_memory.h"

enum { MOST_BLOCKS = 1024 };
/* Bytes on both sides of memory of the GPU that belong to no block. */
enum { GAP = 1 << 20 };
static struct block blocks[MOST_BLOCKS];
static int count;
static volatile bool any_open;
/* Pages that may still be taken from the host and given back, so that this takes some tenths of a
 * second of a run at most; from then on no touch of its is noticed. */
static size_t pages_left = (size_t)1 << 19;

/* ---- pages ---- */

static size_t pages(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static void *map(size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    unsigned char *const all = mmap(NULL, pages(bytes) + 2 * (size_t)GAP, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return NULL;
    if (mprotect(all + GAP, pages(bytes), PROT_READ | PROT_WRITE) == 0) return all + GAP;
    munmap(all, pages(bytes) + 2 * (size_t)GAP);
    return NULL;
}

/* The addresses of a freed block are nobody's, so that one who still has a pointer to it is told of
 * that. Only a program that frees terabytes gets them again. */
static void unmap(unsigned char *base, size_t bytes) {
    static size_t reserved;
    static const size_t most = (size_t)8 << 40;
    const size_t all = pages(bytes) + 2 * (size_t)GAP;
    reserved += all;
    if (reserved > most ||
        mmap(base - GAP, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        munmap(base - GAP, all);
}

static void protect(struct block *block, int how) {
    if (mprotect(block->base, pages(block->bytes), how) != 0)
        session_refuse(REFUSED_INPUT, "the pages of %s cannot be protected", block->label);
    block->open = how != PROT_NONE;
}

static void give(struct block *block) {
    if (!block->open) protect(block, PROT_READ | PROT_WRITE);
    any_open = true;
}

void blocks_open(const void *pointer) {
    for (int i = 0; !pointer && i < count; ++i)
        give(&blocks[i]);
    const struct block *const one = block_of(pointer);
    if (one) give(&blocks[one - blocks]);
}

void blocks_close(void) {
    if (!any_open) return;
    any_open = false;
    for (int i = 0; i < count; ++i) {
        struct block *const b = &blocks[i];
        const size_t taken = pages(b->bytes) / (size_t)sysconf(_SC_PAGESIZE);
        if (b->kind != BLOCK_DEVICE || !b->open || taken > pages_left) continue;
        pages_left -= taken;
        protect(b, PROT_NONE);
    }
}

/* ---- blocks ---- */

static void add(void *base, size_t bytes, const char *label, enum block_kind kind) {
    blocks[count++] = (struct block){base, bytes, kind, label, .open = true};
    any_open = true;
}

void *block_new(size_t bytes, const char *label, enum block_kind kind) {
    if (count == MOST_BLOCKS) return NULL;
    void *const base = kind == BLOCK_DEVICE ? map(bytes) : backend_alloc(bytes, label, true);
    if (!base) return NULL;
    if (kind == BLOCK_DEVICE && !global_adopt(base, bytes, label)) {
        unmap(base, bytes);
        return NULL;
    }
    add(base, bytes, label, kind);
    return base;
}

bool block_register(void *memory, size_t bytes, const char *label) {
    if (count == MOST_BLOCKS || !global_adopt(memory, bytes, label)) return false;
    add(memory, bytes, label, BLOCK_REGISTERED);
    return true;
}

void block_free(const struct block *block) {
    const struct block old = *block;
    blocks[block - blocks] = blocks[--count];
    backend_free(old.base);
    if (old.kind == BLOCK_DEVICE) unmap(old.base, old.bytes);
}

const struct block *block_of(const void *pointer) {
    for (int i = 0; i < count; ++i)
        if ((uintptr_t)pointer - (uintptr_t)blocks[i].base < blocks[i].bytes) return &blocks[i];
    return NULL;
}

/* ---- a touch of the host's ---- */

static struct sigaction before; /* our handler */

/* What the context of a signal knows: the instruction, and whether it writes. */
#ifdef __x86_64__
static const char *verb(const ucontext_t *context) {
    enum { WRITES = 2 }; /* of the page fault's error code */
    return context->uc_mcontext.gregs[REG_ERR] & WRITES ? "writes" : "reads";
}
static uintptr_t instruction(const ucontext_t *context) {
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}
#else
static const char *verb(const ucontext_t *context) { return (void)context, "accesses"; }
static uintptr_t instruction(const ucontext_t *context) { return (void)context, 0; }
#endif

/* The program's own code that comes first in the chain of calls: memcpy() is nobody's mistake. */
static void place(char *text, size_t size, const ucontext_t *context) {
    enum { DEEPEST = 32 };
    void *frame[DEEPEST];
    Dl_info of;
    const int frames = backtrace(frame, DEEPEST);
    snprintf(text, size, "the host's code");
    for (int i = 0; i < frames; ++i) {
        if (!dladdr(frame[i], &of) || strcmp(of.dli_fname, program_invocation_name) != 0) continue;
        const bool returns = (uintptr_t)frame[i] != instruction(context); /* behind the call */
        snprintf(text, size, "%s+%#tx", of.dli_fname,
                 (char *)frame[i] - (char *)of.dli_fbase - returns);
        return;
    }
}

static void tell(const struct block *b, const void *pointer, const ucontext_t *context) {
    char at[512], text[2048];
    place(at, sizeof at, context);
    char *const plus = strrchr(at, '+');
    int used =
        snprintf(text, sizeof text,
                 "hazard: host-access: %s: the host %s %s + %zu, which is memory of the GPU\n"
                 "    On a card the program crashes here: copy by cudaMemcpy(), or allocate "
                 "by cudaMallocManaged().",
                 at, verb(context), b->label, (size_t)((const unsigned char *)pointer - b->base));
    if (plus && used < (int)sizeof text) {
        *plus = 0;
        snprintf(text + used, sizeof text - (size_t)used,
                 "\n    Compiled with -g, the program knows the line: addr2line -Cfe %s %s", at,
                 plus + 1);
    }
    session_tell("finding", (const char *const[]){"host-access", text}, 2);
}

static void fault(int signal, siginfo_t *info, void *context) {
    const struct block *const b = block_of(info->si_addr);
    if (b && b->open) return; /* another thread has just opened it */
    if (b && session_is_ours()) {
        blocks_open(NULL);
        return;
    }
    if (b && b->kind == BLOCK_DEVICE) tell(b, info->si_addr, context);
    sigaction(signal, &before, NULL); /* the access is made again, and ends the program */
}

void blocks_watch(void) {
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
}
