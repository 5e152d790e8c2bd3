/* load.c: boxes of a matrix into the shared memory of one or several CTAs. */
#include <stdlib.h>
#include <string.h>

#include "hopper/tma.h"
#include "sim/core/events.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/jobs.h"
#include "sim/core/state.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/timing_async.h"
#include "sim/cost/timing_model.h"
#include "sim/order/global_shadow.h"
#include "sim/order/shadow.h"
#include "sim/units/mbarrier/table.h"
#include "sim/units/tma/box.h"
#include "sim/units/tma/copy.h"
#include "sim/units/tma/map.h"

enum { MAX_ROW_BYTES = 256 * 8 };

struct load {
    struct sim_job job; /* first */
    struct async_copy copy;
    struct sim_cta *cta;
    size_t offset;
    struct tma_map map;
    int row, column;
    struct busy busy;
    int thread;    /* that issued it, in its CTA */
    bool readable; /* the global memory exists */
};

static void fill_box(const struct load *load) {
    const struct tensor_map_fields *const f = &load->map.fields;
    const struct sim_shared_pointer pointer = {load->cta, load->offset,
                                               load->cta->shared + load->offset};
    const uint32_t address = sim_shared_pointer_address(pointer);
    const int row_bytes = f->box_columns * f->element_bytes;
    for (int r = 0; r < tensor_map_box_lines(f); ++r) {
        unsigned char line[MAX_ROW_BYTES] = {0};
        const struct box_row in = tensor_map_box_row(f, load->row, load->column, r);
        if (load->readable && in.last > in.first)
            memcpy(line + in.first * f->element_bytes, in.global,
                   (size_t)((in.last - in.first) * f->element_bytes));
        for (int at = 0; at < row_bytes; at += TMA_CHUNK)
            memcpy(pointer.host + tensor_map_box_offset(f, address, r, at / f->element_bytes),
                   line + at, TMA_CHUNK);
    }
}

static void report_load(const struct load *load) {
    if (!sim_recording()) return;
    const struct sim_event e = {.kind = SIM_EVENT_TMA_LOAD,
                                .begin = load->busy.begin,
                                .end = sim_timed() ? load->busy.end : sim_now(),
                                .cta = load->cta,
                                .thread = load->thread,
                                .link = sim_home_of(load->map.fields.base) != load->cta->device,
                                .argument = tensor_map_box_bytes(&load->map.fields),
                                .offset = load->offset,
                                .file = load->copy.file,
                                .line = load->copy.line};
    sim_event_hook(&e);
}

static void complete_load(struct sim_job *job) {
    struct load *const load = (struct load *)job;
    tma_map_read(&load->map);
    fill_box(load);
    time_tma_fill(load->cta, tensor_map_box_bytes(&load->map.fields));
    report_load(load);
    mbarrier_copy_lands(&load->copy, tensor_map_box_bytes(&load->map.fields));
    free(load);
}

static void cancel_job(struct sim_job *job) { free(job); }

struct destination {
    int slot; /* of the writes */
    uint32_t epoch;
};

static void claim(void *object, struct sim_shared_pointer pointer, size_t bytes) {
    const struct destination *const to = object;
    sim_shadow_async(sim_thread(), pointer.cta, pointer.offset, bytes, SIM_WRITE, to->slot,
                     to->epoch);
    sim_poison(pointer.host, bytes);
}

/* The rows that the load will read, of memory that a kernel may write. */
static void note_read(const struct load *load, int slot) {
    const struct tensor_map_fields *const f = &load->map.fields;
    for (int r = 0; r < tensor_map_box_lines(f); ++r) {
        const struct box_row in = tensor_map_box_row(f, load->row, load->column, r);
        if (in.last > in.first)
            sim_global_async(sim_thread(), in.global,
                             (size_t)((in.last - in.first) * f->element_bytes), GLOBAL_TMA_LOAD,
                             slot, load->copy.epoch);
    }
}

