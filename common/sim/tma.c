/* tma.c: the TMA: boxes of a matrix into shared memory and back, and the bulk groups that stores
 * are waited for with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "async.h"
#include "descriptor.h"
#include "tensor_core.h"
#include "tensor_map.h"
#include "timing_async.h"
#include "timing_model.h"

enum { CHUNK = 16, MAX_ROW_BYTES = 256 * 4, SHARED_ALIGNMENT = 128 };

static struct tensor_map_fields fields_of(const struct tensor_map *map, const char *operation) {
    struct tensor_map_fields fields;
    if ((uintptr_t)map % 64 || !tensor_map_decode(map, &fields))
        sim_fatal(
            "tensor-map", sim_thread(),
            "%s: the tensor map is not one that gemm_tensor_map() made, or was overwritten\n"
            "    is it one of the kernel's arguments, and did the launch function fill it in?",
            operation);
    return fields;
}

/* The hardware takes a box anywhere on 128 bytes, but permutes by absolute address: the reader's
 * formula fits only where the pattern starts with the box. */
static void check_swizzle_alignment(const struct tensor_map_fields *f,
                                    struct sim_shared_place place, const char *operation) {
    const uint32_t period = swizzle_period(f->swizzle);
    char where[96];
    if (f->swizzle == SWIZZLE_NONE || sim_shared_place_address(place) % period == 0) return;
    sim_hazard(
        "misaligned-swizzle", sim_thread(),
        "%s: %s is not a multiple of %u bytes, so the %u B swizzle's pattern starts in the middle\n"
        "    align the buffer (and every stage of it) to %u bytes",
        operation, sim_where(place.cta, place.offset, where, sizeof where), period,
        swizzle_width(f->swizzle), period);
}

/* Every row of the box that meets the matrix must lie in an allocation. */
static bool check_global(const struct tensor_map_fields *f, int row, int column,
                         enum sim_access access) {
    for (int r = 0; r < f->box_rows; ++r) {
        const struct box_row in = access == SIM_WRITE ? tensor_map_store_row(f, row, column, r)
                                                      : tensor_map_box_row(f, row, column, r);
        const size_t bytes = (size_t)(in.last - in.first) * (size_t)f->element_bytes;
        if (bytes && !sim_global_check(in.global, bytes, access)) return false;
    }
    return true;
}

/* ---- loads ---- */

struct load {
    struct sim_job job; /* first */
    struct async_copy copy;
    struct sim_cta *cta;
    size_t offset;
    struct tensor_map_fields map;
    int row, column;
    struct busy busy;
    bool readable; /* the global memory exists */
};

static void fill_box(const struct load *load) {
    const struct tensor_map_fields *const f = &load->map;
    const struct sim_shared_place place = {load->cta, load->offset,
                                           load->cta->shared + load->offset};
    const uint32_t address = sim_shared_place_address(place);
    const int row_bytes = f->box_columns * f->element_bytes;
    for (int r = 0; r < f->box_rows; ++r) {
        unsigned char line[MAX_ROW_BYTES] = {0};
        const struct box_row in = tensor_map_box_row(f, load->row, load->column, r);
        if (load->readable && in.last > in.first)
            memcpy(line + in.first * f->element_bytes, in.global,
                   (size_t)((in.last - in.first) * f->element_bytes));
        for (int at = 0; at < row_bytes; at += CHUNK)
            memcpy(place.host + tensor_map_box_offset(f, address, r, at / f->element_bytes),
                   line + at, CHUNK);
    }
}

static void report_load(const struct load *load) {
    if (!sim_recording()) return;
    const struct sim_event e = {.kind = SIM_EVENT_TMA_LOAD,
                                .begin = load->busy.begin,
                                .end = sim_timed() ? load->busy.end : sim_now(),
                                .cta = load->cta,
                                .thread = -1,
                                .argument = tensor_map_box_bytes(&load->map),
                                .offset = load->offset,
                                .file = load->copy.file,
                                .line = load->copy.line};
    sim_event_hook(&e);
}

