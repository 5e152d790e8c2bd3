/*
 * scheduler.c: whose turn it is. Threads, jobs, and the four schedules.
 *
 *   early    every job completes where it starts; threads run in ascending order
 *   late     a job completes when somebody has to have it, or when no thread can run: newest first;
 * threads in descending order random   at every step a thread or a job drawn at random time     the
 * warp with the smallest clock, or the job due before it
 */
#include <setjmp.h>
#include <stdlib.h>

#include "core.h"
#include "fiber.h"

struct sim_run sim;
struct sim_self *sim_self;
void (*sim_event_hook)(const struct sim_event *event);
struct sim_statistics sim_statistics;

static jmp_buf abandon_point;
static bool in_fiber;
static bool abandoned;    /* set by a fiber on its way out */
static uint64_t job_time; /* of the job being completed; 0: none is */
static bool in_job;
static uint64_t random_state;
static unsigned random_job_share; /* one step in so many completes a job */

/* ---- random numbers: splitmix64 ---- */

uint64_t sim_random(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

bool sim_chance(unsigned one_in) {
    return sim.schedule == SCHEDULE_RANDOM && sim_random() % one_in == 0;
}

/* ---- threads ---- */

uint64_t sim_now(void) {
    if (!sim_timed()) return sim.steps;
    if (in_job) return job_time;
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

static void wait_in(struct sim_wait_queue *queue, sim_describe *describe, const void *object,
                    bool soft) {
    struct sim_thread *thread = sim_thread();
    thread->state = THREAD_BLOCKED;
    thread->warp->ready &= ~(1u << thread->lane);
    thread->soft = soft;
    thread->signalled = false;
    thread->describe = describe;
    thread->waits_for = object;
    thread->queue = queue;
    thread->next_waiter = queue->head;
    queue->head = thread;
    suspend();
    thread->describe = NULL;
}

void sim_block(struct sim_wait_queue *queue, sim_describe *describe, const void *object) {
    wait_in(queue, describe, object, false);
}

bool sim_park(struct sim_wait_queue *queue, sim_describe *describe, const void *object) {
    wait_in(queue, describe, object, true);
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
    if (in_fiber) {
        abandoned = true;
        fiber_suspend();
    }
    longjmp(abandon_point, 1);
}

/* Runs one thread until it blocks, yields or ends. */
static void run_thread(struct sim_thread *thread) {
    ++sim.steps;
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
    if (thread->cta->cluster->live == 0) launch_retire(thread->cta->cluster);
}

/* ---- jobs: a heap, the next to complete on top ---- */

static struct sim_job **heap;
static int heap_size, heap_room;
static uint64_t jobs_started;

static bool before(const struct sim_job *a, const struct sim_job *b) {
    return a->key != b->key ? a->key < b->key : a->number < b->number;
}

static void heap_put(int i, struct sim_job *job) {
    heap[i] = job;
    job->heap_index = i;
}

static void heap_up(int i) {
    struct sim_job *job = heap[i];
    for (; i > 0 && before(job, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap_put(i, heap[(i - 1) / 2]);
    heap_put(i, job);
}

static void heap_down(int i) {
    struct sim_job *job = heap[i];
    for (;;) {
        int child = 2 * i + 1;
        if (child >= heap_size) break;
        if (child + 1 < heap_size && before(heap[child + 1], heap[child])) ++child;
        if (!before(heap[child], job)) break;
        heap_put(i, heap[child]);
        i = child;
    }
    heap_put(i, job);
}

static void heap_remove(struct sim_job *job) {
    int i = job->heap_index;
    struct sim_job *last = heap[--heap_size];
    if (last == job) return;
    heap_put(i, last);
    heap_up(i);
    heap_down(last->heap_index);
}

/* What decides the order of completion. */
static uint64_t key_of(const struct sim_job *job) {
    switch (sim.schedule) {
    case SCHEDULE_TIME:
        return job->time;
    case SCHEDULE_RANDOM:
        return sim_random();
    default:
        return ~job->number; /* newest first */
    }
}

static void complete(struct sim_job *job, uint64_t time) {
    if (job->state != JOB_PENDING) return;
    if (job->after) complete(job->after, time);
    heap_remove(job);
    job->state = JOB_DONE;
    ++sim.progress;
    ++sim.steps;
    if (job->successor) job->successor->after = NULL;
    job->successor = NULL;
    struct sim_wait_queue waiters = job->waiters;
    job->waiters.head = NULL;
    for (struct sim_thread *t = waiters.head; t; t = t->next_waiter)
        t->queue = NULL;
    bool was_in_job = in_job;
    uint64_t previous_time = job_time;
    in_job = true;
    job_time = time;
    job->complete(job); /* the job may be gone now */
    in_job = was_in_job;
    job_time = previous_time;
    if (waiters.head) sim_wake_all(&waiters, time);
}

void sim_job_start(struct sim_job *job, uint64_t time) {
    if (heap_size == heap_room) {
        heap_room = heap_room ? 2 * heap_room : 256;
        heap = realloc(heap, heap_room * sizeof *heap);
        if (!heap) sim_fatal("out-of-memory", NULL, "no memory for asynchronous operations");
    }
    if (job->after && job->after->state != JOB_PENDING) job->after = NULL;
    if (job->after) job->after->successor = job;
    job->time = time;
    job->number = ++jobs_started;
    job->key = key_of(job);
    job->state = JOB_PENDING;
    ++sim.progress;
    heap[heap_size++] = job;
    heap_up(heap_size - 1);
    if (sim.schedule == SCHEDULE_EARLY) complete(job, time);
}

void sim_job_force(struct sim_job *job) { complete(job, sim_now()); }

void sim_job_wait(struct sim_job *job, sim_describe *describe, const void *object) {
    if (job->state != JOB_PENDING) return;
    if (sim.schedule == SCHEDULE_LATE || sim.schedule == SCHEDULE_EARLY)
        sim_job_force(job);
    else
        sim_block(&job->waiters, describe, object);
}

int scheduler_cancel_jobs(void) {
    int count = heap_size;
    while (heap_size > 0) {
        struct sim_job *job = heap[--heap_size];
        job->state = JOB_DONE;
        if (job->cancel) job->cancel(job);
    }
    return count;
}

void scheduler_complete_jobs(const struct sim_cluster *cluster) {
    for (int i = 0; i < heap_size;) {
        if (heap[i]->cluster == cluster) {
            complete(heap[i], heap[i]->time);
            i = 0;
        } else {
            ++i;
        }
    }
}

static void complete_next_job(void) {
    struct sim_job *job = heap[0];
    complete(job, job->time);
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
    if (!heap_size) return false;
    complete_next_job();
    return true;
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
    if (heap_size && sim_random() % random_job_share == 0) {
        complete_next_job();
        return true;
    }
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
    if (!heap_size) return false;
    complete_next_job();
    return true;
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
    if (heap_size && (!next || heap[0]->time <= next->clock)) {
        complete_next_job();
        return true;
    }
    if (!next) return false;
    if (heap_size && heap[0]->time < horizon) horizon = heap[0]->time;
    if (next->backlog && timing_settle(next, horizon == UINT64_MAX ? horizon : horizon + SLACK))
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

bool scheduler_run(void) {
    /* Rounds in which every parked thread was let go and nothing changed, before it is called a
     * deadlock. */
    enum { FUTILE_ROUNDS = 64 };
    volatile int futile = 0;
    volatile uint64_t last_progress = 0;
    abandoned = false;
    in_fiber = in_job = false;
    if (setjmp(abandon_point)) {
        sim_self = NULL;
        in_fiber = in_job = abandoned = false;
        return false;
    }
    while (launch_admit()) {
        if (step()) continue;
        if (sim.progress != last_progress) futile = 0;
        last_progress = sim.progress;
        if (++futile < FUTILE_ROUNDS && wake_all_parked()) continue;
        report_deadlock();
        return false;
    }
    while (heap_size)
        complete_next_job(); /* stores that nobody waited for */
    return true;
}
