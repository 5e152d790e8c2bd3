/*
 * deadlock.c: the report when nothing is under way and no thread can run: who waits for what, and
 * who for whom.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/doubt.h"
#include "sim/core/grid.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"

/* ---- who waits for what ---- */

/* What a blocked thread waits for, as one line of text. */
static void describe(const struct sim_thread *thread, char *text, size_t size) {
    text[0] = 0;
    if (thread->state == THREAD_READY)
        snprintf(text, size, "runs");
    else if (thread->wait)
        thread->wait->describe(thread, thread->waits_for, text, size);
    else
        snprintf(text, size, "waits");
}

static void say_group(FILE *out, const struct sim_thread *first, const struct sim_thread *last,
                      int count, const char *text) {
    char name[48];
    sim_cta_name(first->cta, name, sizeof name);
    if (count == 1)
        fprintf(out, "    %s, thread %d", name, first->index);
    else
        fprintf(out, "    %s, threads %d-%d%s", name, first->index, last->index,
                count == last->index - first->index + 1 ? "" : " (some)");
    fprintf(out, ", %s:%d: %s\n", source_name(first->self.file), first->self.line, text);
}

/* Neighbouring threads that wait for the same thing are one line. Returns lines written. */
static int say_cta(FILE *out, const struct sim_cta *cta, int room) {
    int lines = 0, ended = 0;
    const struct sim_thread *first = NULL, *last = NULL;
    int count = 0;
    char text[448] = "", group[448] = "";
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
        fprintf(out, "    %s: %d threads have ended\n", sim_cta_name(cta, text, sizeof text),
                ended);
        ++lines;
    }
    return lines;
}

/* ---- who waits for whom ---- */

enum { LINKS = 12 };

/* A thread waits for the next one of the chain. */
struct chain {
    const struct sim_thread *link[LINKS];
    int count;
    bool cycle; /* and the last for the one at `again` */
    int again;
};

static bool awaits(const struct sim_thread *waiter, const struct sim_thread *other) {
    return waiter->wait && waiter->wait->awaits && waiter->wait->awaits(waiter, other);
}

/* A thread that this one waits for; rather one that has ended, because it will never come. */
static const struct sim_thread *awaited_by(const struct sim_thread *waiter) {
    const struct sim_cluster *cluster = waiter->cta->cluster;
    const struct sim_thread *found = NULL;
    for (int rank = 0; rank < cluster->ctas; ++rank)
        for (int i = 0; i < cluster->cta[rank].threads; ++i) {
            const struct sim_thread *other = &cluster->cta[rank].thread[i];
            if (other == waiter || !awaits(waiter, other)) continue;
            if (other->state == THREAD_DONE) return other;
            if (!found) found = other;
        }
    return found;
}

static void follow(struct chain *chain, const struct sim_thread *thread) {
    chain->count = 0;
    chain->cycle = false;
    while (thread && chain->count < LINKS) {
        for (int i = 0; i < chain->count; ++i)
            if (chain->link[i] == thread) {
                chain->cycle = true;
                chain->again = i;
                return;
            }
        chain->link[chain->count++] = thread;
        thread = thread->state == THREAD_DONE ? NULL : awaited_by(thread);
    }
}

static void say_chain(FILE *out, const struct chain *chain) {
    char who[96];
    for (int i = 0; i < chain->count; ++i) {
        const struct sim_thread *thread = chain->link[i];
        fprintf(out, "    %s%s", i ? "for " : "", sim_who(thread, who, sizeof who));
        if (thread->state == THREAD_DONE)
            fprintf(out, ", which has ended\n");
        else
            fprintf(out, ", %s:%d, which waits%s\n", source_name(thread->self.file),
                    thread->self.line,
                    i + 1 < chain->count || chain->cycle
                        ? ""
                        : " for an event that no thread is known to cause");
    }
    if (chain->cycle)
        fprintf(out, "    for %s: a cycle\n", sim_who(chain->link[chain->again], who, sizeof who));
}

/* The thread to begin with: `root`, or at the end of the first chain. */
static const struct sim_thread *culprit(const struct sim_thread *first,
                                        const struct sim_thread *root, struct chain *chain) {
    follow(chain, root ? root : first);
    const struct sim_thread *last = chain->link[chain->count - 1];
    if (chain->cycle) return chain->link[chain->again];
    if (last->state == THREAD_DONE && chain->count > 1) return chain->link[chain->count - 2];
    return last;
}

void say_threads(FILE *out) {
    enum { LINES = 24 };
    int room = LINES;
    for (const struct sim_cluster *cluster = sim.clusters; cluster; cluster = cluster->next)
        for (int rank = 0; rank < cluster->ctas; ++rank)
            room -= say_cta(out, &cluster->cta[rank], room);
    if (room <= 0) fprintf(out, "    ...\n");
}

/* CTAs for which there is no room, if a thread may wait for one of them. */
static void say_absent(FILE *out, bool far) {
    if (!far) return;
    for (int device = 0; device < sim.devices; ++device) {
        const int absent = grid_waiting(device);
        if (absent == 0) continue;
        fprintf(out, "    %d of the grid's %d CTAs", absent, sim.launch->grid);
        if (sim.devices > 1) fprintf(out, " on device %d", device);
        if (grid_skipped(device)) doubt_in_next_report(DOUBT_CTA_ORDER);
        fprintf(out,
                " have no SM until another CTA ends. Does a thread above wait for one of them? "
                "Then\n    all CTAs have to fit at once: gemm_resident_clusters() tells how "
                "many do.\n");
    }
}

void report_deadlock(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) host_memory_ends("the report of a deadlock");
    const struct sim_thread *first = NULL, *root = NULL;
    int blocked = 0;
    bool far = false;
    for (const struct sim_cluster *cluster = sim.clusters; cluster; cluster = cluster->next)
        for (int rank = 0; rank < cluster->ctas; ++rank) {
            const struct sim_cta *cta = &cluster->cta[rank];
            for (int i = 0; i < cta->threads; ++i) {
                if (cta->thread[i].state == THREAD_DONE) continue;
                ++blocked;
                if (!first) first = &cta->thread[i];
                const struct sim_wait *wait = cta->thread[i].wait;
                far |= wait && wait->far;
                if (!root && wait && wait->root) root = &cta->thread[i];
            }
        }
    say_threads(out);
    struct chain chain;
    const struct sim_thread *named = culprit(first, root, &chain);
    if (chain.count > 1) say_chain(out, &chain);
    say_absent(out, far);
    fprintf(out,
            "    Look for an arrival or a load that is missing or comes too late, a wrong count, "
            "or a wrong initial phase.");
    if (fclose(out) != 0 || !text) host_memory_ends("the report of a deadlock");
    sim_hazard("deadlock", named, "nothing is under way and no thread can run; %d %s:\n%s", blocked,
               blocked == 1 ? "thread waits" : "threads wait", text);
    free(text);
}
