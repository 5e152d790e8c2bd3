/*
 * table.c: the mbarriers of a cluster: finding one, judging whether the thread that uses
 * it may, and what is still open on those of a CTA that ends.
 */
#include "sim/units/mbarrier/table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sim/core/doubt.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/models/mbarrier_state.h"
#include "sim/order/clock.h"

/* Per CTA, so that its barriers are looked at when it ends. */
struct mbarrier_exit {
    struct sim_exit_call call; /* first */
    struct sim_cta *cta;
};

/* ---- names ---- */

/* Its place among the CTA's barriers that the same line has made. */
static int number_of(const struct mbarrier_record *record) {
    const struct mbarrier_table *const table = record->cta->cluster->mbarriers;
    int number = 0;
    for (uint32_t i = 0; i < table->count; ++i) {
        const struct mbarrier_record *const other = table->record[i];
        number += other->cta == record->cta && other->offset < record->offset &&
                  other->file == record->file && other->line == record->line &&
                  !strcmp(other->text, record->text);
    }
    return number;
}

static size_t identifier(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        ++length;
    return length;
}

/* Names the barrier as the kernel has it: inside a verb, "&ring[i].full" is the barrier "full" of
 * an element of "&shared->ring", and its address tells which. */
static void name_it(struct mbarrier_record *record, const void *barrier, const char *text,
                    const struct sim_self *self) {
    const char *const from = text + (*text == '&'), *object = self->object;
    const size_t length = object ? identifier(from) : 0;
    record->text = text;
    record->number = -1;
    if (!length || strlen(self->alias) != length || strncmp(from, self->alias, length)) return;
    object += *object == '&';
    char whole[128];
    snprintf(whole, sizeof whole, "&%s%s", object, from + length);
    record->text = source_keep(whole);
    if (!strchr(object, '[')) /* an array, and not one of several */
        record->number = (int)(((const char *)barrier - (const char *)self->first) / self->bytes);
}

/* "&shared->full[stage]" is called full[2], if its number is known to be 2, or if it is the third
 * that its line has made. */
const char *mbarrier_short_name(const struct mbarrier_record *record, char *text, size_t size) {
    const char *from = record->text + (*record->text == '&');
    const size_t pointer = identifier(from); /* "shared" */
    if (pointer && !strncmp(from + pointer, "->", 2)) from += pointer + 2;
    const char *const open = strchr(from, '['), *const close = strrchr(from, ']');
    if (open && close > open)
        snprintf(text, size, "%.*s[%d]%s", (int)(open - from), from,
                 record->number < 0 ? number_of(record) : record->number, close + 1);
    else
        snprintf(text, size, "%s", from);
    return text;
}

const char *mbarrier_name(const struct mbarrier_record *record, char *text, size_t size) {
    char where[96], name[64];
    snprintf(text, size, "mbarrier %s at %s, initialized at %s:%d for %d arrival%s",
             mbarrier_short_name(record, name, sizeof name),
             sim_where(record->cta, record->offset, where, sizeof where), source_name(record->file),
             record->line, record->state.expected, record->state.expected == 1 ? "" : "s");
    return text;
}

void mbarrier_report(const char *kind, const struct mbarrier_record *record,
                     const struct sim_thread *thread, const char *what) {
    char name[256];
    sim_hazard(kind, thread, "%s\n    %s; phase %u, pending %d, tx-count %d", what,
               mbarrier_name(record, name, sizeof name), record->state.phase, record->state.pending,
               record->state.tx);
}

/* ---- finding a barrier ---- */

static uint32_t generation_of(const struct sim_cta *cta) {
    return (uint32_t)cta->cluster->index + 1;
}

struct mbarrier_record *mbarrier_lookup(struct sim_shared_pointer pointer) {
    uint64_t word;
    uint32_t index;
    memcpy(&word, pointer.host, sizeof word);
    const struct mbarrier_table *const table = pointer.cta->cluster->mbarriers;
    if (!table || !mbarrier_word_decode(word, generation_of(pointer.cta), &index)) return NULL;
    if (index >= table->count) return NULL;
    struct mbarrier_record *const record = table->record[index];
    return record->cta == pointer.cta && record->offset == pointer.offset ? record : NULL;
}

bool mbarrier_is_after_fence(const struct mbarrier_record *record,
                             const struct sim_thread *thread) {
    return record->fence_epoch &&
           sim_happens_before(thread, record->fence_slot, record->fence_epoch);
}

bool mbarrier_may_lack_fence(const struct mbarrier_record *record,
                             const struct sim_thread *thread) {
    if (!sim_happens_before(thread, record->initializer->slot, record->init_epoch)) return false;
    if (doubtful_rules) doubt_in_next_report(DOUBT_INIT_FENCE);
    return !doubtful_rules;
}

