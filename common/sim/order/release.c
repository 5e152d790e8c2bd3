/*
 * release.c: what words of global memory carry from those who release to those who acquire.
 *
 * A word carries the clocks of every release since its last plain write: atomics add to them. They
 * are kept apart by the scope and the CTA of the release, because both decide who may acquire it. A
 * relaxed write that follows no fence leaves a hollow release, which cannot be acquired: a report
 * says that it was there and is not enough.
 */
#include "sim/order/release.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/order/clock.h"
#include "sim/order/known_clocks.h"
#include "sim/order/sequential_fences.h"

const char *const scope_names[] = {".cta", ".cluster", ".gpu", ".sys"};
enum { SCOPES = 4 };

struct release_set {
    struct release *first, *spare; /* spare: to be used again */
};

struct sync_word {
    const void *address;
    uint64_t version; /* changes with every write; 0: the entry is free */
    struct release_set carried;
};

struct release_state {
    bool fenced[SCOPES];
    struct release fence[SCOPES]; /* what was before the latest fence of each scope */
    struct release_set seen;      /* and not acquired */
    /* At mbarriers by relaxed waits, of the own CTA and of others: likewise. */
    struct sim_sync waited, waited_cluster;
    /* The last word read: what it carries need not be looked at twice. */
    const void *word;
    uint64_t version;
    enum sim_semantics semantics;
    enum sim_scope scope;
};

/* Words outlive the clusters that write them, so their memory is the launch's. */
static struct sim_cluster world;
static struct sync_word *words; /* open addressing */
static size_t word_room, word_count;
static uint64_t versions;

void release_launch_begins(void) {
    storage_clear(&world);
    free(words);
    words = NULL;
    word_room = word_count = 0;
}

/* ---- scopes ---- */

struct sim_scopes sim_scopes_at(int cluster, int thread) {
    const struct gemm_launch *const launch = sim.launch;
    /* Grids are numbered device by device, launch by launch. */
    const int grid = cluster * launch->cluster / launch->grid;
    return (struct sim_scopes){grid / sim.devices, grid % sim.devices, cluster,
                               cluster * launch->cluster + thread / launch->threads};
}

struct sim_scopes sim_scopes_of(const struct sim_thread *thread) {
    const struct sim_cta *const cta = thread->cta;
    return (struct sim_scopes){cta->launch, cta->device, cta->cluster->index, cta->index};
}

enum sim_scope sim_distance(struct sim_scopes a, struct sim_scopes b) {
    if (a.device != b.device) return SIM_SCOPE_SYS;
    if (a.cluster != b.cluster) return SIM_SCOPE_GPU;
    return a.cta != b.cta ? SIM_SCOPE_CLUSTER : SIM_SCOPE_CTA;
}

/* ---- words ---- */

static size_t index_of_word(const void *address) {
    size_t i = ((uintptr_t)address >> 2) * 0x9e3779b97f4a7c15u >> 20 & (word_room - 1);
    while (words[i].version && words[i].address != address)
        i = (i + 1) & (word_room - 1);
    return i;
}

static struct sync_word *word_find(const void *address) {
    if (!word_count) return NULL;
    struct sync_word *const word = &words[index_of_word(address)];
    return word->version ? word : NULL;
}

static struct sync_word *word_of(const void *address) {
    if (2 * word_count >= word_room) {
        struct sync_word *const old = words;
        const size_t old_room = word_room;
        word_room = word_room ? 2 * word_room : 64;
        words = host_zeroed(word_room, sizeof *words, "words of global memory");
        for (size_t i = 0; i < old_room; ++i)
            if (old[i].version) words[index_of_word(old[i].address)] = old[i];
        free(old);
    }
    struct sync_word *const word = &words[index_of_word(address)];
    if (!word->version) {
        word->address = address;
        word->version = ++versions;
        ++word_count;
    }
    return word;
}

/* ---- sets of releases ---- */

static void set_drop(struct release_set *set, struct release **link) {
    struct release *const r = *link;
    *link = r->next;
    r->next = set->spare;
    set->spare = r;
}

static void set_empty(struct release_set *set) {
    while (set->first)
        set_drop(set, &set->first);
}

static bool alike(const struct release *a, const struct release *b) {
    return a->writer.device == b->writer.device && a->writer.cta == b->writer.cta &&
           a->slot == b->slot && a->scope == b->scope && a->site == b->site &&
           a->write_site == b->write_site && a->hollow == b->hollow && a->failure == b->failure &&
           a->read_site == b->read_site;
}

