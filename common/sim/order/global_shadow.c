/*
 * global_shadow.c: who has accessed each 16 bytes of global memory in this launch.
 *
 * The rules are those of shared memory (shadow.c), for threads of other clusters, too. And three
 * more, of the memory consistency model: two strong accesses through one proxy, whose scopes
 * contain each other's thread, do not race. A strong write comes before whatever follows a strong
 * read that has seen it (observation order), even if nothing was acquired. A fence.proxy.async
 * anywhere on the way from a generic access to an async one joins the proxies.
 *
 * One rule is stricter than that model. A strong store and an atomic addition to one word do not
 * race, but without an order between them the addition may be lost.
 *
 * Of a cell, writes are a list of records in one pool, reads a set (reader_sets.h). Most have one
 * record: D, written once.
 */
#include "sim/order/global_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/doubt.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"
#include "sim/order/clock.h"
#include "sim/order/exchange.h"
#include "sim/order/launch_order.h"
#include "sim/order/reader_sets.h"
#include "sim/order/sequential_fences.h"
#include "sim/order/known_clocks.h"
#include "sim/order/access_times.h"

enum { CELL_BYTES = 16, THREADS = (1 << 14) - 1 /* all bits of `thread` */ };

struct cell {
    uint32_t writes; /* the newest first */
    reader_set reads;
};

/* Of an allocation. */
struct cells {
    uint32_t launch;  /* in which they were last used */
    uint32_t written; /* in which they were last written */
    struct cell cell[];
};

static const char name[] = "the shadow of global memory"; /* in a message */

static struct global_record *pool; /* [0] is never used */
static uint32_t pool_room, pool_used, pool_free;
static uint32_t launch;
static uint32_t in_order; /* the latest launch that was not early, or had no kernel ahead */
/* Where each element has one writer, unless it is read: D, of each launch on each device. */
static const struct cells **cells_of_d;
static int matrices_d;

static struct cells *cells_at(const void *pointer, size_t *offset) {
    size_t bytes = 0;
    void **const at = global_cells_of(pointer, offset, &bytes);
    if (!at) return NULL;
    struct cells *cells = *at;
    if (cells && cells->launch == launch) return cells;
    const uint32_t written = cells ? cells->written : 0;
    const size_t room = bytes / CELL_BYTES + 1;
    cells = global_cells_make(pointer, sizeof *cells + room * sizeof cells->cell[0], name);
    cells->launch = launch;
    cells->written = written;
    return cells;
}

void global_shadow_launch_begins(void) {
    size_t offset;
    ++launch;
    if (sim.launch->early == GEMM_IN_ORDER || sim.ahead_complete) in_order = launch;
    pool_used = 1;
    pool_free = 0;
    reader_sets_launch_begins();
    matrices_d = sim.launches * sim.devices;
    free(cells_of_d);
    cells_of_d = host_zeroed((size_t)matrices_d, sizeof *cells_of_d, name);
    for (int i = 0; i < matrices_d; ++i) {
        const element_t *const d = sim_args_of(i)->d;
        cells_of_d[i] = d ? cells_at(d, &offset) : NULL;
    }
}

static bool is_d(const struct cells *cells) {
    for (int i = 0; i < matrices_d; ++i)
        if (cells == cells_of_d[i]) return true;
    return false;
}

bool global_is_of_d(const void *pointer) {
    size_t offset;
    const struct cells *const cells = cells_at(pointer, &offset);
    return cells && is_d(cells);
}

static uint32_t new_record(const struct global_record *record) {
    uint32_t i = pool_free;
    if (i)
        pool_free = pool[i].next;
    else {
        if (pool_used >= pool_room) {
            pool_room = pool_room ? 2 * pool_room : 4096;
            pool = host_grown(pool, pool_room, sizeof *pool, name);
        }
        i = pool_used++;
    }
    pool[i] = *record;
    return i;
}

/* ---- the verdict on one pair ---- */

bool global_knows(const struct sim_thread *thread, uint32_t cluster, int slot, uint32_t epoch,
                  bool for_async_proxy) {
    if ((int)cluster == thread->cta->cluster->index)
        return (slot == thread->slot && !for_async_proxy) ||
               sim_clock_get(for_async_proxy ? &thread->g : &thread->c, slot) >= epoch;
    const struct sim_sync *const sync = known_get(thread->known, (int)cluster);
    return (sync && sim_clock_get(for_async_proxy ? &sync->g : &sync->c, slot) >= epoch) ||
           launch_order_knows(thread, (int)cluster, slot, epoch, for_async_proxy) ||
           sequential_fences_know(thread->known, (int)cluster, slot, epoch, for_async_proxy);
}

