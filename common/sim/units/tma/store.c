/*
 * store.c: boxes of shared memory into a matrix, and the bulk groups that a thread waits for
 * them with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hopper/tma.h"
#include "sim/core/doubt.h"
#include "sim/core/events.h"
#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/jobs.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/timing_async.h"
#include "sim/cost/timing_model.h"
#include "sim/models/element_values.h"
#include "sim/order/clock.h"
#include "sim/order/global_shadow.h"
#include "sim/order/shadow.h"
#include "sim/units/mbarrier/table.h"
#include "sim/units/poll.h"
#include "sim/units/tma/box.h"
#include "sim/units/tma/copy.h"
#include "sim/units/tma/map.h"

struct store;

/* A thread's bulk groups; group g is complete when all its stores are. */
struct bulk_state {
    struct sim_exit_call at_exit; /* first */
    struct sim_thread *thread;
    int slot;           /* of the reads of shared memory; epoch: group + 1 */
    int write_slot;     /* of the writes of global memory, likewise */
    uint32_t committed; /* groups closed so far; stores now join group number `committed` */
    uint32_t used;      /* 1 + the newest group that has a store; 0: none has */
    uint32_t read_waited, waited; /* groups known to have been read, to be complete */
    struct store *first;          /* under way, oldest first */
    const char *file;             /* of the newest store */
    int line;
};

/* A store is two jobs: reading shared memory into `box`, then writing global memory from there. */
struct store {
    struct sim_job read, write; /* read first */
    struct bulk_state *bulk;    /* NULL once the thread has ended */
    struct store *next;
    struct store *older, *newer; /* of all that are under way */
    int cluster, slot;           /* of the write, and group + 1 its epoch */
    uint32_t group;
    struct sim_cta *cta;
    size_t offset;
    struct tma_map map;
    int row, column;
    bool writable;
    struct tma_reduction reduction;
    struct busy busy;
    unsigned char *box; /* rows without gaps and swizzle */
    int asked;          /* the line that held the last address asked for */
};

static struct store *newest;

static void link_newest(struct store *store) {
    store->older = newest;
    if (newest) newest->newer = store;
    newest = store;
}

static void free_store(struct store *store) {
    if (store->older) store->older->newer = store->newer;
    if (store->newer)
        store->newer->older = store->older;
    else
        newest = store->older;
    free(store->box);
    free(store);
}

static void fill_box(const struct store *store) {
    const struct tensor_map_fields *const f = &store->map.fields;
    const struct sim_shared_pointer pointer = {store->cta, store->offset,
                                               store->cta->shared + store->offset};
    const uint32_t address = sim_shared_pointer_address(pointer);
    const int row_bytes = f->box_columns * f->element_bytes;
    for (int r = 0; r < tensor_map_box_lines(f); ++r)
        for (int at = 0; at < row_bytes; at += TMA_CHUNK)
            memcpy(store->box + r * row_bytes + at,
                   pointer.host + tensor_map_box_offset(f, address, r, at / f->element_bytes),
                   TMA_CHUNK);
}

static void read_box(struct sim_job *job) {
    struct store *const store = (struct store *)job;
    tma_map_read(&store->map);
    fill_box(store);
}

const unsigned char *tma_store_under_way(int cluster, int slot, uint32_t epoch, const void *at) {
    for (struct store *store = newest; store; store = store->older) {
        if (store->cluster != cluster || store->slot != slot || store->group + 1 != epoch) continue;
        const struct tensor_map_fields *const f = &store->map.fields;
        const int lines = tensor_map_box_lines(f);
        for (int i = 0; i < lines && store->writable; ++i) { /* addresses come in order */
            const int r = (store->asked + i) % lines;
            const struct box_row in = tensor_map_store_row(f, store->row, store->column, r);
            const uintptr_t to = (uintptr_t)at - (uintptr_t)in.global;
            if (in.last > in.first &&
                to < (uintptr_t)(in.last - in.first) * (uintptr_t)f->element_bytes) {
                store->asked = r;
                return store->box + (r * f->box_columns + in.first) * f->element_bytes + to;
            }
        }
    }
    return NULL;
}

