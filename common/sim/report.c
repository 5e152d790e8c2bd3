/*
 * report.c: what the simulator tells about a kernel's mistakes, and the end of a launch that cannot
 * go on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* ---- places in the source ---- */

struct site {
    const char *file;
    int line;
};

enum { SITES = 1 << 12 };
static struct site sites[SITES]; /* open addressing; an id is an index */

uint16_t report_site(const char *file, int line) {
    unsigned hash = ((unsigned)line * 40503u) ^ (unsigned)((uintptr_t)file >> 4);
    for (unsigned probe = 0; probe < SITES; ++probe) {
        unsigned i = (hash + probe) % SITES;
        if (sites[i].file == file && sites[i].line == line) return (uint16_t)i;
        if (!sites[i].file) {
            sites[i] = (struct site){file, line};
            return (uint16_t)i;
        }
    }
    return 0; /* thousands of lines of kernels in one program: reports get vague */
}

void report_site_of(uint16_t site, const char **file, int *line) {
    *file = report_file(sites[site].file);
    *line = sites[site].line;
}

const char *report_file(const char *file) {
    if (!file) return "?";
    const char *shown = file, *slash = NULL;
    for (const char *c = file; *c; ++c) {
        if (*c != '/') continue;
        if (slash) shown = slash + 1;
        slash = c;
    }
    return shown; /* the file and the directory it is in */
}

/* ---- names ---- */

const char *sim_who(const struct sim_thread *thread, char *text, size_t size) {
    if (!thread) {
        snprintf(text, size, "the host");
        return text;
    }
    const struct sim_cta *cta = thread->cta;
    int used = snprintf(text, size, "thread %d", thread->index);
    if (cta->threads > WARP_SIZE)
        used += snprintf(text + used, size - used, " (warp %d", thread->index / WARP_SIZE);
    if (cta->threads > WARPGROUP_SIZE)
        used +=
            snprintf(text + used, size - used, ", warpgroup %d", thread->index / WARPGROUP_SIZE);
    if (cta->threads > WARP_SIZE) used += snprintf(text + used, size - used, ")");
    used += snprintf(text + used, size - used, " of CTA %d", cta->index);
    if (cta->cluster->ctas > 1) snprintf(text + used, size - used, " (rank %d)", cta->rank);
    return text;
}

const char *sim_where(const struct sim_cta *cta, size_t offset, char *text, size_t size) {
    int used = snprintf(text, size, "shared memory + %#zx", offset);
    if (cta->cluster->ctas > 1) snprintf(text + used, size - used, " of CTA %d", cta->index);
    return text;
}

/* ---- hazards ---- */

enum { SHOWN = 4, REMEMBERED = 64 };

static struct {
    const char *kind, *file;
    int line;
} seen[REMEMBERED];
static int seen_count;
static bool silent;

void report_quiet(bool quiet) { silent = quiet; }

void report_begin(void) {
    seen_count = 0;
    sim.hazards = 0;
}

bool report_get(int i, const char **kind, const char **file, int *line) {
    if (i >= seen_count) return false;
    *kind = seen[i].kind;
    *file = seen[i].file;
    *line = seen[i].line;
    return true;
}