/* One destination of a load, or of one CTA's share of a multicast. */
static void start_load(struct sim_shared_pointer pointer, struct sim_shared_pointer barrier,
                       const struct tma_map *map, int row, int column, struct busy busy,
                       bool readable, const char *operation) {
    const struct tensor_map_fields *const f = &map->fields;
    const uint32_t bytes = tensor_map_box_bytes(f);
    struct mbarrier_record *const record = mbarrier_find(barrier, operation);
    struct load *const load = host_zeroed(1, sizeof *load, "a TMA load");
    load->job.complete = complete_load;
    load->job.cancel = cancel_job;
    load->job.cluster = pointer.cta->cluster;
    load->cta = pointer.cta;
    load->offset = pointer.offset;
    load->map = *map;
    load->row = row;
    load->column = column;
    load->busy = busy;
    load->thread = sim_thread()->index;
    load->readable = readable;
    mbarrier_copy_begins(record, &load->copy, &load->job);
    tma_box_pieces(f, pointer, claim, &(struct destination){record->slot, load->copy.epoch});
    tma_map_note_read(map, record->slot, load->copy.epoch);
    if (readable && sim_global_check(f->base, 1, SIM_READ) == GLOBAL_WRITABLE)
        note_read(load, record->slot);
    sim_statistics.tma_load_bytes += bytes;
    sim_job_start(&load->job, busy.end);
}

/* Ends the launch if the instruction's dimensions, or its mode, are not the map's. */
static void place_box(struct tensor_map_fields *f, const struct tma_at *at, int *row, int *column,
                      const char *operation) {
    const int rank = f->rank ? f->rank : 2;
    if (rank != at->rank)
        sim_fatal("tensor-map", sim_thread(),
                  "%s: the instruction names %d dimensions, the tensor map has %d", operation,
                  at->rank, rank);
    if (at->im2col != f->im2col)
        sim_fatal("tensor-map", sim_thread(),
                  "%s: the instruction is for %s, the tensor map is not", operation,
                  at->im2col ? "im2col" : "tiles");
    memcpy(f->pixel_offset, at->offset, sizeof f->pixel_offset);
    *column = at->at[0];
    *row = rank > 1 ? at->at[1] : 0;
    for (int i = 0; i < tensor_map_outer(f); ++i)
        f->outer_at[i] = at->at[2 + i];
}

struct tma_map tma_map_at(const struct tensor_map *map, struct tma_at at, int *row, int *column,
                          const char *operation) {
    struct tma_map use = tma_map_of(map, operation);
    place_box(&use.fields, &at, row, column, operation);
    return use;
}

/* `pair`: the barrier is that of the even CTA in each pair. */
static void load(struct sim_shared_pointer own, const struct tma_map *use, int row, int column,
                 uint64_t *barrier, unsigned cta_mask, bool pair, const char *operation) {
    struct sim_thread *const thread = sim_thread();
    const struct tensor_map_fields f = use->fields;
    const uint32_t bytes = tensor_map_box_bytes(&f);
    const struct sim_shared_pointer own_barrier =
        sim_shared_at(barrier, sizeof *barrier, sizeof *barrier);
    sim_hazard_context(use->global ? tma_map_story : NULL, use->global);
    const bool readable = tma_check_global(&f, row, column, SIM_READ);
    struct busy busy = time_tma_load(thread->cta, bytes);
    busy.begin += use->fetch;
    busy.end += use->fetch;
    for (int r = 0; r < tensor_map_box_lines(&f) && sim_timed(); ++r) {
        const struct box_row in = tensor_map_box_row(&f, row, column, r);
        time_tma_load_row(&busy, thread->cta, in.global,
                          (uint64_t)(in.last - in.first) * (uint64_t)f.element_bytes);
    }
    if (!cta_mask) sim_fatal("cta-mask", thread, "%s: the mask selects no CTA", operation);
    for (unsigned rank = 0; cta_mask >> rank; ++rank) {
        if (!(cta_mask >> rank & 1)) continue;
        const struct sim_shared_pointer pointer = sim_shared_map(own, rank);
        check_target_alive(pointer.cta, operation);
        start_load(pointer, sim_shared_map(own_barrier, pair ? rank & ~1u : rank), use, row, column,
                   busy, readable, operation);
    }
    sim_hazard_context(NULL, NULL);
    sim_advance(TMA_THREAD_CYCLES);
    sim_maybe_yield();
}

