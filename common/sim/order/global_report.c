/*
 * global_report.c: what is said of two accesses to global memory that nothing orders: both sides,
 * and what is missing between them.
 */
#include <stdio.h>
#include <string.h>

#include "sim/core/doubt.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/order/global_shadow.h"
#include "sim/order/known_clocks.h"
#include "sim/order/map_order.h"
#include "sim/order/clock.h"
#include "sim/order/shadow.h"
#include "sim/order/access_times.h"

static const char *const what[] = {[GLOBAL_LD_ST] = "ld/st",
                                   [GLOBAL_STRONG] = "a strong ld/st or atomic",
                                   [GLOBAL_CP_ASYNC] = "cp.async",
                                   [GLOBAL_TMA_LOAD] = "TMA load",
                                   [GLOBAL_TMA_MAP] = "the TMA (of its tensor map)",
                                   [GLOBAL_TMA_STORE] = "TMA store",
                                   [GLOBAL_TMA_REDUCE] = "TMA reduction"};

/* As the wrappers have them. */
static const char *const scope_words[] = {"SCOPE_CTA", "SCOPE_CLUSTER", "SCOPE_GPU", "SCOPE_SYS"};
static const char *const apart[] = {"in one CTA", "in different CTAs of a cluster",
                                    "in different CTAs", "on different devices"};

enum { LINE_TEXT = 128, WHO_TEXT = 96, ADVICE_TEXT = 640 };

static const char *line_of(uint16_t site, char *text) {
    const char *file;
    int line;
    source_site_of(site, &file, &line);
    snprintf(text, LINE_TEXT, "%s:%d", file, line);
    return text;
}

/* The thread may have ended, and its memory may be another's: its name follows from the launch. */
static const char *who_was(const struct global_record *record, char *text) {
    const int ctas = sim.launch->cluster, threads = sim.launch->threads;
    struct sim_cluster cluster = {.ctas = ctas};
    struct sim_cta cta = {.cluster = &cluster, .threads = threads};
    cta.rank = record->thread / threads;
    cta.index = (int)record->cluster * ctas + cta.rank;
    const struct sim_thread thread = {.cta = &cta, .index = record->thread % threads};
    return sim_who(&thread, text, WHO_TEXT);
}

struct last_write {
    struct global_record record;
    unsigned bytes; /* of the cell, that it has to touch */
    bool found;
};

/* The newest of a cell comes first. */
static void take_first(void *object, const struct global_record *write) {
    struct last_write *const last = object;
    if (last->found || !(write->bytes & last->bytes)) return;
    last->record = *write;
    last->found = true;
}

const char *global_last_writer(const void *pointer, size_t bytes, char *text, size_t size) {
    struct last_write last = {.bytes = ((1u << bytes) - 1) << (uintptr_t)pointer % 16};
    char who[WHO_TEXT], line[LINE_TEXT];
    global_last_writes(pointer, bytes, take_first, &last);
    if (last.found)
        snprintf(text, size, "last written at %s by %s", line_of(last.record.site, line),
                 who_was(&last.record, who));
    else
        snprintf(text, size, "which nothing has written in this launch");
    return text;
}

static enum sim_scope distance_to(const struct sim_thread *thread,
                                  const struct global_record *record) {
    return sim_distance(sim_scopes_of(thread), sim_scopes_at((int)record->cluster, record->thread));
}

/* ---- what is missing ---- */

/* The thread, or another of its CTA, has read a word that was written behind the access. */
static void say_failure(char *text, const struct release *r, enum sim_scope needed) {
    char write[LINE_TEXT], read[LINE_TEXT], site[LINE_TEXT], fence[LINE_TEXT];
    const char *const scope = scope_words[needed];
    /* The two threads may be nearer to each other in this run than others are, or in other runs:
     * the kernel's own access tells how far apart they can be. */
    const enum sim_scope of_write = r->scope > needed ? r->scope : needed;
    const enum sim_scope of_read = r->acquire_scope > needed ? r->acquire_scope : needed;
    line_of(r->write_site, write);
    line_of(r->read_site, read);
    line_of(r->site, site);
    line_of(r->fence_site, fence);
    switch (r->failure) {
    case RELEASE_NONE:
        snprintf(text, ADVICE_TEXT,
                 "The word written at %s and read at %s releases none of this:\n"
                 "    fence_acq_rel(%s) is missing before the write, by the same thread, or "
                 ".release.",
                 write, read, scope_words[of_write]);
        break;
    case RELEASE_TOO_NARROW:
        snprintf(text, ADVICE_TEXT,
                 "The %s at %s has the scope %s, and the two threads are %s:\n"
                 "    it needs %s (%s).",
                 r->hollow ? "write" : "release", site, scope_names[r->scope], apart[needed],
                 scope_names[needed], scope);
        break;
    case RELEASE_READ_NARROW:
        snprintf(text, ADVICE_TEXT,
                 "The read at %s has the scope %s, and the two threads are %s:\n"
                 "    to acquire what %s has released it needs %s (%s).",
                 read, scope_names[r->acquire_scope], apart[needed], site, scope_names[needed],
                 scope);
        break;
    case RELEASE_FENCE_NARROW:
        snprintf(text, ADVICE_TEXT,
                 "The fence at %s has the scope %s, and the two threads are %s:\n"
                 "    to acquire what %s has released it needs %s (%s).",
                 fence, scope_names[r->acquire_scope], apart[needed], site, scope_names[needed],
                 scope);
        break;
    case RELEASE_PENDING:
        snprintf(
            text, ADVICE_TEXT,
            "The read at %s has seen the release at %s, but acquires nothing:\n"
            "    fence_acq_rel(%s) is missing after the read, by the same thread, or .acquire.",
            read, site, scope_words[of_read]);
        break;
    }
}

