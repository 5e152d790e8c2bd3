/*
 * map_order.c: releases and acquires of the tensormap proxy, and whether a map may be used.
 *
 * The writes are those that the shadow of global memory has recorded. An acquire is judged when it
 * is made: for each write that the map has then, it keeps what is wrong, or that all is right. A
 * use looks for an acquire that is right for each of the map's writes.
 */
#include "sim/order/map_order.h"

#include <stdio.h>
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/order/clock.h"
#include "sim/order/global_shadow.h"
#include "sim/order/known_clocks.h"
#include "sim/order/sequential_fences.h"

enum { MAP_BYTES = 128, BUCKETS = 1024, WHERE_TEXT = 96, LINE_TEXT = 128 };

/* A release of the proxy. */
struct released {
    struct released *next;
    struct sim_scopes writer;
    int cluster, slot;
    uint32_t epoch; /* whoever knows it comes after the release */
    enum sim_scope scope;
    uint16_t site;
    bool copy;            /* only the write (slot, epoch) */
    struct sim_sync sync; /* otherwise all of this */
};

/* What an acquire has to do with a write; from bad to good. */
enum acquired {
    NOT_SEEN,       /* the write came later, or was not ordered before it */
    NOT_RELEASED,   /* no release between the two */
    RELEASE_NARROW, /* one, whose scope does not contain the acquirer */
    ACQUIRE_NARROW, /* the acquire's scope does not contain the writer */
    RIGHT
};

struct seen_write {
    struct seen_write *next;
    uint32_t cluster, epoch;
    uint16_t slot;
    enum acquired state;
    uint16_t release_site;
};

struct acquire {
    struct acquire *next;
    int cta, slot;
    uint32_t epoch;
    enum sim_scope scope;
    uint16_t site;
    struct seen_write *writes;
};

struct map_state {
    struct map_state *next;
    const void *map;
    struct acquire *acquires;
};

static struct sim_cluster world; /* the lists outlive the clusters */
static struct map_state *maps[BUCKETS];
static struct released *releases;

void map_order_launch_begins(void) {
    storage_clear(&world);
    memset(maps, 0, sizeof maps);
    releases = NULL;
}

static struct map_state *state_of(const void *map) {
    struct map_state **const bucket = &maps[(uintptr_t)map / MAP_BYTES % BUCKETS];
    struct map_state *state = *bucket;
    while (state && state->map != map)
        state = state->next;
    if (state) return state;
    state = sim_arena_alloc(&world, sizeof *state);
    *state = (struct map_state){*bucket, map, NULL};
    return *bucket = state;
}

bool map_order_is_map(const void *pointer) {
    const uintptr_t map = (uintptr_t)pointer / MAP_BYTES * MAP_BYTES;
    const struct map_state *state = maps[map / MAP_BYTES % BUCKETS];
    while (state && (uintptr_t)state->map != map)
        state = state->next;
    return state != NULL;
}

/* ---- releases ---- */

static struct released *new_release(struct sim_thread *thread, int slot, uint32_t epoch,
                                    enum sim_scope scope) {
    struct released *const r = sim_arena_alloc(&world, sizeof *r);
    r->writer = sim_scopes_of(thread);
    r->cluster = thread->cta->cluster->index;
    r->slot = slot;
    r->epoch = epoch;
    r->scope = scope;
    r->site = source_site(thread->self.file, thread->self.line);
    r->next = releases;
    return releases = r;
}

void map_order_release(struct sim_thread *thread, enum sim_scope scope) {
    struct released *const r = new_release(thread, thread->slot, thread->epoch++, scope);
    sim_sync_join(&world, &r->sync,
                  &(struct sim_sync){thread->c, thread->p, thread->g, thread->known, thread->x});
}

void map_order_release_copy(struct sim_thread *thread, const void *map, int slot, uint32_t epoch,
                            enum sim_scope scope) {
    (void)state_of(map);
    new_release(thread, slot, epoch, scope)->copy = true;
}

