/*
 * explain.c: the life of one mbarrier, step by step, as it was recorded in a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/model.h"

enum {
    MOST_PHASES = 3,   /* shown; the others are like them */
    MOST_ARRIVALS = 8, /* one after the other on lines of their own */
};

static const char *const columns = "%8s %6s %7s %8s %9s  %-44s %s\n";

/* Events that follow one another and are shown as one: threads that do the same. */
struct run {
    const struct barrier_event *first, *last;
    int count, lowest, highest; /* threads */
};

static bool same_kind(const struct barrier_event *a, const struct barrier_event *b) {
    return a->kind == b->kind && a->amount == b->amount && a->phase == b->phase &&
           a->by_cta == b->by_cta && a->line == b->line && a->by_thread >= 0 && b->by_thread >= 0;
}

static bool may_merge(const struct barrier_event *e) {
    return e->kind == BARRIER_ARRIVE || e->kind == BARRIER_WAIT_BEGIN ||
           e->kind == BARRIER_WAIT_END;
}

static struct run run_at(const struct barrier_event *events, int count) {
    struct run run = {events, events, 1, events->by_thread, events->by_thread};
    while (run.count < count && may_merge(events) && same_kind(events, &events[run.count])) {
        const struct barrier_event *const next = &events[run.count++];
        if (run.lowest > next->by_thread) run.lowest = next->by_thread;
        if (run.highest < next->by_thread) run.highest = next->by_thread;
        run.last = next;
    }
    if (events->kind == BARRIER_ARRIVE && run.count <= MOST_ARRIVALS)
        run = (struct run){events, events, 1, events->by_thread, events->by_thread};
    return run;
}

static void describe(const struct run *run, char *text, size_t size) {
    const struct barrier_event *const e = run->first;
    switch (e->kind) {
    case BARRIER_INIT:
        snprintf(text, size, "init: phase 0 begins, %u arrival%s expected", e->amount,
                 e->amount == 1 ? "" : "s");
        break;
    case BARRIER_ARRIVE:
        snprintf(text, size, run->count > 1 ? "arrive: %d arrivals" : "arrive: one arrival",
                 run->count);
        break;
    case BARRIER_EXPECT_TX:
        snprintf(text, size, "expect_tx: %u bytes are announced", e->amount);
        break;
    case BARRIER_COMPLETE_TX:
        snprintf(text, size, "complete_tx: %u bytes have landed", e->amount);
        break;
    case BARRIER_FLIP: /* the state is the next phase's */
        snprintf(text, size, "flip: phase %u is complete, phase %u begins", e->phase - 1, e->phase);
        break;
    case BARRIER_WAIT_BEGIN:
        snprintf(text, size, "try_wait: wait%s until parity %u is complete",
                 run->count > 1 ? "" : "s", e->amount);
        break;
    default: /* what passes is the parity that is not under way */
        snprintf(text, size, "try_wait: pass%s, parity %u is %s", run->count > 1 ? "" : "es",
                 (e->phase & 1) ^ 1, e->phase ? "complete" : "before phase 0's");
    }
}

static void say_who(const struct run *run, char *text, size_t size) {
    const struct barrier_event *const e = run->first;
    const char *const slash = e->file ? strrchr(e->file, '/') : NULL;
    int used;
    if (e->kind == BARRIER_FLIP)
        used = snprintf(text, size, "the barrier itself");
    else if (e->by_thread < 0)
        used = snprintf(text, size, "the TMA");
    else if (run->count == 1)
        used = snprintf(text, size, "thread %d", e->by_thread);
    else if (run->highest - run->lowest == run->count - 1)
        used = snprintf(text, size, "threads %d to %d", run->lowest, run->highest);
    else
        used =
            snprintf(text, size, "%d threads of %d to %d", run->count, run->lowest, run->highest);
    if (e->by_cta != e->cta)
        used += snprintf(text + used, size - (size_t)used, " of CTA %d", e->by_cta);
    if (e->file && e->kind != BARRIER_FLIP)
        snprintf(text + used, size - (size_t)used, ", %s:%d", slash ? slash + 1 : e->file, e->line);
}

static void print_run(FILE *file, const struct run *run) {
    char cycle[24], phase[16], parity[16], pending[16], bytes[16], what[96], who[128];
    const struct barrier_event *const e = run->last;
    snprintf(cycle, sizeof cycle, "%llu", (unsigned long long)e->cycle);
    snprintf(phase, sizeof phase, "%u", e->phase);
    snprintf(parity, sizeof parity, "%u", e->phase & 1);
    snprintf(pending, sizeof pending, "%d", e->pending);
    snprintf(bytes, sizeof bytes, "%d", e->tx);
    describe(run, what, sizeof what);
    say_who(run, who, sizeof who);
    fprintf(file, columns, cycle, phase, parity, pending, bytes, what, who);
}

/* Copies the events of the `index`-th barrier of the lowest CTA to `events`, and counts that CTA's
 * barriers. */
static int select_events(const struct timeline *t, int index, struct barrier_event *events,
                         int *barriers) {
    int cta = -1, count = 0;
    int64_t before = -1; /* offset of the barrier counted last */
    for (int i = 0; i < t->barriers; ++i)
        if (cta < 0 || t->barrier[i].cta < cta) cta = t->barrier[i].cta;
    for (*barriers = 0;; ++*barriers) {
        int64_t next = -1;
        for (int i = 0; i < t->barriers; ++i) {
            const int64_t offset = t->barrier[i].offset;
            if (t->barrier[i].cta == cta && offset > before && (next < 0 || offset < next))
                next = offset;
        }
        if (next < 0) return count;
        for (int i = 0; i < t->barriers && *barriers == index; ++i)
            if (t->barrier[i].cta == cta && t->barrier[i].offset == next)
                events[count++] = t->barrier[i];
        before = next;
    }
}

int timeline_explain_barrier(FILE *file, int index) {
    const struct timeline *const t = timeline_list;
    int barriers = 0;
    if (!t || t->barriers == 0) return 0;
    struct barrier_event *const events = calloc((size_t)t->barriers, sizeof *events);
    if (!events) {
        fprintf(stderr, "timeline: no memory for %d events; explain a smaller problem\n",
                t->barriers);
        exit(3);
    }
    const int count = select_events(t, index, events, &barriers);
    if (count > 0) {
        fprintf(file,
                "%s%s%s at %d x %d x %d, CTA %d: the life of mbarrier %d of %d, 8 bytes at offset "
                "%u of\nshared memory, as simulated. After each step: the phase under way, its "
                "parity, the arrivals\npending and the bytes missing; the phase is complete when "
                "both are 0.\n\n",
                t->name, *t->variant ? ":" : "", t->variant, t->m, t->n, t->k, events->cta, index,
                barriers, events->offset);
        fprintf(file, columns, t->timed ? "cycle" : "step", "phase", "parity", "pending", "bytes",
                "what happens", "who");
    }
    for (int i = 0; i < count;) {
        const struct run run = run_at(&events[i], count - i);
        if (run.first->phase >= MOST_PHASES) {
            fprintf(file, "%8s and so on: %u phases are completed in all\n", "...",
                    events[count - 1].phase);
            break;
        }
        print_run(file, &run);
        i += run.count;
    }
    if (count > 0) fputc('\n', file);
    free(events);
    return barriers;
}
