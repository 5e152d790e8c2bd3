/*
 * shadow.c: who touched each 16 bytes of shared memory last, and whether the next access is ordered
 * after it.
 *
 * A cell lists the accesses that a later one may conflict with: the last write of each of its
 * bytes, and the reads since. An access is an epoch of a slot (clock.c). A generic access of thread
 * T needs what it conflicts with to be in C_T. An async-proxy access issued by T needs generic ones
 * in P_T, other async ones in C_T. The verdict does not depend on the schedule, only on what the
 * kernel has ordered.
 */
#include "sim/order/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/doubt.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/order/clock.h"
#include "sim/order/exchange.h"
#include "sim/order/release.h"
#include "sim/order/access_times.h"

bool (*shadow_too_weak)(const struct sim_thread *thread, int slot, uint32_t epoch, char *text,
                        size_t size);

bool (*shadow_uncommitted)(const struct sim_cluster *cluster, int slot, uint32_t epoch);

/* One access to (some bytes of) a cell. */
struct record {
    uint32_t epoch : 28;
    uint32_t async_proxy : 1;
    uint32_t own : 1; /* of a blind read: its thread has written there since, and nobody has read */
    uint32_t strong : 1;
    uint32_t narrow : 1; /* strong, and its scope is the CTA alone */
    uint16_t slot;
    uint16_t site;
    uint16_t bytes;       /* mask; 0: the entry is free */
    uint16_t thread : 14; /* in the cluster, of 16 CTAs of 1024 threads */
    uint16_t write : 1;
    uint16_t blind : 1; /* a read of bytes that nothing had written */
};

enum { INLINE_RECORDS = 4, CELL_BYTES = 16, THREADS = (1 << 14) - 1 /* all bits of `thread` */ };
#define EPOCHS (UINT32_MAX >> 4)

struct overflow {
    int room;
    struct record record[];
};

struct shadow_cell {
    struct overflow *overflow; /* records beyond the first ones */
    int count;
    uint16_t mbarrier; /* mask of bytes that hold a valid mbarrier */
    struct record record[INLINE_RECORDS];
} __attribute__((aligned(64))); /* one cache line */

void shadow_new(struct sim_cta *cta) {
    const size_t bytes = (cta->shared_bytes / CELL_BYTES + 1) * sizeof(struct shadow_cell);
    cta->shadow = host_aligned(sizeof *cta->shadow, bytes, "the shadow of shared memory");
    memset(cta->shadow, 0, bytes);
}

/* Has any word of shared memory been accessed so? Then it may carry releases (release.h). */
static bool strong_accesses;

void shadow_clear(struct sim_cta *cta) {
    if (strong_accesses) release_forget(cta->shared, cta->shared_bytes);
    for (size_t i = 0; i < cta->shared_bytes / CELL_BYTES; ++i)
        cta->shadow[i].count = cta->shadow[i].mbarrier = 0;
}

void shadow_free(struct sim_cta *cta) {
    for (size_t i = 0; i < cta->shared_bytes / CELL_BYTES; ++i)
        free(cta->shadow[i].overflow);
    free(cta->shadow);
}

static inline struct record *record_at(struct shadow_cell *cell, int i) {
    return i < INLINE_RECORDS ? &cell->record[i] : &cell->overflow->record[i - INLINE_RECORDS];
}

/* One more record's place. */
static struct record *append(struct shadow_cell *cell) {
    if (cell->count >= INLINE_RECORDS) {
        int needed = cell->count - INLINE_RECORDS + 1;
        int room = cell->overflow ? cell->overflow->room : 0;
        if (needed > room) {
            room = room ? 2 * room : 12;
            cell->overflow =
                host_grown(cell->overflow, 1, sizeof *cell->overflow + room * sizeof(struct record),
                           "the shadow of shared memory");
            cell->overflow->room = room;
        }
    }
    return record_at(cell, cell->count++);
}

/* ---- the verdict on one pair ---- */

/* An access in the making. */
struct accessor {
    struct sim_thread *thread; /* makes or issues it */
    int slot;
    uint32_t epoch;
    bool async_proxy, in_flight; /* in_flight: an async unit's, by whatever proxy */
    enum sim_access access;
    struct sim_warp *warp; /* NULL, or all its lanes issue the access together */
    bool strong, narrow;
    const unsigned char *value; /* NULL, or what a write brings to `begin` and behind */
    size_t begin;
};

