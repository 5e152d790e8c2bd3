/*
 * held_reports.c: reports that wait for the end of the program.
 *
 * A broken kernel may end the process: by an address that it makes up, or by a loop that somebody
 * interrupts. What was reported before is the explanation, so these signals print it first.
 */
#include "sim/core/held_reports.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "sim/core/hazards.h"

enum { HELD = 512 };
static char held[1 << 20]; /* texts, each with its NUL */
static size_t used;
static struct {
    const char *text;
    struct report_cause cause; /* kind NULL: none */
} report[HELD];
static int count, first_of_run;
static bool holding;

void reports_begin(void) { first_of_run = count; }

/* The index that a report with this cause gets. */
static int index_for(const struct report_cause *cause) {
    for (int i = count; cause && i > first_of_run; --i) {
        const struct report_cause *const other = &report[i - 1].cause;
        if (other->kind && !strcmp(other->kind, cause->kind) && other->file == cause->file &&
            other->line == cause->line)
            return i;
    }
    return count;
}

void report_say(const char *text, const struct report_cause *cause) {
    const size_t size = strlen(text) + 1;
    if (!holding) {
        fflush(stdout);
        fprintf(stderr, "%s\n", text);
    } else if (count < HELD && size <= sizeof held - used) {
        const int at = index_for(cause);
        memmove(&report[at + 1], &report[at], (size_t)(count++ - at) * sizeof report[0]);
        report[at].text = memcpy(held + used, text, size);
        report[at].cause = cause ? *cause : (struct report_cause){NULL, NULL, 0};
        used += size;
    }
}

const char *backend_report(int index) { return index < count ? report[index].text : NULL; }

void reports_spill(void) {
    for (int i = 0; i < count; ++i)
        if (write(STDERR_FILENO, report[i].text, strlen(report[i].text)) < 0 ||
            write(STDERR_FILENO, "\n", 1) < 0)
            break;
    count = first_of_run = 0;
    used = 0;
    holding = false;
}

/* Where a kernel was when it did what ends the process. Takes no memory. */
static void say_place(int signal) {
    const struct sim_thread *const thread = sim_thread();
    if (!thread || signal == SIGINT || signal == SIGTERM || signal == SIGABRT) return;
    char who[96], text[512];
    const int size = snprintf(
        text, sizeof text,
        "signal %d%s, in the kernel: %s, after the wrapper that it called at %s:%d\n", signal,
        signal == SIGSEGV  ? " (an address outside of memory)"
        : signal == SIGFPE ? " (a division that has no result)"
                           : "",
        sim_who(thread, who, sizeof who), source_name(thread->self.file), thread->self.line);
    if (write(STDERR_FILENO, text, (size_t)size) < 0) return;
}

static void end(int signal) {
    reports_spill();
    say_place(signal);
    raise(signal); /* SA_RESETHAND: now it does what it always does */
}

void reports_hold(void) {
    count = first_of_run = 0;
    used = 0;
    holding = true;
}

void backend_hold_reports(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM};
    /* On the other stack, where endless.c has given one: a fiber's may be full. */
    struct sigaction action = {.sa_handler = end, .sa_flags = SA_RESETHAND | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
        sigaction(signals[i], &action, NULL);
    reports_hold();
}