/* Adds clocks of a release like `like`. */
static void set_add(struct sim_cluster *owner, struct release_set *set, const struct release *like,
                    const struct sim_sync *sync) {
    struct release *r = set->first;
    while (r && !alike(r, like))
        r = r->next;
    if (!r) {
        r = set->spare;
        if (r)
            set->spare = r->next;
        else
            r = sim_arena_alloc(owner, sizeof *r);
        const struct sim_sync memory = r->sync;
        *r = *like;
        r->sync = memory;
        sim_sync_clear(&r->sync);
        r->next = set->first;
        set->first = r;
    }
    sim_sync_join(owner, &r->sync, sync);
}

/* ---- what a thread does ---- */

static struct release_state *state_of(struct sim_thread *thread) {
    if (!thread->releases)
        thread->releases = sim_arena_alloc(thread->cta->cluster, sizeof *thread->releases);
    return thread->releases;
}

/* All that is before the thread's next access. */
static struct sim_sync now_of(struct sim_thread *thread) {
    sim_clock_raise(thread->cta->cluster, &thread->c, thread->slot, thread->epoch);
    return (struct sim_sync){thread->c, thread->p, thread->g, thread->known, thread->x};
}

/* A write that is no atomic: what others have released is gone. What the thread itself has released
 * there before goes on: a release and a later write to the same word are a pattern, too. */
static void begin_anew(struct release_set *set, const struct release *write) {
    struct release **link = &set->first;
    while (*link) {
        struct release *const r = *link;
        if (r->hollow || r->slot != write->slot || r->writer.cta != write->writer.cta ||
            r->writer.device != write->writer.device) {
            set_drop(set, link);
            continue;
        }
        if (write->scope < r->scope) r->scope = write->scope;
        link = &r->next;
    }
}

void release_write(struct sim_thread *thread, const void *address, enum sim_semantics semantics,
                   enum sim_scope scope, bool rmw) {
    const struct release_state *const state = thread->releases;
    struct sync_word *const word = word_of(address);
    const uint16_t site = source_site(thread->self.file, thread->self.line);
    struct release like = {.writer = sim_scopes_of(thread),
                           .slot = thread->slot,
                           .scope = scope,
                           .site = site,
                           .write_site = site};
    if (!rmw) begin_anew(&word->carried, &like);
    word->version = ++versions;
    const struct sim_sync now = now_of(thread);
    like.hollow = !(semantics & SIM_RELEASE);
    set_add(&world, &word->carried, &like, &now);
    ++thread->epoch;
    like.hollow = false;
    for (int s = 0; state && s < SCOPES; ++s) {
        if (!state->fenced[s]) continue;
        like.scope = (enum sim_scope)s < scope ? (enum sim_scope)s : scope;
        like.site = state->fence[s].site;
        set_add(&world, &word->carried, &like, &state->fence[s].sync);
    }
}

void release_read(struct sim_thread *thread, const void *address, enum sim_semantics semantics,
                  enum sim_scope scope) {
    const struct sync_word *const word = word_find(address);
    if (!word) return;
    struct release_state *const state = state_of(thread);
    if (state->word == address && state->version == word->version &&
        state->semantics == semantics && state->scope == scope)
        return;
    state->word = address;
    state->version = word->version;
    state->semantics = semantics;
    state->scope = scope;
    const struct sim_scopes here = sim_scopes_of(thread);
    for (const struct release *r = word->carried.first; r; r = r->next) {
        const enum sim_scope needed = sim_distance(r->writer, here);
        struct release like = *r;
        like.read_site = source_site(thread->self.file, thread->self.line);
        like.acquire_scope = scope;
        if (r->scope < needed)
            like.failure = RELEASE_TOO_NARROW;
        else if (scope < needed)
            like.failure = RELEASE_READ_NARROW;
        else if (r->hollow)
            like.failure = RELEASE_NONE;
        else if (semantics & SIM_ACQUIRE) {
            known_acquire(thread, r->writer.cluster, &r->sync);
            continue;
        } else
            like.failure = RELEASE_PENDING;
        set_add(thread->cta->cluster, &state->seen, &like, &r->sync);
    }
}