static void add(int type, void *to, const void *from) {
    if (type == GEMM_FP32) {
        float sum, term;
        memcpy(&sum, to, sizeof sum);
        memcpy(&term, from, sizeof term);
        sum += term;
        memcpy(to, &sum, sizeof sum);
    } else {
        const int bf16 = type == GEMM_BF16;
        uint16_t sum, term;
        memcpy(&sum, to, sizeof sum);
        memcpy(&term, from, sizeof term);
        sum = element_nearest(element_value(sum, bf16) + element_value(term, bf16), bf16);
        memcpy(to, &sum, sizeof sum);
    }
}

static struct tma_reduction addition(const struct tensor_map_fields *f, int function) {
    (void)function;
    return (struct tma_reduction){f->type == GEMM_E4M3 ? NULL : add, f->type, f->element_bytes};
}

static void unlink_store(struct store *store) {
    if (!store->bulk) return;
    struct store **link = &store->bulk->first;
    while (*link != store)
        link = &(*link)->next;
    *link = store->next;
}

static void write_box(struct sim_job *job) {
    struct store *const store = (struct store *)((char *)job - offsetof(struct store, write));
    const struct tensor_map_fields *const f = &store->map.fields;
    const int row_bytes = f->box_columns * f->element_bytes;
    for (int line = 0; line < tensor_map_box_lines(f) && store->writable; ++line) {
        const struct box_row in = tensor_map_store_row(f, store->row, store->column, line);
        const unsigned char *const from =
            store->box + line * row_bytes + in.first * f->element_bytes;
        if (in.last > in.first)
            tma_bring(&store->reduction, (unsigned char *)(uintptr_t)in.global, from,
                      (size_t)((in.last - in.first) * f->element_bytes));
    }
    if (sim_timed() && sim.cycles < sim_now())
        sim.cycles = sim_now(); /* the launch ends no earlier */
    poll_written();
    unlink_store(store);
    free_store(store);
}

/* A launch that is abandoned cancels both jobs, in either order: the later one frees the store. */
static void cancel_read(struct sim_job *job) {
    struct store *const store = (struct store *)job;
    if (store->write.state == JOB_DONE) free_store(store);
}

static void cancel_write(struct sim_job *job) {
    struct store *const store = (struct store *)((char *)job - offsetof(struct store, write));
    if (store->read.state == JOB_DONE) free_store(store);
}

/* The guide's example waits; the ISA has no sentence that asks for it. */
static void check_waited(const struct bulk_state *bulk) {
    if (!doubtful_rules || bulk->used <= bulk->read_waited) return;
    doubt_in_next_report(DOUBT_STORE_BEFORE_EXIT);
    if (bulk->used > bulk->committed)
        sim_hazard_at("uncommitted-store", bulk->file, bulk->line, bulk->thread,
                      "the thread ends with a TMA store that belongs to no bulk group, so no wait "
                      "can cover it\n"
                      "    call bulk_commit_group() after the store, and bulk_wait_group_read(0) "
                      "before the end");
    else
        sim_hazard_at(
            "unwaited-store", bulk->file, bulk->line, bulk->thread,
            "the thread ends while the TMA may still be reading shared memory for this store\n"
            "    call bulk_wait_group_read(0) before the end: the CTA loses its shared memory when "
            "it "
            "ends");
}

static void at_thread_exit(struct sim_exit_call *call) {
    struct bulk_state *const bulk = (struct bulk_state *)call;
    check_waited(bulk);
    while (bulk->first) {
        struct store *const store = bulk->first;
        sim_job_force(&store->read);
        bulk->first = store->next;
        store->bulk = NULL; /* this state ends with the cluster, the write may be later */
    }
}

static struct bulk_state *bulk_of(struct sim_thread *thread) {
    if (thread->bulk) return thread->bulk;
    struct bulk_state *const bulk = sim_arena_alloc(thread->cta->cluster, sizeof *bulk);
    bulk->thread = thread;
    bulk->slot = sim_slot_new(thread->cta->cluster, "TMA store", true, thread);
    bulk->write_slot = sim_slot_new(thread->cta->cluster, "TMA store", true, thread);
    bulk->at_exit.call = at_thread_exit;
    sim_at_thread_exit(thread, &bulk->at_exit);
    return thread->bulk = bulk;
}

