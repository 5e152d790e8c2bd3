/*
 * waves.c: the Tensor Cores of several kernels on one time axis, to see the last wave.
 *
 *     build/sim/10_stream_k --m 256 --n 768 --k 4096 --variant coop256 --trace coop256.json
 *     build/sim/10_stream_k --m 256 --n 768 --k 4096 --variant stream256 --trace stream256.json
 *     build/sim/waves waves.svg coop256.json stream256.json
 *     build/sim/waves --record coop256.json stream256.json >record.txt
 *     build/sim/waves waves.svg record.txt
 *
 * Reads traces that --trace has written, of the simulator or of a GPU, and records. Draws a lane
 * for each SM in them, and prints how much of the lanes is idle: after an SM's last multiplication,
 * and in all. (A trace has the first four SMs, or as many as --trace-sms says.) --record prints a
 * record instead. A kernel's time is that of its run; on a GPU it begins with the first CTA and
 * ends with the last. Where a trace does not contain it, the time ends with the last span.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/svg_canvas.h"
#include "tools/book/waves.h"

enum { KERNELS = 8 };
enum { TOP = 50, HEADING = 17, GAP = 9, AXIS = 16 };
/* Of one SM: where there are few, with its number; where there are many, as a line. */
static const double LANE = 13, LANE_GAP = 1, LINE = 2;

static bool has_few(const struct wave *wave) { return wave->lanes <= WAVES_FEW_SMS; }

static double height_of(const struct wave *wave) {
    return HEADING + wave->lanes * (has_few(wave) ? LANE + LANE_GAP : LINE) + GAP;
}

static int by_last(const void *a, const void *b) {
    const struct lane *x = a, *y = b;
    if (x->last != y->last) return x->last > y->last ? -1 : 1;
    return (x->sm > y->sm) - (x->sm < y->sm);
}

/* The lanes of a kernel, from y down. */
static void draw_lanes(FILE *file, struct wave *wave, const struct panel *panel, double y) {
    char text[64];
    if (!has_few(wave)) {
        qsort(wave->lane, (size_t)wave->lanes, sizeof *wave->lane, by_last);
        snprintf(text, sizeof text, "%d SMs", wave->lanes);
        svg_text(file, SVG_LABELS - 8, y + 10, "tick", "end", text);
        svg_text(file, SVG_LABELS - 8, y + 24, "tick", "end", "by their end");
    }
    for (int i = 0; i < wave->lanes; ++i) {
        if (has_few(wave)) {
            snprintf(text, sizeof text, "SM %d", wave->lane[i].sm);
            svg_text(file, SVG_LABELS - 8, y + 10, "tick", "end", text);
        }
        svg_lane(file, &wave->lane[i].track, panel, y, has_few(wave) ? LANE : LINE, false);
        y += has_few(wave) ? LANE + LANE_GAP : LINE;
    }
}

static void draw(FILE *file, struct wave *wave, int kernels) {
    struct panel panel = {0, 1, SVG_LABELS, SVG_RIGHT};
    struct legend legend = {.kinds[SPAN_MMA] = true};
    bool inferred_lines = false;
    double height = TOP;
    for (int i = 0; i < kernels; ++i) {
        if (wave[i].end > panel.end) panel.end = wave[i].end;
        const bool is_inferred = wave[i].lane[0].track.at[0].inferred != 0;
        legend.inferred |= is_inferred && has_few(&wave[i]);
        inferred_lines |= is_inferred && !has_few(&wave[i]); /* too low for hatching */
        height += height_of(&wave[i]);
    }
    const double bottom = height;
    char title[128], subtitle[160];
    snprintf(title, sizeof title, "The waves on one time axis, %s",
             wave->measured ? "measured" : "simulated");
    snprintf(subtitle, sizeof subtitle,
             "%d x %d x %d, the Tensor Core of each SM over time in %s%s", wave->m, wave->n,
             wave->k, wave->measured ? "SM clock cycles" : "simulated cycles",
             inferred_lines ? "; multiplications are inferred" : "");
    svg_begin(file, height + AXIS + svg_legend_height(&legend) + 4, title, subtitle);
    svg_axis(file, &panel, TOP, bottom);
    double y = TOP;
    for (int i = 0; i < kernels; ++i, ++wave) {
        char text[128];
        svg_text(file, 10, y + 12, "name", "start", wave->name);
        snprintf(text, sizeof text, "%lld cycles; idle after an SM's last multiplication: %.1f %%",
                 (long long)wave->end, waves_idle_at_the_end(wave));
        svg_text(file, SVG_RIGHT, y + 12, "note", "end", text);
        struct panel own = panel; /* the lane ends with the kernel */
        own.end = wave->end;
        own.right = panel.left + (panel.right - panel.left) * (double)wave->end / (double)panel.end;
        draw_lanes(file, wave, &own, y + HEADING);
        y += height_of(wave);
    }
    svg_legend(file, bottom + AXIS, &legend);
    svg_end(file);
}

/* ---- the command line ---- */

static void fail(const char *path, const char *what) {
    fprintf(stderr, "waves: %s %s; make the trace with --trace\n", path, what);
    exit(2);
}

/* Reads all files, which have to be of one problem and of one machine. Returns how many kernels. */
static int read_all(struct wave *waves, char **path, int paths) {
    int kernels = 0;
    for (int i = 0; i < paths; ++i) {
        char error[160];
        const int count =
            waves_read(waves + kernels, KERNELS - kernels, path[i], error, sizeof error);
        if (!count) fail(path[i], kernels == KERNELS ? "is one too many" : error);
        for (int j = kernels; j < kernels + count; ++j)
            if (waves[j].m != waves->m || waves[j].n != waves->n || waves[j].k != waves->k ||
                waves[j].measured != waves->measured)
                fail(path[i], "is of another problem, or from another machine, than the first");
        kernels += count;
    }
    return kernels;
}

int main(int argc, char **argv) {
    static struct wave waves[KERNELS];
    if (argc < 3) {
        fprintf(stderr,
                "usage: waves FIGURE.svg TRACE.json|RECORD.txt...   (up to %d kernels)\n"
                "       waves --record TRACE.json...\n",
                KERNELS);
        return 2;
    }
    const int kernels = read_all(waves, argv + 2, argc - 2);
    if (strcmp(argv[1], "--record") == 0) {
        for (int i = 0; i < kernels; ++i)
            waves_print(stdout, &waves[i]);
        waves_free(waves, kernels);
        return fflush(stdout) ? 2 : 0;
    }
    struct text_file output;
    bool written = text_file_open(&output, argv[1]);
    if (written) {
        draw(output.file, waves, kernels);
        written = text_file_commit(&output);
    }
    if (!written) {
        fprintf(stderr, "waves: cannot write %s: %s\n", argv[1], strerror(errno));
        return 2;
    }
    printf("%-28s %9s  idle after the last multiplication  idle in all\n", "", "cycles");
    for (int i = 0; i < kernels; ++i)
        printf("%-28s %9lld %33.1f %% %10.1f %%\n", waves[i].name, (long long)waves[i].end,
               waves_idle_at_the_end(&waves[i]), waves_idle_in_all(&waves[i]));
    waves_free(waves, kernels);
    return 0;
}