static void complete_load(struct sim_job *job) {
    struct load *const load = (struct load *)job;
    fill_box(load);
    report_load(load);
    mbarrier_copy_lands(&load->copy, tensor_map_box_bytes(&load->map));
    free(load);
}

static void cancel_job(struct sim_job *job) { free(job); }

/* One destination of a load, or of one CTA's share of a multicast. */
static void start_load(struct sim_shared_place place, struct sim_shared_place barrier,
                       const struct tensor_map_fields *f, int row, int column, struct busy busy,
                       bool readable, const char *operation) {
    const uint32_t bytes = tensor_map_box_bytes(f);
    struct mbarrier_record *const record = mbarrier_find(barrier, operation);
    struct load *const load = async_alloc(sizeof *load);
    load->job.complete = complete_load;
    load->job.cancel = cancel_job;
    load->job.cluster = place.cta->cluster;
    load->cta = place.cta;
    load->offset = place.offset;
    load->map = *f;
    load->row = row;
    load->column = column;
    load->busy = busy;
    load->readable = readable;
    mbarrier_copy_begins(record, &load->copy, &load->job);
    sim_shadow_async(sim_thread(), place.cta, place.offset, bytes, SIM_WRITE, record->slot,
                     load->copy.epoch);
    sim_poison(place.host, bytes);
    sim_statistics.tma_load_bytes += bytes;
    sim_job_start(&load->job, busy.end);
}

static void load_box(void *shared, const struct tensor_map *map, int row, int column,
                     uint64_t *barrier, unsigned cta_mask, const char *operation) {
    struct sim_thread *const thread = sim_thread();
    const struct tensor_map_fields f = fields_of(map, operation);
    const uint32_t bytes = tensor_map_box_bytes(&f);
    const struct sim_shared_place own = sim_shared_at(shared, bytes, SHARED_ALIGNMENT);
    const struct sim_shared_place own_barrier =
        sim_shared_at(barrier, sizeof *barrier, sizeof *barrier);
    check_swizzle_alignment(&f, own, operation);
    const bool readable = check_global(&f, row, column, SIM_READ);
    struct busy busy = time_tma_load(thread->cta, bytes);
    for (int r = 0; r < f.box_rows && sim_timed(); ++r) {
        const struct box_row in = tensor_map_box_row(&f, row, column, r);
        time_tma_load_row(&busy, in.global,
                          (uint64_t)(in.last - in.first) * (uint64_t)f.element_bytes);
    }
    if (!cta_mask) sim_fatal("cta-mask", thread, "%s: no CTA is named in the mask", operation);
    for (unsigned rank = 0; cta_mask >> rank; ++rank) {
        if (!(cta_mask >> rank & 1)) continue;
        const struct sim_shared_place place = sim_shared_map(own, rank);
        check_target_alive(place.cta, operation);
        start_load(place, sim_shared_map(own_barrier, rank), &f, row, column, busy, readable,
                   operation);
    }
    sim_advance(TMA_ISSUE_CYCLES);
    sim_maybe_yield();
}

void sim_tma_prefetch_map(const struct tensor_map *map) { fields_of(map, "prefetch.tensormap"); }

void sim_tma_load(void *shared, const struct tensor_map *map, int row, int column,
                  uint64_t *barrier) {
    load_box(shared, map, row, column, barrier, 1u << sim_self->cluster_rank, "TMA load");
}

void sim_tma_load_multicast(void *shared, const struct tensor_map *map, int row, int column,
                            uint64_t *barrier, uint16_t cta_mask) {
    load_box(shared, map, row, column, barrier, cta_mask, "TMA multicast load");
}

/* ---- stores and bulk groups ---- */

struct store;

/* A thread's bulk groups; group g is complete when all its stores are. */
struct bulk_state {
    struct sim_exit_call at_exit; /* first */
    struct sim_thread *thread;
    int slot;           /* of the reads of shared memory; epoch: group + 1 */
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
    uint32_t group;
    struct sim_cta *cta;
    size_t offset;
    struct tensor_map_fields map;
    int row, column;
    bool add, writable;
    struct busy busy;
    unsigned char *box; /* rows without gaps and swizzle */
};

