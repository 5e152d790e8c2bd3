/*
 * page.c: the report: the page with everything in it, the figures, and the trace.
 */
#include "timeline/kept_hazards.h"
#include "timeline/model.h"
#include "timeline/page_source.h"
#include "timeline/svg.h"
#include "timeline/text_file.h"
#include "timeline/tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So much of a long run fits a page that opens at once; the rest is in the trace. */
enum { PAGE_SMS = 2, PAGE_SPANS = 20000, PAGE_BARRIER_EVENTS = 4000, PAGE_BARRIERS = 64 };

/* ---- rows of the table ---- */

static void write_number(FILE *file, const char *name, double value) {
    fprintf(file, ",\"%s\":", name);
    write_json_number(file, value);
}

static void write_string(FILE *file, const char *name, const char *text) {
    fprintf(file, ",\"%s\":", name);
    write_json_string(file, text ? text : "");
}

static void write_row(FILE *file, const struct report_row *row) {
    fputs("{\"name\":", file);
    write_json_string(file, row->name);
    write_string(file, "variant", row->variant);
    write_string(file, "technique", row->technique);
    write_string(file, "problem", row->problem);
    fprintf(file, ",\"baseline\":%s,\"verified\":%s", row->baseline ? "true" : "false",
            row->verified ? "true" : "false");
    write_string(file, "failure", row->failure);
    write_number(file, "burst_ms", row->burst_ms);
    write_number(file, "burst_tflops", row->burst_tflops);
    write_number(file, "burst_clock_mhz", row->burst_clock_mhz);
    write_number(file, "burst_spread", row->burst_spread);
    write_number(file, "sustained_ms", row->sustained_ms);
    write_number(file, "sustained_tflops", row->sustained_tflops);
    write_number(file, "sustained_clock_mhz", row->sustained_clock_mhz);
    write_number(file, "sustained_spread", row->sustained_spread);
    write_number(file, "power_w", row->power_w);
    write_number(file, "cycles", row->cycles);
    write_number(file, "utilization", row->utilization);
    write_number(file, "registers", row->registers);
    write_number(file, "smem_bytes", (double)row->smem_bytes);
    putc('}', file);
}

static void write_info(FILE *file, const struct report_info *info) {
    fprintf(file, "{\"simulated\":%s,\"m\":%d,\"n\":%d,\"k\":%d,\"sms\":%d",
            info->simulated ? "true" : "false", info->m, info->n, info->k, info->sms);
    write_string(file, "times", timeline_times());
    write_string(file, "tick", strstr(timeline_times(), "steps") ? "step" : "cycle");
    write_number(file, "power_limit_w", info->power_limit_w);
    write_string(file, "device", info->device);
    write_string(file, "dtype", info->dtype);
    write_string(file, "input", info->input);
    write_string(file, "driver", info->driver);
    write_string(file, "toolkit", info->toolkit);
    write_string(file, "command", info->command);
    write_string(file, "docs", info->docs);
    putc('}', file);
}

/* ---- timelines ---- */

static int spans_before(const struct timeline *timeline, int64_t time) {
    int count = 0;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (!timeline_shows(timeline, track->sm, PAGE_SMS)) continue;
        int low = 0, high = track->count;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (track->at[middle].begin < time)
                low = middle + 1;
            else
                high = middle;
        }
        count += low;
    }
    return count;
}