static bool covers(const struct released *r, const struct global_record *write) {
    const bool own = (int)write->cluster == r->cluster;
    if (own && write->slot == r->slot)
        return r->copy ? write->epoch == r->epoch : write->epoch <= r->epoch;
    if (r->copy) return false;
    const struct sim_sync *const sync =
        own ? &r->sync : known_get(r->sync.known, (int)write->cluster);
    return (sync && sim_clock_get(&sync->c, write->slot) >= write->epoch) ||
           (!own && sequential_fences_know(r->sync.known, (int)write->cluster, write->slot,
                                           write->epoch, false));
}

/* ---- acquires ---- */

struct judging {
    struct sim_thread *thread;
    struct acquire *acquire;
};

static struct seen_write *find(const struct acquire *acquire, const struct global_record *write) {
    struct seen_write *seen = acquire->writes;
    while (seen && (seen->cluster != write->cluster || seen->slot != write->slot ||
                    seen->epoch != write->epoch))
        seen = seen->next;
    return seen;
}

static enum acquired judge(const struct sim_thread *thread, const struct acquire *acquire,
                           const struct global_record *write, uint16_t *release_site) {
    const struct sim_scopes here = sim_scopes_of(thread);
    enum acquired best = NOT_RELEASED;
    if (!global_knows(thread, write->cluster, write->slot, write->epoch, false)) return NOT_SEEN;
    for (const struct released *r = releases; r && best < RIGHT; r = r->next) {
        if (!covers(r, write) ||
            !global_knows(thread, (uint32_t)r->cluster, r->slot, r->epoch, false))
            continue;
        const enum sim_scope distance = sim_distance(r->writer, here);
        const enum acquired state = r->scope < distance         ? RELEASE_NARROW
                                    : acquire->scope < distance ? ACQUIRE_NARROW
                                                                : RIGHT;
        if (state <= best) continue;
        best = state;
        *release_site = r->site;
    }
    return best;
}

static void judge_write(void *object, const struct global_record *write) {
    const struct judging *const j = object;
    if (find(j->acquire, write)) return;
    struct seen_write *const seen = sim_arena_alloc(&world, sizeof *seen);
    *seen = (struct seen_write){.next = j->acquire->writes,
                                .cluster = write->cluster,
                                .epoch = write->epoch,
                                .slot = write->slot};
    seen->state = judge(j->thread, j->acquire, write, &seen->release_site);
    j->acquire->writes = seen;
}

/* Does an acquire say what another, earlier one of this thread has said? */
static bool says_the_same(const struct acquire *a, const struct acquire *b) {
    if (a->cta != b->cta || a->slot != b->slot || a->scope > b->scope) return false;
    for (const struct seen_write *seen = a->writes; seen; seen = seen->next) {
        const struct global_record write = {
            .cluster = seen->cluster, .slot = seen->slot, .epoch = seen->epoch};
        const struct seen_write *const before = find(b, &write);
        if (!before || before->state < seen->state) return false;
    }
    return true;
}

void map_order_acquire(struct sim_thread *thread, const void *map, enum sim_scope scope) {
    struct map_state *const state = state_of(map);
    struct acquire now = {.next = state->acquires,
                          .cta = thread->cta->index,
                          .slot = thread->slot,
                          .epoch = thread->epoch++,
                          .scope = scope,
                          .site = source_site(thread->self.file, thread->self.line)};
    global_last_writes(map, MAP_BYTES, judge_write, &(struct judging){thread, &now});
    for (const struct acquire *a = state->acquires; a; a = a->next)
        if (says_the_same(&now, a)) return;
    state->acquires = sim_arena_alloc(&world, sizeof now);
    *state->acquires = now;
}

/* ---- uses ---- */

struct use {
    struct sim_thread *thread;
    const struct map_state *state;
    /* The write for which the best acquire is worst. */
    enum acquired worst;
    struct global_record write;
    const struct acquire *acquire; /* NULL: none in this CTA that is ordered before the use */
    uint16_t release_site;
};

