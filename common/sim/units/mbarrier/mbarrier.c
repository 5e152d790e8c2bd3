/*
 * mbarrier.c: the instructions on mbarriers: who releases what to whom, and what can go wrong.
 */
#include <stdio.h>
#include <string.h>

#include "hopper/mbarrier.h"
#include "sim/core/doubt.h"
#include "sim/core/events.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/cost/timing_model.h"
#include "sim/order/clock.h"
#include "sim/order/release.h"
#include "sim/order/shadow.h"
#include "sim/order/tensor_shadow.h"
#include "sim/units/mbarrier/table.h"

/* ---- events and descriptions ---- */

/* `flipped`: what happened has completed the phase. The state before the flip is reported: nothing
 * pending, no bytes missing; the flip is an event of its own. */
static void event(enum sim_event_kind kind, const struct mbarrier_record *record,
                  const struct sim_thread *thread, int64_t argument, bool flipped) {
    if (!sim_recording()) return;
    const uint64_t now = sim_now();
    const struct sim_event e = {.kind = kind,
                                .begin = now,
                                .end = now,
                                .cta = record->cta,
                                .thread = thread ? thread->index : -1,
                                .by_cta = thread ? thread->cta->index : record->cta->index,
                                .argument = argument,
                                .offset = record->offset,
                                .phase = record->state.phase - flipped,
                                .pending = flipped ? 0 : (unsigned)record->state.pending,
                                .expected = (unsigned)record->state.expected,
                                .tx = flipped ? 0 : record->state.tx,
                                .file = thread ? thread->self.file : NULL,
                                .line = thread ? thread->self.line : 0,
                                .name = record->text};
    sim_event_hook(&e);
}

static void describe_wait(const struct sim_thread *thread, const void *object, char *text,
                          size_t size) {
    (void)thread;
    const struct mbarrier_record *const record = object;
    char name[256], bytes[96] = "no bytes missing";
    const int pending = record->state.pending;
    const int tx = record->state.tx;
    if (tx > 0)
        snprintf(bytes, sizeof bytes, "%d bytes still missing", tx);
    else if (tx < 0)
        snprintf(bytes, sizeof bytes, "%d bytes more have landed than were announced", -tx);
    snprintf(text, size, "phase %u (parity %u) of the %s: %d arrival%s pending%s, %s",
             record->state.phase, record->state.phase & 1, mbarrier_name(record, name, sizeof name),
             pending, pending == 1 ? "" : "s",
             pending == record->state.expected ? ", no thread has arrived" : "", bytes);
}

static int thread_in_cluster(const struct sim_thread *thread) {
    return thread->cta->rank * thread->cta->threads + thread->index;
}

static size_t arriver_bytes(const struct sim_cluster *cluster) {
    return (size_t)(cluster->ctas * cluster->cta[0].threads + 63) / 64 * sizeof(uint64_t);
}

static void report_tx(struct mbarrier_record *record, const struct sim_thread *thread) {
    mbarrier_report("mbarrier-tx", record, thread,
                    "the tx-count leaves its range of +-(2^20 - 1)\n"
                    "    announce exactly the bytes that the copies of one phase bring");
}

/* ---- init ---- */

void sim_mbarrier_init(uint64_t *barrier, int arrivals, const char *text) {
    struct sim_thread *const thread = sim_thread();
    const struct sim_shared_pointer pointer =
        sim_shared_at(barrier, sizeof *barrier, sizeof *barrier);
    struct mbarrier_record *record = mbarrier_lookup(pointer);
    struct mbarrier_state state;
    if (mbarrier_state_init(&state, arrivals))
        sim_fatal("mbarrier-count", thread,
                  "mbarrier_init() cannot expect %d arrivals\n    Pass 1 to 2^20 - 1.", arrivals);
    if (record) {
        char what[160];
        snprintf(what, sizeof what,
                 "initialized again %s\n"
                 "    initialize it once, by one thread, before the first use, or call "
                 "mbarrier_inval() first",
                 record->waiters.head ? "while threads wait on it" : "although it is in use");
        mbarrier_report("mbarrier-reinit", record, thread, what);
        state.phase = record->state.phase; /* epochs of copies must not begin again */
        state.phase += state.phase & 1;
    } else {
        sim_shadow_mbarrier(thread, pointer.cta, pointer.offset, true);
        record = mbarrier_new(pointer, text);
    }
    record->state = state;
    record->initializer = thread;
    record->init_epoch = thread->epoch;
    record->fence_epoch = 0;
    sim_advance(MBARRIER_ARRIVE_CYCLES);
    event(SIM_EVENT_BARRIER_INIT, record, thread, arrivals, false);
}

