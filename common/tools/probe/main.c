/*
 * main.c: build/gpu/probe [FAMILY...]: measures the constants of the timing model on the GPU, and
 * prints beside each what common/sim/cost/timing_model.h has.
 *
 * Each family of probes runs in a process of its own, so that one that hangs or fails takes no
 * other along; it is given TIME_LIMIT seconds. Exit codes as everywhere: 1 if a family failed, 2
 * for an unknown one, 3 without a GPU.
 */
#define _GNU_SOURCE /* program_invocation_name */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/probe/probe_report.h"

enum { TIME_LIMIT = 10 /* seconds */ };

static const struct probe_family *find_family(const char *name) {
    for (int i = 0; i < probe_family_count; ++i)
        if (!strcmp(probe_families[i].name, name)) return &probe_families[i];
    return NULL;
}

static int usage(const char *wrong) {
    fprintf(stderr, "probe: %s: no such family\nusage: probe [FAMILY...]\n", wrong);
    for (int i = 0; i < probe_family_count; ++i)
        fprintf(stderr, "  %s\n", probe_families[i].name);
    return EXIT_USAGE;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* In the child: never returns. */
static void run_here(const struct probe_family *family) {
    const enum exit_code code = probe_open();
    if (code != EXIT_VERIFIED) exit(code);
    family->run();
    exit(EXIT_VERIFIED);
}

static enum exit_code run_family(const struct probe_family *family) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) run_here(family);
    if (child < 0) {
        fprintf(stderr, "probe: %s: cannot start a process: %s\n", family->name, strerror(errno));
        return EXIT_WRONG;
    }
    const double end = seconds() + TIME_LIMIT;
    int status;
    pid_t done;
    while ((done = waitpid(child, &status, WNOHANG)) == 0 && seconds() < end)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    if (done == 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        fprintf(stderr, "probe: %s: no answer within %d s\n", family->name, TIME_LIMIT);
        return EXIT_WRONG;
    }
    if (WIFEXITED(status)) return (enum exit_code)WEXITSTATUS(status);
    fprintf(stderr, "probe: %s: ended by signal %d\n", family->name, WTERMSIG(status));
    return EXIT_WRONG;
}

int main(int argc, char **argv) {
    enum exit_code worst = EXIT_VERIFIED;
    for (int i = 1; i < argc; ++i)
        if (!find_family(argv[i])) return usage(argv[i]);
    printf("%-58s %9s %-16s %-26s %7s\n", "probe", "measured", "", "timing_model.h", "has");
    for (int i = 0; i < probe_family_count; ++i) {
        const struct probe_family *family = &probe_families[i];
        bool wanted = argc == 1;
        for (int j = 1; j < argc; ++j)
            wanted |= !strcmp(argv[j], family->name);
        if (!wanted) continue;
        const enum exit_code code = run_family(family);
        if (code == EXIT_NO_DEVICE) return code;
        if (code != EXIT_VERIFIED) worst = EXIT_WRONG;
    }
    return worst;
}
