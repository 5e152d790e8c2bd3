/*
 * tcgen05_memory.c: tensor memory: allocation, loads, waits, fences.
 *
 * A load delivers its values at once: a use of one waits for it, whatever else is missing (PTX ISA,
 * "Register dependencies, same thread"). Its reading of tensor memory is under way until the wait.
 */
#include "sim/units/tcgen05_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/collective.h"
#include "sim/core/doubt.h"
#include "sim/core/events.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"
#include "sim/core/shared_memory.h"
#include "sim/core/storage.h"
#include "sim/cost/timing_model.h"
#include "sim/order/clock.h"
#include "sim/order/shadow.h"
#include "sim/units/mbarrier/table.h"

/* ---- allocation ---- */

/* The other CTA of the pair. */
static struct sim_cta *peer_of(const struct sim_cta *cta) {
    return &cta->cluster->cta[cta->rank ^ 1];
}

static void give_back(struct tensor_memory *memory, const struct tensor_allocation *a);

static void at_cta_exit(struct sim_exit_call *call) {
    struct tensor_memory *const memory = (struct tensor_memory *)call;
    for (const struct tensor_allocation *a = memory->allocations; a; a = a->next) {
        sim_hazard_at(
            "tensor-not-freed", a->file, a->line, a->thread,
            "the CTA ends without a tcgen05_dealloc() of these %d columns\n"
            "    Every allocation has to be freed before the kernel ends: the next CTA on "
            "this SM would wait\n    for the columns without end.",
            a->columns);
        give_back(memory, a);
    }
    if (memory->cta->cluster->tensor_group != 2) return;
    const struct sim_cta *const peer = peer_of(memory->cta);
    if (!peer->exited || !peer->tensor) return;
    if (!memory->relinquished_by == !peer->tensor->relinquished_by) return;
    const struct tensor_memory *const one = memory->relinquished_by ? memory : peer->tensor;
    sim_hazard_at("tensor-pair", one->relinquished_file, one->relinquished_line,
                  one->relinquished_by,
                  "tcgen05.relinquish_alloc_permit.cta_group::2 in one CTA of the pair alone\n"
                  "    Both must allocate, relinquish and free in the same order.");
}

/* ---- the columns of an SM, which its CTAs share ---- */

static struct tensor_pool {
    struct tensor_allocation *block[TENSOR_BLOCKS]; /* whose these 32 columns are */
    struct tensor_memory *waiting;                  /* CTAs that wait for columns, oldest first */
} * pools;

void tensor_launch_begins(void) {
    free(pools);
    pools = host_zeroed((size_t)(sim.devices * sim.sms), sizeof *pools, "tensor memory");
}

static void serve(struct tensor_pool *pool);

static void give_back(struct tensor_memory *memory, const struct tensor_allocation *a) {
    struct tensor_pool *const pool = &pools[memory->cta->sm];
    for (int i = 0; i < a->columns / TENSOR_BLOCK; ++i)
        pool->block[a->column / TENSOR_BLOCK + i] = memory->block[a->column / TENSOR_BLOCK + i] =
            NULL;
    serve(pool);
}

static struct tensor_memory *memory_of(struct sim_cta *cta) {
    if (cta->tensor) return cta->tensor;
    struct tensor_memory *const memory = sim_arena_alloc(cta->cluster, sizeof *memory);
    memory->cta = cta;
    memory->word = sim_arena_alloc(cta->cluster, TENSOR_LANES * sizeof *memory->word);
    memory->shadow = tensor_shadow_new(cta);
    memory->at_exit.call = at_cta_exit;
    sim_at_cta_exit(cta, &memory->at_exit);
    return cta->tensor = memory;
}

void tcgen05_no_machine(const char *operation) {
    sim_fatal("wrong-machine", sim_thread(),
              "%s: Hopper has no such instruction\n"
              "    In the kernel's record, set .machine = MACHINE_BLACKWELL.",
              operation);
}

void tcgen05_check_group(int group, const char *operation) {
    struct sim_cluster *const cluster = sim_thread()->cta->cluster;
    if (!sim.tensor_memory) tcgen05_no_machine(operation);
    if (group == 2 && cluster->ctas % 2)
        sim_fatal("tensor-group", sim_thread(),
                  "%s.cta_group::2 in a cluster of %d: a CTA pair is two CTAs of a cluster\n"
                  "    Launch clusters of 2.",
                  operation, cluster->ctas);
    if (!cluster->tensor_group) cluster->tensor_group = group;
    if (cluster->tensor_group != group)
        sim_fatal("tensor-group", sim_thread(),
                  "%s.cta_group::%d, but an instruction before had ::%d\n"
                  "    All tcgen05 instructions of a kernel must have the same.",
                  operation, group, cluster->tensor_group);
}