static bool ordered_for(const struct sim_thread *thread, const struct accessor *now,
                        const struct record *then, bool then_async) {
    if (!now->async_proxy || then_async)
        return then->slot == thread->slot || sim_clock_get(&thread->c, then->slot) >= then->epoch;
    return sim_clock_get(&thread->p, then->slot) >= then->epoch;
}

/* What every lane is ordered after, it stays ordered after: the warp remembers that, so that the
 * lanes are not asked again for each 16 bytes. */
static bool ordered_for_warp(struct accessor *now, const struct record *then, bool then_async) {
    struct sim_warp *const warp = now->warp;
    struct sim_clock *const known =
        !now->async_proxy || then_async ? &warp->all_lanes.c : &warp->all_lanes.p;
    if (sim_clock_get(known, then->slot) >= then->epoch) return true;
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (warp->thread[lane] && !ordered_for(warp->thread[lane], now, then, then_async)) {
            now->thread = warp->thread[lane];
            return false;
        }
    sim_clock_raise(warp->cta->cluster, known, then->slot, then->epoch);
    return true;
}

/* Two strong accesses through one proxy do not race, if each scope contains the other's thread. */
static inline bool both_strong(const struct accessor *now, const struct record *then) {
    if (!now->strong || !then->strong || now->async_proxy != then->async_proxy) return false;
    const struct sim_cta *const cta = now->thread->cta;
    return (!now->narrow && !then->narrow) || then->thread / cta->threads == cta->rank;
}

/* If not, now->thread is one that is not ordered after it. */
static inline bool ordered(struct accessor *now, const struct record *then, bool then_async) {
    if (both_strong(now, then)) return true;
    return now->warp ? ordered_for_warp(now, then, then_async)
                     : ordered_for(now->thread, now, then, then_async);
}

static const struct sim_thread *thread_of(const struct sim_cluster *cluster, int index) {
    const int threads = cluster->cta[0].threads;
    return &cluster->cta[index / threads].thread[index % threads];
}

/* Has a thread executed a proxy fence for others, this access among them, and is `thread` ordered
 * after that? Known of a thread that has acquired nothing since. */
static bool another_has_fenced(const struct sim_cluster *cluster, const struct sim_thread *thread,
                               const struct record *then) {
    const int threads = cluster->cta[0].threads;
    for (int i = 0; i < cluster->ctas * threads; ++i) {
        const struct sim_thread *const other = thread_of(cluster, i);
        if (other->fence.epoch && other->fence.acquired == other->acquired &&
            sim_clock_get(&other->c, then->slot) >= then->epoch &&
            sim_clock_get(&thread->p, other->slot) >= other->fence.epoch)
            return true;
    }
    return false;
}

/* A warp's part of a wgmma, which another warp of the warpgroup has waited for? Their slots were
 * made together, and have one name. */
static bool another_warp_has_waited(const struct sim_cluster *cluster,
                                    const struct sim_thread *thread, const struct record *then) {
    const struct sim_slot *const slot = &cluster->slot[then->slot];
    if (strcmp(slot->what, "wgmma") != 0) return false;
    for (int i = 1 - WARPGROUP_WARPS; i < WARPGROUP_WARPS; ++i) {
        const int other = then->slot + i;
        if (i && other < cluster->slots && cluster->slot[other].what == slot->what &&
            sim_warpgroup_of(cluster->slot[other].owner) == sim_warpgroup_of(slot->owner) &&
            sim_clock_get(&thread->c, other) >= then->epoch)
            return true;
    }
    return false;
}

/* Two writes of one word by lanes of a warp at the same place, which they may execute together? */
static bool one_instruction(const struct accessor *now, const struct record *then, uint16_t site,
                            const struct sim_cluster *cluster) {
    return now->access == SIM_WRITE && then->write && !now->in_flight && then->site == site &&
           then->slot == thread_of(cluster, then->thread)->slot &&
           thread_of(cluster, then->thread)->warp == now->thread->warp;
}

/* Two writes that leave the same bytes, in whatever order? Of an earlier write by a thread that is
 * what memory holds, as long as the cell lists it: what covers it takes it out, unless it brings
 * the same. */
static bool equal_values(const struct accessor *now, const struct record *then,
                         const struct sim_cta *cta, size_t cell_index, unsigned shared) {
    if (!now->value || !then->write || then->slot != thread_of(cta->cluster, then->thread)->slot)
        return false;
    for (; shared; shared &= shared - 1) {
        const size_t at = cell_index * CELL_BYTES + (unsigned)__builtin_ctz(shared);
        if (cta->shared[at] != now->value[at - now->begin]) return false;
    }
    return true;
}

