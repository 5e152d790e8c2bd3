/*
 * error_figure.c: two panels, four lines each.
 */
#include "tools/inspect/error_figure.h"

#include <math.h>

#include "timeline/svg_canvas.h"

enum { TOP = 66, BOTTOM = 336, HEIGHT = 376, PANEL_WIDTH = 345, LEFT = 70, GAP = 70 };
enum { LOW = -5, HIGH = 2 }; /* decades of per cent */

/* Of the order of error_sums, the colours of the timelines' style. */
static const char *const colours[ERROR_SUMS] = {"load", "multicast", "store", "mma"};

static double across(int panel, int length) {
    const double first = log2(error_lengths[0]), last = log2(error_lengths[ERROR_LENGTHS - 1]);
    return LEFT + panel * (PANEL_WIDTH + GAP) +
           PANEL_WIDTH * (log2(error_lengths[length]) - first) / (last - first);
}

static double up(double per_cent) {
    return BOTTOM - (BOTTOM - TOP) * (log10(per_cent) - LOW) / (HIGH - LOW);
}

static void draw_grid(FILE *file, int panel) {
    const double left = across(panel, 0), right = across(panel, ERROR_LENGTHS - 1);
    char text[32];
    for (int decade = LOW; decade <= HIGH; ++decade) {
        const double y = up(pow(10, decade));
        fprintf(file, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", left, y, right);
        snprintf(text, sizeof text, "%.*f %%", decade < 0 ? -decade : 0, pow(10, decade));
        svg_text(file, left - 6, y + 3, "tick", "end", text);
    }
    for (int i = 0; i < ERROR_LENGTHS; ++i) {
        fprintf(file, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", across(panel, i), TOP, BOTTOM);
        snprintf(text, sizeof text, "%d", error_lengths[i]);
        svg_text(file, across(panel, i), BOTTOM + 14, "tick", "middle", text);
    }
    svg_text(file, (left + right) / 2, BOTTOM + 30, "label", "middle", "k");
    svg_text(file, left, TOP - 8, "name", "start", error_inputs[panel]);
}

/* Beside the line's first point: above it or below. */
static void draw_name(FILE *file, int panel, int sum, double first) {
    static const int shift[ERROR_SUMS] = {16, -14, -14, 16};
    svg_text(file, across(panel, 0) + 8, up(first) + shift[sum], "label", "start", error_sums[sum]);
}

static void draw_sum(FILE *file, int panel, int sum, const struct error_table *simulated,
                     const struct error_table *measured) {
    fprintf(file, "<path style=\"fill:none;stroke:var(--%s);stroke-width:2\" d=\"", colours[sum]);
    for (int i = 0; i < ERROR_LENGTHS; ++i)
        fprintf(file, "%c%.1f %.1f", i ? 'L' : 'M', across(panel, i),
                up(simulated->of[panel][i][sum].rms));
    fputs("\"/>\n", file);
    for (int i = 0; measured && i < ERROR_LENGTHS; ++i)
        fprintf(file,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" "
                "style=\"fill:var(--bg);stroke:var(--%s);stroke-width:1.5\"/>\n",
                across(panel, i), up(measured->of[panel][i][sum].rms), colours[sum]);
    draw_name(file, panel, sum, simulated->of[panel][0][sum].rms);
}

bool write_error_figure(const char *path, const struct error_table *simulated,
                        const struct error_table *measured, const char *gpu) {
    struct text_file output;
    char subtitle[160];
    snprintf(subtitle, sizeof subtitle,
             measured ? "root mean square of the errors, in per cent of that of the sums; lines: "
                        "simulated; circles: measured, %s"
                      : "root mean square of the errors, in per cent of that of the sums; "
                        "simulated, not measured%s",
             measured ? gpu : "");
    if (!text_file_open(&output, path)) return false;
    svg_begin(output.file, HEIGHT, "The error of a sum of k products", subtitle);
    for (int panel = 0; panel < ERROR_INPUTS; ++panel) {
        draw_grid(output.file, panel);
        for (int sum = 0; sum < ERROR_SUMS; ++sum)
            draw_sum(output.file, panel, sum, simulated, measured);
    }
    svg_end(output.file);
    return text_file_commit(&output);
}