/* The time up to which the page shows the timeline. */
static int64_t page_end(const struct timeline *timeline) {
    int64_t low = 0, high = timeline->end + 1;
    if (spans_before(timeline, high) <= PAGE_SPANS) return high;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (spans_before(timeline, middle) <= PAGE_SPANS)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void write_track(FILE *file, const struct track *track, int64_t until) {
    fputs("{\"name\":", file);
    write_json_string(file, track->name);
    fprintf(file, ",\"kind\":%d,\"cta\":%d,\"sm\":%d,\"spans\":[", track->kind, track->cta,
            track->sm);
    for (int i = 0; i < track->count && track->at[i].begin < until; ++i) {
        const struct span *span = &track->at[i];
        fprintf(file, "%s%lld,%lld,%d,%d,%d,%d,%d", i ? "," : "", (long long)span->begin,
                (long long)span->end, span->kind, span->inferred, span->role, span->k_tile,
                span->tile);
    }
    fputs("]}", file);
}

/* ---- barriers ---- */

static const struct barrier_event *sorting; /* what by_barrier compares: qsort passes no context */

/* By barrier; within one, in the order in which the events took effect. */
static int by_barrier(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    const struct barrier_event *p = &sorting[x], *q = &sorting[y];
    if (p->cta != q->cta) return p->cta < q->cta ? -1 : 1;
    if (p->offset != q->offset) return p->offset < q->offset ? -1 : 1;
    return x - y;
}

/* "&shared->full[stage]", the third of the CTA's barriers that are called so by the line that made
 * them, is full[2], as in the simulator's reports. Returns false if there is no name. */
static bool barrier_name(const struct barrier_event *event, int number, char *name, size_t size) {
    static const char prefix[] = "shared->";
    const char *from = event->name;
    if (!from) return false;
    if (*from == '&') ++from;
    if (strncmp(from, prefix, sizeof prefix - 1) == 0) from += sizeof prefix - 1;
    const char *open = strchr(from, '['), *close = strrchr(from, ']');
    if (open && close > open)
        snprintf(name, size, "%.*s[%d]%s, made in line %d", (int)(open - from), from, number,
                 close + 1, event->line);
    else
        snprintf(name, size, "%s, made in line %d", from, event->line);
    return true;
}

/* One barrier, the `number`-th of its CTA, name and line. */
static void write_barrier(FILE *file, const struct barrier_event *events, const int *order,
                          int count, int number) {
    const struct barrier_event *first = &events[order[0]];
    char name[96];
    if (!barrier_name(first, number, name, sizeof name))
        snprintf(name, sizeof name, "shared memory +0x%x", first->offset);
    fputs("{\"name\":", file);
    write_json_string(file, name);
    fprintf(file, ",\"cta\":%d,\"events\":[", first->cta);
    uint64_t cycle = 0;
    for (int i = 0; i < count && i < PAGE_BARRIER_EVENTS; ++i) {
        const struct barrier_event *event = &events[order[i]];
        /* Threads' clocks differ a little; what took effect later is not shown earlier. */
        if (event->cycle > cycle) cycle = event->cycle;
        fprintf(file, "%s%llu,%d,%d,%d,%u,%u,%d,%d,%d,%d", i ? "," : "", (unsigned long long)cycle,
                event->kind, event->by_cta, event->by_thread, event->amount, event->phase,
                event->pending, event->expected, event->tx, event->line);
    }
    fputs("]}", file);
}

static void write_barriers(FILE *file, const struct timeline *timeline) {
    int *order = NULL, count = 0, capacity = 0, written = 0;
    const int last_cta =
        timeline->ctas ? timeline->cta[0].cta + (timeline->cluster > 1 ? timeline->cluster : 1) : 0;
    for (int i = 0; i < timeline->barriers; ++i) {
        const int cta = timeline->barrier[i].cta;
        if (cta >= last_cta && !hazards_concern(timeline, cta)) continue;
        timeline_grow((void **)&order, count, &capacity, sizeof *order);
        order[count++] = i;
    }
    sorting = timeline->barrier;
    if (count) qsort(order, (size_t)count, sizeof *order, by_barrier);
    const struct barrier_event *named[PAGE_BARRIERS]; /* an event of each that is written */
    for (int begin = 0, end; begin < count && written < PAGE_BARRIERS; begin = end, ++written) {
        const struct barrier_event *first = &timeline->barrier[order[begin]];
        int number = 0;
        for (int i = 0; i < written; ++i)
            number += named[i]->cta == first->cta && named[i]->line == first->line &&
                      named[i]->name && first->name && strcmp(named[i]->name, first->name) == 0;
        named[written] = first;
        for (end = begin; end < count; ++end)
            if (timeline->barrier[order[end]].cta != first->cta ||
                timeline->barrier[order[end]].offset != first->offset)
                break;
        if (written) putc(',', file);
        write_barrier(file, timeline->barrier, order + begin, end - begin, number);
    }
    free(order);
}

static void write_timeline(FILE *file, const struct timeline *timeline, int index) {
    const int64_t until = page_end(timeline);
    const struct timeline_figures figures = timeline_figures(index);
    fputs("{\"name\":", file);
    write_json_string(file, timeline->name);
    write_string(file, "variant", timeline->variant);
    write_string(file, "technique", timeline->technique);
    write_string(file, "busy_means", figures.busy_means);
    fprintf(file, ",\"simulated\":%s,\"truncated\":%d", timeline->simulated ? "true" : "false",
            timeline->truncated);
    fprintf(file, ",\"tile\":[%d,%d,%d],\"cluster\":%d", timeline->tile_m, timeline->tile_n,
            timeline->tile_k, timeline->cluster);
    write_number(file, "k_tile_period", figures.k_tile_period);
    write_number(file, "busy", figures.tensor_core_busy);
    fputs(",\"hazards\":", file);
    hazards_write(file, timeline);
    fputs(",\"tracks\":[", file);
    bool first = true;
    for (int i = 0; i < timeline->tracks; ++i) {
        if (!timeline_shows(timeline, timeline->track[i].sm, PAGE_SMS) &&
            !hazards_concern(timeline, timeline->track[i].cta))
            continue;
        if (!first) putc(',', file);
        first = false;
        write_track(file, &timeline->track[i], until);
    }
    fputs("],\"barriers\":[", file);
    write_barriers(file, timeline);
    fputs("]}", file);
}

static bool write_page(const char *path, const struct report_info *info,
                       const struct report_row *rows, int count) {
    struct text_file output;
    if (!text_file_open(&output, path)) return false;
    FILE *file = output.file;
    fwrite(page_head, 1, page_head_size, file);
    fputs("{\"info\":", file);
    write_info(file, info);
    fputs(",\n\"rows\":[", file);
    for (int i = 0; i < count; ++i) {
        if (i) fputs(",\n", file);
        write_row(file, &rows[i]);
    }
    fputs("],\n\"timelines\":[", file);
    int index = 0;
    for (const struct timeline *t = timeline_list; t; t = t->next, ++index) {
        if (index) fputs(",\n", file);
        write_timeline(file, t, index);
    }
    fputs("]}", file);
    fwrite(page_tail, 1, page_tail_size, file);
    return text_file_commit(&output);
}

static bool write_files(const char *dir, const struct report_info *info,
                        const struct report_row *rows, int count) {
    char path[4096];
#ifndef __EMSCRIPTEN__ /* in a browser there is the page alone */
    snprintf(path, sizeof path, "%s/trace.json", dir);
    if (!timeline_write_trace(path, TRACE_SMS)) return false;
    if (timeline_list) {
        snprintf(path, sizeof path, "%s/timelines.svg", dir);
        if (!timeline_write_stack_svg(path)) return false;
    }
    for (const struct timeline *t = timeline_list; t; t = t->next) {
        snprintf(path, sizeof path, "%s/timeline_%s%s%s.svg", dir, t->name,
                 t->variant[0] ? "_" : "", t->variant);
        if (!timeline_write_kernel_svg(path, t)) return false;
    }
#endif
    snprintf(path, sizeof path, "%s/index.html", dir); /* last: where it is, the others are */
    return write_page(path, info, rows, count);
}

bool timeline_write_report(const char *dir, const struct report_info *info,
                           const struct report_row *rows, int count) {
    const bool made = mkdir(dir, 0777) == 0;
    if (!made && errno != EEXIST) return false;
    if (write_files(dir, info, rows, count)) return true;
    const int error = errno;
    if (made) rmdir(dir); /* unless there is a file in it */
    errno = error;
    return false;
}
