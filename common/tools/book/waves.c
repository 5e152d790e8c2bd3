/*
 * waves.c: the Tensor Cores of several kernels on one time axis, to see the last wave.
 *
 *     build/sim/10_stream_k --m 256 --n 768 --k 4096 --variant coop256 --trace coop256.json
 *     build/sim/10_stream_k --m 256 --n 768 --k 4096 --variant stream256 --trace stream256.json
 *     build/sim/waves waves.svg coop256.json stream256.json
 *
 * Reads traces that --trace has written, of the simulator or of a GPU. Draws a lane for each SM in
 * them (a trace has the first four), and prints how much of the lanes is idle: after an SM's last
 * multiplication, and in all. A simulated kernel's time is that of its run. A GPU's trace does not
 * contain it: there the time ends with the last span.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/svg_canvas.h"
#include "tools/json/json.h"

enum { KERNELS = 8, SMS = 16, TRACKS = 64 };
enum { TOP = 50, HEADING = 17, LANE = 13, GAP = 9, AXIS = 16 };

/* One SM's Tensor Core. */
struct lane {
    int sm, process, thread;
    struct track track;
    int64_t busy, last;
};

struct kernel {
    char name[160];
    int m, n, k;
    bool measured;
    int64_t period, end; /* of a k-tile; of the kernel */
    struct lane lane[SMS];
    int lanes;
};

static void fail(const char *path, const char *what) {
    fprintf(stderr, "waves: %s %s; make the trace with --trace\n", path, what);
    exit(2);
}

static const char *argument_text(const struct json *event, const char *key) {
    return json_text(json_member(event, "args"), key);
}

static int64_t argument(const struct json *event, const char *key) {
    return (int64_t)json_number(json_member(event, "args"), key);
}

static int whole(const struct json *object, const char *key) {
    return (int)json_number(object, key);
}

/* ---- reading ---- */

/* The first CTA of each SM: its track of the Tensor Core has the other CTAs' multiplications, too.
 */
static void add_lane(struct kernel *kernel, const struct json *event) {
    const char *place = strstr(argument_text(event, "name"), ", SM ");
    int sm;
    if (!place || sscanf(place, ", SM %d", &sm) != 1 || kernel->lanes == SMS) return;
    for (int i = 0; i < kernel->lanes; ++i)
        if (kernel->lane[i].sm == sm) return;
    kernel->lane[kernel->lanes++] = (struct lane){
        .sm = sm, .process = whole(event, "pid"), .thread = -1, .track.kind = TRACK_TENSOR_CORE};
}

static struct lane *lane_of(struct kernel *kernel, const struct json *event) {
    for (int i = 0; i < kernel->lanes; ++i)
        if (kernel->lane[i].process == whole(event, "pid")) return &kernel->lane[i];
    return NULL;
}

/* Multiplications with less than a quarter of a k-tile between them are drawn as one. */
static void add_span(struct kernel *kernel, struct lane *lane, const struct json *event) {
    struct track *track = &lane->track;
    const int64_t begin = argument(event, "cycle"), end = begin + argument(event, "cycles");
    lane->busy += end - begin;
    lane->last = end;
    struct span *before = track->count ? &track->at[track->count - 1] : NULL;
    if (before && begin - before->end < kernel->period / 4) {
        before->end = end;
        return;
    }
    timeline_grow((void **)&track->at, track->count, &track->capacity, sizeof *track->at);
    track->at[track->count++] = (struct span){
        .begin = begin,
        .end = end,
        .kind = SPAN_MMA,
        .inferred = strcmp(json_text(event, "cat"), "inferred") == 0,
        .role = -1,
        .k_tile = -1,
        .tile = -1,
    };
}

static void read_events(struct kernel *kernel, const struct json *events) {
    for (size_t i = 0; i < events->count; ++i) {
        const struct json *event = &events->item[i];
        const char *name = json_text(event, "name");
        if (strcmp(name, "process_name") == 0) add_lane(kernel, event);
        struct lane *lane = lane_of(kernel, event);
        if (lane && strcmp(name, "thread_name") == 0 &&
            strcmp(argument_text(event, "name"), "Tensor Core") == 0)
            lane->thread = whole(event, "tid");
        if (strcmp(json_text(event, "ph"), "X") != 0) continue;
        const int64_t end = argument(event, "cycle") + argument(event, "cycles");
        if (end > kernel->end) kernel->end = end;
        if (lane && whole(event, "tid") == lane->thread) add_span(kernel, lane, event);
    }
}