/* Is anything known of the CTA of the access? */
static bool knows_its_cta(const struct sim_thread *thread, const struct global_record *then) {
    const int threads = sim.launch->threads, first = then->thread / threads * threads;
    for (int i = 0; i < threads; ++i)
        if (global_knows(thread, then->cluster, first + i, 1, false)) return true;
    return false;
}

static void say_missing(char *text, const struct sim_thread *thread,
                        const struct global_record *then) {
    const char *const verb = then->write ? "write" : "read";
    const enum sim_scope needed = distance_to(thread, then);
    const struct release *const seen =
        release_seen(thread, (int)then->cluster, then->slot, then->epoch);
    if (seen)
        say_failure(text, seen, needed);
    else if (needed == SIM_SCOPE_CTA)
        snprintf(text, ADVICE_TEXT, "Nothing orders the two: a barrier is missing between them.");
    else if (global_knows(thread, then->cluster, then->slot, 1, false))
        snprintf(text, ADVICE_TEXT,
                 "What this thread has acquired from that one was released before the %s: is a "
                 "flag set before\n    the data is there, or does another thread release, with no "
                 "barrier between the %s and that?",
                 verb, verb);
    else if (knows_its_cta(thread, then))
        snprintf(
            text, ADVICE_TEXT,
            "What this thread has acquired from that CTA does not cover that thread: a barrier "
            "is missing\n    between its %s and the release by another thread.",
            verb);
    else
        snprintf(text, ADVICE_TEXT,
                 "Nothing orders the two, which are %s: after the %s, a release of %s scope\n"
                 "    at a flag or counter that this thread acquires first (%s).",
                 apart[needed], verb, scope_names[needed], scope_words[needed]);
}

/* What two writers of one place have to do, by what lies there. */
static const char *one_writer_advice(const void *pointer) {
    if (map_order_is_map(pointer))
        return "Two writers of one tensor map: each CTA that changes maps needs maps of its own. "
               "Is "
               "the map's place\n    computed from blockIdx, and does the workspace have one for "
               "each?";
    if (global_is_of_d(pointer))
        return "Each element has one writer: do two tiles overlap, or does a row run into the "
               "next?";
    return "Nothing orders the two: does each writer have a part of its own, or does the next use "
           "wait for the\n    last one?";
}

/* ---- the report ---- */

