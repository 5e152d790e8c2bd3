/*
 * global_memory.c: global memory's allocations and their bounds.
 *
 * 01_naive makes some hundred million scalar loads, so the way of a load that is in order is short:
 * one comparison with the allocation that was hit last.
 */
#include "sim/core/global_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"

struct allocation {
    uintptr_t base;
    size_t bytes;
    int device;       /* whose memory it is */
    uint64_t address; /* in the simulated memory: the same in every run of the program */
    const char *label;
    enum global_kind kind;
    bool writable; /* it may be, if the launch says so */
    bool adopted;  /* the memory is not ours */
    void *cells;   /* order/global_shadow.c */
    size_t cells_bytes;
};

enum { MOST_ALLOCATIONS = 1024 };
/* Bytes in front of and behind every allocation that belong to none: who misses one by less does
 * not hit another, wherever the host has put them. */
enum { GAP = 1 << 20 };
static struct allocation *allocations; /* ascending */
static int allocation_count;
static uint64_t next_address[GEMM_DEVICES];
static bool several;           /* there is memory of more than one device */
static struct allocation none; /* of 0 bytes */
static struct allocation *hit = &none, *hit_before = &none; /* the last two */

/* From here on a block's pages are taken when they are touched: rows may lie far apart. */
static const size_t SPARSE = (size_t)1 << 30;

static size_t with_gaps(size_t bytes) { return GAP + ((bytes + 255) & ~(size_t)255) + GAP; }

static void give_back(void *block, size_t bytes) {
    if (bytes < SPARSE)
        free(block);
    else
        host_sparse_free(block, bytes);
}

static bool has_room(size_t bytes) {
    if (!allocations) allocations = calloc(MOST_ALLOCATIONS, sizeof *allocations);
    return allocations && allocation_count < MOST_ALLOCATIONS && bytes <= SIZE_MAX - 4 * GAP;
}

static struct allocation *add(void *memory, size_t bytes, int device, const char *label,
                              bool writable) {
    int i = allocation_count++;
    for (; i > 0 && allocations[i - 1].base > (uintptr_t)memory; --i)
        allocations[i] = allocations[i - 1];
    allocations[i] = (struct allocation){
        .base = (uintptr_t)memory,
        .bytes = bytes,
        .device = device,
        .address = (uint64_t)device << DEVICE_SHIFT | next_address[device],
        .label = label,
        .kind = writable ? GLOBAL_WRITABLE : GLOBAL_INPUT,
        .writable = writable,
    };
    next_address[device] += (bytes + 511) & ~(uint64_t)255;
    several |= device > 0;
    hit = hit_before = &none;
    return &allocations[i];
}

void *global_alloc(int device, size_t bytes, const char *label, bool writable) {
    if (!has_room(bytes)) return NULL;
    unsigned char *const block = with_gaps(bytes) < SPARSE ? aligned_alloc(256, with_gaps(bytes))
                                                           : host_sparse(with_gaps(bytes));
    if (!block) return NULL;
    add(block + GAP, bytes, device, label, writable);
    return block + GAP;
}

bool global_adopt(void *memory, size_t bytes, const char *label) {
    if (!has_room(bytes)) return false;
    add(memory, bytes, 0, label, true)->adopted = true;
    return true;
}

/* The last that were freed: who accesses one is told its name. */
enum { FREED = 256 };
static struct allocation freed[FREED];
static int freed_count;

static const struct allocation *find_freed(uintptr_t address) {
    for (int i = 0; i < FREED; ++i)
        if (address - freed[i].base < freed[i].bytes) return &freed[i];
    return NULL;
}

void global_free(void *memory) {
    for (int i = 0; i < allocation_count; ++i) {
        if (allocations[i].base != (uintptr_t)memory) continue;
        const struct allocation *const a = &allocations[i];
        freed[freed_count++ % FREED] = *a;
        give_back(a->cells, a->cells_bytes);
        if (!a->adopted) give_back((unsigned char *)memory - GAP, with_gaps(a->bytes));
        for (--allocation_count; i < allocation_count; ++i)
            allocations[i] = allocations[i + 1];
        hit = hit_before = &none;
        return;
    }
}

void global_free_all(void) {
    while (allocation_count)
        global_free((void *)allocations[0].base);
    free(allocations);
    allocations = NULL;
    memset(freed, 0, sizeof freed);
    memset(next_address, 0, sizeof next_address);
    several = false;
}