/* Is it this CTA's, and before T's next access? */
static bool serves(const struct acquire *acquire, const struct sim_thread *thread) {
    return acquire->cta == thread->cta->index &&
           sim_happens_before(thread, acquire->slot, acquire->epoch);
}

static void judge_use(void *object, const struct global_record *write) {
    struct use *const use = object;
    /* That the write is ordered before the use at all is the shadow's to say. */
    if (!global_knows(use->thread, write->cluster, write->slot, write->epoch, false)) return;
    enum acquired best = NOT_SEEN;
    const struct acquire *by = NULL;
    uint16_t release_site = 0;
    for (const struct acquire *a = use->state->acquires; a && best < RIGHT; a = a->next) {
        if (!serves(a, use->thread)) continue;
        const struct seen_write *const seen = find(a, write);
        if (by && (!seen || seen->state <= best)) continue;
        by = a;
        best = seen ? seen->state : NOT_SEEN;
        release_site = seen ? seen->release_site : 0;
    }
    if (best >= use->worst) return;
    use->worst = best;
    use->write = *write;
    use->acquire = by;
    use->release_site = release_site;
}

static const char *line_of(uint16_t site, char *text) {
    const char *file;
    int line;
    source_site_of(site, &file, &line);
    snprintf(text, LINE_TEXT, "%s:%d", file, line);
    return text;
}

static const char *const words[] = {"SCOPE_CTA", "SCOPE_CLUSTER", "SCOPE_GPU", "SCOPE_SYS"};

static void report(const struct use *use, const char *operation, const char *where) {
    char written[LINE_TEXT], fence[LINE_TEXT];
    const struct sim_thread *const thread = use->thread;
    const int writer = (int)use->write.cluster;
    const enum sim_scope needed =
        sim_distance(sim_scopes_of(thread), sim_scopes_at(writer, use->write.thread));
    struct sim_side now = {
        "", thread->self.file, thread->self.line, thread->cta->index, thread->index, sim_now()};
    struct sim_side then = {.what = "write of a tensor map",
                            .cta = writer * sim.launch->cluster +
                                   use->write.thread / sim.launch->threads,
                            .thread = use->write.thread % sim.launch->threads,
                            .cycle = SIDE_UNKNOWN};
    snprintf(now.what, sizeof now.what, "read of a tensor map by %s", operation);
    source_site_raw(use->write.site, &then.file, &then.line);
    line_of(use->write.site, written);
    sim_hazard_between(&now, &then);
    if (use->worst == NOT_RELEASED)
        sim_hazard(
            "tensor-map-not-released", thread,
            "%s: the tensor map at %s was written at %s\n"
            "    and acquired at %s, but not released between the two: after the write,\n"
            "    fence_tensor_map_release(%s) is missing, before the writer tells others; or "
            "copy the map by\n    tensor_map_copy_release(), which releases it.",
            operation, where, written, line_of(use->acquire->site, fence), words[needed]);
    else if (use->worst == RELEASE_NARROW || use->worst == ACQUIRE_NARROW)
        sim_hazard(
            use->worst == RELEASE_NARROW ? "tensor-map-not-released" : "tensor-map-not-acquired",
            thread,
            "%s: the tensor map at %s was written at %s\n"
            "    by another CTA, and the scope of the %s at %s does not contain this one:\n"
            "    it needs %s (%s).",
            operation, where, written, use->worst == RELEASE_NARROW ? "release" : "acquire",
            line_of(use->worst == RELEASE_NARROW ? use->release_site : use->acquire->site, fence),
            scope_names[needed], words[needed]);
    else if (use->acquire)
        sim_hazard("tensor-map-not-acquired", thread,
                   "%s: the tensor map at %s was changed at %s,\n"
                   "    and the acquire at %s does not come after that: the TMA may use the old "
                   "map.\n    After the change, and before this copy, "
                   "fence_tensor_map_acquire(map, %s).",
                   operation, where, written, line_of(use->acquire->site, fence), words[needed]);
    else
        sim_hazard("tensor-map-not-acquired", thread,
                   "%s: the tensor map at %s was written at %s,\n"
                   "    and nothing in this CTA has acquired it: the TMA may use what it has read "
                   "there before.\n    fence_tensor_map_acquire(map, %s) is missing, after the "
                   "write, by this thread or by one that\n    this thread is ordered after.",
                   operation, where, written, words[needed]);
}