bool global_loses_update(const struct global_record *a, const struct global_record *b) {
    if (!doubtful_rules || a->how != GLOBAL_STRONG || b->how != GLOBAL_STRONG) return false;
    return (a->strong == STRONG_STORE && b->strong == STRONG_ADD) ||
           (a->strong == STRONG_ADD && b->strong == STRONG_STORE);
}

static bool morally_strong(const struct global_record *a, const struct global_record *b) {
    if (!global_is_strong(a->how) || a->how != b->how) return false;
    const enum sim_scope distance = sim_distance(sim_scopes_at((int)a->cluster, a->thread),
                                                 sim_scopes_at((int)b->cluster, b->thread));
    return a->scope >= distance && b->scope >= distance;
}

/* Has a strong read that comes before T's next access seen this strong write? It has if it is in
 * the set, because the next write takes all reads out. */
static bool observed(const struct sim_thread *thread, reader_set reads,
                     const struct global_record *write) {
    if (write->how != GLOBAL_STRONG || !write->write) return false;
    for (; reads; reads = newest_reader(reads)->next) {
        const struct global_record *const read = newest_reader(reads);
        if (read->how == GLOBAL_STRONG && read->bytes & write->bytes &&
            global_knows(thread, read->cluster, read->slot, read->epoch, false))
            return true;
    }
    return false;
}

static bool ordered(const struct sim_thread *thread, const struct global_record *now,
                    const struct global_record *then, reader_set reads) {
    const bool across =
        global_is_async(now->how) && now->how != GLOBAL_TMA_MAP && !global_is_async(then->how);
    return global_knows(thread, then->cluster, then->slot, then->epoch, across) ||
           (morally_strong(now, then) && !global_loses_update(now, then)) ||
           (!global_is_async(now->how) && observed(thread, reads, then));
}

/* ---- access ---- */

static bool same_thread(const struct global_record *a, const struct global_record *b) {
    return a->thread == b->thread && a->cluster == b->cluster;
}

static bool same_launch(const struct global_record *a, const struct global_record *b) {
    return sim_scopes_at((int)a->cluster, 0).launch == sim_scopes_at((int)b->cluster, 0).launch;
}

/* Two writes of one word by lanes of a warp at the same place, which they may execute together? */
static bool one_instruction(const struct global_record *a, const struct global_record *b) {
    const int threads = sim.launch->threads;
    return a->how == GLOBAL_LD_ST && b->how == GLOBAL_LD_ST && a->write && b->write &&
           a->site == b->site && a->cluster == b->cluster &&
           a->thread / threads == b->thread / threads &&
           a->thread % threads / WARP_SIZE == b->thread % threads / WARP_SIZE;
}

const unsigned char *(*global_under_way)(int cluster, int slot, uint32_t epoch, const void *at);

/* Two writes that leave the same bytes, in whatever order? An earlier one that has come is what
 * memory holds, as long as the cell lists it: what covers it takes it out, unless it brings the
 * same. `value` is for the lowest byte of `now`. */
static bool equal_values(const struct global_record *now, const struct global_record *then,
                         const unsigned char *at, const unsigned char *value) {
    if (!value || !then->write || now->how != then->how) return false;
    const int first = __builtin_ctz(now->bytes);
    for (unsigned shared = now->bytes & then->bytes; shared; shared &= shared - 1) {
        const int i = __builtin_ctz(shared);
        const unsigned char *const coming =
            then->how == GLOBAL_TMA_STORE
                ? global_under_way((int)then->cluster, then->slot, then->epoch, at + i)
                : NULL;
        if ((coming ? *coming : at[i]) != value[i - first]) return false;
    }
    return true;
}

static bool was_read(reader_set reads, unsigned bytes) {
    while (reads && !(newest_reader(reads)->bytes & bytes))
        reads = newest_reader(reads)->next;
    return reads != 0;
}