static void read_box(struct sim_job *job) {
    struct store *const store = (struct store *)job;
    const struct tensor_map_fields *const f = &store->map;
    const struct sim_shared_place place = {store->cta, store->offset,
                                           store->cta->shared + store->offset};
    const uint32_t address = sim_shared_place_address(place);
    const int row_bytes = f->box_columns * f->element_bytes;
    for (int r = 0; r < f->box_rows; ++r)
        for (int at = 0; at < row_bytes; at += CHUNK)
            memcpy(store->box + r * row_bytes + at,
                   place.host + tensor_map_box_offset(f, address, r, at / f->element_bytes), CHUNK);
}

static void add_elements(const struct tensor_map_fields *f, unsigned char *to,
                         const unsigned char *from, int count) {
    for (int i = 0; i < count; ++i, to += f->element_bytes, from += f->element_bytes) {
        if (f->type == GEMM_FP32) {
            float sum, term;
            memcpy(&sum, to, sizeof sum);
            memcpy(&term, from, sizeof term);
            sum += term;
            memcpy(to, &sum, sizeof sum);
        } else {
            const int bf16 = f->type == GEMM_BF16;
            uint16_t sum, term;
            memcpy(&sum, to, sizeof sum);
            memcpy(&term, from, sizeof term);
            sum = sim_element_nearest(element_value(sum, bf16) + element_value(term, bf16), bf16);
            memcpy(to, &sum, sizeof sum);
        }
    }
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
    const struct tensor_map_fields *const f = &store->map;
    const int row_bytes = f->box_columns * f->element_bytes;
    for (int r = 0; r < f->box_rows && store->writable; ++r) {
        const struct box_row in = tensor_map_store_row(f, store->row, store->column, r);
        const unsigned char *const from = store->box + r * row_bytes + in.first * f->element_bytes;
        unsigned char *const to = (unsigned char *)(uintptr_t)in.global;
        if (in.last == in.first) continue;
        if (store->add)
            add_elements(f, to, from, in.last - in.first);
        else
            memcpy(to, from, (size_t)((in.last - in.first) * f->element_bytes));
    }
    if (sim_timed() && sim.cycles < sim_now())
        sim.cycles = sim_now(); /* the launch ends no earlier */
    unlink_store(store);
    free(store->box);
    free(store);
}

static void cancel_read(struct sim_job *job) { (void)job; /* the write frees both */ }

static void cancel_write(struct sim_job *job) {
    struct store *const store = (struct store *)((char *)job - offsetof(struct store, write));
    free(store->box);
    free(store);
}

static void at_thread_exit(struct sim_exit_call *call) {
    struct bulk_state *const bulk = (struct bulk_state *)call;
    if (bulk->used > bulk->committed)
        sim_hazard_at("uncommitted-store", bulk->file, bulk->line, bulk->thread,
                      "the thread ends with a TMA store that is in no bulk group, so that it "
                      "cannot be waited for\n"
                      "    call bulk_commit_group() after the store, and bulk_wait_group_read(0) "
                      "before the end");
    else if (bulk->used > bulk->read_waited)
        sim_hazard_at(
            "unwaited-store", bulk->file, bulk->line, bulk->thread,
            "the thread ends while the TMA may still be reading shared memory for this store\n"
            "    call bulk_wait_group_read(0) before the end: shared memory goes with the CTA");
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
    bulk->at_exit.call = at_thread_exit;
    sim_at_thread_exit(thread, &bulk->at_exit);
    return thread->bulk = bulk;
}

/* Rows the store will write: noted for the check that nobody else of the launch writes them. */
static void note_written(struct sim_thread *thread, const struct tensor_map_fields *f, int row,
                         int column) {
    for (int r = 0; r < f->box_rows; ++r) {
        const struct box_row in = tensor_map_store_row(f, row, column, r);
        if (in.last > in.first)
            sim_global_wrote(thread, in.global, (size_t)((in.last - in.first) * f->element_bytes));
    }
}