/* Nothing of it was written in this launch. */
static void use_of_earlier(const struct use *use, const char *operation, const char *where) {
    const bool by_kernel = global_written_before(use->state->map);
    const enum sim_scope needed = by_kernel ? SIM_SCOPE_GPU : SIM_SCOPE_SYS;
    const struct acquire *narrow = NULL;
    char fence[LINE_TEXT];
    for (const struct acquire *a = use->state->acquires; a; a = a->next) {
        if (!serves(a, use->thread)) continue;
        if (a->scope >= needed) return;
        narrow = a;
    }
    if (narrow)
        sim_hazard("tensor-map-not-acquired", use->thread,
                   "%s: the tensor map at %s was written by %s,\n"
                   "    and the scope of the acquire at %s does not contain that.\n"
                   "    It needs %s (%s).",
                   operation, where, by_kernel ? "an earlier kernel" : "the host",
                   line_of(narrow->site, fence), scope_names[needed], words[needed]);
    else
        sim_hazard("tensor-map-not-acquired", use->thread,
                   "%s: the tensor map lies in global memory, at %s, and %s has written it\n"
                   "    before the launch. A launch orders that for every proxy but the one that "
                   "maps are read through:\n    fence_tensor_map_acquire(map, %s) is missing, once "
                   "in each CTA, before its first use.\n    A map in the kernel's parameter needs "
                   "none.",
                   operation, where, by_kernel ? "an earlier kernel" : "the host", words[needed]);
}

/* ---- maps that are not complete ---- */

struct half {
    const struct sim_thread *thread;
    int written;                  /* bytes, in this launch */
    struct global_record unknown; /* a write that nothing orders before the thread */
    struct global_record last;    /* another */
    bool is_unknown;
};

static void judge_half(void *object, const struct global_record *write) {
    struct half *const half = object;
    half->written += __builtin_popcount(write->bytes);
    half->last = *write;
    if (half->is_unknown ||
        global_knows(half->thread, write->cluster, write->slot, write->epoch, false))
        return;
    half->unknown = *write;
    half->is_unknown = true;
}

bool map_order_half_written(const struct sim_thread *thread, const void *map, char *text,
                            size_t size) {
    struct half half = {.thread = thread};
    char line[LINE_TEXT];
    global_last_writes(map, MAP_BYTES, judge_half, &half);
    if (half.is_unknown)
        snprintf(text, size,
                 "another thread has written a part of it, at %s, and nothing orders that before "
                 "this: __syncwarp(),\n    or a barrier, is missing between the stores of all "
                 "lanes and the release by one",
                 line_of(half.unknown.site, line));
    else if (half.written && half.written < MAP_BYTES)
        snprintf(text, size,
                 "%d of its %d bytes were written in this launch, at %s, and the rest not yet: "
                 "__syncwarp(),\n    or a barrier, is missing between the stores of all lanes and "
                 "the release by one",
                 half.written, MAP_BYTES, line_of(half.last.site, line));
    else if (half.written)
        snprintf(text, size, "it was last written at %s", line_of(half.last.site, line));
    return half.written > 0;
}

static void count_write(void *object, const struct global_record *write) {
    (void)write;
    ++*(int *)object;
}

void map_order_use(struct sim_thread *thread, const void *map, const char *operation) {
    char where[WHERE_TEXT];
    struct use use = {.thread = thread, .state = state_of(map), .worst = RIGHT};
    int writes = 0;
    global_last_writes(map, MAP_BYTES, count_write, &writes);
    global_where(map, where, sizeof where);
    if (!writes) {
        use_of_earlier(&use, operation, where);
        return;
    }
    global_last_writes(map, MAP_BYTES, judge_use, &use);
    if (use.worst < RIGHT) report(&use, operation, where);
}