/* `at` is where the cell lies; twice: each element has one writer, and this is the second. */
static void accuse(struct sim_thread *thread, const struct global_record *now,
                   const struct global_record *then, const unsigned char *at, bool twice) {
    if (!global_is_async(now->how) &&
        exchange_knows(thread, then->cluster, then->slot, then->epoch))
        doubt_in_next_report(DOUBT_EXCHANGE);
    global_accuse(thread, now, then, at + __builtin_ctz(now->bytes & then->bytes), twice);
}

static void judge_reads(struct sim_thread *thread, const struct global_record *now,
                        reader_set reads, const unsigned char *at) {
    for (reader_set i = reads; i; i = newest_reader(i)->next) {
        const struct global_record *const then = newest_reader(i);
        if ((then->bytes & now->bytes) && !ordered(thread, now, then, reads))
            accuse(thread, now, then, at, false);
    }
}

static void judge_writes(struct sim_thread *thread, const struct global_record *now,
                         const struct cell *cell, const unsigned char *at, bool in_d,
                         const unsigned char *value) {
    const bool one_writer =
        in_d && now->write && !global_is_strong(now->how) && !was_read(cell->reads, now->bytes);
    for (uint32_t i = cell->writes; i; i = pool[i].next) {
        struct global_record *const then = &pool[i];
        then->equal = false;
        if (!(then->bytes & now->bytes) || ordered(thread, now, then, cell->reads)) continue;
        const bool together = one_instruction(now, then);
        if (together && !doubtful_rules) continue;
        const bool equal = !together && equal_values(now, then, at, value);
        then->equal = equal && !doubtful_rules; /* what differs has to be ordered after both */
        if (then->equal) continue;
        if (together) doubt_in_next_report(DOUBT_ONE_INSTRUCTION);
        if (equal) doubt_in_next_report(DOUBT_EQUAL_VALUES);
        accuse(thread, now, then, at,
               one_writer && !same_thread(now, then) && same_launch(now, then));
    }
}

/* A write takes the place of what it covers. */
static void replace_writes(const struct sim_thread *thread, const struct global_record *now,
                           uint32_t *link) {
    while (*link) {
        const uint32_t i = *link;
        struct global_record *const then = &pool[i];
        /* Reductions may come in any order, and a reader needs all of them. */
        const bool keep = now->how == GLOBAL_TMA_REDUCE && then->how == GLOBAL_TMA_REDUCE &&
                          !global_knows(thread, then->cluster, then->slot, then->epoch, false);
        if (!then->equal && (!keep || same_actor(now, then))) then->bytes &= (uint16_t)~now->bytes;
        if (then->bytes) {
            link = &then->next;
            continue;
        }
        *link = then->next;
        then->next = pool_free;
        pool_free = i;
    }
}

static void touch_cell(struct sim_thread *thread, struct global_record *now, struct cell *cell,
                       const unsigned char *at, bool in_d, const unsigned char *value) {
    if (!now->write) {
        judge_writes(thread, now, cell, at, in_d, value);
        cell->reads = readers_and(cell->reads, now);
        return;
    }
    /* All verdicts first: an older record may be ordered by a newer one that goes. */
    cell->reads = settled_readers(cell->reads);
    judge_reads(thread, now, cell->reads, at);
    judge_writes(thread, now, cell, at, in_d, value);
    cell->reads = readers_of_other_bytes(cell->reads, now->bytes);
    replace_writes(thread, now, &cell->writes);
    now->next = cell->writes;
    cell->writes = new_record(now);
}

static void touch(struct sim_thread *thread, struct global_record *now, const void *pointer,
                  size_t bytes, const unsigned char *value) {
    size_t offset;
    struct cells *const cells = cells_at(pointer, &offset);
    if (!cells) return;
    if (now->write) cells->written = launch;
    const bool in_d = is_d(cells);
    const unsigned char *const base = (const unsigned char *)pointer - offset;
    now->site = source_site(thread->self.file, thread->self.line);
    now->cluster = (uint32_t)thread->cta->cluster->index;
    now->thread = (uint16_t)(thread->cta->rank * thread->cta->threads + thread->index) & THREADS;
    now->issued = thread->epoch;
    access_times_note(thread, now->slot, now->epoch, now->site);
    const size_t end = offset + bytes;
    while (offset < end) {
        const size_t cell = offset / CELL_BYTES, in_cell = offset % CELL_BYTES;
        const size_t room = CELL_BYTES - in_cell, count = room < end - offset ? room : end - offset;
        now->bytes = (uint16_t)(((1u << count) - 1) << in_cell);
        touch_cell(thread, now, &cells->cell[cell], base + cell * CELL_BYTES, in_d, value);
        if (value) value += count;
        offset += count;
    }
}