struct tensor_memory *tensor_memory_at(struct sim_cta *cta, int column, int columns,
                                       const char *operation) {
    struct sim_thread *const thread = sim_thread();
    struct tensor_memory *const memory = memory_of(cta);
    char name[48];
    if (column + columns > TENSOR_COLUMNS)
        sim_fatal("tensor-bounds", thread,
                  "%s: columns %d to %d; tensor memory has %d\n"
                  "    Check what is added to the address.",
                  operation, column, column + columns - 1, TENSOR_COLUMNS);
    for (int i = column / TENSOR_BLOCK; i <= (column + columns - 1) / TENSOR_BLOCK; ++i) {
        const struct tensor_allocation *const a = memory->block[i];
        if (!a)
            sim_fatal("tensor-not-allocated", thread,
                      "%s: column %d of tensor memory of %s is not allocated\n"
                      "    Allocate more columns by tcgen05_alloc(), or check the address.",
                      operation, i * TENSOR_BLOCK, sim_cta_name(cta, name, sizeof name));
        if (a->thread != thread && !sim_happens_before(thread, a->thread->slot, a->epoch))
            sim_hazard("tensor-alloc-order", thread,
                       "%s: not ordered after the allocation of column %d at %s:%d\n"
                       "    put __syncthreads(), of a pair cluster_sync(), between the two",
                       operation, i * TENSOR_BLOCK, source_name(a->file), a->line);
    }
    return memory;
}

struct alloc_call {
    int group;
    struct sim_shared_pointer to;
    int columns;
};

static void check_columns(int columns, const char *operation) {
    if (columns < TENSOR_BLOCK || columns > TENSOR_COLUMNS || (columns & (columns - 1)))
        sim_fatal("tensor-columns", sim_thread(),
                  "%s of %d columns: a power of two from 32 to 512\n    Take the next one.",
                  operation, columns);
}

/* The instruction is the warp's: all lanes pass what its first one does. */
static void check_lanes(const struct sim_warp *warp, void *const operand[WARP_SIZE], size_t size,
                        const char *operation) {
    for (int i = 1; i < WARP_SIZE; ++i)
        if (memcmp(operand[i], operand[0], size) != 0)
            sim_fatal("tensor-address", warp->thread[i],
                      "%s with other operands than in the warp's first lane\n"
                      "    All lanes must pass the same address and the same number of columns.",
                      operation);
}

/* The first columns that are free; with every rule in doubt the last, because nothing promises that
 * addresses begin at 0. */
static int find_columns(const struct tensor_pool *pool, int columns) {
    const int blocks = columns / TENSOR_BLOCK;
    int found = -1;
    for (int first = 0; first + blocks <= TENSOR_BLOCKS; first += blocks) {
        int free = 0;
        while (free < blocks && !pool->block[first + free])
            ++free;
        if (free == blocks && (found < 0 || all_doubtful_rules)) found = first;
    }
    return found;
}

/* ---- what the two CTAs of a pair do together ---- */

static void describe_pair(const struct sim_thread *thread, const void *object, char *text,
                          size_t size) {
    const struct tensor_memory *const memory = object;
    (void)thread;
    snprintf(text, size, "%s.cta_group::2: the other CTA of the pair has not come",
             memory->pending_name);
}

static const struct sim_wait wait_for_pair = {describe_pair, NULL, false, false};

/* Has the thread, by any barrier, heard of a thread of the CTA? */
static bool has_heard_of(const struct sim_thread *thread, const struct sim_cta *cta) {
    for (int i = 0; i < cta->threads; ++i)
        if (sim_clock_get(&thread->x, cta->thread[i].slot)) return true;
    return false;
}

/* What the two CTAs of a pair do together: `check` compares the two calls, of which each is the
 * other's peer, before either is executed. */
struct pair_operation {
    const char *name;
    void (*check)(struct sim_warp *warp, const void *call, const void *peers);
    void (*execute)(struct sim_warp *warp, const void *call);
};