static const char *kind_of(char *advice, const struct sim_thread *thread,
                           const struct global_record *now, const struct global_record *then,
                           const void *pointer) {
    const bool then_async = global_is_async(then->how), now_async = global_is_async(now->how);
    const bool in_flight = then_async || then->how == GLOBAL_CP_ASYNC;
    /* In order but for the proxy, or but for its end. */
    const bool issue_known = global_knows(thread, then->cluster, then->thread, then->issued, false);
    const bool generic_known = global_knows(thread, then->cluster, then->slot, then->epoch, false);
    if (then->how == GLOBAL_TMA_MAP) {
        snprintf(
            advice, ADVICE_TEXT,
            "The TMA reads the map at any moment until its copy is complete. Before the change, "
            "wait for the load on\n    its full barrier or for the store with "
            "bulk_wait_group_read(); or keep two maps, and change the other.");
        return "tensor-map-in-use";
    }
    if (now_async && !then_async && generic_known) {
        snprintf(advice, ADVICE_TEXT,
                 "The %s went through the generic proxy and this access goes through the async "
                 "proxy:\n    fence_proxy_async_global() is missing, by the thread that accessed, "
                 "or by the one that has acquired.",
                 then->write ? "write" : "read");
        return then->write ? "missing-proxy-fence" : "missing-proxy-fence-after-read";
    }
    if (then_async && then->write && issue_known) {
        if ((int)then->cluster == thread->cta->cluster->index &&
            shadow_uncommitted(thread->cta->cluster, then->slot, then->epoch))
            snprintf(advice, ADVICE_TEXT, "%s", SHADOW_UNCOMMITTED);
        else
            snprintf(
                advice, ADVICE_TEXT,
                "The TMA may still be writing: the thread that issued it needs bulk_wait_group() "
                "(not ..._read, which\n    waits for shared memory alone) before it releases.");
        return now->write ? "overwritten-in-flight" : "read-before-landed";
    }
    if (in_flight && !then->write && issue_known) {
        snprintf(
            advice, ADVICE_TEXT,
            "The copy may still be reading: its thread has to wait for it before it releases.");
        return "overwritten-while-read";
    }
    if (now->how != then->how && !now_async && !then_async &&
        (now->how == GLOBAL_STRONG || then->how == GLOBAL_STRONG)) {
        char missing[ADVICE_TEXT];
        say_missing(missing, thread, then);
        snprintf(advice, ADVICE_TEXT,
                 "One of the two is an ordinary access. Use a strong one "
                 "(ld_global_relaxed, st_global_relaxed or more),\n    or order them. %.400s",
                 missing);
        return "data-race";
    }
    const enum sim_scope needed = distance_to(thread, then);
    if (global_loses_update(now, then) && now->scope >= needed && then->scope >= needed) {
        doubt_in_next_report(DOUBT_LOST_UPDATE);
        snprintf(advice, ADVICE_TEXT,
                 "A store and an atomic addition: under another schedule the store comes last, and "
                 "the addition\n    is lost. Order the two: a reset has to acquire all additions "
                 "before it, and release those after it.");
        return "lost-update";
    }
    if (now->how == GLOBAL_STRONG && then->how == GLOBAL_STRONG) {
        snprintf(advice, ADVICE_TEXT,
                 "Their scopes are %s and %s, and the two threads are %s: both need %s (%s).",
                 scope_names[now->scope], scope_names[then->scope], apart[needed],
                 scope_names[needed], scope_words[needed]);
        return "data-race";
    }
    say_missing(advice, thread, then);
    if (now->write && then->write && !global_is_strong(now->how) && !global_is_strong(then->how)) {
        snprintf(advice, ADVICE_TEXT, "%s", one_writer_advice(pointer));
        return "global-write-write";
    }
    return "data-race";
}

/* The thread of a record, if it is still there. */
static struct sim_thread *resident(const struct global_record *record) {
    struct sim_cluster *cluster = sim.clusters;
    while (cluster && cluster->index != (int)record->cluster)
        cluster = cluster->next;
    if (!cluster) return NULL;
    const int threads = sim.launch->threads;
    return &cluster->cta[record->thread / threads].thread[record->thread % threads];
}

/* For the picture. */
static struct sim_side side_of(const struct global_record *record, bool is_now) {
    const int threads = sim.launch->threads;
    struct sim_side side = {.cta = (int)record->cluster * sim.launch->cluster +
                                   record->thread / threads,
                            .thread = record->thread % threads,
                            .cycle = is_now ? sim_now()
                                            : access_time_of((int)record->cluster, record->slot,
                                                             record->epoch, record->site)};
    source_site_raw(record->site, &side.file, &side.line);
    snprintf(side.what, sizeof side.what, "%s by %s", record->write ? "write" : "read",
             what[record->how]);
    return side;
}

void global_accuse(struct sim_thread *thread, const struct global_record *now,
                   const struct global_record *then, const void *pointer, bool one_writer) {
    char advice[ADVICE_TEXT], where[96], line[LINE_TEXT], who[WHO_TEXT];
    const struct sim_side now_side = side_of(now, true), then_side = side_of(then, false);
    global_where(pointer, where, sizeof where);
    if (one_writer) {
        sim_hazard_between(&now_side, &then_side);
        sim_hazard("global-write-write", thread,
                   "stores to %s, where %s has stored in the same launch, at %s\n    %s", where,
                   who_was(then, who), line_of(then->site, line), one_writer_advice(pointer));
        return;
    }
    const char *const kind = kind_of(advice, thread, now, then, pointer);
    /* Of an ordinary access and a strong one, and of two scopes, the weaker is the mistake. */
    const bool weaker =
        now->how == GLOBAL_STRONG &&
        (then->how == GLOBAL_LD_ST || (then->how == GLOBAL_STRONG && then->scope < now->scope));
    struct sim_thread *const other = weaker ? resident(then) : NULL;
    if (other) {
        const char *file;
        int number;
        source_site_of(then->site, &file, &number);
        sim_hazard_between(&then_side, &now_side);
        sim_hazard_at(kind, file, number, other,
                      "%s by %s of %s\n    is not ordered before the %s by %s, issued at %s by "
                      "%s.\n    %s",
                      then->write ? "write" : "read", what[then->how], where,
                      now->write ? "write" : "read", what[now->how], line_of(now->site, line),
                      sim_who(thread, who, sizeof who), advice);
        return;
    }
    sim_hazard_between(&now_side, &then_side);
    sim_hazard(kind, thread,
               "%s by %s of %s\n    is not ordered after the %s by %s, issued at %s by %s.\n    %s",
               now->write ? "write" : "read", what[now->how], where, then->write ? "write" : "read",
               what[then->how], line_of(then->site, line), who_was(then, who), advice);
}