/* The rows that the store will write, with what shared memory holds now. */
static void note_written(const struct store *store) {
    const struct tensor_map_fields *const f = &store->map.fields;
    struct sim_thread *const thread = store->bulk->thread;
    for (int r = 0; r < tensor_map_box_lines(f); ++r) {
        const struct box_row in = tensor_map_store_row(f, store->row, store->column, r);
        const size_t bytes = (size_t)((in.last - in.first) * f->element_bytes);
        if (in.last <= in.first) continue;
        if (store->reduction.reduce)
            sim_global_async(thread, in.global, bytes, GLOBAL_TMA_REDUCE, store->slot,
                             store->group + 1);
        else
            sim_global_tma_store(thread, in.global, bytes,
                                 store->box + (r * f->box_columns + in.first) * f->element_bytes,
                                 store->slot, store->group + 1);
    }
}

/* Read by the store that its thread issues now. */
static void note_read(void *object, struct sim_shared_pointer pointer, size_t bytes) {
    const struct bulk_state *const bulk = object;
    sim_shadow_async(bulk->thread, pointer.cta, pointer.offset, bytes, SIM_READ, bulk->slot,
                     bulk->committed + 1);
}

static void report_store(const struct store *store, const struct sim_thread *thread, uint64_t end,
                         int home) {
    if (!sim_recording()) return;
    const struct sim_event e = {.kind = SIM_EVENT_TMA_STORE,
                                .begin = store->busy.begin,
                                .end = end,
                                .cta = store->cta,
                                .thread = -1,
                                .link = home != store->cta->device,
                                .argument = tensor_map_box_bytes(&store->map.fields),
                                .offset = store->offset,
                                .file = thread->self.file,
                                .line = thread->self.line};
    sim_event_hook(&e);
}

static void store(struct sim_shared_pointer pointer, const struct tma_map *use, int row, int column,
                  struct tma_reduction reduction) {
    struct sim_thread *const thread = sim_thread();
    const struct tensor_map_fields f = use->fields;
    const uint32_t bytes = tensor_map_box_bytes(&f);
    sim_hazard_context(use->global ? tma_map_story : NULL, use->global);
    const bool writable = tma_check_global(&f, row, column, SIM_WRITE); /* may end the launch */
    struct bulk_state *const bulk = bulk_of(thread);
    struct store *const store = host_zeroed(1, sizeof *store, "a TMA store");
    store->box = host_zeroed(1, bytes, "a TMA store");
    store->bulk = bulk;
    store->cluster = thread->cta->cluster->index;
    store->slot = bulk->write_slot;
    store->group = bulk->committed;
    store->cta = pointer.cta;
    store->offset = pointer.offset;
    store->map = *use;
    store->row = row;
    store->column = column;
    store->reduction = reduction;
    store->writable = writable;
    const int home = sim_home_of(f.base);
    store->busy = time_tma_store(thread->cta, home, bytes);
    store->busy.end += use->fetch;
    store->read.complete = read_box;
    store->read.cancel = cancel_read;
    store->read.cluster = pointer.cta->cluster;
    store->write.complete = write_box;
    store->write.cancel = cancel_write;
    store->write.after = &store->read;
    fill_box(store);
    if (store->writable) note_written(store);
    tma_box_stored_pieces(&f, pointer, row, column, note_read, bulk);
    tma_map_note_read(use, bulk->slot, bulk->committed + 1);
    sim_hazard_context(NULL, NULL);
    struct store **link = &bulk->first;
    while (*link)
        link = &(*link)->next;
    *link = store;
    bulk->used = store->group + 1;
    bulk->file = thread->self.file;
    bulk->line = thread->self.line;
    sim_statistics.tma_store_bytes += bytes;
    const uint64_t end = time_tma_store_complete(thread->cta, home, store->busy.end, bytes);
    report_store(store, thread, end, home);
    link_newest(store);
    sim_job_start(&store->read, store->busy.end);
    sim_job_start(&store->write, end);
    sim_advance(TMA_THREAD_CYCLES);
    sim_maybe_yield();
}