/* The warp comes to an instruction of its pair. True if the other CTA's warp is there, too, and the
 * instruction has been executed for both. */
static bool pair_meets(struct sim_warp *warp, int group, const void *call,
                       const struct pair_operation *operation) {
    const char *const name = operation->name;
    struct tensor_memory *const own = memory_of(warp->cta);
    if (group == 1) {
        operation->execute(warp, call);
        return true;
    }
    if (!has_heard_of(warp->thread[0], peer_of(warp->cta)))
        sim_hazard("tensor-pair-not-launched", warp->thread[0],
                   "%s.cta_group::2 by a warp that does not know whether the other CTA of the pair "
                   "has begun\n    put cluster_sync() or cluster_sync_relaxed() before it",
                   name);
    struct tensor_memory *const other = memory_of(peer_of(warp->cta));
    if (!other->pending) {
        own->pending = warp;
        own->pending_call = call;
        own->pending_name = name;
        sim_warp_blocked_on(warp, &wait_for_pair, own);
        return false;
    }
    if (other->pending_name != name)
        sim_fatal("tensor-pair", warp->thread[0],
                  "%s while the other CTA of the pair is at %s\n"
                  "    Both must allocate, relinquish and free in the same order.",
                  name, other->pending_name);
    struct sim_warp *const first = other->pending;
    other->pending = NULL;
    operation->check(first, other->pending_call, call);
    operation->check(warp, call, other->pending_call);
    operation->execute(first, other->pending_call);
    operation->execute(warp, call);
    sim_warp_wake(first, sim_now());
    return true;
}

static void differs(const struct sim_warp *warp, const char *operation) {
    sim_fatal("tensor-pair", warp->thread[0],
              "%s with other operands than in the other CTA of the pair\n"
              "    Both must pass the same number of columns, and free the same allocation.",
              operation);
}

static void check_alloc(struct sim_warp *warp, const void *call, const void *peers) {
    const struct alloc_call *const own = call, *const other = peers;
    if (own->columns != other->columns) differs(warp, "tcgen05.alloc");
}

static void alloc(struct sim_warp *warp, const void *object) {
    const struct alloc_call *const call = object;
    struct sim_thread *const thread = warp->thread[0];
    struct tensor_memory *const memory = memory_of(warp->cta);
    if (memory->relinquished_file)
        sim_fatal("tensor-relinquished", thread,
                  "tcgen05.alloc after the tcgen05_relinquish() at %s:%d\n"
                  "    Relinquish behind the CTA's last allocation.",
                  source_name(memory->relinquished_file), memory->relinquished_line);
    if (memory->last_columns && call->columns > memory->last_columns)
        sim_hazard("tensor-columns", thread,
                   "tcgen05.alloc of %d columns after one of %d: they must not increase\n"
                   "    Allocate the most columns first.",
                   call->columns, memory->last_columns);
    memory->last_columns = call->columns;
    struct tensor_pool *const pool = &pools[warp->cta->sm];
    const int first = find_columns(pool, call->columns);
    if (first < 0) /* of a pair: waiting for the columns of two SMs is not simulated */
        sim_fatal(
            "simulator-limit", thread,
            "tcgen05.alloc of a pair: %d columns are not free, and that a pair waits for them is "
            "not simulated",
            call->columns);
    struct tensor_allocation *const a = sim_arena_alloc(warp->cta->cluster, sizeof *a);
    *a = (struct tensor_allocation){first * TENSOR_BLOCK, call->columns,     thread,
                                    thread->epoch,        thread->self.file, thread->self.line,
                                    memory->allocations};
    memory->allocations = a;
    for (int i = 0; i < call->columns / TENSOR_BLOCK; ++i)
        pool->block[first + i] = memory->block[first + i] = a;
    for (int lane = 0; lane < TENSOR_LANES; ++lane)
        sim_poison(&memory->word[lane][a->column], (size_t)a->columns * sizeof(float));
    const uint32_t address = (uint32_t)a->column;
    sim_shadow_generic(thread, call->to.cta, call->to.offset, sizeof address, SIM_WRITE);
    memcpy(call->to.host, &address, sizeof address);
}

static void serve(struct tensor_pool *pool) {
    while (pool->waiting) {
        struct tensor_memory *const memory = pool->waiting;
        const struct alloc_call *const call = memory->alloc_call;
        if (find_columns(pool, call->columns) < 0) return;
        pool->waiting = memory->next_waiting;
        alloc(memory->alloc_warp, call);
        sim_warp_wake(memory->alloc_warp, sim_now());
    }
}