struct mbarrier_record *mbarrier_find(struct sim_shared_pointer pointer, const char *operation) {
    struct sim_thread *const thread = sim_thread();
    struct mbarrier_record *const record = mbarrier_lookup(pointer);
    char where[96];
    if (!record)
        sim_fatal("mbarrier-uninitialized", thread,
                  "%s: there is no mbarrier at %s: it was never initialized, or was overwritten\n"
                  "    initialize it with mbarrier_init(), and put a barrier before its first use",
                  operation, sim_where(pointer.cta, pointer.offset, where, sizeof where));
    if (thread == record->initializer) return record;
    const int slot = record->initializer->slot;
    if (thread->cta == record->cta) {
        if (!sim_happens_before(thread, slot, record->init_epoch) &&
            !mbarrier_is_after_fence(record, thread))
            mbarrier_report(
                "mbarrier-init-order", record, thread,
                thread->cta->cluster->ctas > 1 && !record->fence_epoch
                    ? "used by a thread that is not ordered after the barrier's initialization\n"
                      "    put __syncthreads() or cluster_sync() between mbarrier_init() and the "
                      "first use; cluster_sync_relaxed() is enough only after "
                      "fence_mbarrier_init()"
                    : "used by a thread that is not ordered after the barrier's initialization\n"
                      "    put __syncthreads() between mbarrier_init() and the first use");
    } else if (mbarrier_is_after_fence(record, thread) || mbarrier_may_lack_fence(record, thread))
        return record;
    else if (!record->fence_epoch)
        mbarrier_report(
            "missing-fence-mbarrier-init", record, thread,
            "another CTA uses the barrier, but its initialization was never made visible to the "
            "cluster\n"
            "    the initializing thread must call fence_mbarrier_init(), then cluster_sync()");
    else
        mbarrier_report(
            "mbarrier-init-order", record, thread,
            "another CTA uses the barrier and is not ordered after its fence_mbarrier_init()\n"
            "    put cluster_sync() between the fence and the first use");
    return record;
}

/* ---- the end of a CTA ---- */

bool cta_is_ordered_after(const struct sim_cta *cta, int slot, uint32_t epoch) {
    for (int i = 0; i < cta->threads; ++i)
        if (sim_happens_before(&cta->thread[i], slot, epoch)) return true;
    return false;
}

void check_target_alive(const struct sim_cta *target, const char *operation) {
    char advice[EXIT_ADVICE];
    if (target->exited)
        sim_fatal(
            "cta-exited", sim_thread(),
            "%s: the target CTA (rank %d of the cluster) has exited, its shared memory is gone\n"
            "    a CTA must not end while a peer still accesses its shared memory: %s",
            operation, target->rank,
            cluster_exit_advice(cluster_arrival_of(sim_thread()), advice, sizeof advice));
}

/* ---- for reports ---- */

bool mbarrier_scope_too_narrow(const struct sim_thread *thread, int slot, uint32_t epoch,
                               char *text, size_t size) {
    const struct mbarrier_table *const table = thread->cta->cluster->mbarriers;
    const struct remote_arrival *found = NULL;
    for (uint32_t i = 0; table && i < table->count; ++i) {
        const struct mbarrier_record *const record = table->record[i];
        if (record->cta != thread->cta) continue;
        for (const struct remote_arrival *a = record->remote; a; a = a->next) {
            const bool covers = a->issuer->slot == slot
                                    ? a->epoch >= epoch
                                    : sim_happens_before(a->issuer, slot, epoch);
            if (covers && a->landed && sim_happens_before(thread, record->slot, a->landed_phase) &&
                (!found || a->cluster_scope))
                found = a;
        }
    }
    if (!found) return false;
    if (found->cluster_scope)
        snprintf(text, size,
                 "The arrival at %s:%d has the scope of the cluster, but the wait for it has that "
                 "of the CTA:\n    wait by mbarrier_wait_cluster().",
                 source_name(found->file), found->line);
    else
        snprintf(text, size,
                 "The arrival at %s:%d has the scope of the CTA, which orders no ld or st for "
                 "another CTA:\n    arrive by mbarrier_arrive_remote_release() and wait by "
                 "mbarrier_wait_cluster().",
                 source_name(found->file), found->line);
    return true;
}

/* ---- at the end of a CTA ---- */