/* For the picture. */
static void say_sides(const struct accessor *now, const struct record *then,
                      const struct sim_cluster *cluster) {
    const struct sim_thread *const other = thread_of(cluster, then->thread);
    struct sim_side first = {.file = now->thread->self.file,
                             .line = now->thread->self.line,
                             .cta = now->thread->cta->index,
                             .thread = now->thread->index,
                             .cycle = sim_now()};
    struct sim_side second = {
        .cta = other->cta->index,
        .thread = other->index,
        .cycle = access_time_of(cluster->index, then->slot, then->epoch, then->site)};
    source_site_raw(then->site, &second.file, &second.line);
    snprintf(first.what, sizeof first.what, "%s by %s", now->access == SIM_WRITE ? "write" : "read",
             cluster->slot[now->slot].what);
    snprintf(second.what, sizeof second.what, "%s by %s", then->write ? "write" : "read",
             cluster->slot[then->slot].what);
    sim_hazard_between(&first, &second);
}

static void accuse(const struct accessor *now, const struct record *then, struct sim_cta *cta,
                   size_t offset) {
    const struct sim_cluster *cluster = cta->cluster;
    const struct sim_slot *slot = &cluster->slot[then->slot];
    const struct sim_slot *now_slot = &cluster->slot[now->slot];
    const struct sim_thread *other = thread_of(cluster, then->thread);
    bool generic_order = then->slot == now->thread->slot ||
                         sim_clock_get(&now->thread->c, then->slot) >= then->epoch;
    bool then_in_flight = then->slot >= cluster->ctas * cta->threads;
    const char *kind, *advice;
    if (!now->in_flight &&
        exchange_knows(now->thread, (uint32_t)cluster->index, then->slot, then->epoch))
        doubt_in_next_report(DOUBT_EXCHANGE);
    if (now->async_proxy && !slot->async_proxy && generic_order) {
        kind = then->write ? "missing-proxy-fence" : "missing-proxy-fence-after-read";
        if (another_has_fenced(cluster, now->thread, then)) doubt_in_next_report(DOUBT_PROXY_FENCE);
        advice = then->write ? "The write went through the generic proxy and the other access goes "
                               "through the async "
                               "proxy:\n    each writing thread needs fence_proxy_async() after "
                               "its write, before the "
                               "barrier."
                             : "The read went through the generic proxy and the overwrite comes "
                               "through the async "
                               "proxy:\n    each reading thread needs fence_proxy_async() after "
                               "its read, before it "
                               "releases the buffer.";
    } else if (then->write && now->access == SIM_READ && then_in_flight) {
        kind = "read-before-landed";
        advice =
            other == now->thread
                ? "The copy may still be under way: wait for its barrier phase or group before "
                  "reading."
                : "The copy may still be under way: wait for its barrier phase or group (and, if "
                  "another thread waited,\n    for a barrier after that) before reading. If it is "
                  "the next copy to this place, it comes too early.";
    } else if (!then_in_flight && (!now->in_flight || now->access == SIM_READ)) {
        kind = "data-race";
        advice = now->strong && then->strong
                     ? "The two are of different CTAs, and the scope of one is .cta: it has to be "
                       ".cluster at least."
                     : "Nothing orders the two: a barrier is missing between them.";
    } else if (!then->write) {
        kind = "overwritten-while-read";
        if (another_warp_has_waited(cluster, now->thread, then))
            doubt_in_next_report(DOUBT_ONE_RELEASE);
        advice = then_in_flight ? "The asynchronous read may still be under way: wait for the "
                                  "group that contains it "
                                  "before the buffer is reused."
                                : "Nothing orders the read before this write: the reader has to "
                                  "arrive on a barrier "
                                  "that the writer waits for.";
    } else {
        kind = "overwritten-in-flight";
        advice = "Two writes to the same place, and nothing orders them: wait for the first before "
                 "issuing the second.";
    }
    if (then_in_flight && shadow_uncommitted(cluster, then->slot, then->epoch))
        advice = SHADOW_UNCOMMITTED;
    const char *file;
    int line;
    source_site_of(then->site, &file, &line);
    char who[96], where[96], scope[320];
    if (!generic_order && !then_in_flight &&
        shadow_too_weak(now->thread, then->slot, then->epoch, scope, sizeof scope))
        advice = scope;
    say_sides(now, then, cluster);
    sim_hazard(
        kind, now->thread,
        "%s by %s of %s\n    is not ordered after the %s by %s, issued at %s:%d by %s.\n    %s",
        now->access == SIM_READ ? "read" : "write", now_slot->what,
        sim_where(cta, offset, where, sizeof where), then->write ? "write" : "read", slot->what,
        file, line, sim_who(other, who, sizeof who), advice);
}