static void report(const char *kind, const char *file, int line, const struct sim_thread *thread,
                   const char *format, va_list arguments) {
    ++sim.hazards;
    for (int i = 0; i < seen_count; ++i)
        if (!strcmp(seen[i].kind, kind) && seen[i].file == file && seen[i].line == line) return;
    if (seen_count == REMEMBERED) return;
    seen[seen_count].kind = kind;
    seen[seen_count].file = file;
    seen[seen_count++].line = line;
    if (seen_count > SHOWN || silent) return;
    char who[96];
    fflush(stdout);
    fprintf(stderr, "hazard: %s: %s:%d: %s: ", kind, report_file(file), line,
            sim_who(thread, who, sizeof who));
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void report_end(void) {
    if (seen_count > SHOWN && !silent)
        fprintf(stderr, "hazards at %d more lines are not shown\n", seen_count - SHOWN);
}

void sim_hazard(const char *kind, const struct sim_thread *thread, const char *format, ...) {
    if (!thread) thread = sim_thread();
    va_list arguments;
    va_start(arguments, format);
    report(kind, thread ? thread->self.file : NULL, thread ? thread->self.line : 0, thread, format,
           arguments);
    va_end(arguments);
}

void sim_hazard_at(const char *kind, const char *file, int line, const struct sim_thread *thread,
                   const char *format, ...) {
    if (!thread) thread = sim_thread();
    va_list arguments;
    va_start(arguments, format);
    report(kind, file, line, thread, format, arguments);
    va_end(arguments);
}

void sim_fatal(const char *kind, const struct sim_thread *thread, const char *format, ...) {
    if (!thread) thread = sim_thread();
    va_list arguments;
    va_start(arguments, format);
    report(kind, thread ? thread->self.file : NULL, thread ? thread->self.line : 0, thread, format,
           arguments);
    va_end(arguments);
    scheduler_abandon();
}

/* ---- deadlock ---- */

/* What a blocked thread waits for, as one line of text. */
static void describe(const struct sim_thread *thread, char *text, size_t size) {
    text[0] = 0;
    if (thread->describe)
        thread->describe(thread, thread->waits_for, text, size);
    else
        snprintf(text, size, "waits");
}

static void say_group(FILE *out, const struct sim_thread *first, const struct sim_thread *last,
                      int count, const char *text) {
    const struct sim_cta *cta = first->cta;
    if (count == 1)
        fprintf(out, "    CTA %d, thread %d", cta->index, first->index);
    else
        fprintf(out, "    CTA %d, threads %d-%d%s", cta->index, first->index, last->index,
                count == last->index - first->index + 1 ? "" : " (some)");
    fprintf(out, ", %s:%d: %s\n", report_file(first->self.file), first->self.line, text);
}

/* Neighbouring threads that wait for the same thing are one line. Returns lines written. */
static int say_cta(FILE *out, const struct sim_cta *cta, int room) {
    int lines = 0, ended = 0;
    const struct sim_thread *first = NULL, *last = NULL;
    int count = 0;
    char text[256] = "", group[256] = "";
    for (int i = 0; i <= cta->threads; ++i) {
        const struct sim_thread *thread = i < cta->threads ? &cta->thread[i] : NULL;
        if (thread && thread->state == THREAD_DONE) {
            ++ended;
            continue;
        }
        if (thread) describe(thread, text, sizeof text);
        if (first && thread && first->self.line == thread->self.line &&
            first->self.file == thread->self.file && !strcmp(text, group)) {
            last = thread;
            ++count;
            continue;
        }
        if (first && lines < room) {
            say_group(out, first, last, count, group);
            ++lines;
        }
        first = last = thread;
        count = 1;
        strcpy(group, text);
    }
    if (ended && lines < room) {
        fprintf(out, "    CTA %d: %d threads have ended\n", cta->index, ended);
        ++lines;
    }
    return lines;
}

void report_deadlock(void) {
    enum { LINES = 24 };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return;
    const struct sim_thread *first = NULL;
    int room = LINES, blocked = 0;
    for (const struct sim_cluster *cluster = sim.clusters; cluster; cluster = cluster->next)
        for (int rank = 0; rank < cluster->ctas; ++rank) {
            const struct sim_cta *cta = &cluster->cta[rank];
            for (int i = 0; i < cta->threads; ++i) {
                if (cta->thread[i].state == THREAD_DONE) continue;
                ++blocked;
                if (!first) first = &cta->thread[i];
            }
            room -= say_cta(out, cta, room);
        }
    if (room <= 0) fprintf(out, "    ...\n");
    fclose(out);
    if (size) text[size - 1] = 0; /* the last newline */
    sim_hazard("deadlock", first,
               "nothing is under way and no thread can run; %d threads wait:\n%s", blocked, text);
    free(text);
}