void tma_store_box(const struct tensor_map *map, struct tma_at at, const void *shared,
                   tma_reduction_of *reduction, int function) {
    const char *const operation = reduction ? "TMA reduction" : "TMA store";
    struct tma_reduction of_map = {NULL, 0, 0};
    int row, column;
    const struct tma_map use = tma_map_at(map, at, &row, &column, operation);
    if (reduction) of_map = reduction(&use.fields, function);
    if (reduction && !of_map.reduce)
        sim_fatal("tensor-map", sim_thread(), "%s: there is none of elements of this type",
                  operation);
    const struct sim_shared_pointer pointer = tma_box_pointer(&use.fields, shared);
    tma_check_alignment(&use.fields, pointer, operation);
    store(pointer, &use, row, column, of_map);
}

void bulk_store(void *global, const void *shared, uint32_t bytes, struct tma_reduction reduction) {
    if (!bytes) return;
    const struct tma_map use = {
        .fields = bulk_fields(global, bytes,
                              reduction.reduce ? "cp.reduce.async.bulk" : "cp.async.bulk")};
    store(sim_shared_at(shared, bytes, TMA_CHUNK), &use, 0, 0, reduction);
}

void sim_tma_store(const struct tensor_map *map, int row, int column, const void *shared) {
    tma_store_box(map, (struct tma_at){.rank = 2, .at = {column, row}}, shared, NULL, 0);
}

void sim_tma_store_3d(const struct tensor_map *map, int matrix, int row, int column,
                      const void *shared) {
    tma_store_box(map, (struct tma_at){.rank = 3, .at = {column, row, matrix}}, shared, NULL, 0);
}

void sim_tma_reduce_add(const struct tensor_map *map, int row, int column, const void *shared) {
    tma_store_box(map, (struct tma_at){.rank = 2, .at = {column, row}}, shared, addition, 0);
}

bool tma_store_uncommitted(const struct sim_cluster *cluster, int slot, uint32_t epoch) {
    const struct sim_thread *const thread = cluster->slot[slot].owner;
    const struct bulk_state *const bulk = thread ? thread->bulk : NULL;
    return bulk && (slot == bulk->slot || slot == bulk->write_slot) && epoch > bulk->committed;
}

void sim_bulk_commit_group(void) {
    ++bulk_of(sim_thread())->committed;
    sim_cue(SIM_EVENT_CUE_STORE, 0);
}

static void describe_store(const struct sim_thread *thread, const void *object, char *text,
                           size_t size) {
    (void)object;
    snprintf(text, size, "bulk group %u of its TMA stores",
             thread->bulk->first ? thread->bulk->first->group : 0);
}

static const struct sim_wait wait_for_store = {describe_store, NULL, false, false};

/* Waits until groups below `target` have been read (or are complete). */
static void wait_for_groups(struct bulk_state *bulk, uint32_t target, bool complete) {
    for (struct store *store = bulk->first; store && store->group < target;) {
        struct sim_job *const job = complete ? &store->write : &store->read;
        if (job->state == JOB_DONE) { /* only a read: a store that is complete is not in the list */
            store = store->next;
            continue;
        }
        sim_job_wait(job, &wait_for_store, NULL);
        store = bulk->first; /* others may have completed meanwhile */
    }
}

static void wait_bulk(int pending, bool complete) {
    struct sim_thread *const thread = sim_thread();
    struct bulk_state *const bulk = bulk_of(thread);
    const uint32_t target =
        (uint32_t)pending < bulk->committed ? bulk->committed - (uint32_t)pending : 0;
    wait_for_groups(bulk, target, complete);
    if (target > bulk->read_waited) bulk->read_waited = target;
    if (complete && target > bulk->waited) bulk->waited = target;
    sim_acquire_slot(thread, bulk->slot, bulk->read_waited);
    sim_acquire_slot(thread, bulk->write_slot, bulk->waited);
}

void sim_bulk_wait_group_read(int pending) { wait_bulk(pending, false); }
void sim_bulk_wait_group(int pending) {
    sim_cue(SIM_EVENT_CUE_STORED, 0);
    wait_bulk(pending, true);
}
