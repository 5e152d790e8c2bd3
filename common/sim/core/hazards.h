/*
 * hazards.h: what the simulator tells about a kernel's mistakes.
 */
#ifndef SIM_CORE_HAZARDS_H
#define SIM_CORE_HAZARDS_H

#include <stdio.h>

#include "sim/core/threads.h"

/* Reports a hazard of the running (or the given) thread and goes on. `kind` is a stable word for
 * machines, such as "data-race". The line printed is hazard: <kind>: <file>:<line>: <who>:
 * <message> and the message may have further lines, each indented by four spaces. The same kind at
 * the same line is reported once. */
void sim_hazard(const char *kind, const struct sim_thread *thread, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a place in the source that the thread has left, such as where an async operation was
 * issued. */
void sim_hazard_at(const char *kind, const char *file, int line, const struct sim_thread *thread,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Reports and ends the launch; the run's status is RUN_HAZARD. From a fiber or from a job. */
void sim_fatal(const char *kind, const struct sim_thread *thread, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
/* One of the two accesses that a report is about. */
struct sim_side {
    char what[64];    /* "write by TMA load"; empty: not said */
    const char *file; /* as source_name() and source_path() take it */
    int line, cta, thread;
    uint64_t cycle; /* SIDE_UNKNOWN: not kept */
};
#define SIDE_UNKNOWN UINT64_MAX
/* The two accesses of the report that follows, that at whose line it is first. */
void sim_hazard_between(const struct sim_side *now, const struct sim_side *then);

/* From here on, until `say` is NULL, what say(object) returns stands behind every report, unless
 * that is NULL. */
void sim_hazard_context(const char *(*say)(const void *object), const void *object);

/* A report for whoever records the run; lives as long as the call. */
struct sim_hazard {
    const char *kind, *text;
    int sides;
    struct sim_side side[2];
};
extern void (*sim_hazard_hook)(const struct sim_hazard *hazard); /* NULL: nobody records it */

/* "CTA 3", or "CTA 3 of device 1" if there are several. Returns text. */
const char *sim_cta_name(const struct sim_cta *cta, char *text, size_t size);
/* "thread 129 (warp 4, warpgroup 1) of CTA 3". Returns text. */
const char *sim_who(const struct sim_thread *thread, char *text, size_t size);
/* "shared memory +0x4010 (16 bytes)" of CTA so and so. Returns text. */
const char *sim_where(const struct sim_cta *cta, size_t offset, char *text, size_t size);

/* A file's name as reports show it: with the directory it is in; of a verb's, with the line of the
 * header and "called from" before it. source_names.c */
const char *source_name(const char *file);
/* The kernel's file as the compiler was given it: of a verb's place, that of the caller. */
const char *source_path(const char *file);
/* The same text, for as long as the program runs: timelines keep what barriers are called. */
const char *source_keep(const char *text);
/* An id for a line of a file, and back. */
uint16_t source_site(const char *file, int line);
void source_site_of(uint16_t site, const char **file, int *line);
/* The file as source_site() was given it. */
void source_site_raw(uint16_t site, const char **file, int *line);

/* Reports that the resident threads wait for each other: deadlock.c. */
void report_deadlock(void);
/* What every resident thread waits for, or that it runs: a line for each group of neighbours, as
 * far as two dozen lines go. Takes no memory. deadlock.c */
void say_threads(FILE *out);

/* ---- the run's hazards ---- */

void hazards_begin(void); /* a run begins: forget what was reported */
void hazards_end(void);   /* says how much was not shown */
/* How many reports of a run are made, of one line and kind each; the others are counted. */
enum { HAZARDS_USUALLY = 4, HAZARDS_MOST = 256 };
extern int hazards_shown;
/* Counts hazards without printing them, for tests that expect thousands. */
void hazards_quiet(bool quiet);
/* The i-th distinct hazard of the run; false if there are not so many. */
bool hazards_get(int i, const char **kind, const char **file, int *line);

#endif
