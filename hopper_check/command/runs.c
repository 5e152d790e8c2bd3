/* runs.c: starting, waiting and stopping. What the first run prints is seen; the others' output
 * goes nowhere. */
#define _GNU_SOURCE
#include "command/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/environment.h"

static volatile sig_atomic_t interrupted;
static char directory[64];

bool runs_interrupted(void) { return interrupted != 0; }

static void interrupt(int signal) {
    (void)signal;
    interrupted = 1;
}

static void watch_interrupts(void) {
    struct sigaction action = {.sa_handler = interrupt}; /* no SA_RESTART: it ends a wait */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void name_results(char *path, size_t size, int i) {
    snprintf(path, size, "%s/%d", directory, i);
}

/* ---- a process ---- */

static void say(const char *name, uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    setenv(name, text, 1);
}

/* launch: that a page is made of; 0: none, and what the first run prints is seen. */
static void become(const struct program_options *o, int i, const char *path, int launch) {
    char results[96];
    name_results(results, sizeof results, i);
    if (launch) setenv(ENVIRONMENT_REPORT, o->report, 1);
    say(ENVIRONMENT_REPORT_LAUNCH, (uint64_t)launch);
    setenv(ENVIRONMENT_RESULTS, results, 1);
    say(ENVIRONMENT_SMS, (uint64_t)o->sms);
    say(ENVIRONMENT_SCHEDULE, o->plan[i].schedule);
    say(ENVIRONMENT_SEED, o->plan[i].seed);
    say(ENVIRONMENT_STEPS, o->step_limit);
    say(ENVIRONMENT_BRANCHES, o->branch_limit);
    say(ENVIRONMENT_SECONDS, o->launch_limit);
    say(ENVIRONMENT_ELECT, o->elect_any);
    say(ENVIRONMENT_DOUBTFUL, o->doubtful);
    say(ENVIRONMENT_FOLLOW, o->follow_all);
    if (i > 0 || launch) {
        const int nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execv(path, o->program);
    fprintf(stderr, "hopper_check: %s cannot be started: %s\n", path, strerror(errno));
    _exit(127);
}

static pid_t start(const struct program_options *o, int i, const char *path, int launch) {
    char results[96];
    name_results(results, sizeof results, i);
    const int file = open(results, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0) return -1;
    close(file);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) become(o, i, path, launch);
    return child;
}

/* Is there a line that begins with one of two words? */
static bool has_said(int i, const char *one, const char *other) {
    char results[96], word[16];
    bool found = false;
    name_results(results, sizeof results, i);
    FILE *const in = fopen(results, "r");
    while (in && !found && fscanf(in, "%15s%*[^\n]", word) == 1)
        found = !strcmp(word, one) || !strcmp(word, other);
    if (in) fclose(in);
    return found;
}

/* A finding, or what every run will come to. */
static bool is_enough(int i) { return has_said(i, "finding", "refused"); }

static bool make_directory(void) {
    snprintf(directory, sizeof directory, "/tmp/hopper_check.XXXXXX");
    if (mkdtemp(directory)) return true;
    fprintf(stderr, "hopper_check: no directory for results: %s\n", strerror(errno));
    return false;
}

/* ---- all of them ---- */

struct state {
    pid_t pid[MOST_RUNS]; /* 0: not under way */
    int next, under_way;
    int last; /* runs behind this one are not kept */
};

static void stop(struct state *s, int after) {
    for (int i = after + 1; i < s->next; ++i)
        if (s->pid[i] > 0) kill(s->pid[i], SIGKILL);
}

static void note_end(const struct program_options *o, struct state *s, struct run *run, pid_t pid,
                     int status) {
    for (int i = 0; i < s->next; ++i) {
        if (s->pid[i] != pid) continue;
        s->pid[i] = 0;
        --s->under_way;
        run[i].status = status;
        run[i].ended = !interrupted && i <= s->last;
        if (o->keep_going || !run[i].ended || !is_enough(i)) continue;
        s->last = i;
        stop(s, i);
    }
}

static void read_all(const struct program_options *o, struct run *run, int count) {
    for (int i = 0; i < o->runs; ++i) {
        char results[96];
        name_results(results, sizeof results, i);
        if (i < count) {
            findings_run(run[i].name);
            results_read(results, &o->filter, &run[i].results);
        }
        unlink(results);
    }
    rmdir(directory);
}

int runs_make(const struct program_options *o, const char *path, struct run *run) {
    struct state s = {.last = o->runs - 1};
    if (!make_directory()) return -1;
    watch_interrupts();
    for (int i = 0; i < o->runs; ++i) {
        const struct planned_run *const p = &o->plan[i];
        run[i] = (struct run){.ended = false};
        if (p->schedule == SCHEDULE_RANDOM)
            snprintf(run[i].name, sizeof run[i].name, "random (seed %llu)",
                     (unsigned long long)p->seed);
        else
            snprintf(run[i].name, sizeof run[i].name, "%s", schedule_names[p->schedule]);
    }
    while (s.under_way > 0 || (s.next <= s.last && !interrupted)) {
        if (s.next <= s.last && s.under_way < o->jobs && !interrupted) {
            const pid_t pid = start(o, s.next, path, 0);
            if (pid < 0) break;
            s.pid[s.next++] = pid;
            ++s.under_way;
            continue;
        }
        int status;
        const pid_t pid = wait(&status);
        if (pid > 0) note_end(o, &s, run, pid, status);
        if (interrupted) stop(&s, -1);
    }
    const int kept = s.next <= s.last ? s.next : s.last + 1;
    read_all(o, run, kept);
    return kept;
}

bool runs_report(const struct program_options *o, const char *path, int run, int launch) {
    static const struct launch_filter none = {.count = 0};
    struct results said;
    char results[96];
    int status;
    if (!make_directory()) return false;
    const pid_t pid = start(o, run, path, launch);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        if (interrupted) kill(pid, SIGKILL);
    const bool made = has_said(run, "page", "page");
    name_results(results, sizeof results, run);
    if (!made) {
        results_read(results, &none, &said);
        fprintf(stderr, "hopper_check: --report: %s\n",
                said.why ? said.why
                         : "the program has not ended the launch again; there is no page");
    }
    unlink(results);
    rmdir(directory);
    return made;
}

/* ---- what a run says ---- */

static const char *signal_words(int signal) {
    return signal == SIGSEGV   ? "a segmentation fault"
           : signal == SIGABRT ? "abort()"
           : signal == SIGFPE  ? "an arithmetic exception"
           : signal == SIGKILL ? "SIGKILL: had the host enough memory?"
                               : "a signal";
}

enum exit run_verdict(const struct run *run, char *why, int size) {
    const struct results *const r = &run->results;
    const int code = WIFEXITED(run->status) ? WEXITSTATUS(run->status) : -1;
    *why = 0;
    if (!run->ended) {
        snprintf(why, (size_t)size, "it was broken off");
        return EXIT_INCOMPLETE;
    }
    if (r->why) {
        snprintf(why, (size_t)size, "%s", r->why);
        return (enum exit)r->refused;
    }
    if (code == EXIT_NO_MEMORY && r->under_way) {
        snprintf(why, (size_t)size, "the host has not enough memory for a launch of %s",
                 r->kernel ? r->kernel : "a kernel");
        return EXIT_NO_MEMORY;
    }
    if (WIFSIGNALED(run->status)) {
        snprintf(why, (size_t)size, "the program crashed %s, by signal %d (%s)",
                 r->under_way ? "during a launch" : "in its host code", WTERMSIG(run->status),
                 signal_words(WTERMSIG(run->status)));
        return EXIT_DIFFERENT;
    }
    if (!r->loaded) {
        snprintf(why, (size_t)size,
                 "the program has not used CUDA's runtime as a shared library, so nothing was "
                 "checked");
        return EXIT_INCOMPLETE;
    }
    if (r->under_way) {
        snprintf(why, (size_t)size, "the program ended during a launch of %s",
                 r->kernel ? r->kernel : "a kernel");
        return EXIT_INCOMPLETE;
    }
    if (code != 0) {
        snprintf(why, (size_t)size, "the program ended with status %d", code);
        return EXIT_DIFFERENT;
    }
    if (!r->launches || !r->checked) {
        snprintf(why, (size_t)size, "%s, so nothing was checked",
                 r->launches ? "no kernel has accessed memory"
                 : r->number ? "of the program's launches none was to be judged"
                             : "the program has launched nothing");
        return EXIT_INCOMPLETE;
    }
    return EXIT_CLEAN;
}