static void report_store(const struct store *store, const struct sim_thread *thread, uint64_t end) {
    if (!sim_recording()) return;
    const struct sim_event e = {.kind = SIM_EVENT_TMA_STORE,
                                .begin = store->busy.begin,
                                .end = end,
                                .cta = store->cta,
                                .thread = -1,
                                .argument = tensor_map_box_bytes(&store->map),
                                .offset = store->offset,
                                .file = thread->self.file,
                                .line = thread->self.line};
    sim_event_hook(&e);
}

static void store_box(const struct tensor_map *map, int row, int column, const void *shared,
                      bool add, const char *operation) {
    struct sim_thread *const thread = sim_thread();
    const struct tensor_map_fields f = fields_of(map, operation);
    const uint32_t bytes = tensor_map_box_bytes(&f);
    const struct sim_shared_place place = sim_shared_at(shared, bytes, SHARED_ALIGNMENT);
    check_swizzle_alignment(&f, place, operation);
    struct bulk_state *const bulk = bulk_of(thread);
    struct store *const store = async_alloc(sizeof *store);
    store->box = async_alloc(bytes);
    store->bulk = bulk;
    store->group = bulk->committed;
    store->cta = place.cta;
    store->offset = place.offset;
    store->map = f;
    store->row = row;
    store->column = column;
    store->add = add;
    store->writable = check_global(&f, row, column, SIM_WRITE);
    store->busy = time_tma_store(thread->cta, bytes);
    store->read.complete = read_box;
    store->read.cancel = cancel_read;
    store->read.cluster = place.cta->cluster;
    store->write.complete = write_box;
    store->write.cancel = cancel_write;
    store->write.after = &store->read;
    if (store->writable && !add) note_written(thread, &f, row, column);
    sim_shadow_async(thread, place.cta, place.offset, bytes, SIM_READ, bulk->slot,
                     store->group + 1);
    struct store **link = &bulk->first;
    while (*link)
        link = &(*link)->next;
    *link = store;
    bulk->used = store->group + 1;
    bulk->file = thread->self.file;
    bulk->line = thread->self.line;
    sim_statistics.tma_store_bytes += bytes;
    const uint64_t end = time_tma_store_complete(store->busy.end, bytes);
    report_store(store, thread, end);
    sim_job_start(&store->read, store->busy.end);
    sim_job_start(&store->write, end);
    sim_advance(TMA_ISSUE_CYCLES);
    sim_maybe_yield();
}

void sim_tma_store(const struct tensor_map *map, int row, int column, const void *shared) {
    store_box(map, row, column, shared, false, "TMA store");
}

void sim_tma_reduce_add(const struct tensor_map *map, int row, int column, const void *shared) {
    store_box(map, row, column, shared, true, "TMA reduce-add");
}

void sim_bulk_commit_group(void) { ++bulk_of(sim_thread())->committed; }

static void describe_store(const struct sim_thread *thread, const void *object, char *text,
                           size_t size) {
    (void)object;
    snprintf(text, size, "bulk group %u of its TMA stores",
             thread->bulk->first ? thread->bulk->first->group : 0);
}

/* Waits until groups below `target` have been read (or are complete). */
static void wait_for_groups(struct bulk_state *bulk, uint32_t target, bool complete) {
    for (struct store *store = bulk->first; store && store->group < target;) {
        struct sim_job *const job = complete ? &store->write : &store->read;
        if (job->state == JOB_DONE) { /* only a read: a store that is complete is not in the list */
            store = store->next;
            continue;
        }
        sim_job_wait(job, describe_store, NULL);
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
}

void sim_bulk_wait_group_read(int pending) { wait_bulk(pending, false); }
void sim_bulk_wait_group(int pending) { wait_bulk(pending, true); }