/* ---- reads of what nothing has written ---- */

/* One that races with the first write is a race, and reported as one when the write comes. So the
 * verdict is left until an ordered write comes, or the CTA ends without any. If that write is the
 * reading thread's own, the verdict is left until somebody reads what it has written; if nobody
 * does, it is in doubt. */
static void accuse_of_reading_nothing(const struct record *read, const struct sim_cta *cta,
                                      size_t offset) {
    const struct sim_cluster *cluster = cta->cluster;
    const char *file;
    int line;
    char where[96];
    source_site_of(read->site, &file, &line);
    sim_hazard_at(
        "uninitialized-shared", file, line, thread_of(cluster, read->thread),
        "read by %s of %s, which nothing has written since the CTA began\n"
        "    Load or store it first: is a copy missing, or does it go to another address?",
        cluster->slot[read->slot].what, sim_where(cta, offset, where, sizeof where));
}

static void judge_blind_read(const struct record *read, const struct sim_cta *cta, size_t offset) {
    if (read->own && !doubtful_rules) return;
    if (read->own) doubt_in_next_report(DOUBT_UNREAD_WORD);
    accuse_of_reading_nothing(read, cta, offset);
}

/* Does the thread write all that it has read? */
static bool is_own(const struct record *read, const struct accessor *now, unsigned bytes,
                   const struct sim_cta *cta) {
    return !now->in_flight && read->slot == now->slot && !(read->bytes & ~bytes) &&
           read->slot < cta->cluster->ctas * cta->threads;
}

struct blind_exit {
    struct sim_exit_call call; /* first */
    struct sim_cta *cta;
};

static void at_cta_exit(struct sim_exit_call *call) {
    const struct sim_cta *cta = ((struct blind_exit *)call)->cta;
    for (size_t i = 0; i < cta->shared_bytes / CELL_BYTES; ++i)
        for (int j = 0; j < cta->shadow[i].count; ++j) {
            const struct record *record = record_at(&cta->shadow[i], j);
            if (record->blind) judge_blind_read(record, cta, i * CELL_BYTES);
        }
}

static void note_blind_read(struct sim_cta *cta) {
    for (const struct sim_exit_call *call = cta->at_exit; call; call = call->next)
        if (call->call == at_cta_exit) return;
    struct blind_exit *exit_call = sim_arena_alloc(cta->cluster, sizeof *exit_call);
    exit_call->call.call = at_cta_exit;
    exit_call->cta = cta;
    sim_at_cta_exit(cta, &exit_call->call);
}

/* ---- memory that holds an mbarrier ---- */

static void accuse_of_touching_mbarrier(const struct accessor *now, struct shadow_cell *cell,
                                        unsigned bytes, const struct sim_cta *cta, size_t offset) {
    const char *file = NULL;
    char where[96], who[96];
    int line = 0;
    const struct sim_thread *initializer = now->thread;
    for (int i = 0; i < cell->count; ++i) {
        const struct record *const init = record_at(cell, i);
        if (!init->write || !(init->bytes & bytes)) continue;
        source_site_of(init->site, &file, &line);
        initializer = thread_of(cta->cluster, init->thread);
    }
    sim_hazard("mbarrier-not-invalidated", now->thread,
               "%s by %s of %s, which holds an mbarrier, initialized at %s:%d by %s\n"
               "    Only mbarrier operations may touch a valid one: check the address, or call "
               "mbarrier_inval() before\n"
               "    the memory gets another use.",
               now->access == SIM_READ ? "read" : "write", cta->cluster->slot[now->slot].what,
               sim_where(cta, offset, where, sizeof where), source_name(file), line,
               sim_who(initializer, who, sizeof who));
}

/* ---- access ---- */