static void describe_columns(const struct sim_thread *thread, const void *object, char *text,
                             size_t size) {
    const struct tensor_memory *const memory = object;
    (void)thread;
    snprintf(text, size, "tcgen05.alloc of %d columns: the SM's other CTAs have not left so many",
             ((const struct alloc_call *)memory->alloc_call)->columns);
}

static const struct sim_wait wait_for_columns = {describe_columns, NULL, false, true};

static const struct pair_operation alloc_operation = {"tcgen05.alloc", check_alloc, alloc};

static bool alloc_warp(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    const struct alloc_call *const call = operand[0];
    check_lanes(warp, operand, sizeof *call, "tcgen05.alloc");
    struct tensor_memory *const memory = memory_of(warp->cta);
    struct tensor_pool *const pool = &pools[warp->cta->sm];
    tcgen05_check_group(call->group, "tcgen05.alloc");
    check_columns(call->columns, "tcgen05.alloc");
    if (call->group == 1 && find_columns(pool, call->columns) < 0) {
        struct tensor_memory **end = &pool->waiting;
        while (*end)
            end = &(*end)->next_waiting;
        *end = memory;
        memory->alloc_warp = warp;
        memory->alloc_call = call;
        memory->next_waiting = NULL;
        sim_warp_blocked_on(warp, &wait_for_columns, memory);
        return false;
    }
    return pair_meets(warp, call->group, call, &alloc_operation);
}

void sim_tcgen05_alloc(int group, uint32_t *address, int columns) {
    struct alloc_call call;
    memset(&call, 0, sizeof call); /* compared as bytes */
    call.group = group;
    call.to = sim_shared_at(address, sizeof *address, sizeof *address);
    call.columns = columns;
    sim_warp_collective("tcgen05.alloc", &call, alloc_warp);
    sim_advance(TENSOR_ALLOC_CYCLES);
    sim_maybe_yield();
}

static bool relinquish(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    const struct alloc_call *const call = operand[0];
    struct tensor_memory *const memory = memory_of(warp->cta);
    tcgen05_check_group(call->group, "tcgen05.relinquish_alloc_permit");
    memory->relinquished_by = sim_thread();
    memory->relinquished_file = sim_thread()->self.file;
    memory->relinquished_line = sim_thread()->self.line;
    return true;
}

void sim_tcgen05_relinquish(int group) {
    struct alloc_call call = {.group = group};
    sim_warp_collective("tcgen05.relinquish_alloc_permit", &call, relinquish);
}

struct dealloc_call {
    int group;
    uint32_t address;
    int columns;
};

/* The two CTAs of a pair allocate and free together, but neither waits for the other: a warp that
 * frees must know that the other CTA has allocated, and that it uses the columns no longer. */
static void check_dealloc(struct sim_warp *warp, const void *object, const void *peers) {
    const struct dealloc_call *const call = object, *const other = peers;
    struct sim_thread *const thread = warp->thread[0];
    struct tensor_memory *const memory = memory_of(peer_of(thread->cta));
    if (call->columns != other->columns || call->address != other->address)
        differs(warp, "tcgen05.dealloc");
    const struct tensor_allocation *a = memory->allocations;
    while (a && (uint32_t)a->column != call->address)
        a = a->next;
    if (!a) return;
    tensor_touch(thread, memory->cta, memory->shadow, TENSOR_FREE_PEER, 0, TENSOR_LANES, a->column,
                 a->columns, 0, false);
    if (sim_clock_get(&thread->x, a->thread->slot) < a->epoch)
        sim_hazard(
            "tensor-alloc-order", thread,
            "tcgen05.dealloc: not ordered after the allocation by the other CTA of the pair, "
            "at %s:%d\n    put cluster_sync() between the two",
            source_name(a->file), a->line);
}

static void dealloc(struct sim_warp *warp, const void *object) {
    const struct dealloc_call *const call = object;
    struct sim_thread *const thread = warp->thread[0];
    struct tensor_memory *const memory = memory_of(warp->cta);
    check_columns(call->columns, "tcgen05.dealloc");
    struct tensor_allocation **link = &memory->allocations;
    while (*link && (uint32_t)(*link)->column != call->address)
        link = &(*link)->next;
    const struct tensor_allocation *const a = *link;
    if (!a || a->columns != call->columns)
        sim_fatal("tensor-columns", thread,
                  "tcgen05.dealloc of %d columns at 0x%x: there is no such allocation\n"
                  "    Pass the address and the columns of one tcgen05_alloc().",
                  call->columns, call->address);
    *link = a->next;
    tensor_touch(thread, warp->cta, memory->shadow, TENSOR_FREE, 0, TENSOR_LANES, a->column,
                 a->columns, 0, false);
    give_back(memory, a);
}

