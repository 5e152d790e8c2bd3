/* cluster.c: what CTAs of a cluster do to each other: the cluster barrier, remote arrivals,
 * loads.
 *
 * The ISA is stricter here than good kernels are. A remote arrive has the scope of the CTA unless
 * it says .release.cluster, and so has a wait unless it says .acquire.cluster (PTX ISA 9.0 to 9.4,
 * mbarrier.arrive, mbarrier.try_wait); formally there is no order across CTAs unless both say so.
 * The simulator lets the default carry what it does carry on the GPU, the end of asynchronous reads
 * and copies that the arriving thread has waited for, and nothing that went through ld or st. That
 * takes the scope of the cluster on both sides.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hopper/cluster.h"
#include "sim/core/doubt.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/cost/timing_model.h"
#include "sim/cost/warp_timing.h"
#include "sim/order/clock.h"
#include "sim/order/release.h"
#include "sim/order/shadow.h"
#include "sim/order/tensor_shadow.h"
#include "sim/units/access.h"
#include "sim/units/mbarrier/table.h"

/* ---- the cluster barrier ---- */

struct cluster_barrier;

/* A thread of the cluster. Threads that have ended are not waited for: a call is made when it
 * ends. */
struct barrier_thread {
    struct sim_exit_call call; /* first */
    struct sim_thread *thread;
    bool arrived;        /* and has not waited since */
    uint32_t generation; /* to which it arrived */
    uint32_t relaxed;    /* its epoch when it last arrived so; 0: it has not */
    uint32_t end;        /* the generation in which it ended; UINT32_MAX: it has not */
    const char *file;    /* of its latest arrival */
    int line;
};

struct cluster_barrier {
    struct sim_cluster *cluster;
    struct sim_sync current;   /* released by those who have come */
    struct sim_sync completed; /* what `current` was when all had come: no thread gets there
                                * again before all have acquired it */
    struct sim_wait_queue waiters;
    int expected, arrived;
    uint32_t generation;
    uint64_t completed_at;          /* when the generation before was complete */
    struct barrier_thread *members; /* [threads of the cluster] */
};

static void describe_barrier(const struct sim_thread *thread, const void *object, char *text,
                             size_t size) {
    const struct cluster_barrier *const barrier = object;
    (void)thread;
    snprintf(text, size, "cluster_sync: %d of the cluster's %d threads have arrived",
             barrier->arrived, barrier->expected);
}

static bool awaits(const struct sim_thread *waiter, const struct sim_thread *other) {
    return other->wait != waiter->wait && other->state != THREAD_DONE &&
           other->cta->cluster == waiter->cta->cluster;
}

static const struct sim_wait wait_for_cluster = {describe_barrier, awaits, false, false};

static void release_if_complete(struct cluster_barrier *barrier) {
    if (barrier->arrived == 0 || barrier->arrived < barrier->expected) return;
    barrier->arrived = 0;
    ++barrier->generation;
    barrier->completed_at = sim_now();
    sim_sync_clear(&barrier->completed);
    sim_sync_join(barrier->cluster, &barrier->completed, &barrier->current);
    sim_sync_clear(&barrier->current);
    sim_wake_all(&barrier->waiters, sim_now());
}

static void thread_ends(struct sim_exit_call *call) {
    struct barrier_thread *const member = (struct barrier_thread *)call;
    struct cluster_barrier *const barrier = member->thread->cta->cluster->barrier;
    member->end = barrier->generation;
    if (!doubtful_rules) sim_release(member->thread, &barrier->current);
    --barrier->expected;
    if (member->arrived && member->generation == barrier->generation) --barrier->arrived;
    release_if_complete(barrier);
}

static struct cluster_barrier *barrier_of(struct sim_cluster *cluster) {
    if (cluster->barrier) return cluster->barrier;
    struct cluster_barrier *const barrier = sim_arena_alloc(cluster, sizeof *barrier);
    const int threads = cluster->cta[0].threads;
    barrier->cluster = cluster;
    barrier->members =
        sim_arena_alloc(cluster, (size_t)(cluster->ctas * threads) * sizeof *barrier->members);
    for (int i = 0; i < cluster->ctas * threads; ++i) {
        struct sim_thread *const thread = &cluster->cta[i / threads].thread[i % threads];
        if (thread->state == THREAD_DONE) {
            if (!doubtful_rules) sim_release(thread, &barrier->current);
            continue;
        }
        barrier->members[i].end = UINT32_MAX;
        ++barrier->expected;
        barrier->members[i].call.call = thread_ends;
        barrier->members[i].thread = thread;
        sim_at_thread_exit(thread, &barrier->members[i].call);
    }
    return cluster->barrier = barrier;
}