static struct allocation *find(uintptr_t address) {
    int low = 0, high = allocation_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (allocations[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &allocations[low - 1] : NULL;
}

static inline bool inside(const struct allocation *a, uintptr_t address, size_t bytes) {
    return address - a->base < a->bytes && bytes <= a->bytes - (address - a->base);
}

void (*global_unforeseen)(const char *label);

void global_let_write(bool all) {
    for (int i = 0; i < allocation_count; ++i)
        allocations[i].kind = all && allocations[i].writable ? GLOBAL_WRITABLE : GLOBAL_INPUT;
}

void global_let_write_to(const void *pointer) {
    struct allocation *const a = find((uintptr_t)pointer);
    if (a && a->writable && inside(a, (uintptr_t)pointer, 1)) a->kind = GLOBAL_WRITABLE;
}

void (*global_outside)(const void *pointer, size_t bytes, enum sim_access access);

static void say_outside(const struct allocation *before, uintptr_t address, size_t bytes,
                        enum sim_access access) {
    const char *const verb = access == SIM_READ ? "read" : "write";
    const struct allocation *const old = find_freed(address);
    if (global_outside)
        global_outside((const void *)address, bytes, access);
    else if (before && address - before->base < before->bytes + GAP)
        sim_hazard("global-bounds", NULL,
                   "%s of %zu bytes at %s + %zu, which has %zu bytes\n"
                   "    Check rows against m or n and columns against the matrix's width "
                   "before the access.",
                   verb, bytes, before->label, (size_t)(address - before->base), before->bytes);
    else if (old)
        sim_hazard("global-bounds", NULL, "%s of %zu bytes at %s + %zu, which has been freed", verb,
                   bytes, old->label, (size_t)(address - old->base));
    else
        sim_hazard("global-bounds", NULL,
                   "%s of %zu bytes at %p, which lies in no allocation\n"
                   "    Check the pointer and what is added to it: is an index negative, or too "
                   "narrow for its product?",
                   verb, bytes, (void *)address);
}

/* Finds the allocation and reports what is wrong with the access. */
static __attribute__((noinline)) enum global_kind check_slowly(uintptr_t address, size_t bytes,
                                                               enum sim_access access) {
    struct allocation *found = find(address);
    if (!found || address - found->base > found->bytes ||
        bytes > found->bytes - (address - found->base)) {
        say_outside(found, address, bytes, access);
        return GLOBAL_REFUSED;
    }
    if (access == SIM_WRITE && found->kind != GLOBAL_WRITABLE) {
        if (found->writable && global_unforeseen) global_unforeseen(found->label);
        sim_hazard("global-read-only", NULL,
                   "write of %zu bytes to %s + %zu, an input\n"
                   "    Results go to D or the workspace: is it the right pointer?",
                   bytes, found->label, (size_t)(address - found->base));
        return GLOBAL_REFUSED;
    }
    if (found != hit) {
        hit_before = hit;
        hit = found;
    }
    return found->kind;
}

enum global_kind sim_global_check(const void *pointer, size_t bytes, enum sim_access access) {
    uintptr_t address = (uintptr_t)pointer;
    if (access == SIM_READ) {
        if (inside(hit, address, bytes)) return hit->kind;
        if (inside(hit_before, address, bytes)) return hit_before->kind;
    }
    return check_slowly(address, bytes, access);
}

void **global_cells_of(const void *pointer, size_t *offset, size_t *bytes) {
    const uintptr_t address = (uintptr_t)pointer;
    struct allocation *a = inside(hit, address, 1)          ? hit
                           : inside(hit_before, address, 1) ? hit_before
                                                            : find(address);
    if (!a || !inside(a, address, 1)) return NULL;
    *offset = address - a->base;
    *bytes = a->bytes;
    return &a->cells;
}

void *global_cells_make(const void *pointer, size_t bytes, const char *what) {
    struct allocation *const a = find((uintptr_t)pointer);
    if (a->cells && bytes == a->cells_bytes && bytes < SPARSE) return memset(a->cells, 0, bytes);
    give_back(a->cells, a->cells_bytes);
    a->cells = bytes < SPARSE ? host_zeroed(1, bytes, what) : host_sparse(bytes);
    a->cells_bytes = bytes;
    if (!a->cells) host_memory_ends(what);
    return a->cells;
}

/* ---- places ---- */

uint64_t global_device_address(const void *pointer) {
    const uintptr_t address = (uintptr_t)pointer;
    const struct allocation *a = inside(hit, address, 1)          ? hit
                                 : inside(hit_before, address, 1) ? hit_before
                                                                  : find(address);
    return a ? a->address + (address - a->base) : address;
}

const char *global_where(const void *pointer, char *text, size_t size) {
    const struct allocation *a = find((uintptr_t)pointer);
    char device[32] = "";
    if (a && several) snprintf(device, sizeof device, " of device %d", a->device);
    snprintf(text, size, "%s%s + %zu", a ? a->label : "?", device,
             a ? (size_t)((uintptr_t)pointer - a->base) : 0);
    return text;
}