static void check_copies_at_exit(struct mbarrier_record *record) {
    if (record->copy_epoch &&
        !cta_is_ordered_after(record->cta, record->slot, record->copy_epoch)) {
        char name[256];
        sim_hazard_at(
            "unwaited-copy", record->copy_file, record->copy_line, record->copy_issuer,
            "the CTA ends and none of its threads has waited for this copy into its shared memory\n"
            "    it completes phase %u of the %s\n"
            "    load no more than is used, or wait for the phase before the end: the CTA loses "
            "its "
            "shared memory when it ends",
            record->copy_epoch - 1, mbarrier_name(record, name, sizeof name));
    }
    while (record->in_flight)
        sim_job_force(record->in_flight->job);
}

static void check_arrivals_at_exit(const struct mbarrier_record *record) {
    for (const struct remote_arrival *a = record->remote; a; a = a->next) {
        char name[256], advice[EXIT_ADVICE];
        const bool waited =
            a->landed && cta_is_ordered_after(record->cta, record->slot, a->landed_phase);
        if (waited || cta_is_ordered_after(record->cta, a->issuer->slot, a->epoch)) continue;
        if (cluster_barrier_follows_end(record->cta, a->issuer))
            doubt_in_next_report(DOUBT_EXIT_RELEASES);
        sim_hazard_at("exit-before-remote-arrival", a->file, a->line, a->issuer,
                      "arrives on a barrier of another CTA, which may have ended by then\n"
                      "    the CTA that owns the barrier must wait for that phase, or %s\n    %s",
                      cluster_exit_advice(a->after, advice, sizeof advice),
                      mbarrier_name(record, name, sizeof name));
    }
}

static void at_cta_exit(struct sim_exit_call *call) {
    struct sim_cta *const cta = ((struct mbarrier_exit *)call)->cta;
    const struct mbarrier_table *const table = cta->cluster->mbarriers;
    for (uint32_t i = 0; i < table->count; ++i) {
        if (table->record[i]->cta != cta) continue;
        check_copies_at_exit(table->record[i]);
        check_arrivals_at_exit(table->record[i]);
    }
}

/* ---- a barrier more ---- */

static const char *name_of_copies(const struct mbarrier_record *record, const char *copy) {
    enum { BYTES = 112 };
    char name[64];
    char *const text = sim_arena_alloc(record->cta->cluster, BYTES);
    snprintf(text, BYTES, "%s (for %s)", copy, mbarrier_short_name(record, name, sizeof name));
    return text;
}

void mbarrier_set_copies(const struct mbarrier_record *record, const char *copy) {
    struct sim_slot *const slot = &record->cta->cluster->slot[record->slot];
    if (strncmp(slot->what, copy, strlen(copy)) != 0) slot->what = name_of_copies(record, copy);
}

struct mbarrier_record *mbarrier_new(struct sim_shared_pointer pointer, const char *text) {
    const struct sim_self *const self = &sim_thread()->self;
    struct sim_cluster *const cluster = pointer.cta->cluster;
    if (!cluster->mbarriers)
        cluster->mbarriers = sim_arena_alloc(cluster, sizeof *cluster->mbarriers);
    struct mbarrier_table *const table = cluster->mbarriers;
    bool first_of_cta = true;
    for (uint32_t i = 0; i < table->count; ++i)
        first_of_cta &= table->record[i]->cta != pointer.cta;
    if (first_of_cta) {
        struct mbarrier_exit *const exit_call = sim_arena_alloc(cluster, sizeof *exit_call);
        exit_call->call.call = at_cta_exit;
        exit_call->cta = pointer.cta;
        sim_at_cta_exit(pointer.cta, &exit_call->call);
    }
    if (table->count == table->room) {
        const uint32_t room = table->room ? 2 * table->room : 16;
        struct mbarrier_record **const grown = sim_arena_alloc(cluster, room * sizeof(*grown));
        if (table->count) memcpy(grown, table->record, table->count * sizeof *grown);
        table->record = grown;
        table->room = room;
    }
    struct mbarrier_record *const record = sim_arena_alloc(cluster, sizeof *record);
    table->record[table->count] = record;
    const uint64_t word = mbarrier_word(table->count++, generation_of(pointer.cta));
    memcpy(pointer.host, &word, sizeof word);
    record->cta = pointer.cta;
    record->offset = pointer.offset;
    record->file = self->file;
    record->line = self->line;
    name_it(record, pointer.host, text, self);
    const size_t words = (size_t)(cluster->ctas * pointer.cta->threads + 63) / 64;
    record->arrivers = sim_arena_alloc(cluster, words * sizeof *record->arrivers);
    record->last_arrivers = sim_arena_alloc(cluster, words * sizeof *record->arrivers);
    record->slot = sim_slot_new(cluster, name_of_copies(record, "TMA load"), true, NULL);
    return record;
}