static void load_box(void *shared, const struct tensor_map *map, struct tma_at at,
                     uint64_t *barrier, unsigned cta_mask, bool pair, const char *operation) {
    int row, column;
    const struct tma_map use = tma_map_at(map, at, &row, &column, operation);
    const struct sim_shared_pointer own = tma_box_pointer(&use.fields, shared);
    tma_check_alignment(&use.fields, own, operation);
    load(own, &use, row, column, barrier, cta_mask, pair, operation);
}

void tma_load_box(void *shared, const struct tensor_map *map, struct tma_at at, uint64_t *barrier,
                  unsigned cta_mask, const char *operation) {
    load_box(shared, map, at, barrier, cta_mask, false, operation);
}

/* Contiguous bytes as a matrix whose rows follow one another. */
struct tensor_map_fields bulk_fields(const void *global, uint32_t bytes, const char *operation) {
    enum { WIDEST = 256 };
    int width = WIDEST;
    if (bytes % TMA_CHUNK || (uintptr_t)global % TMA_CHUNK)
        sim_fatal("misaligned", sim_thread(),
                  "%s: %u bytes at global address %p: both have to be multiples of %d", operation,
                  bytes, global, TMA_CHUNK);
    while (bytes % (uint32_t)width)
        width /= 2;
    const int rows = (int)(bytes / (uint32_t)width);
    return (struct tensor_map_fields){.base = global,
                                      .rows = rows,
                                      .columns = width,
                                      .pitch = width,
                                      .box_rows = rows,
                                      .box_columns = width,
                                      .element_bytes = 1,
                                      .type = GEMM_E4M3};
}

void bulk_load(void *shared, const void *global, uint32_t bytes, uint64_t *barrier,
               unsigned cta_mask) {
    static const char operation[] = "cp.async.bulk";
    if (!bytes) return;
    const struct tma_map use = {.fields = bulk_fields(global, bytes, operation)};
    load(sim_shared_at(shared, bytes, TMA_CHUNK), &use, 0, 0, barrier, cta_mask, false, operation);
}

void tma_prefetch_box(const struct tensor_map *map, struct tma_at at) {
    int row, column;
    (void)tma_map_at(map, at, &row, &column, "TMA prefetch");
    sim_maybe_yield();
}

/* The time that it takes is not modelled. */
void sim_tma_prefetch_map(const struct tensor_map *map) {
    tma_map_prefetch(map);
    sim_maybe_yield();
}

void sim_tma_load(void *shared, const struct tensor_map *map, int row, int column,
                  uint64_t *barrier) {
    tma_load_box(shared, map, (struct tma_at){.rank = 2, .at = {column, row}}, barrier,
                 1u << sim_self->cluster_rank, "TMA load");
}

void sim_tma_load_3d(void *shared, const struct tensor_map *map, int matrix, int row, int column,
                     uint64_t *barrier) {
    tma_load_box(shared, map, (struct tma_at){.rank = 3, .at = {column, row, matrix}}, barrier,
                 1u << sim_self->cluster_rank, "TMA load");
}

void sim_tma_load_pair(void *shared, const struct tensor_map *map, int row, int column,
                       uint64_t *barrier) {
    load_box(shared, map, (struct tma_at){.rank = 2, .at = {column, row}}, barrier,
             1u << sim_self->cluster_rank, true, "TMA load");
}

void sim_tma_load_multicast(void *shared, const struct tensor_map *map, int row, int column,
                            uint64_t *barrier, uint16_t cta_mask) {
    sim_cue(SIM_EVENT_CUE_MULTICAST, 0);
    tma_load_box(shared, map, (struct tma_at){.rank = 2, .at = {column, row}}, barrier, cta_mask,
                 "TMA multicast load");
}