static struct barrier_thread *member_of(struct cluster_barrier *barrier,
                                        const struct sim_thread *thread) {
    return &barrier->members[thread->cta->rank * thread->cta->threads + thread->index];
}

static void arrive(struct cluster_barrier *barrier, bool relaxed) {
    struct sim_thread *const thread = sim_thread();
    struct barrier_thread *const member = member_of(barrier, thread);
    if (member->arrived)
        sim_fatal("cluster-barrier", thread,
                  "arrives at the cluster's barrier again\n"
                  "    every thread calls cluster_wait() between two arrivals");
    if (relaxed) {
        member->relaxed = thread->epoch;
        sim_release_executed(thread, &barrier->current);
        thread->epoch = member->relaxed + 1;
        mbarrier_release_fenced(thread, &barrier->current);
    } else
        sim_release(thread, &barrier->current);
    member->file = thread->self.file;
    member->line = thread->self.line;
    member->arrived = true;
    member->generation = barrier->generation;
    ++barrier->arrived;
    release_if_complete(barrier);
}

static void await(struct cluster_barrier *barrier) {
    struct sim_thread *const thread = sim_thread();
    struct barrier_thread *const member = member_of(barrier, thread);
    if (!member->arrived)
        sim_fatal("cluster-barrier", thread,
                  "waits at the cluster's barrier without an arrival\n"
                  "    call cluster_arrive() before each cluster_wait(), in every thread");
    while (barrier->generation == member->generation)
        sim_block(&barrier->waiters, &wait_for_cluster, barrier);
    member->arrived = false;
    sim_acquire(thread, &barrier->completed);
}

static void meet(bool relaxed) {
    const struct sim_thread *const thread = sim_thread();
    struct cluster_barrier *const barrier = barrier_of(thread->cta->cluster);
    arrive(barrier, relaxed);
    await(barrier);
    sim_advance(thread->lane == 0 ? CLUSTER_BARRIER_CYCLES : 0);
    sim_maybe_yield();
}

void sim_cluster_sync(void) { meet(false); }

void sim_cluster_sync_relaxed(void) { meet(true); }

void sim_cluster_arrive(void) {
    arrive(barrier_of(sim_thread()->cta->cluster), false);
    sim_maybe_yield();
}

void sim_cluster_arrive_relaxed(void) {
    arrive(barrier_of(sim_thread()->cta->cluster), true);
    sim_maybe_yield();
}

/* The barrier's cycles pass from its completion on, while a thread may do something else. */
void sim_cluster_wait(void) {
    const struct sim_thread *const thread = sim_thread();
    struct cluster_barrier *const barrier = barrier_of(thread->cta->cluster);
    await(barrier);
    const uint64_t end = barrier->completed_at + CLUSTER_BARRIER_CYCLES, now = sim_now();
    sim_advance(thread->lane == 0 && now < end ? end - now : 0);
    sim_maybe_yield();
}

/* ---- for reports ---- */

bool cluster_barrier_was_relaxed(const struct sim_thread *thread, int slot, uint32_t epoch,
                                 char *text, size_t size) {
    const struct sim_cluster *const cluster = thread->cta->cluster;
    struct cluster_barrier *const barrier = cluster->barrier;
    if (!barrier || slot >= cluster->ctas * thread->cta->threads) return false;
    const struct barrier_thread *const other = &barrier->members[slot];
    const struct barrier_thread *const own = member_of(barrier, thread);
    if (!other->relaxed || other->relaxed < epoch || own->arrived ||
        own->generation < other->generation)
        return false;
    snprintf(text, size,
             "The cluster's barrier at %s:%d comes between the two, but it is relaxed and orders "
             "nothing but\n    initializations of mbarriers: cluster_sync() does.",
             source_name(other->file), other->line);
    return true;
}

bool cluster_barrier_follows_end(const struct sim_cta *cta, const struct sim_thread *thread) {
    struct cluster_barrier *const barrier = cta->cluster->barrier;
    if (!barrier) return false;
    const uint32_t end = member_of(barrier, thread)->end;
    for (int i = 0; i < cta->threads; ++i) {
        const struct barrier_thread *const own = member_of(barrier, &cta->thread[i]);
        if (own->file && !own->arrived && own->generation >= end) return true;
    }
    return false;
}

struct cluster_arrival cluster_arrival_of(const struct sim_thread *thread) {
    struct cluster_barrier *const barrier = thread->cta->cluster->barrier;
    const struct barrier_thread *const member = barrier ? member_of(barrier, thread) : NULL;
    if (!member || !member->arrived) return (struct cluster_arrival){NULL, 0};
    return (struct cluster_arrival){member->file, member->line};
}