/* The thread uses the barrier: one that invalidates it has to be ordered after that. */
static void note_use(struct mbarrier_record *record, const struct sim_thread *thread) {
    sim_clock_raise(record->cta->cluster, &record->uses, thread->slot, thread->epoch);
}

void sim_fence_mbarrier_init(void) {
    struct sim_thread *const thread = sim_thread();
    const struct mbarrier_table *const table = thread->cta->cluster->mbarriers;
    int slot = 0;
    for (uint32_t i = 0; table && i < table->count; ++i) {
        struct mbarrier_record *const record = table->record[i];
        if (record->initializer != thread) continue;
        if (!slot)
            slot = record->fence_slot
                       ? record->fence_slot
                       : sim_slot_new(thread->cta->cluster, "mbarrier_init", false, thread);
        record->fence_slot = slot;
        record->fence_epoch = thread->epoch;
    }
    if (slot) sim_acquire_slot(thread, slot, thread->epoch);
    sim_advance(FENCE_CYCLES);
}

void mbarrier_release_fenced(struct sim_thread *thread, struct sim_sync *sync) {
    struct sim_cluster *const cluster = thread->cta->cluster;
    const struct mbarrier_table *const table = cluster->mbarriers;
    for (uint32_t i = 0; table && i < table->count; ++i) {
        const struct mbarrier_record *const record = table->record[i];
        if (record->initializer == thread && record->fence_epoch)
            sim_clock_raise(cluster, &sync->c, record->fence_slot, record->fence_epoch);
    }
}

/* ---- arriving and counting bytes ---- */

/* Which thread arrives: for the report of a deadlock. */
static void note_arriver(struct mbarrier_record *record, const struct sim_thread *thread) {
    const int i = thread_in_cluster(thread);
    record->arrivers[i / 64] |= (uint64_t)1 << i % 64;
}

static bool awaits(const struct sim_thread *waiter, const struct sim_thread *other) {
    const struct mbarrier_record *const record = waiter->waits_for;
    if (other->cta->cluster != record->cta->cluster) return false;
    const int i = thread_in_cluster(other);
    return record->state.pending > 0 && record->last_arrivers[i / 64] >> i % 64 & 1 &&
           !(record->arrivers[i / 64] >> i % 64 & 1);
}

static const struct sim_wait wait_for_phase = {describe_wait, awaits, false, false};

/* The current phase has completed: its arrivals are what a waiter acquires, and the waiters go on.
 */
static void flip(struct mbarrier_record *record, const struct sim_thread *thread) {
    struct sim_cluster *const cluster = record->cta->cluster;
    sim_sync_clear(&record->completed);
    sim_sync_join(cluster, &record->completed, &record->current);
    sim_sync_clear(&record->completed_cluster);
    sim_sync_join(cluster, &record->completed_cluster, &record->current_cluster);
    sim_clock_clear(&record->completed_remote);
    sim_clock_join(cluster, &record->completed_remote, &record->current_remote);
    uint64_t *const last = record->last_arrivers;
    record->last_arrivers = record->arrivers;
    record->arrivers = last;
    memset(last, 0, arriver_bytes(cluster));
    event(SIM_EVENT_BARRIER_FLIP, record, thread, 0, false);
    for (const struct async_copy *copy = record->in_flight; copy; copy = copy->next) {
        char name[256];
        if (copy->epoch != record->state.phase) continue;
        sim_hazard_at(
            "tx-count", copy->file, copy->line, copy->issuer,
            "phase %u completes while this copy, which counts for it, is still under way\n"
            "    mbarrier_arrive_expect_tx() announced fewer bytes than the copies of the phase "
            "bring\n"
            "    %s",
            record->state.phase - 1, mbarrier_name(record, name, sizeof name));
    }
    sim_wake_all(&record->waiters, sim_now());
}

static void announce(struct mbarrier_record *record, const struct sim_thread *thread,
                     uint32_t bytes) {
    if (mbarrier_state_expect_tx(&record->state, bytes))
        report_tx(record, thread);
    else
        event(SIM_EVENT_BARRIER_EXPECT_TX, record, thread, bytes, false);
}