static inline struct record *add_record(struct shadow_cell *cell, const struct accessor *now,
                                        const struct sim_cta *cta, unsigned bytes, uint16_t site) {
    const struct sim_thread *const thread = now->thread;
    struct record *const record = append(cell);
    record->epoch = now->epoch & EPOCHS;
    record->async_proxy = now->async_proxy;
    record->strong = now->strong;
    record->narrow = now->narrow;
    record->slot = (uint16_t)now->slot;
    record->site = site;
    record->bytes = (uint16_t)bytes;
    record->thread = (uint16_t)(thread->cta->rank * cta->threads + thread->index) & THREADS;
    record->write = now->access == SIM_WRITE;
    record->blind = record->own = false;
    return record;
}

/* Conflicts with writes only, and ends no record. */
static void read_cell(struct accessor *now, struct sim_cta *cta, size_t cell_index, unsigned bytes,
                      uint16_t site) {
    struct shadow_cell *const cell = &cta->shadow[cell_index];
    unsigned written = 0;
    struct record *merged = NULL; /* the record that this read goes into */
    for (int i = 0; i < cell->count; ++i) {
        struct record *const then = record_at(cell, i);
        if (then->write) {
            const unsigned shared = then->bytes & bytes;
            if (shared && !ordered(now, then, cta->cluster->slot[then->slot].async_proxy))
                accuse(now, then, cta, cell_index * CELL_BYTES + (unsigned)__builtin_ctz(shared));
            written |= then->bytes;
            continue;
        }
        if (then->own && (then->bytes & bytes)) {
            accuse_of_reading_nothing(then, cta, cell_index * CELL_BYTES);
            then->own = then->blind = false;
        }
        if (then->slot == now->slot && then->strong == now->strong && then->narrow == now->narrow &&
            !(then->bytes & ~bytes)) {
            then->epoch = now->epoch & EPOCHS;
            then->bytes = (uint16_t)bytes;
            then->site = site;
            merged = then;
        }
    }
    const bool blind = bytes & ~written;
    if (blind) note_blind_read(cta);
    if (!merged) merged = add_record(cell, now, cta, bytes, site);
    if (blind) merged->blind = true;
}

/* A reduction under way, which another one does not race with, and does not order either. */
static bool outlives(const struct accessor *now, const struct record *then,
                     const struct sim_cta *cta) {
    return both_strong(now, then) && then->slot >= cta->cluster->ctas * cta->threads &&
           then->slot != now->slot && sim_clock_get(&now->thread->c, then->slot) < then->epoch;
}

/* Conflicts with everything, and takes the place of what it covers. */
static void write_cell(struct accessor *now, struct sim_cta *cta, size_t cell_index, unsigned bytes,
                       uint16_t site) {
    struct shadow_cell *const cell = &cta->shadow[cell_index];
    int kept = 0;
    for (int i = 0; i < cell->count; ++i) {
        struct record *const then = record_at(cell, i);
        const unsigned shared = then->bytes & bytes;
        if (shared && !outlives(now, then, cta)) {
            const size_t at = cell_index * CELL_BYTES + (unsigned)__builtin_ctz(shared);
            const bool is_ordered = ordered(now, then, cta->cluster->slot[then->slot].async_proxy);
            const bool together = !is_ordered && one_instruction(now, then, site, cta->cluster);
            const bool equal =
                !is_ordered && !together && equal_values(now, then, cta, cell_index, shared);
            if (equal && !doubtful_rules) { /* what differs has to be ordered after both */
                if (kept != i) *record_at(cell, kept) = *then;
                ++kept;
                continue;
            }
            if (together && doubtful_rules) doubt_in_next_report(DOUBT_ONE_INSTRUCTION);
            if (equal) doubt_in_next_report(DOUBT_EQUAL_VALUES);
            if (!is_ordered && (!together || doubtful_rules))
                accuse(now, then, cta, at);
            else if (then->blind && !then->own && is_own(then, now, bytes, cta)) {
                then->own = true;
                if (kept != i) *record_at(cell, kept) = *then;
                ++kept;
                continue;
            } else if (then->blind)
                judge_blind_read(then, cta, at);
            then->bytes &= (uint16_t)~bytes;
            if (!then->bytes) continue;
        }
        if (kept != i) *record_at(cell, kept) = *then;
        ++kept;
    }
    cell->count = kept;
    add_record(cell, now, cta, bytes, site);
}