const char *cluster_exit_advice(struct cluster_arrival arrival, char *text, size_t size) {
    if (arrival.file)
        snprintf(text, size,
                 "its arrival at the cluster's barrier, at %s:%d, comes too early.\n    That "
                 "arrival has to come after this",
                 source_name(arrival.file), arrival.line);
    else
        snprintf(text, size, "end the kernel with a cluster_sync()");
    return text;
}

/* ---- remote arrivals ---- */

struct arrival {
    struct sim_job job; /* first */
    struct mbarrier_record *record;
    struct remote_arrival *noted;
    const struct sim_thread *issuer;
    struct mbarrier_arrival how;
};

static void arrival_lands(struct sim_job *job) {
    struct arrival *const arrival = (struct arrival *)job;
    struct mbarrier_record *const record = arrival->record;
    arrival->noted->landed = true;
    arrival->noted->landed_phase = record->state.phase + 1;
    mbarrier_count_arrival(record, arrival->issuer, arrival->how);
    free(arrival);
}

static void cancel(struct sim_job *job) { free(job); }

/* Notes it for the check at the end of the target CTA: the newest of each thread stands for those
 * before. */
static struct remote_arrival *note(struct mbarrier_record *record, const struct sim_thread *thread,
                                   bool cluster_scope) {
    struct remote_arrival *noted = record->remote;
    while (noted && noted->issuer != thread)
        noted = noted->next;
    if (!noted) {
        noted = sim_arena_alloc(record->cta->cluster, sizeof *noted);
        noted->issuer = thread;
        noted->next = record->remote;
        record->remote = noted;
    }
    noted->epoch = thread->epoch;
    noted->cluster_scope = cluster_scope;
    noted->landed = false;
    noted->after = cluster_arrival_of(thread);
    noted->file = thread->self.file;
    noted->line = thread->self.line;
    return noted;
}

void sim_mbarrier_arrive_remote_as(uint64_t *barrier, uint32_t rank, bool cluster_scope,
                                   struct mbarrier_arrival how) {
    struct sim_thread *const thread = sim_thread();
    static const char operation[] = "remote mbarrier.arrive";
    const struct sim_shared_pointer own = sim_shared_at(barrier, sizeof *barrier, sizeof *barrier);
    const struct sim_shared_pointer target = sim_shared_map(own, rank);
    if (target.cta == thread->cta) {
        sim_mbarrier_arrive_as(barrier, how);
        return;
    }
    check_target_alive(target.cta, operation);
    struct mbarrier_record *const record = mbarrier_find(target, operation);
    struct arrival *const arrival = host_zeroed(1, sizeof *arrival, "a remote arrival");
    arrival->record = record;
    arrival->noted = note(record, thread, cluster_scope);
    arrival->issuer = thread;
    arrival->how = how;
    arrival->job.complete = arrival_lands;
    arrival->job.cancel = cancel;
    arrival->job.cluster = thread->cta->cluster;
    /* With the scope of the CTA on either side, only the end of asynchronous reads and copies that
     * this thread knows of travels along. It is joined now, not when the arrival lands; no phase
     * can complete in between unless the counts are wrong, too. */
    sim_release_async_only(thread, &record->current);
    if (sim.tensor_memory && !cluster_scope) record->narrow = true;
    if (sim.tensor_memory && !how.relaxed && !all_doubtful_rules) {
        tensor_fence_before(thread);
        sim_clock_join(record->cta->cluster, &record->current_remote, &thread->x);
        sim_clock_raise(record->cta->cluster, &record->current_remote, thread->slot, thread->epoch);
        ++thread->epoch;
    }
    if (cluster_scope && how.relaxed) {
        sim_release_executed(thread, &record->current_cluster);
        release_arrive(thread, &record->current_cluster, SIM_SCOPE_CLUSTER);
    } else if (cluster_scope)
        sim_release(thread, &record->current_cluster);
    sim_advance(MBARRIER_ARRIVE_CYCLES);
    sim_job_start(&arrival->job, sim_now() + REMOTE_ARRIVE_CYCLES);
    sim_maybe_yield();
}

void sim_mbarrier_arrive_remote(uint64_t *barrier, uint32_t rank) {
    sim_mbarrier_arrive_remote_as(barrier, rank, false, MBARRIER_ONE_ARRIVAL);
}

void sim_mbarrier_arrive_remote_relaxed(uint64_t *barrier, uint32_t rank) {
    sim_mbarrier_arrive_remote_as(barrier, rank, true,
                                  (struct mbarrier_arrival){.count = 1, .relaxed = true});
}

