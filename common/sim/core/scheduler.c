/*
 * scheduler.c: whose turn it is: threads and jobs under the four schedules.
 *
 *   early    threads in ascending order; jobs have completed where they started
 *   late     threads in descending order; a job only when no thread can run, newest first
 *   random   at every step a thread or a job drawn at random
 *   time     the warp with the smallest clock, or the job that is due before it
 */
#include "sim/core/scheduler.h"

#include <setjmp.h>
#include <stdlib.h>

#include "sim/core/endless.h"
#include "sim/core/events.h"
#include "sim/core/fiber.h"
#include "sim/core/grid.h"
#include "sim/core/hazards.h"
#include "sim/core/hooks.h"
#include "sim/core/jobs.h"
#include "splitmix64.h"

struct sim_state sim;
struct sim_self *sim_self;
struct sim_statistics sim_statistics;

static jmp_buf abandon_point;
static bool in_fiber;
static bool abandoned; /* set by a fiber on its way out */
static uint64_t random_state;
static unsigned random_job_share; /* one step in so many completes a job */

/* ---- random numbers ---- */

uint64_t sim_random(void) { return splitmix64(&random_state); }

bool sim_chance(unsigned one_in) {
    return sim.schedule == SCHEDULE_RANDOM && sim_random() % one_in == 0;
}

/* ---- threads ---- */

uint64_t sim_now(void) {
    if (!sim_timed()) return sim.steps;
    uint64_t time;
    if (jobs_now(&time)) return time;
    return sim_self ? sim_thread()->warp->clock + sim_thread()->cycles : sim.cycles;
}

void sim_advance(uint64_t cycles) {
    if (!sim_timed()) return;
    sim_thread()->cycles += (uint32_t)cycles;
    sim_thread()->warp->advanced = true;
}

void scheduler_advance_warp(struct sim_warp *warp) {
    if (!warp->advanced) return;
    uint32_t most = 0;
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        struct sim_thread *thread = warp->thread[lane];
        if (!thread) continue;
        if (most < thread->cycles) most = thread->cycles;
        thread->cycles = 0;
    }
    warp->clock += most;
    warp->advanced = false;
}

void scheduler_ready(struct sim_thread *thread, uint64_t time) {
    struct sim_warp *warp = thread->warp;
    thread->state = THREAD_READY;
    warp->ready |= 1u << thread->lane;
    if (sim_timed() && warp->clock < time) warp->clock = time;
}

/* Leaves the fiber; comes back when the scheduler resumes it. */
static void suspend(void) {
    struct sim_self *self = sim_self;
    fiber_suspend();
    sim_self = self;
}

static void wait_in(struct sim_wait_queue *queue, const struct sim_wait *wait, const void *object,
                    bool soft) {
    struct sim_thread *thread = sim_thread();
    thread->state = THREAD_BLOCKED;
    thread->warp->ready &= ~(1u << thread->lane);
    thread->soft = soft;
    thread->signalled = false;
    thread->wait = wait;
    thread->waits_for = object;
    thread->queue = queue;
    thread->next_waiter = queue->head;
    queue->head = thread;
    suspend();
    thread->wait = NULL;
}

void sim_block(struct sim_wait_queue *queue, const struct sim_wait *wait, const void *object) {
    wait_in(queue, wait, object, false);
}

bool sim_park(struct sim_wait_queue *queue, const struct sim_wait *wait, const void *object) {
    wait_in(queue, wait, object, true);
    return sim_thread()->signalled;
}

void sim_wake_all(struct sim_wait_queue *queue, uint64_t time) {
    ++sim.progress;
    struct sim_thread *thread = queue->head;
    queue->head = NULL;
    while (thread) {
        struct sim_thread *next = thread->next_waiter;
        thread->signalled = true;
        thread->queue = NULL;
        scheduler_ready(thread, time);
        thread = next;
    }
}

/* Ends a park without a signal. */
static void time_out(struct sim_thread *thread) {
    struct sim_thread **link = &thread->queue->head;
    while (*link != thread)
        link = &(*link)->next_waiter;
    *link = thread->next_waiter;
    thread->queue = NULL;
    scheduler_ready(thread, 0);
}

void scheduler_yield(void) { suspend(); }

void sim_maybe_yield(void) {
    if (sim_chance(4)) suspend();
}

void scheduler_abandon(void) {
#ifdef __wasm__ /* a fiber's frames lie above the scheduler's, on the same stack */
    enum { OWN_STACKS = 0 };
#else
    enum { OWN_STACKS = 1 };
#endif
    if (OWN_STACKS && in_fiber) {
        abandoned = true;
        fiber_suspend();
    }
    longjmp(abandon_point, 1);
}

/* Runs one thread until it blocks, yields or ends. */
static void run_thread(struct sim_thread *thread) {
    ++sim.steps;
    ++thread->turns;
    sim_self = &thread->self;
    in_fiber = true;
    fiber_resume(thread->fiber);
    in_fiber = false;
    sim_self = NULL;
    if (abandoned) longjmp(abandon_point, 1);
    if (thread->state != THREAD_DONE) return;
    fiber_free(thread->fiber);
    thread->fiber = NULL;
    ++sim.progress;
    if (thread->cta->cluster->live == 0) grid_retire(thread->cta->cluster);
}

/* ---- the schedules; each returns whether it found something to do ---- */