static void touch_cell(struct accessor *now, struct sim_cta *cta, size_t cell_index, unsigned bytes,
                       uint16_t site) {
    struct shadow_cell *const cell = &cta->shadow[cell_index];
    const unsigned of_mbarrier = cell->mbarrier & bytes;
    if (of_mbarrier) /* the record of the initialization stays */
        accuse_of_touching_mbarrier(now, cell, of_mbarrier, cta,
                                    cell_index * CELL_BYTES + (unsigned)__builtin_ctz(of_mbarrier));
    else if (now->access == SIM_WRITE)
        write_cell(now, cta, cell_index, bytes, site);
    else
        read_cell(now, cta, cell_index, bytes, site);
}

/* The lines of an operand are mostly 128 bytes apart, and a wgmma reads the next ones soon. */
enum { AHEAD = 4 * 128 / CELL_BYTES };

static void touch(struct accessor *now, struct sim_cta *cta, size_t offset, size_t bytes) {
    uint16_t site = source_site(now->thread->self.file, now->thread->self.line);
    const size_t end = offset + bytes;
    access_times_note(now->thread, now->slot, now->epoch, site);
    while (offset < end) {
        const size_t cell = offset / CELL_BYTES, in_cell = offset % CELL_BYTES;
        const size_t room = CELL_BYTES - in_cell, count = room < end - offset ? room : end - offset;
        if (now->warp) __builtin_prefetch(&cta->shadow[cell + AHEAD], 1);
        touch_cell(now, cta, cell, ((1u << count) - 1) << in_cell, site);
        offset += count;
    }
}

void sim_shadow_generic(struct sim_thread *thread, struct sim_cta *cta, size_t offset, size_t bytes,
                        enum sim_access access) {
    struct accessor now = {
        .thread = thread, .slot = thread->slot, .epoch = thread->epoch, .access = access};
    if (strong_accesses && access == SIM_WRITE) release_forget(cta->shared + offset, bytes);
    touch(&now, cta, offset, bytes);
}

void sim_shadow_store(struct sim_thread *thread, struct sim_cta *cta, size_t offset, size_t bytes,
                      const void *value) {
    struct accessor now = {.thread = thread,
                           .slot = thread->slot,
                           .epoch = thread->epoch,
                           .access = SIM_WRITE,
                           .value = value,
                           .begin = offset};
    if (strong_accesses) release_forget(cta->shared + offset, bytes);
    touch(&now, cta, offset, bytes);
}

void sim_shadow_strong(struct sim_thread *thread, struct sim_cta *cta, size_t offset, size_t bytes,
                       enum sim_access access, bool cta_scope) {
    struct accessor now = {.thread = thread,
                           .slot = thread->slot,
                           .epoch = thread->epoch,
                           .access = access,
                           .strong = true,
                           .narrow = cta_scope};
    strong_accesses = true;
    touch(&now, cta, offset, bytes);
}

void sim_shadow_async(struct sim_thread *thread, struct sim_cta *cta, size_t offset, size_t bytes,
                      enum sim_access access, int slot, uint32_t epoch) {
    struct accessor now = {thread, slot,   epoch, cta->cluster->slot[slot].async_proxy,
                           true,   access, NULL,  false,
                           false,  NULL,   0};
    touch(&now, cta, offset, bytes);
}

void sim_shadow_async_store(struct sim_thread *thread, struct sim_cta *cta, size_t offset,
                            size_t bytes, int slot, uint32_t epoch, bool async_proxy,
                            bool reduces) {
    struct accessor now = {thread, slot,    epoch, async_proxy, true, SIM_WRITE,
                           NULL,   reduces, false, NULL,        0};
    touch(&now, cta, offset, bytes);
}

void sim_shadow_async_warp(struct sim_warp *warp, size_t offset, size_t bytes,
                           enum sim_access access, int slot, uint32_t epoch) {
    struct sim_cta *const cta = warp->cta;
    struct accessor now = {warp->thread[0],
                           slot,
                           epoch,
                           cta->cluster->slot[slot].async_proxy,
                           true,
                           access,
                           warp,
                           false,
                           false,
                           NULL,
                           0};
    touch(&now, cta, offset, bytes);
}

/* ---- mbarriers ---- */

void sim_shadow_mbarrier(struct sim_thread *thread, struct sim_cta *cta, size_t offset,
                         bool valid) {
    struct shadow_cell *const cell = &cta->shadow[offset / CELL_BYTES];
    const unsigned bytes = 0xffu << offset % CELL_BYTES;
    cell->mbarrier &= (uint16_t)~bytes;
    sim_shadow_generic(thread, cta, offset, sizeof(uint64_t), SIM_WRITE);
    if (valid) cell->mbarrier |= (uint16_t)bytes;
}