void mbarrier_count_arrival(struct mbarrier_record *record, const struct sim_thread *thread,
                            struct mbarrier_arrival how) {
    bool flipped;
    if (how.announce) announce(record, thread, how.bytes);
    if ((how.drop ? mbarrier_state_arrive_drop : mbarrier_state_arrive)(&record->state, how.count,
                                                                        &flipped)) {
        mbarrier_report(
            "mbarrier-arrivals", record, thread,
            "arrives although the phase already has all its arrivals\n"
            "    the count given to mbarrier_init() is too small, or a thread arrives twice in "
            "a phase");
        return;
    }
    note_arriver(record, thread);
    event(SIM_EVENT_BARRIER_ARRIVE, record, thread, how.count, flipped);
    sim_progress();
    if (flipped) flip(record, thread);
}

uint64_t sim_mbarrier_arrive_as(uint64_t *barrier, struct mbarrier_arrival how) {
    struct sim_thread *const thread = sim_thread();
    struct mbarrier_record *const record =
        mbarrier_find(sim_shared_at(barrier, sizeof *barrier, sizeof *barrier),
                      how.announce ? "mbarrier.arrive.expect_tx" : "mbarrier.arrive");
    sim_advance(how.announce ? MBARRIER_EXPECT_TX_CYCLES : MBARRIER_ARRIVE_CYCLES);
    note_use(record, thread);
    if (how.relaxed) {
        sim_release_executed(thread, &record->current);
        release_arrive(thread, &record->current, SIM_SCOPE_CTA);
    } else
        sim_release(thread, &record->current);
    const uint64_t before =
        (uint64_t)(uint32_t)record->state.pending << 32 | (uint32_t)record->state.phase;
    mbarrier_count_arrival(record, thread, how);
    sim_maybe_yield();
    return before;
}

void sim_mbarrier_arrive(uint64_t *barrier) {
    (void)sim_mbarrier_arrive_as(barrier, MBARRIER_ONE_ARRIVAL);
}

void sim_mbarrier_arrive_relaxed(uint64_t *barrier) {
    (void)sim_mbarrier_arrive_as(barrier, (struct mbarrier_arrival){.count = 1, .relaxed = true});
}

void sim_mbarrier_arrive_expect_tx(uint64_t *barrier, uint32_t bytes) {
    (void)sim_mbarrier_arrive_as(
        barrier, (struct mbarrier_arrival){.count = 1, .announce = true, .bytes = bytes});
    sim_cue(SIM_EVENT_CUE_ANNOUNCE, 0);
}

void sim_mbarrier_expect_arrival(uint64_t *barrier) {
    struct mbarrier_record *const record = mbarrier_find(
        sim_shared_at(barrier, sizeof *barrier, sizeof *barrier), "cp.async.mbarrier.arrive");
    if (record->state.pending < MBARRIER_MAX_ARRIVALS) ++record->state.pending;
}

void sim_mbarrier_expect_tx(struct sim_shared_pointer pointer, uint32_t bytes) {
    struct sim_thread *const thread = sim_thread();
    struct mbarrier_record *const record = mbarrier_find(pointer, "mbarrier.expect_tx");
    sim_advance(MBARRIER_EXPECT_TX_CYCLES);
    note_use(record, thread);
    announce(record, thread, bytes);
    sim_maybe_yield();
}

void sim_mbarrier_complete_tx(struct sim_shared_pointer pointer, uint32_t bytes) {
    struct sim_thread *const thread = sim_thread();
    struct mbarrier_record *const record = mbarrier_find(pointer, "mbarrier.complete_tx");
    bool flipped;
    sim_advance(MBARRIER_EXPECT_TX_CYCLES);
    note_use(record, thread);
    if (mbarrier_state_complete_tx(&record->state, bytes, &flipped)) {
        report_tx(record, thread);
        return;
    }
    event(SIM_EVENT_BARRIER_COMPLETE_TX, record, NULL, bytes, flipped);
    if (flipped) flip(record, thread);
    sim_maybe_yield();
}

void sim_mbarrier_arrive_landed(struct sim_shared_pointer pointer, struct sim_thread *thread,
                                int slot, uint32_t epoch, uint64_t time) {
    (void)time; /* sim_now() is the time of the job that calls */
    struct mbarrier_record *const record = mbarrier_lookup(pointer);
    char where[96];
    if (!record)
        sim_fatal("mbarrier-uninitialized", thread,
                  "cp.async.mbarrier.arrive: there is no longer an mbarrier at %s",
                  sim_where(pointer.cta, pointer.offset, where, sizeof where));
    sim_clock_raise(pointer.cta->cluster, &record->current.c, slot, epoch);
    if (sim.tensor_memory) sim_clock_raise(pointer.cta->cluster, &record->current.x, slot, epoch);
    mbarrier_count_arrival(record, thread, MBARRIER_ONE_ARRIVAL);
}

