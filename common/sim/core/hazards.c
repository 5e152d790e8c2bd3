/*
 * hazards.c: what the simulator tells about a kernel's mistakes, and the end of a launch that
 * cannot go on.
 */
#include "sim/core/hazards.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/scheduler.h"

/* ---- places in the source ---- */

struct site {
    const char *file;
    int line;
};

enum { SITES = 1 << 12 };
static struct site sites[SITES]; /* open addressing; an id is an index */

uint16_t source_site(const char *file, int line) {
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

void source_site_of(uint16_t site, const char **file, int *line) {
    *file = source_name(sites[site].file);
    *line = sites[site].line;
}

/* ---- names ---- */

const char *sim_cta_name(const struct sim_cta *cta, char *text, size_t size) {
    if (sim.devices < 2 || !sim.launch) {
        snprintf(text, size, "CTA %d", cta->index);
        return text;
    }
    const int grid = cta->index / sim.launch->grid;
    const int used = snprintf(text, size, "CTA %d of device %d", cta->index % sim.launch->grid,
                              grid % sim.devices);
    if (sim.launches > 1)
        snprintf(text + used, size - (size_t)used, ", launch %d", grid / sim.devices + 1);
    return text;
}

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
    char name[48];
    used += snprintf(text + used, size - used, " of %s", sim_cta_name(cta, name, sizeof name));
    if (cta->cluster->ctas > 1) snprintf(text + used, size - used, " (rank %d)", cta->rank);
    return text;
}

const char *sim_where(const struct sim_cta *cta, size_t offset, char *text, size_t size) {
    int used = snprintf(text, size, "shared memory + %#zx", offset);
    char name[48];
    if (cta->cluster->ctas > 1)
        snprintf(text + used, size - used, " of %s", sim_cta_name(cta, name, sizeof name));
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

void hazards_quiet(bool quiet) { silent = quiet; }

void hazards_begin(void) {
    seen_count = 0;
    sim.hazards = 0;
}

bool hazards_get(int i, const char **kind, const char **file, int *line) {
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
    fprintf(stderr, "hazard: %s: %s:%d: %s: ", kind, source_name(file), line,
            sim_who(thread, who, sizeof who));
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void hazards_end(void) {
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
