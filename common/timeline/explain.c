/*
 * explain.c: the life of one mbarrier, step by step, as it was recorded in a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/model.h"
#include "timeline/tracks.h"

enum {
    MOST_PHASES = 3,   /* shown; the others are like them */
    MOST_ARRIVALS = 8, /* one after the other on lines of their own */
};

/* A line of the table: how far the barrier is, what happens, who does it. */
enum column { CYCLE, PHASE, PARITY, PENDING, BYTES, WHAT, WHO, COLUMNS };
struct row {
    char cell[COLUMNS][128];
};

/* Events that follow one another and are shown as one: threads that do the same. */
struct stretch {
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

static struct stretch stretch_at(const struct barrier_event *events, int count) {
    struct stretch stretch = {events, events, 1, events->by_thread, events->by_thread};
    while (stretch.count < count && may_merge(events) &&
           same_kind(events, &events[stretch.count])) {
        const struct barrier_event *const next = &events[stretch.count++];
        if (stretch.lowest > next->by_thread) stretch.lowest = next->by_thread;
        if (stretch.highest < next->by_thread) stretch.highest = next->by_thread;
        stretch.last = next;
    }
    if (events->kind == BARRIER_ARRIVE && stretch.count <= MOST_ARRIVALS)
        stretch = (struct stretch){events, events, 1, events->by_thread, events->by_thread};
    return stretch;
}

static void describe(const struct stretch *stretch, char *text, size_t size) {
    const struct barrier_event *const e = stretch->first;
    switch (e->kind) {
    case BARRIER_INIT:
        snprintf(text, size, "init: phase 0 begins, %u arrival%s expected", e->amount,
                 e->amount == 1 ? "" : "s");
        break;
    case BARRIER_ARRIVE:
        snprintf(text, size, stretch->count > 1 ? "arrive: %d arrivals" : "arrive: one arrival",
                 stretch->count);
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
                 stretch->count > 1 ? "" : "s", e->amount);
        break;
    default: /* what passes is the parity that is not under way */
        snprintf(text, size, "try_wait: pass%s, parity %u is %s", stretch->count > 1 ? "" : "es",
                 (e->phase & 1) ^ 1, e->phase ? "complete" : "before phase 0's");
    }
}

static void say_who(const struct stretch *stretch, char *text, size_t size) {
    const struct barrier_event *const e = stretch->first;
    const char *const slash = e->file ? strrchr(e->file, '/') : NULL;
    int used;
    if (e->kind == BARRIER_FLIP)
        used = snprintf(text, size, "the barrier itself");
    else if (e->by_thread < 0)
        used = snprintf(text, size, "the TMA");
    else if (stretch->count == 1)
        used = snprintf(text, size, "thread %d", e->by_thread);
    else if (stretch->highest - stretch->lowest == stretch->count - 1)
        used = snprintf(text, size, "threads %d to %d", stretch->lowest, stretch->highest);
    else
        used = snprintf(text, size, "%d threads of %d to %d", stretch->count, stretch->lowest,
                        stretch->highest);
    if (e->by_cta != e->cta)
        used += snprintf(text + used, size - (size_t)used, " of CTA %d", e->by_cta);
    if (e->file && e->kind != BARRIER_FLIP)
        snprintf(text + used, size - (size_t)used, ", %s:%d", slash ? slash + 1 : e->file, e->line);
}

static struct row row_of(const struct stretch *stretch) {
    struct row row;
    const struct barrier_event *const e = stretch->last;
    snprintf(row.cell[CYCLE], sizeof *row.cell, "%llu", (unsigned long long)e->cycle);
    snprintf(row.cell[PHASE], sizeof *row.cell, "%u", e->phase);
    snprintf(row.cell[PARITY], sizeof *row.cell, "%u", e->phase & 1);
    snprintf(row.cell[PENDING], sizeof *row.cell, "%d", e->pending);
    snprintf(row.cell[BYTES], sizeof *row.cell, "%d", e->tx);
    describe(stretch, row.cell[WHAT], sizeof *row.cell);
    say_who(stretch, row.cell[WHO], sizeof *row.cell);
    return row;
}

static void measure(const struct row *row, int width[COLUMNS]) {
    for (int i = 0; i < COLUMNS; ++i)
        if (width[i] < (int)strlen(row->cell[i])) width[i] = (int)strlen(row->cell[i]);
}

/* Numbers end, and words begin, where their column's do. */
static void print_row(FILE *file, const struct row *row, const int width[COLUMNS]) {
    for (int i = 0; i < WHAT; ++i)
        fprintf(file, "%*s  ", width[i], row->cell[i]);
    fprintf(file, "%-*s  %s\n", width[WHAT], row->cell[WHAT], row->cell[WHO]);
}

static void print_table(FILE *file, const struct barrier_event *events, int count, bool timed) {
    struct row row = {{"", "phase", "parity", "pending", "bytes", "what happens", "who"}};
    struct stretch stretch;
    int width[COLUMNS] = {0}, shown = 0;
    while (shown < count && events[shown].phase < MOST_PHASES)
        ++shown;
    strcpy(row.cell[CYCLE], timed ? "cycle" : "step");
    const struct row head = row;
    measure(&head, width);
    for (int i = 0; i < shown; i += stretch.count) {
        stretch = stretch_at(&events[i], shown - i);
        row = row_of(&stretch);
        measure(&row, width);
    }
    print_row(file, &head, width);
    for (int i = 0; i < shown; i += stretch.count) {
        stretch = stretch_at(&events[i], shown - i);
        row = row_of(&stretch);
        print_row(file, &row, width);
    }
    if (shown < count)
        fprintf(file, "%*s and so on: %u phases are completed in all\n", width[CYCLE], "...",
                events[count - 1].phase);
    fputc('\n', file);
}

/* Copies the events of the `index`-th barrier of the lowest CTA to `events`, and counts that CTA's
 * barriers. The events' order is that of their effects. A cycle is the clock of a warp, and one may
 * be run past another's: a step that takes effect after it is not shown before it. */
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
            if (t->barrier[i].cta == cta && t->barrier[i].offset == next) {
                events[count] = t->barrier[i];
                if (count > 0 && events[count].cycle < events[count - 1].cycle)
                    events[count].cycle = events[count - 1].cycle;
                ++count;
            }
        before = next;
    }
}

int timeline_explain_barrier(FILE *file, int index) {
    const struct timeline *const t = timeline_list;
    int barriers = 0;
    if (!t || t->barriers == 0) return 0;
    struct barrier_event *const events = timeline_zeroed((size_t)t->barriers, sizeof *events);
    const int count = select_events(t, index, events, &barriers);
    if (count > 0) {
        fprintf(
            file,
            "%s%s%s at %d x %d x %d, CTA %d: mbarrier %d of %d, at offset %u of shared memory.\n"
            "Its life as simulated, in the order in which steps take effect. After each step: "
            "the phase under\nway, its parity, the arrivals pending and the bytes missing; the "
            "phase is complete when both are 0.\n%s\n",
            t->name, *t->variant ? ":" : "", t->variant, t->m, t->n, t->k, events->cta, index,
            barriers, events->offset,
            t->timed ? "A step whose warp's clock is behind is shown at the cycle of the step "
                       "before.\n"
                     : "");
        print_table(file, events, count, t->timed);
    }
    free(events);
    return barriers;
}