/* May the TMA signal the barrier on this thread's behalf? If it signals through the async proxy, as
 * it copies, the initialization has to be fenced: the initializer's fence.proxy.async orders it,
 * like any other access, or its fence.mbarrier_init does. */
static void check_signal(const struct mbarrier_record *record, const struct sim_thread *thread) {
    const int slot = record->initializer->slot;
    if (sim_clock_get(&thread->p, slot) >= record->init_epoch) return;
    if (mbarrier_is_after_fence(record, thread) || mbarrier_may_lack_fence(record, thread)) return;
    if (!record->fence_epoch)
        mbarrier_report(
            "missing-fence-mbarrier-init", record, thread,
            "the TMA is to signal the barrier, but its initialization has not been made visible "
            "to the async proxy\n"
            "    the initializing thread must call fence_mbarrier_init() after mbarrier_init()");
    else
        mbarrier_report("mbarrier-init-order", record, thread,
                        "the TMA is to signal the barrier for a thread that is not ordered after "
                        "the fence_mbarrier_init() that follows its initialization\n"
                        "    put __syncthreads(), or cluster_sync(), between the fence and the "
                        "first load");
}

void mbarrier_copy_begins(struct mbarrier_record *record, struct async_copy *copy,
                          struct sim_job *job) {
    check_signal(record, sim_thread());
    mbarrier_store_begins(record, copy, job);
}

void mbarrier_store_begins(struct mbarrier_record *record, struct async_copy *copy,
                           struct sim_job *job) {
    const struct sim_thread *const thread = sim_thread();
    note_use(record, thread);
    *copy = (struct async_copy){.record = record,
                                .epoch = record->state.phase + 1,
                                .issuer = thread,
                                .file = thread->self.file,
                                .line = thread->self.line,
                                .job = job,
                                .next = record->in_flight};
    record->in_flight = copy;
    record->copy_epoch = copy->epoch;
    record->copy_issuer = thread;
    record->copy_file = copy->file;
    record->copy_line = copy->line;
}

void mbarrier_copy_cancelled(struct async_copy *copy) {
    struct async_copy **link = &copy->record->in_flight;
    while (*link != copy)
        link = &(*link)->next;
    *link = copy->next;
}

void mbarrier_copy_lands(struct async_copy *copy, uint32_t bytes) {
    struct mbarrier_record *const record = copy->record;
    bool flipped;
    mbarrier_copy_cancelled(copy);
    if (mbarrier_state_complete_tx(&record->state, bytes, &flipped)) {
        report_tx(record, copy->issuer);
        return;
    }
    event(SIM_EVENT_BARRIER_COMPLETE_TX, record, NULL, bytes, flipped);
    if (flipped) flip(record, copy->issuer);
}

/* ---- waiting ---- */

/* The phase of `parity` is over: what was released to it, and the copies it counted, are ordered
 * before the thread. */
/* What remote arrivals tell of tensor memory. Whether both sides need the scope of the cluster for
 * that is in doubt; an acquire of theirs needs no tcgen05.fence, as little as one of its own CTA's
 * arrivals. */
static void hear_remote(struct mbarrier_record *record, struct sim_thread *thread,
                        bool cluster_scope, bool relaxed) {
    if (!sim.tensor_memory) return;
    if (all_doubtful_rules) {
        if (record->narrow || (!cluster_scope && record->completed_cluster.x.size))
            tensor_order_of(thread)->narrow = true;
        return;
    }
    sim_acquire_executed(thread, &record->completed_cluster);
    if (!record->completed_remote.size) return;
    sim_clock_join(record->cta->cluster, &thread->x, &record->completed_remote);
    if (!relaxed)
        sim_clock_join(record->cta->cluster, &tensor_order_of(thread)->after,
                       &record->completed_remote);
}

static void pass(struct mbarrier_record *record, struct sim_thread *thread, bool cluster_scope,
                 bool relaxed) {
    if (relaxed) {
        sim_acquire_executed(thread, &record->completed);
        sim_acquire_executed(thread, &record->completed_cluster);
        hear_remote(record, thread, true, true);
        if (sim.tensor_memory)
            sim_clock_raise(record->cta->cluster, &thread->x, record->slot, record->state.phase);
        release_waited(thread, &record->completed,
                       cluster_scope ? &record->completed_cluster : NULL, record->slot,
                       record->state.phase);
    } else {
        sim_acquire(thread, &record->completed);
        hear_remote(record, thread, cluster_scope, false);
        if (cluster_scope) sim_acquire(thread, &record->completed_cluster);
        sim_acquire_slot(thread, record->slot, record->state.phase);
    }
    event(SIM_EVENT_BARRIER_PASS, record, thread, 0, false);
    sim_advance(MBARRIER_TRY_WAIT_CYCLES);
}