static void read_kernel(struct kernel *kernel, const char *path) {
    struct json trace;
    char error[128];
    char *text = json_read_file(path);
    if (!text) fail(path, "cannot be read");
    if (!json_parse(text, &trace, error, sizeof error)) fail(path, error);
    const struct json *about = json_member(&trace, "otherData");
    const struct json *events = json_member(&trace, "traceEvents");
    if (!events || !about || about->count != 1) fail(path, "is no trace of one kernel");
    *kernel = (struct kernel){
        .m = whole(about->item, "m"),
        .n = whole(about->item, "n"),
        .k = whole(about->item, "k"),
        .measured = strcmp(json_text(about->item, "source"), "measured") == 0,
        .period = (int64_t)json_number(about->item, "k_tile_period"),
        .end = (int64_t)json_number(about->item, "cycles"),
    };
    snprintf(kernel->name, sizeof kernel->name, "%s", about->key[0]);
    read_events(kernel, events);
    for (int i = 0; i < kernel->lanes; ++i)
        if (!kernel->lane[i].busy) fail(path, "has an SM without a multiplication in cycles");
    if (!kernel->lanes) fail(path, "has no SM");
    json_free(&trace);
    free(text);
}

/* ---- the two shares of the lanes' time, in percent ---- */

static double idle_at_the_end(const struct kernel *kernel) {
    double idle = 0;
    for (int i = 0; i < kernel->lanes; ++i)
        idle += (double)(kernel->end - kernel->lane[i].last);
    return 100 * idle / ((double)kernel->lanes * (double)kernel->end);
}

static double idle_in_all(const struct kernel *kernel) {
    double idle = 0;
    for (int i = 0; i < kernel->lanes; ++i)
        idle += (double)(kernel->end - kernel->lane[i].busy);
    return 100 * idle / ((double)kernel->lanes * (double)kernel->end);
}

/* ---- drawing ---- */

static void draw(FILE *file, const struct kernel *kernel, int kernels) {
    struct panel panel = {0, 1, SVG_LABELS, SVG_RIGHT};
    struct legend legend = {.kinds[SPAN_MMA] = true};
    double height = TOP;
    for (int i = 0; i < kernels; ++i) {
        if (kernel[i].end > panel.end) panel.end = kernel[i].end;
        legend.inferred |= kernel[i].lane[0].track.at[0].inferred != 0;
        height += HEADING + kernel[i].lanes * (LANE + 1) + GAP;
    }
    const double bottom = height;
    char title[128], subtitle[160];
    snprintf(title, sizeof title, "The waves on one time axis, %s",
             kernel->measured ? "measured" : "simulated");
    snprintf(subtitle, sizeof subtitle, "%d x %d x %d, the Tensor Core of each SM over time in %s",
             kernel->m, kernel->n, kernel->k,
             kernel->measured ? "SM clock cycles" : "simulated cycles");
    svg_begin(file, height + AXIS + svg_legend_height(&legend) + 4, title, subtitle);
    svg_axis(file, &panel, TOP, bottom);
    double y = TOP;
    for (int i = 0; i < kernels; ++i, ++kernel) {
        char text[128];
        svg_text(file, 10, y + 12, "name", "start", kernel->name);
        snprintf(text, sizeof text, "%lld cycles; idle after an SM's last multiplication: %.1f %%",
                 (long long)kernel->end, idle_at_the_end(kernel));
        svg_text(file, SVG_RIGHT, y + 12, "note", "end", text);
        y += HEADING;
        struct panel own = panel; /* the lane ends with the kernel */
        own.end = kernel->end;
        own.right =
            panel.left + (panel.right - panel.left) * (double)kernel->end / (double)panel.end;
        for (int j = 0; j < kernel->lanes; ++j, y += LANE + 1) {
            snprintf(text, sizeof text, "SM %d", kernel->lane[j].sm);
            svg_text(file, SVG_LABELS - 8, y + 10, "tick", "end", text);
            svg_lane(file, &kernel->lane[j].track, &own, y, LANE, false);
        }
        y += GAP;
    }
    svg_legend(file, bottom + AXIS, &legend);
    svg_end(file);
}

int main(int argc, char **argv) {
    static struct kernel kernel[KERNELS];
    const int kernels = argc - 2;
    if (kernels < 1 || kernels > KERNELS) {
        fprintf(stderr, "usage: waves FIGURE.svg TRACE.json...   (up to %d)\n", KERNELS);
        return 2;
    }
    for (int i = 0; i < kernels; ++i) {
        read_kernel(&kernel[i], argv[i + 2]);
        if (kernel[i].m != kernel->m || kernel[i].n != kernel->n || kernel[i].k != kernel->k ||
            kernel[i].measured != kernel->measured)
            fail(argv[i + 2], "is of another problem, or from another machine, than the first");
    }
    struct text_file output;
    if (!output_begin(&output, argv[1])) return 2;
    draw(output.file, kernel, kernels);
    if (!output_end(&output)) return 2;
    printf("%-28s %9s  idle after the last multiplication  idle in all\n", "", "cycles");
    for (int i = 0; i < kernels; ++i)
        printf("%-28s %9lld %33.1f %% %10.1f %%\n", kernel[i].name, (long long)kernel[i].end,
               idle_at_the_end(&kernel[i]), idle_in_all(&kernel[i]));
    return 0;
}