void sim_global_generic(struct sim_thread *thread, const void *pointer, size_t bytes,
                        enum sim_access access) {
    struct global_record now = {.epoch = thread->epoch,
                                .slot = (uint16_t)thread->slot,
                                .write = access == SIM_WRITE,
                                .how = GLOBAL_LD_ST};
    touch(thread, &now, pointer, bytes, NULL);
    if (access == SIM_WRITE) release_forget(pointer, bytes);
}

void sim_global_store(struct sim_thread *thread, const void *pointer, size_t bytes,
                      const void *value) {
    struct global_record now = {
        .epoch = thread->epoch, .slot = (uint16_t)thread->slot, .write = true, .how = GLOBAL_LD_ST};
    touch(thread, &now, pointer, bytes, value);
    release_forget(pointer, bytes);
}

void sim_global_strong(struct sim_thread *thread, const void *pointer, size_t bytes,
                       enum global_strong access, enum sim_scope scope) {
    struct global_record now = {.epoch = thread->epoch,
                                .slot = (uint16_t)thread->slot,
                                .write = access != STRONG_LOAD,
                                .scope = scope & 3,
                                .how = GLOBAL_STRONG,
                                .strong = access & 3};
    touch(thread, &now, pointer, bytes, NULL);
}

void sim_global_async(struct sim_thread *thread, const void *pointer, size_t bytes,
                      enum global_how how, int slot, uint32_t epoch) {
    struct global_record now = {.epoch = epoch,
                                .slot = (uint16_t)slot,
                                .write = how >= GLOBAL_TMA_STORE,
                                .scope = SIM_SCOPE_GPU,
                                .how = how & 7};
    touch(thread, &now, pointer, bytes, NULL);
    if (now.write) release_forget(pointer, bytes);
}

void sim_global_tma_store(struct sim_thread *thread, const void *pointer, size_t bytes,
                          const void *value, int slot, uint32_t epoch) {
    struct global_record now = {.epoch = epoch,
                                .slot = (uint16_t)slot,
                                .write = true,
                                .scope = SIM_SCOPE_GPU,
                                .how = GLOBAL_TMA_STORE};
    touch(thread, &now, pointer, bytes, value);
    release_forget(pointer, bytes);
}

void sim_global_write_by(struct sim_thread *thread, const void *pointer, size_t bytes, int slot,
                         uint32_t epoch) {
    struct global_record now = {
        .epoch = epoch, .slot = (uint16_t)slot, .write = true, .how = GLOBAL_LD_ST};
    touch(thread, &now, pointer, bytes, NULL);
    release_forget(pointer, bytes);
}

void global_last_writes(const void *pointer, size_t bytes,
                        void (*each)(void *object, const struct global_record *write),
                        void *object) {
    size_t offset;
    const struct cells *const cells = cells_at(pointer, &offset);
    if (!cells || cells->written != launch) return;
    for (size_t cell = offset / CELL_BYTES; cell * CELL_BYTES < offset + bytes; ++cell)
        for (uint32_t i = cells->cell[cell].writes; i; i = pool[i].next)
            each(object, &pool[i]);
}

bool global_written_before(const void *pointer) {
    size_t offset, bytes;
    void **const at = global_cells_of(pointer, &offset, &bytes);
    const struct cells *const cells = at ? *at : NULL;
    return cells && cells->written && cells->written < launch;
}

void global_written_by_host(const void *pointer) {
    size_t offset, bytes;
    void **const at = global_cells_of(pointer, &offset, &bytes);
    struct cells *const cells = at ? *at : NULL;
    if (cells) cells->written = 0;
}

bool global_written_ahead(const void *pointer) {
    size_t offset, bytes;
    void **const at = global_cells_of(pointer, &offset, &bytes);
    const struct cells *const cells = at ? *at : NULL;
    return cells && cells->written >= in_order && cells->written < launch;
}

void sim_global_proxy_fence(struct sim_thread *thread) {
    struct sim_cluster *const own = thread->cta->cluster;
    sim_clock_join(own, &thread->g, &thread->c);
    sim_clock_raise(own, &thread->g, thread->slot, thread->epoch++);
    for (struct sim_known *k = thread->known; k; k = k->next)
        sim_clock_join(own, &k->sync.g, &k->sync.c);
}