/* While the thread was waiting for the phase after `phase` completed ones, did the barrier run
 * away? */
static void check_lapped(const struct mbarrier_record *record, struct sim_thread *thread,
                         uint32_t phase) {
    if (record->state.phase < phase + 2) return;
    char text[256];
    snprintf(text, sizeof text,
             "waits for phase %u, but phase %u has also completed before this thread polled again\n"
             "    the parity cannot tell the two apart: the barrier must not complete two phases "
             "before all waiters have passed",
             phase, record->state.phase - 1);
    mbarrier_report("lapped-waiter", record, thread, text);
}

/* A wait's operand is 0 or 1; a phase that is counted up without end, for one, is not. */
static void check_parity(const struct mbarrier_record *record, const struct sim_thread *thread,
                         uint32_t parity) {
    char what[128];
    if (parity <= 1) return;
    snprintf(what, sizeof what, "waits for parity %u; a parity is 0 or 1\n    pass phase & 1",
             parity);
    mbarrier_report("mbarrier-parity", record, thread, what);
}

static bool poll_barrier(const uint64_t *barrier, uint32_t parity, const char *operation,
                         bool cluster_scope, bool relaxed) {
    struct sim_thread *const thread = sim_thread();
    struct mbarrier_record *const record =
        mbarrier_find(sim_shared_at(barrier, sizeof *barrier, sizeof *barrier), operation);
    note_use(record, thread);
    check_parity(record, thread, parity);
    if (!mbarrier_state_passed(&record->state, parity)) {
        const uint32_t phase = record->state.phase;
        event(SIM_EVENT_BARRIER_WAIT, record, thread, parity, false);
        sim_park(&record->waiters, &wait_for_phase, record);
        check_lapped(record, thread, phase);
    }
    if (!mbarrier_state_passed(&record->state, parity)) return false;
    pass(record, thread, cluster_scope, relaxed);
    return true;
}

bool sim_mbarrier_test_wait(const uint64_t *barrier, uint32_t parity) {
    return sim_mbarrier_poll(barrier, parity, false, false, false);
}

/* May it fail for no reason this time? At random, or, if effects come late, before each wait. */
static bool try_wait_gives_up(const uint64_t *barrier) {
    struct sim_thread *const thread = sim_thread();
    if (sim.schedule != SCHEDULE_LATE) return sim_chance(8);
    const bool again = thread->gave_up == barrier;
    thread->gave_up = again ? NULL : barrier;
    return !again;
}

bool sim_mbarrier_poll(const uint64_t *barrier, uint32_t parity, bool may_fail, bool cluster_scope,
                       bool relaxed) {
    if (may_fail && try_wait_gives_up(barrier)) {
        sim_maybe_yield();
        return false;
    }
    return poll_barrier(barrier, parity, may_fail ? "mbarrier.try_wait" : "mbarrier.test_wait",
                        cluster_scope, relaxed);
}

bool sim_mbarrier_try_wait(const uint64_t *barrier, uint32_t parity) {
    return sim_mbarrier_poll(barrier, parity, true, false, false);
}

static void await(const uint64_t *barrier, uint32_t parity, bool cluster_scope, bool relaxed) {
    struct sim_thread *const thread = sim_thread();
    struct mbarrier_record *const record = mbarrier_find(
        sim_shared_at(barrier, sizeof *barrier, sizeof *barrier), "mbarrier.try_wait");
    note_use(record, thread);
    check_parity(record, thread, parity);
    sim_cue(SIM_EVENT_CUE_WAIT, 0);
    sim_maybe_yield();
    if (!mbarrier_state_passed(&record->state, parity))
        event(SIM_EVENT_BARRIER_WAIT, record, thread, parity, false);
    while (!mbarrier_state_passed(&record->state, parity)) {
        const uint32_t phase = record->state.phase;
        sim_block(&record->waiters, &wait_for_phase, record);
        check_lapped(record, thread, phase);
    }
    pass(record, thread, cluster_scope, relaxed);
    sim_cue(SIM_EVENT_CUE_PASS, 0);
}

void sim_mbarrier_wait(const uint64_t *barrier, uint32_t parity) {
    await(barrier, parity, false, false);
}

void sim_mbarrier_wait_cluster(const uint64_t *barrier, uint32_t parity) {
    await(barrier, parity, true, false);
}

void sim_mbarrier_wait_relaxed(const uint64_t *barrier, uint32_t parity) {
    await(barrier, parity, false, true);
}
