/* progress.c: a thread that looks once a second. It takes none of the program's signals. */
#include "runtime/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "runtime/session.h"

static struct {
    const struct launch *launch; /* NULL: none is under way */
    const char *name;
    int number, seconds;
} now;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void look(void) {
    enum { PATIENCE = 10 };
    char text[32];
    const unsigned long long executed = __atomic_load_n(&now.launch->executed, __ATOMIC_RELAXED);
    snprintf(text, sizeof text, "%llu", executed);
    session_tell("runs", (const char *const[]){text}, 1);
    if (++now.seconds == PATIENCE)
        fprintf(
            stderr,
            "hopper_check: launch %d, of %s, has run for %d seconds: %llu instructions of threads "
            "so far\n",
            now.number, now.name, PATIENCE, executed);
}

static void *watch(void *unused) {
    const struct timespec second = {.tv_sec = 1};
    for (;;) {
        nanosleep(&second, NULL);
        pthread_mutex_lock(&lock);
        if (now.launch) look();
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void start(void) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_begin(const struct launch *launch, int number, const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
    now.launch = launch;
    now.name = name;
    now.number = number;
    now.seconds = 0;
    pthread_mutex_unlock(&lock);
}

void progress_end(void) {
    pthread_mutex_lock(&lock);
    now.launch = NULL;
    pthread_mutex_unlock(&lock);
}