void sim_mbarrier_arrive_remote_release(uint64_t *barrier, uint32_t rank) {
    sim_mbarrier_arrive_remote_as(barrier, rank, true, MBARRIER_ONE_ARRIVAL);
}

/* ---- accesses of shared::cluster ---- */

/* The newest access of each thread of the cluster to a CTA that is not its own, for the check at
 * that CTA's end. */
struct remote_accesses {
    struct sim_exit_call call; /* first */
    const struct sim_cta *cta;
    struct remote_access {
        uint32_t epoch; /* of the thread; 0: none */
        enum sim_access access;
        const char *file;
        int line;
        struct cluster_arrival after;
    } newest[]; /* [rank][thread] */
};

static void check_accesses_at_exit(struct sim_exit_call *call) {
    const struct remote_accesses *const accesses = (struct remote_accesses *)call;
    const struct sim_cluster *const cluster = accesses->cta->cluster;
    const int threads = accesses->cta->threads;
    for (int i = 0; i < cluster->ctas * threads; ++i) {
        const struct remote_access *const a = &accesses->newest[i];
        const struct sim_thread *const thread = &cluster->cta[i / threads].thread[i % threads];
        const bool read = a->access == SIM_READ;
        char advice[EXIT_ADVICE];
        if (!a->epoch || cta_is_ordered_after(accesses->cta, thread->slot, a->epoch)) continue;
        if (cluster_barrier_follows_end(accesses->cta, thread))
            doubt_in_next_report(DOUBT_EXIT_RELEASES);
        sim_hazard_at(read ? "exit-before-remote-read" : "exit-before-remote-write", a->file,
                      a->line, thread,
                      "%s the shared memory of the CTA of rank %d, which may have ended by then\n"
                      "    a CTA must not end while a peer still %s its shared memory: %s",
                      read ? "reads" : "writes", accesses->cta->rank, read ? "reads" : "writes",
                      cluster_exit_advice(a->after, advice, sizeof advice));
    }
}

static void note_access(struct sim_cta *target, const struct sim_thread *thread,
                        enum sim_access access) {
    const struct sim_cluster *const cluster = target->cluster;
    struct sim_exit_call *call = target->at_exit;
    while (call && call->call != check_accesses_at_exit)
        call = call->next;
    struct remote_accesses *accesses = (struct remote_accesses *)call;
    if (!accesses) {
        const size_t count = (size_t)(cluster->ctas * target->threads);
        accesses =
            sim_arena_alloc(target->cluster, sizeof *accesses + count * sizeof accesses->newest[0]);
        accesses->call.call = check_accesses_at_exit;
        accesses->cta = target;
        sim_at_cta_exit(target, &accesses->call);
    }
    accesses->newest[thread->cta->rank * target->threads + thread->index] = (struct remote_access){
        thread->epoch, access, thread->self.file, thread->self.line, cluster_arrival_of(thread)};
}

void cluster_access_begins(struct sim_shared_pointer target, size_t bytes, enum sim_access access) {
    struct sim_thread *const thread = sim_thread();
    const bool remote = target.cta != thread->cta, read = access == SIM_READ;
    check_target_alive(target.cta, read ? "ld.shared::cluster" : "st.shared::cluster");
    if (remote) note_access(target.cta, thread, access);
    if (sim_timed())
        timing_access(thread,
                      remote ? TIMING_LD_CLUSTER
                      : read ? TIMING_LD_SHARED
                             : TIMING_ST_SHARED,
                      target.offset, (unsigned)bytes);
    if (!read) sim_progress();
}

unsigned char *sim_access_cluster(struct sim_shared_pointer target, size_t bytes,
                                  enum sim_access access) {
    cluster_access_begins(target, bytes, access);
    sim_shadow_generic(sim_thread(), target.cta, target.offset, bytes, access);
    return target.host;
}

void sim_store_cluster(struct sim_shared_pointer target, const void *value, size_t bytes) {
    cluster_access_begins(target, bytes, SIM_WRITE);
    sim_shadow_store(sim_thread(), target.cta, target.offset, bytes, value);
    memcpy(target.host, value, bytes);
}

struct b128 sim_ld_shared_cluster_b128(const void *pointer, uint32_t rank) {
    struct b128 value;
    const struct sim_shared_pointer target =
        sim_shared_map(sim_shared_at(pointer, sizeof value, sizeof value), rank);
    memcpy(&value, sim_access_cluster(target, sizeof value, SIM_READ), sizeof value);
    return value;
}
