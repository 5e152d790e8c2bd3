/*
 * cp_async.c: copies of 4, 8 or 16 bytes that land some time after the thread has issued them.
 *
 * The copies between two commits (or arrivals) are a batch: one job, one epoch of the thread's
 * cp.async slot. The destination is poisoned at issue. Who reads it without having waited reads
 * poison, and is reported whatever the schedule, because the epoch is in no clock before the
 * wait.
 */
#include "sim/units/thread_copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hopper/cp_async.h"
#include "sim/core/events.h"
#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/jobs.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/cost/timing_model.h"
#include "sim/cost/warp_timing.h"
#include "sim/order/clock.h"
#include "sim/order/global_shadow.h"
#include "sim/order/prerequisites.h"
#include "sim/order/shadow.h"
#include "sim/units/mbarrier/table.h"

struct copy {
    unsigned char *to;
    const void *from;
    int bytes, valid; /* the rest become zeros */
};

struct copy_batch {
    struct sim_job job;           /* first */
    struct cp_async_state *owner; /* NULL once no thread will wait for it */
    uint32_t epoch;
    bool landed, awaited;
    uint64_t time; /* when the last of its copies lands */
    struct sim_thread *thread;
    const char *file; /* of its last copy */
    int line;
    struct copy *copy;
    int count, room;
    struct copy_batch *next, *next_made;
};

/* cp.async.mbarrier.arrive.noinc: happens once all batches up to `epoch` have landed. */
struct arrival {
    struct sim_shared_pointer barrier;
    uint32_t epoch;
    struct arrival *next;
};

struct cp_async_state {
    int slot;
    uint32_t epoch;                    /* of the open batch */
    struct copy_batch *open;           /* NULL: no copies since the last commit or arrival */
    struct copy_batch *pending, **end; /* closed and not yet waited for, oldest first */
    uint32_t *group; /* epoch of the last batch of each group not yet waited for */
    int groups, group_room;
    struct arrival *arrivals, **arrivals_end;
};

static struct copy_batch *made;  /* all there are */
static struct copy_batch *spare; /* those to be used again */

static struct copy_batch *new_batch(void) {
    struct copy_batch *batch = spare;
    if (!batch) {
        batch = host_zeroed(1, sizeof *batch, "asynchronous copies");
        batch->next_made = made;
        return made = batch;
    }
    spare = batch->next;
    const struct copy_batch old = *batch;
    *batch = (struct copy_batch){.copy = old.copy, .room = old.room, .next_made = old.next_made};
    return batch;
}

static void drop(struct copy_batch *batch) {
    batch->next = spare;
    spare = batch;
}

static struct cp_async_state *state_of(struct sim_thread *thread) {
    if (thread->cp_async) return thread->cp_async;
    struct cp_async_state *state = sim_arena_alloc(thread->cta->cluster, sizeof *state);
    state->slot = sim_slot_new(thread->cta->cluster, "cp.async", false, thread);
    state->epoch = 1;
    state->end = &state->pending;
    state->arrivals_end = &state->arrivals;
    return thread->cp_async = state;
}

int cp_async_slot(const struct sim_thread *thread) {
    return thread->cp_async ? thread->cp_async->slot : -1;
}

/* ---- landing ---- */

static void make_due_arrivals(struct cp_async_state *state, struct sim_thread *thread,
                              uint64_t time) {
    while (state->arrivals) {
        for (const struct copy_batch *b = state->pending; b; b = b->next)
            if (!b->landed && b->epoch <= state->arrivals->epoch) return;
        struct arrival *arrival = state->arrivals;
        state->arrivals = arrival->next;
        if (!state->arrivals) state->arrivals_end = &state->arrivals;
        sim_mbarrier_arrive_landed(arrival->barrier, thread, state->slot, arrival->epoch, time);
    }
}

