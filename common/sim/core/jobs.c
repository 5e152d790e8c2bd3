/*
 * jobs.c: what the asynchronous units have under way, in a heap with the next to complete on top.
 *
 * The schedule decides what is next: the newest, one at random, or the one that is due first.
 * `early` never keeps one.
 */
#include "sim/core/jobs.h"

#include "sim/core/host_memory.h"
#include "sim/core/state.h"

static struct sim_job **heap;
static int heap_size, heap_room;
static uint64_t jobs_started;
static uint64_t job_time; /* of the job that is being completed */
static bool in_job;

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
    for (struct sim_job *next = job->successor; next; next = next->sibling)
        next->after = NULL;
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
        heap = host_grown(heap, (size_t)heap_room, sizeof *heap, "asynchronous operations");
    }
    if (job->after && job->after->state != JOB_PENDING) job->after = NULL;
    job->successor = job->sibling = NULL;
    if (job->after) {
        job->sibling = job->after->successor;
        job->after->successor = job;
    }
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

void sim_job_wait(struct sim_job *job, const struct sim_wait *wait, const void *object) {
    if (job->state != JOB_PENDING) return;
    if (sim.schedule == SCHEDULE_LATE || sim.schedule == SCHEDULE_EARLY)
        sim_job_force(job);
    else
        sim_block(&job->waiters, wait, object);
}

void jobs_cancel(void) {
    in_job = false;
    while (heap_size > 0) {
        struct sim_job *job = heap[--heap_size];
        job->state = JOB_DONE;
        if (job->cancel) job->cancel(job);
    }
}

void jobs_complete_all(const struct sim_cluster *cluster) {
    for (int i = 0; i < heap_size;) {
        if (heap[i]->cluster == cluster) {
            complete(heap[i], heap[i]->time);
            i = 0;
        } else {
            ++i;
        }
    }
}

const struct sim_job *jobs_next(void) { return heap_size ? heap[0] : NULL; }

bool jobs_complete_next(void) {
    if (!heap_size) return false;
    complete(heap[0], heap[0]->time);
    return true;
}

bool jobs_now(uint64_t *time) {
    *time = job_time;
    return in_job;
}