static const struct pair_operation dealloc_operation = {"tcgen05.dealloc", check_dealloc, dealloc};

static bool dealloc_warp(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    const struct dealloc_call *const call = operand[0];
    check_lanes(warp, operand, sizeof *call, "tcgen05.dealloc");
    tcgen05_check_group(call->group, "tcgen05.dealloc");
    return pair_meets(warp, call->group, call, &dealloc_operation);
}

void sim_tcgen05_dealloc(int group, uint32_t address, int columns) {
    struct dealloc_call call = {group, address, columns};
    sim_warp_collective("tcgen05.dealloc", &call, dealloc_warp);
    sim_maybe_yield();
}

/* ---- loads ---- */

struct load_call {
    int n;
    float *values;
    uint32_t address;
};

static bool load(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    const struct load_call *const call = operand[0];
    const int column = tensor_column(call->address);
    int lane = tensor_lane(call->address);
    const int own = warp->index % WARPGROUP_WARPS * WARP_SIZE;
    for (int i = 1; i < WARP_SIZE; ++i)
        if (((const struct load_call *)operand[i])->address != call->address)
            sim_fatal("tensor-address", warp->thread[i],
                      "tcgen05.ld at 0x%x, and at 0x%x in the warp's first lane\n"
                      "    All lanes must pass the same address: that of the warp's first lane.",
                      ((const struct load_call *)operand[i])->address, call->address);
    if (lane == 0 && !all_doubtful_rules) lane = own; /* kernels in use rely on it */
    if (lane == 0 && own) doubt_in_next_report(DOUBT_TENSOR_LANE);
    if (lane != own)
        sim_fatal("tensor-lane", warp->thread[0],
                  "tcgen05.ld of lanes %d to %d: warp %d of a warpgroup reaches lanes %d to %d\n"
                  "    Add 32 * (warp %% 4) << 16 to the address, or let another warp load.",
                  lane, lane + WARP_SIZE - 1, warp->index % WARPGROUP_WARPS, own,
                  own + WARP_SIZE - 1);
    struct tensor_memory *const memory = tensor_memory_at(warp->cta, column, call->n, "tcgen05.ld");
    for (int i = 0; i < WARP_SIZE; ++i) {
        const struct load_call *const mine = operand[i];
        /* What nothing has written is poison, and an error where it is used. */
        tensor_touch(warp->thread[i], warp->cta, memory->shadow, TENSOR_LOAD, lane + i, 1, column,
                     call->n, 0, all_doubtful_rules);
        memcpy(mine->values, &memory->word[lane + i][column], (size_t)call->n * sizeof(float));
    }
    return true;
}

void sim_tcgen05_load(int n, float *values, uint32_t address) {
    struct load_call call = {n, values, address};
    sim_warp_collective("tcgen05.ld", &call, load);
    const struct sim_thread *const thread = sim_thread();
    if (sim_recording() && thread->lane == 0)
        sim_event_hook(&(struct sim_event){.kind = SIM_EVENT_SUMS_READ,
                                           .begin = sim_now(),
                                           .end = sim_now() + TENSOR_LOAD_CYCLES + (uint64_t)n,
                                           .cta = thread->cta,
                                           .thread = thread->index,
                                           .argument = tensor_column(address)});
    sim_advance(TENSOR_LOAD_CYCLES + (uint64_t)n);
    sim_maybe_yield();
}

static bool whole_warp(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    (void)operand;
    for (int i = 0; i < WARP_SIZE; ++i)
        tensor_wait_load(warp->thread[i]);
    return true;
}

void sim_tcgen05_wait_load(void) {
    sim_warp_collective("tcgen05.wait::ld", NULL, whole_warp);
    sim_maybe_yield();
}

/* ---- fences ---- */

void sim_tcgen05_fence_before(void) { tensor_fence_before(sim_thread()); }

void sim_tcgen05_fence_after(void) { tensor_fence_after(sim_thread()); }