static void land(struct sim_job *job) {
    struct copy_batch *batch = (struct copy_batch *)job;
    for (int i = 0; i < batch->count; ++i) {
        const struct copy *copy = &batch->copy[i];
        if (copy->valid) memcpy(copy->to, copy->from, copy->valid);
        if (copy->valid < copy->bytes)
            memset(copy->to + copy->valid, 0, (size_t)(copy->bytes - copy->valid));
    }
    batch->landed = true;
    if (batch->owner) make_due_arrivals(batch->owner, batch->thread, sim_now());
}

static void cancel(struct sim_job *job) { ((struct copy_batch *)job)->landed = true; }

/* Closes the open batch: its copies are under way as one job. */
static void close_batch(struct sim_thread *thread, struct cp_async_state *state) {
    struct copy_batch *batch = state->open;
    if (!batch) return;
    state->open = NULL;
    batch->epoch = state->epoch++;
    batch->owner = state;
    batch->thread = thread;
    batch->job.complete = land;
    batch->job.cancel = cancel;
    batch->job.cluster = thread->cta->cluster;
    *state->end = batch;
    state->end = &batch->next;
    sim_job_start(&batch->job, batch->time);
}

/* ---- the instructions ---- */

void sim_cp_async(void *shared, const void *global, int bytes, int valid_bytes) {
    struct sim_thread *thread = sim_thread();
    struct cp_async_state *state = state_of(thread);
    struct sim_shared_pointer to = sim_shared_at(shared, (size_t)bytes, (size_t)bytes);
    if (valid_bytes < 0 || valid_bytes > bytes)
        sim_fatal("misaligned", thread, "cp.async cannot copy %d valid bytes: pass 0 to %d",
                  valid_bytes, bytes);
    if (valid_bytes && (uintptr_t)global % (unsigned)bytes)
        sim_fatal(
            "misaligned", thread,
            "cp.async cannot copy from %p: the source is not %d-byte aligned; align the source",
            global, bytes);
    const enum global_kind kind =
        valid_bytes ? sim_global_check(global, (size_t)valid_bytes, SIM_READ) : GLOBAL_REFUSED;
    if (!kind) valid_bytes = 0;
    if (kind) prerequisites_check(global, (size_t)valid_bytes, SIM_READ, false);
    if (kind == GLOBAL_WRITABLE)
        sim_global_async(thread, global, (size_t)valid_bytes, GLOBAL_CP_ASYNC, state->slot,
                         state->epoch);
    if (!state->open) state->open = new_batch();
    struct copy_batch *batch = state->open;
    sim_shadow_async(thread, to.cta, to.offset, (size_t)bytes, SIM_WRITE, state->slot,
                     state->epoch);
    sim_poison(to.host, (size_t)bytes);
    if (batch->count == batch->room) {
        batch->room = batch->room ? 2 * batch->room : 8;
        batch->copy = host_grown(batch->copy, (size_t)batch->room, sizeof *batch->copy,
                                 "asynchronous copies");
    }
    batch->copy[batch->count++] = (struct copy){to.host, global, bytes, valid_bytes};
    batch->file = thread->self.file;
    batch->line = thread->self.line;
    ++sim_statistics.cp_async;
    if (!sim_timed()) return;
    uint64_t landing = valid_bytes ? timing_copy(thread, global) : sim_now() + SHARED_LATENCY;
    if (batch->time < landing) batch->time = landing;
    timing_access(thread, TIMING_CP_ASYNC, to.offset, (unsigned)bytes);
}

void sim_cp_async_16(void *shared, const void *global, int valid_bytes) {
    sim_turn(SIM_EVENT_CUE_COPY, TURN_COPY, TURN_COPY, 0);
    sim_cp_async(shared, global, 16, valid_bytes);
}

void sim_cp_async_commit_group(void) {
    struct sim_thread *thread = sim_thread();
    thread->cues |= TURN_COPY;
    struct cp_async_state *state = state_of(thread);
    close_batch(thread, state);
    if (state->groups == state->group_room) {
        int room = state->group_room ? 2 * state->group_room : 8;
        uint32_t *group = sim_arena_alloc(thread->cta->cluster, room * sizeof *group);
        if (state->groups) memcpy(group, state->group, state->groups * sizeof *group);
        state->group = group;
        state->group_room = room;
    }
    state->group[state->groups++] = state->epoch - 1;
}

