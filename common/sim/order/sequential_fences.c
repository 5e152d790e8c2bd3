/*
 * sequential_fences.c: what fence.sc releases and acquires.
 *
 * Two fences meet if both scopes are as wide as the distance of their threads. So each CTA and each
 * cluster has a place of its own, and the device: a fence writes those of its thread up to its
 * scope, and reads the same ones. In the place of the distance the two find each other, and in no
 * narrower one. (Only hopper_check has fence.sc, and one device.)
 *
 * In many kernels every thread has such a fence, and each would have to learn the clocks of all
 * clusters. So the device's fences are numbered, and what a thread acquires is their number: as a
 * clock of one entry, of a cluster that there is not, which every release passes on like others. A
 * log says at which fence an access was first before it.
 */
#include "sim/order/sequential_fences.h"

#include <stdlib.h>

#include "sim/core/host_memory.h"
#include "sim/core/storage.h"
#include "sim/order/clock.h"
#include "sim/order/known_clocks.h"

enum { THE_FENCES = -1 }; /* the cluster that there is not */

/* From this fence on the slot's accesses up to the epoch are before whoever acquires it. */
struct mark {
    struct mark *earlier;
    uint32_t fence, epoch;
};

struct marks {
    struct mark **latest; /* of each slot */
    int room;
};

struct log {
    struct marks c, g; /* as in sim_sync */
};

static struct sim_cluster world; /* the launch's memory */
static struct log *logs;         /* of each cluster */
static int log_room;
static uint32_t fences;

static void forget(struct marks *marks) { free(marks->latest); }

void sequential_fences_launch_begins(void) {
    for (int i = 0; i < log_room; ++i) {
        forget(&logs[i].c);
        forget(&logs[i].g);
    }
    free(logs);
    logs = NULL;
    log_room = 0;
    fences = 0;
    storage_clear(&world);
}

/* ---- the log ---- */

static struct log *log_of(int cluster) {
    enum { LEAST = 64 };
    const int room = log_room;
    if (cluster < room) return &logs[cluster];
    log_room = cluster < LEAST ? LEAST : 2 * cluster;
    logs = host_grown(logs, (size_t)log_room, sizeof *logs, "the log of fences");
    for (int i = room; i < log_room; ++i)
        logs[i] = (struct log){.c = {NULL, 0}};
    return &logs[cluster];
}

static void note(struct marks *marks, const struct sim_clock *clock) {
    const int room = marks->room;
    if (clock->size > room) {
        marks->room = clock->size;
        marks->latest = host_grown(marks->latest, (size_t)marks->room, sizeof *marks->latest,
                                   "marks of fences");
        for (int slot = room; slot < marks->room; ++slot)
            marks->latest[slot] = NULL;
    }
    for (int slot = 0; slot < clock->size; ++slot) {
        struct mark *const latest = marks->latest[slot];
        if (clock->at[slot] <= (latest ? latest->epoch : 0)) continue;
        struct mark *const mark = sim_arena_alloc(&world, sizeof *mark);
        *mark = (struct mark){latest, fences, clock->at[slot]};
        marks->latest[slot] = mark;
    }
}

static bool has(const struct marks *marks, uint32_t fence, int slot, uint32_t epoch) {
    const struct mark *mark = slot < marks->room ? marks->latest[slot] : NULL;
    while (mark && mark->fence > fence)
        mark = mark->earlier;
    return mark && mark->epoch >= epoch;
}

bool sequential_fences_know(const struct sim_known *known, int cluster, int slot, uint32_t epoch,
                            bool for_async_proxy) {
    const struct sim_sync *const sync = fences ? known_get(known, THE_FENCES) : NULL;
    if (!sync || cluster >= log_room) return false;
    const struct log *const log = &logs[cluster];
    const uint32_t last = sim_clock_get(&sync->c, 0), last_proxied = sim_clock_get(&sync->g, 0);
    return for_async_proxy
               ? has(&log->g, last, slot, epoch) || has(&log->c, last_proxied, slot, epoch)
               : has(&log->c, last, slot, epoch);
}

/* ---- fences ---- */

/* The lists of its CTA and its cluster; NULL: it has no such scope. */
static struct sim_known **list_of(struct sim_thread *thread, enum sim_scope scope, int i) {
    if (i > (int)scope || i > SIM_SCOPE_CLUSTER) return NULL;
    return i == SIM_SCOPE_CTA ? &thread->cta->fences : &thread->cta->cluster->fences;
}

static void raise_to_latest(struct sim_cluster *own, struct sim_clock *clock,
                            const struct marks *marks) {
    for (int slot = 0; slot < marks->room; ++slot)
        if (marks->latest[slot]) sim_clock_raise(own, clock, slot, marks->latest[slot]->epoch);
}

void sequential_fences_acquire(struct sim_thread *thread, enum sim_scope scope) {
    struct sim_cluster *const own = thread->cta->cluster;
    struct sim_known **list;
    for (int i = 0; (list = list_of(thread, scope, i)); ++i)
        for (const struct sim_known *k = *list; k; k = k->next)
            known_acquire(thread, k->cluster, &k->sync);
    if (scope < SIM_SCOPE_GPU || !fences) return;
    sim_clock_raise(own, &known_of(own, &thread->known, THE_FENCES)->c, 0, fences);
    if (own->index >= log_room) return;
    raise_to_latest(own, &thread->c, &logs[own->index].c);
    raise_to_latest(own, &thread->g, &logs[own->index].g);
}

/* The number stands for all that is in the log. */
static void log_fence(struct sim_cluster *own, const struct sim_sync *now) {
    ++fences;
    note(&log_of(own->index)->c, &now->c);
    note(&log_of(own->index)->g, &now->g);
    for (const struct sim_known *k = now->known; k; k = k->next) {
        if (k->cluster == THE_FENCES) continue;
        note(&log_of(k->cluster)->c, &k->sync.c);
        note(&log_of(k->cluster)->g, &k->sync.g);
    }
}

void sequential_fences_release(struct sim_thread *thread, enum sim_scope scope,
                               const struct sim_sync *now) {
    struct sim_cluster *const own = thread->cta->cluster;
    const struct sim_known mine = {.cluster = own->index,
                                   .sync = {.c = now->c, .p = now->p, .g = now->g}};
    struct sim_known **list;
    if (scope >= SIM_SCOPE_GPU) log_fence(own, now);
    for (int i = 0; (list = list_of(thread, scope, i)); ++i) {
        known_join(own, list, &mine);
        if (scope >= SIM_SCOPE_GPU)
            sim_clock_raise(own, &known_of(own, list, THE_FENCES)->c, 0, fences);
        else
            known_join(own, list, now->known);
    }
}
