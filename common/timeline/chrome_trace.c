/*
 * chrome_trace.c: the timelines in the Trace Event Format, which Perfetto (ui.perfetto.dev) and
 * chrome://tracing open.
 *
 * A process is a CTA of a step, a thread is a track. Spans are complete events ("X"); on one track
 * they neither overlap nor go back in time. Cycles of a known clock become microseconds; simulated
 * cycles are shown as nanoseconds, one each, because the format has no other unit.
 */
#include "timeline/model.h"
#include "timeline/text_file.h"
#include "timeline/tracks.h"

#include <string.h>

static const double NS_PER_SIMULATED_CYCLE = 1;

/* Tenths of a nanosecond: whole numbers, so that rounding makes no span reach into the next. */
static int64_t ticks(const struct timeline *timeline, int64_t cycles) {
    if (timeline->clock_mhz > 0) return (int64_t)((double)cycles / timeline->clock_mhz * 1e4);
    return (int64_t)((double)cycles * NS_PER_SIMULATED_CYCLE * 10);
}

static void write_time(FILE *file, const char *name, int64_t value) {
    fprintf(file, "\"%s\":%lld.%04lld,", name, (long long)(value / 10000),
            (long long)(value % 10000));
}

static void metadata(FILE *file, const char *what, int process, int thread, const char *name) {
    fprintf(file, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":", what,
            process, thread);
    write_json_string(file, name);
    fputs("}},\n", file);
}

static void order(FILE *file, const char *what, int process, int thread, int index) {
    fprintf(file,
            "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"args\":{\"sort_index\":%d}},\n",
            what, process, thread, index);
}

static void write_span(FILE *file, const struct timeline *timeline, const struct span *span,
                       int process, int thread) {
    const int64_t begin = ticks(timeline, span->begin), end = ticks(timeline, span->end);
    const char *source = span->inferred        ? "inferred"
                         : timeline->simulated ? "simulated"
                                               : "measured";
    const char *unit = timeline->simulated && !timeline->timed ? "step" : "cycle";
    fprintf(file, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,", process, thread);
    write_time(file, "ts", begin);
    write_time(file, "dur", end - begin);
    fprintf(file, "\"cat\":\"%s\",\"name\":\"%s", source, timeline_span_name(span->kind));
    if (span->k_tile >= 0) fprintf(file, " %d", span->k_tile);
    fprintf(file, "\",\"args\":{\"%s\":%lld,\"%ss\":%lld", unit, (long long)span->begin, unit,
            (long long)(span->end - span->begin));
    if (span->k_tile >= 0) fprintf(file, ",\"k_tile\":%d", span->k_tile);
    if (span->tile >= 0) fprintf(file, ",\"output_tile\":%d", span->tile);
    if (span->role >= 0) fprintf(file, ",\"role\":\"%s\"", timeline_role_name(span->role));
    fputs("}},\n", file);
}

static void write_timeline(FILE *file, const struct timeline *timeline, int sms, int *process) {
    int last_cta = -1, thread = 0;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (!timeline_shows(timeline, track->sm, sms)) continue;
        if (track->cta != last_cta) {
            char name[256], cta[64];
            if (timeline->gpus > 1)
                timeline_cta_name(timeline, track->cta, track->sm, cta, sizeof cta);
            else
                snprintf(cta, sizeof cta, "SM %d, CTA %d", track->sm, track->cta);
            snprintf(name, sizeof name, "%s%s%s, %s%s", timeline->name,
                     timeline->variant[0] ? " " : "", timeline->variant, cta,
                     !timeline->simulated ? ""
                     : timeline->timed    ? " (simulated)"
                                          : " (simulated, in steps)");
            last_cta = track->cta;
            thread = 0;
            ++*process;
            metadata(file, "process_name", *process, 0, name);
            order(file, "process_sort_index", *process, 0, *process);
        }
        ++thread;
        metadata(file, "thread_name", *process, thread, track->name);
        order(file, "thread_sort_index", *process, thread, thread);
        for (int j = 0; j < track->count; ++j)
            write_span(file, timeline, &track->at[j], *process, thread);
    }
}

bool timeline_write_trace(const char *path, int sms) {
    struct text_file output;
    if (!text_file_open(&output, path)) return false;
    FILE *file = output.file;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
    int process = 0;
    for (const struct timeline *t = timeline_list; t; t = t->next)
        write_timeline(file, t, sms, &process);
    /* A last event without a comma after it. */
    fputs("{\"ph\":\"M\",\"name\":\"trace_end\",\"pid\":0,\"tid\":0,\"args\":{}}\n],"
          "\n\"otherData\":{",
          file);
    int index = 0;
    for (const struct timeline *t = timeline_list; t; t = t->next, ++index) {
        char name[160];
        snprintf(name, sizeof name, "%s%s%s", t->name, t->variant[0] ? " " : "", t->variant);
        const struct timeline_figures figures = timeline_figures(index);
        write_json_string(file, name);
        fprintf(file,
                ":{\"source\":\"%s\",\"unit\":\"%s\",\"m\":%d,\"n\":%d,\"k\":%d,\"clock_mhz\":",
                t->simulated ? "simulated" : "measured",
                t->clock_mhz > 0 ? "us"
                : t->timed       ? "simulated cycle shown as ns"
                                 : "step shown as ns",
                t->m, t->n, t->k);
        if (t->clock_mhz > 0)
            write_json_number(file, t->clock_mhz);
        else
            fputs("null", file);
        fputs(",\"cycles\":", file); /* of the whole run; the last span may end earlier */
        if (t->timed && t->cycles >= 0)
            write_json_number(file, t->cycles);
        else
            fputs("null", file);
        fprintf(file,
                ",\"truncated_roles\":%d,\"k_tile_period\":%.1f,\"tensor_core_busy\":%.4f,"
                "\"fragment_overlap\":%.4f,\"epilogue_overlap\":%.4f}%s\n",
                t->truncated, figures.k_tile_period, figures.tensor_core_busy,
                figures.fragment_overlap, figures.epilogue_overlap, t->next ? "," : "");
    }
    fputs("}}\n", file);
    return text_file_commit(&output);
}