static void describe_wait(const struct sim_thread *thread, const void *object, char *text,
                          size_t size) {
    (void)thread;
    const struct copy_batch *batch = object;
    snprintf(text, size, "waits for %d cp.async copies, the last issued at %s:%d", batch->count,
             source_name(batch->file), batch->line);
}

static const struct sim_wait wait_for_copies = {describe_wait, NULL, false, false};

void sim_cp_async_wait_group(int pending) {
    struct sim_thread *thread = sim_thread();
    struct cp_async_state *state = state_of(thread);
    if (pending < 0) sim_fatal("bad-argument", thread, "cp_async_wait_group(%d)", pending);
    sim_cue(SIM_EVENT_CUE_WAIT, 0);
    thread->cues &= ~(unsigned)TURN_BARRIER;
    if (state->groups <= pending) return;
    const int done = state->groups - pending;
    const uint32_t epoch = state->group[done - 1];
    while (state->pending && state->pending->epoch <= epoch) {
        struct copy_batch *batch = state->pending;
        sim_job_wait(&batch->job, &wait_for_copies, batch);
        state->pending = batch->next;
        if (!state->pending) state->end = &state->pending;
        drop(batch);
    }
    state->groups -= done;
    memmove(state->group, state->group + done, state->groups * sizeof *state->group);
    sim_acquire_slot(thread, state->slot, epoch);
    sim_maybe_yield();
}

void sim_cp_async_mbarrier_arrive_noinc(uint64_t *barrier) {
    struct sim_thread *thread = sim_thread();
    thread->cues |= TURN_COPY;
    struct cp_async_state *state = state_of(thread);
    struct sim_shared_pointer pointer = sim_shared_at(barrier, sizeof *barrier, sizeof *barrier);
    close_batch(thread, state);
    struct arrival *arrival = sim_arena_alloc(thread->cta->cluster, sizeof *arrival);
    *arrival = (struct arrival){pointer, state->epoch - 1, NULL};
    *state->arrivals_end = arrival;
    state->arrivals_end = &arrival->next;
    for (struct copy_batch *b = state->pending; b; b = b->next)
        b->awaited = true;
    make_due_arrivals(state, thread, sim_now());
    /* Batches that have landed and that only the barrier tells of need not be remembered. */
    while (state->pending && state->pending->landed && !state->groups) {
        struct copy_batch *batch = state->pending;
        state->pending = batch->next;
        drop(batch);
    }
    if (!state->pending) state->end = &state->pending;
    sim_maybe_yield();
}

/* ---- the end of a thread ---- */

void cp_async_thread_exit(struct sim_thread *thread) {
    struct cp_async_state *state = thread->cp_async;
    if (!state) return;
    bool accused = false;
    close_batch(thread, state);
    while (state->pending) {
        struct copy_batch *batch = state->pending;
        if (!batch->awaited && !accused) {
            sim_hazard_at(
                "exit-in-flight", batch->file, batch->line, thread,
                "ends while its cp.async copies may be under way: no cp_async_wait_group "
                "or barrier covers them\n"
                "    call cp_async_wait_group(0) before the end: the CTA loses its shared "
                "memory when it ends");
            accused = true;
        }
        sim_job_force(&batch->job);
        state->pending = batch->next;
        drop(batch);
    }
    state->end = &state->pending;
    make_due_arrivals(state, thread, sim_now());
}

/* A launch that was abandoned has left batches with its threads. */
void cp_async_launch_begin(void) {
    spare = NULL;
    for (struct copy_batch *batch = made; batch; batch = batch->next_made)
        drop(batch);
}

void cp_async_release(void) {
    while (made) {
        struct copy_batch *batch = made;
        made = batch->next_made;
        free(batch->copy);
        free(batch);
    }
    spare = NULL;
}
