/*
 * hazards.c: what the simulator tells about a kernel's mistakes, and the end of a launch that
 * cannot go on.
 */
#include "sim/core/hazards.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/doubt.h"
#include "sim/core/endless.h"
#include "sim/core/held_reports.h"
#include "sim/core/state.h"
#include "sim/core/scheduler.h"

void (*sim_hazard_hook)(const struct sim_hazard *hazard);

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

void source_site_raw(uint16_t site, const char **file, int *line) {
    *file = sites[site].file;
    *line = sites[site].line;
}

void source_site_of(uint16_t site, const char **file, int *line) {
    source_site_raw(site, file, line);
    *file = source_name(*file);
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

int hazards_shown = HAZARDS_USUALLY;

static struct {
    const char *kind, *file;
    int line;
} seen[HAZARDS_MOST];
static int seen_count;
static bool silent;

static struct sim_side side[2]; /* of the next report */
static int sides;

void sim_hazard_between(const struct sim_side *now, const struct sim_side *then) {
    side[0] = *now;
    side[1] = *then;
    sides = 2;
}

/* ---- rules in doubt ---- */

bool doubtful_rules = true, all_doubtful_rules;
const char *doubt_advice = "--doubtful off leaves it out.";
static enum doubtful_rule doubt = DOUBTS; /* of the next report; DOUBTS: none */

const char *doubt_name(enum doubtful_rule rule) {
    static const char *const names[] = {
        [DOUBT_ONE_RELEASE] = "one-release-for-four-warps",
        [DOUBT_PROXY_FENCE] = "proxy-fence-by-another-thread",
        [DOUBT_MISALIGNED_SWIZZLE] = "misaligned-swizzle",
        [DOUBT_LOST_UPDATE] = "lost-update",
        [DOUBT_BARRIER_AFTER_EXIT] = "barrier-after-exit",
        [DOUBT_OWN_ARRIVAL] = "wait-behind-own-arrival",
        [DOUBT_EXIT_RELEASES] = "exit-releases-nothing",
        [DOUBT_UNCHANGED_REGISTER] = "unchanged-register",
        [DOUBT_UNREAD_WORD] = "unwritten-word-for-nobody",
        [DOUBT_ONE_INSTRUCTION] = "one-instruction-of-a-warp",
        [DOUBT_INIT_FENCE] = "fence-after-initialization",
        [DOUBT_STORE_BEFORE_EXIT] = "store-read-before-exit",
        [DOUBT_EQUAL_VALUES] = "equal-values",
        [DOUBT_EXCHANGE] = "exchange-releases-nothing",
        [DOUBT_ENTRY_REGISTERS] = "registers-at-entry",
        [DOUBT_CTA_ORDER] = "lower-ctas-first",
        [DOUBT_TENSOR_FENCE] = "tensor-fence-with-acquire",
        [DOUBT_TENSOR_LANE] = "lanes-in-the-address",
        [DOUBT_COMMIT_BEFORE_EXIT] = "each-commit-before-exit",
        [DOUBT_TENSOR_UNWRITTEN] = "unwritten-columns",
        [DOUBT_REMOTE_SCOPE] = "scope-of-a-remote-handoff",
    };
    return names[rule];
}

void doubt_in_next_report(enum doubtful_rule rule) { doubt = rule; }

/* ---- what the running instruction knows ---- */

static const char *(*context)(const void *object);
static const void *context_object;

void sim_hazard_context(const char *(*say)(const void *object), const void *object) {
    context = say;
    context_object = object;
}

void hazards_quiet(bool quiet) { silent = quiet; }

void hazards_begin(void) {
    seen_count = 0;
    sides = 0;
    doubt = DOUBTS;
    context = NULL;
    reports_begin();
    sim.hazards = 0;
}

bool hazards_get(int i, const char **kind, const char **file, int *line) {
    if (i >= seen_count) return false;
    *kind = seen[i].kind;
    *file = seen[i].file;
    *line = seen[i].line;
    return true;
}

/* Is it the first at this line? */
static bool remember(const char *kind, const char *file, int line) {
    for (int i = 0; i < seen_count; ++i)
        if (!strcmp(seen[i].kind, kind) && seen[i].file == file && seen[i].line == line)
            return false;
    if (seen_count == HAZARDS_MOST) return false;
    seen[seen_count].kind = kind;
    seen[seen_count].file = file;
    seen[seen_count++].line = line;
    return true;
}

/* A report may come in the middle of a thread's turn (endless.c), so it takes no memory. */
static void report(const char *kind, const char *file, int line, const struct sim_thread *thread,
                   const char *format, va_list arguments) {
    static char text[1 << 16];
    const int known = sides;
    const enum doubtful_rule rule = doubt;
    if (!sim.hazards++) endless_hurry();
    sides = 0;
    doubt = DOUBTS;
    if (!remember(kind, file, line) || seen_count > hazards_shown || silent) return;
    char who[96];
    size_t used = (size_t)snprintf(text, sizeof text, "hazard: %s: %s:%d: %s: ", kind,
                                   source_name(file), line, sim_who(thread, who, sizeof who));
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, arguments);
    const char *const more = context ? context(context_object) : NULL;
    if (more && used < sizeof text)
        used += (size_t)snprintf(text + used, sizeof text - used, "\n    %s", more);
    if (rule < DOUBTS && used < sizeof text)
        snprintf(text + used, sizeof text - used, "\n    This rule is in doubt: %s. %s",
                 doubt_name(rule),
                 rule < DOUBT_TENSOR_FENCE ? doubt_advice : "Only --doubtful all has it.");
    report_say(text,
               &(struct report_cause){kind, known ? side[1].file : NULL, known ? side[1].line : 0});
    if (!sim_hazard_hook) return;
    struct sim_hazard hazard = {kind, text, known ? known : file ? 1 : 0, {side[0], side[1]}};
    if (!known)
        hazard.side[0] = (struct sim_side){.file = file,
                                           .line = line,
                                           .cta = thread ? thread->cta->index : -1,
                                           .thread = thread ? thread->index : -1,
                                           .cycle = sim_now()};
    sim_hazard_hook(&hazard);
}

void hazards_end(void) {
    char text[64];
    if (seen_count <= hazards_shown || silent) return;
    const int rest = seen_count - hazards_shown;
    snprintf(text, sizeof text, "hazards at %d more line%s not shown: --hazards all", rest,
             rest == 1 ? " is" : "s are");
    report_say(text, NULL);
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