static int lowest(uint32_t mask) { return __builtin_ctz(mask); }
static int highest(uint32_t mask) { return 31 - __builtin_clz(mask); }

static bool step_early(void) {
    bool ran = false;
    for (int i = 0; i < resident_warp_count; ++i) {
        struct sim_warp *warp = resident_warps[i];
        for (uint32_t turn = warp->ready; turn; turn &= turn - 1) {
            int before_run = resident_warp_count;
            run_thread(warp->thread[lowest(turn)]);
            ran = true;
            if (resident_warp_count != before_run) return true; /* the array has changed */
        }
    }
    return ran;
}

static bool step_late(void) {
    for (int i = resident_warp_count - 1; i >= 0; --i) {
        struct sim_warp *warp = resident_warps[i];
        bool ran = warp->ready != 0;
        for (uint32_t turn = warp->ready; turn; turn &= ~(1u << highest(turn))) {
            int before_run = resident_warp_count;
            run_thread(warp->thread[highest(turn)]);
            if (resident_warp_count != before_run) return true;
        }
        if (ran) return true;
    }
    return jobs_complete_next();
}

/* Wakes parked threads of a warp although nothing has happened to them. */
static bool wake_parked(struct sim_warp *warp) {
    bool woke = false;
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        struct sim_thread *thread = warp->thread[lane];
        if (!thread || thread->state != THREAD_BLOCKED || !thread->soft) continue;
        time_out(thread);
        woke = true;
    }
    return woke;
}

static bool step_random(void) {
    if (jobs_next() && sim_random() % random_job_share == 0) return jobs_complete_next();
    int start = (int)(sim_random() % (unsigned)resident_warp_count);
    if (sim_chance(64)) wake_parked(resident_warps[start]);
    for (int i = 0; i < resident_warp_count; ++i) {
        struct sim_warp *warp = resident_warps[(start + i) % resident_warp_count];
        if (!warp->ready) continue;
        int skip = (int)(sim_random() % (unsigned)__builtin_popcount(warp->ready));
        uint32_t turn = warp->ready;
        while (skip-- > 0)
            turn &= turn - 1;
        run_thread(warp->thread[lowest(turn)]);
        return true;
    }
    return jobs_complete_next();
}

static bool step_time(void) {
    /* Running a warp a little past the next one's clock saves looking for the smallest each time.
     */
    enum { SLACK = 32 };
    struct sim_warp *next = NULL;
    uint64_t horizon = UINT64_MAX; /* the clock of the warp after it */
    for (int i = 0; i < resident_warp_count; ++i) {
        struct sim_warp *warp = resident_warps[i];
        if (!warp->ready && !warp->backlog) continue;
        if (!next || warp->clock < next->clock) {
            if (next) horizon = next->clock;
            next = warp;
        } else if (warp->clock < horizon) {
            horizon = warp->clock;
        }
    }
    const struct sim_job *job = jobs_next();
    if (job && (!next || job->time <= next->clock)) return jobs_complete_next();
    if (!next) return false;
    if (job && job->time < horizon) horizon = job->time;
    if (next->backlog && sim_hooks.settle(next, horizon == UINT64_MAX ? horizon : horizon + SLACK))
        return true;
    for (uint32_t turn = next->ready; turn; turn &= turn - 1) {
        int before_run = resident_warp_count;
        run_thread(next->thread[lowest(turn)]);
        if (resident_warp_count != before_run) return true; /* the warp is gone */
    }
    scheduler_advance_warp(next);
    return true;
}

static bool step(void) {
    switch (sim.schedule) {
    case SCHEDULE_EARLY:
        return step_early();
    case SCHEDULE_LATE:
        return step_late();
    case SCHEDULE_RANDOM:
        return step_random();
    case SCHEDULE_TIME:
        return step_time();
    }
    return false;
}

static bool wake_all_parked(void) {
    bool woke = false;
    for (int i = 0; i < resident_warp_count; ++i)
        woke |= wake_parked(resident_warps[i]);
    return woke;
}

void scheduler_begin(enum sim_schedule schedule, uint64_t seed) {
    sim.schedule = schedule;
    random_state = seed;
    /* How long jobs stay under way differs from seed to seed. */
    static const unsigned shares[] = {2, 8, 32, 256};
    random_job_share = shares[sim_random() % 4];
}

/* Apart from setjmp(): in WebAssembly each call beside that goes through JavaScript. */
static __attribute__((noinline)) bool run_all(void) {
    /* Rounds in which every parked thread was let go and nothing changed, before it is called a
     * deadlock. */
    enum { FUTILE_ROUNDS = 64 };
    int futile = 0;
    uint64_t last_progress = 0;
    while (grid_admit()) {
        if (sim.steps > endless_last_step || sim_statistics.products > endless_last_product) {
            report_endless();
            return false;
        }
        if (step()) continue;
        if (sim.progress != last_progress) futile = 0;
        last_progress = sim.progress;
        if (++futile < FUTILE_ROUNDS && wake_all_parked()) continue;
        report_deadlock();
        return false;
    }
    while (jobs_complete_next()) {
    } /* stores without a wait */
    return true;
}

bool scheduler_run(void) {
    abandoned = false;
    in_fiber = false;
    if (setjmp(abandon_point)) {
        sim_self = NULL;
        in_fiber = abandoned = false;
        return false;
    }
    return run_all();
}