/* What a fence of the scope acquires of what the thread has seen. */
static void acquire_seen(struct sim_thread *thread, struct release_state *state,
                         enum sim_scope scope, uint16_t site) {
    const struct sim_scopes here = sim_scopes_of(thread);
    struct release **link = &state->seen.first;
    while (*link) {
        struct release *const r = *link;
        const bool waits = r->failure == RELEASE_PENDING || r->failure == RELEASE_FENCE_NARROW;
        if (waits && scope >= sim_distance(r->writer, here)) {
            known_acquire(thread, r->writer.cluster, &r->sync);
            set_drop(&state->seen, link);
            continue;
        }
        if (waits) {
            r->failure = RELEASE_FENCE_NARROW;
            r->fence_site = site;
            r->acquire_scope = scope;
        }
        link = &r->next;
    }
    if (state->waited.c.size) sim_acquire(thread, &state->waited);
    if (scope >= SIM_SCOPE_CLUSTER && state->waited_cluster.c.size)
        sim_acquire(thread, &state->waited_cluster);
}

void release_waited(struct sim_thread *thread, const struct sim_sync *cta,
                    const struct sim_sync *cluster, int slot, uint32_t epoch) {
    struct release_state *const state = state_of(thread);
    struct sim_cluster *const own = thread->cta->cluster;
    sim_sync_join(own, &state->waited, cta);
    sim_clock_raise(own, &state->waited.c, slot, epoch);
    if (cluster) sim_sync_join(own, &state->waited_cluster, cluster);
}

void release_arrive(struct sim_thread *thread, struct sim_sync *sync, enum sim_scope least) {
    const struct release_state *const state = thread->releases;
    for (int s = (int)least; state && s < SCOPES; ++s)
        if (state->fenced[s]) sim_sync_join(thread->cta->cluster, sync, &state->fence[s].sync);
}

void release_fence(struct sim_thread *thread, enum sim_semantics semantics, enum sim_scope scope) {
    struct release_state *const state = state_of(thread);
    const uint16_t site = source_site(thread->self.file, thread->self.line);
    if (semantics & SIM_ACQUIRE) acquire_seen(thread, state, scope, site);
    if (semantics == SIM_SC) sequential_fences_acquire(thread, scope);
    if (!(semantics & SIM_RELEASE)) return;
    struct sim_cluster *const own = thread->cta->cluster;
    struct release *const fence = &state->fence[scope];
    const struct sim_sync now = now_of(thread);
    sim_sync_clear(&fence->sync);
    sim_sync_join(own, &fence->sync, &now);
    if (semantics == SIM_SC) sequential_fences_release(thread, scope, &now);
    ++thread->epoch;
    fence->site = site;
    state->fenced[scope] = true;
}

void release_forget(const void *pointer, size_t bytes) {
    if (!word_count) return;
    const uintptr_t first = (uintptr_t)pointer & ~(uintptr_t)3, end = (uintptr_t)pointer + bytes;
    for (uintptr_t at = first; at < end; at += 4) {
        struct sync_word *const word = word_find((const void *)at);
        if (!word) continue;
        set_empty(&word->carried);
        word->version = ++versions;
    }
}

/* ---- for reports ---- */

/* A launch comes after all earlier ones of its device (launch_order.h). */
static bool covers(const struct release *r, int cluster, int slot, uint32_t epoch) {
    const struct sim_sync *const sync =
        r->writer.cluster == cluster ? &r->sync : known_get(r->sync.known, cluster);
    const struct sim_scopes scopes = sim_scopes_at(cluster, 0);
    if (scopes.device == r->writer.device && scopes.launch < r->writer.launch) return true;
    return sync && sim_clock_get(&sync->c, slot) >= epoch;
}

static const struct release *seen_by(const struct sim_thread *thread, int cluster, int slot,
                                     uint32_t epoch) {
    const struct release *found = NULL;
    if (!thread->releases) return NULL;
    for (const struct release *r = thread->releases->seen.first; r; r = r->next)
        if (covers(r, cluster, slot, epoch) && (!found || (found->hollow && !r->hollow))) found = r;
    return found;
}

const struct release *release_seen(const struct sim_thread *thread, int cluster, int slot,
                                   uint32_t epoch) {
    const struct release *found = seen_by(thread, cluster, slot, epoch);
    for (int i = 0; i < thread->cta->threads && !found; ++i)
        found = seen_by(&thread->cta->thread[i], cluster, slot, epoch);
    return found;
}
