#include "harness/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { MOST_HELPERS = 31, RANGES_PER_THREAD = 4 };
static const double WORTH_A_HELPER = 5e5; /* nanoseconds; waking one costs a tenth of it */

/* Threads that wait for work; made at the first call that is worth it, ended with the process. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t begin, end;
    int helpers;
    int working; /* helpers that have not finished this round */
    uint64_t round;
    bool started;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .begin = PTHREAD_COND_INITIALIZER,
          .end = PTHREAD_COND_INITIALIZER};

/* This round's work. */
static struct {
    parallel_part *part;
    void *context;
    int64_t count, range;
    atomic_llong next;
} work;

static void take_ranges(void) {
    int64_t begin;
    while ((begin = atomic_fetch_add(&work.next, work.range)) < work.count) {
        const int64_t left = work.count - begin;
        work.part(work.context, begin, begin + (left < work.range ? left : work.range));
    }
}

static void *help(void *unused) {
    uint64_t done = 0;
    for (;;) {
        pthread_mutex_lock(&pool.mutex);
        while (pool.round == done)
            pthread_cond_wait(&pool.begin, &pool.mutex);
        done = pool.round;
        pthread_mutex_unlock(&pool.mutex);
        take_ranges();
        pthread_mutex_lock(&pool.mutex);
        if (--pool.working == 0) pthread_cond_signal(&pool.end);
        pthread_mutex_unlock(&pool.mutex);
    }
    return unused;
}

static void start_helpers(void) {
    const long wanted = sysconf(_SC_NPROCESSORS_ONLN) - 1;
    pool.started = true;
    while (pool.helpers < wanted && pool.helpers < MOST_HELPERS) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, help, NULL) != 0) break; /* then with fewer */
        pthread_detach(thread);
        ++pool.helpers;
    }
}

void parallel_ranges(int64_t count, double nanoseconds, parallel_part *part, void *context) {
    if (count <= 0) return;
    if (nanoseconds < WORTH_A_HELPER || count == 1) {
        part(context, 0, count);
        return;
    }
    if (!pool.started) start_helpers();
    const int64_t ranges = (int64_t)(pool.helpers + 1) * RANGES_PER_THREAD;
    work.part = part;
    work.context = context;
    work.count = count;
    work.range = (count + ranges - 1) / ranges;
    atomic_store(&work.next, 0);
    pthread_mutex_lock(&pool.mutex);
    pool.working = pool.helpers;
    ++pool.round;
    pthread_cond_broadcast(&pool.begin);
    pthread_mutex_unlock(&pool.mutex);
    take_ranges();
    pthread_mutex_lock(&pool.mutex);
    while (pool.working > 0)
        pthread_cond_wait(&pool.end, &pool.mutex);
    pthread_mutex_unlock(&pool.mutex);
}
