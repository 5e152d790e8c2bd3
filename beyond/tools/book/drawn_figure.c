/*
 * drawn_figure.c: two panels, one above the other, with one axis for the FLOP. All axes are
 * logarithmic.
 */
#include "tools/book/drawn_figure.h"

#include <math.h>

#include "timeline/svg_canvas.h"

enum { LEFT = 60, RIGHT = 840, LABEL = 16 };
enum { FIRST_TOP = 74, FIRST_BOTTOM = 194, SECOND_TOP = 234, SECOND_BOTTOM = 474, HEIGHT = 516 };

struct axes {
    double low_flop, high_flop;   /* decades */
    double low_ratio, high_ratio; /* of the panel's axis */
    double top, bottom;
};

static double flop(const struct drawn_row *row) {
    return 2.0 * row->size.m * row->size.n * row->size.k;
}

static double across(const struct axes *axes, double value) {
    return LEFT +
           (RIGHT - LEFT) * (log10(value) - axes->low_flop) / (axes->high_flop - axes->low_flop);
}

static double up(const struct axes *axes, double ratio) {
    return axes->bottom - (axes->bottom - axes->top) * log(ratio / axes->low_ratio) /
                              log(axes->high_ratio / axes->low_ratio);
}

/* "10 MFLOP" */
static void name_decade(char *text, size_t size, int decade) {
    static const char *const unit[] = {"", "k", "M", "G", "T", "P"};
    snprintf(text, size, "%.0f %sFLOP", pow(10, decade % 3), unit[decade / 3]);
}

static void draw_columns(FILE *file, const struct axes *axes, bool named) {
    char text[32];
    for (int decade = (int)axes->low_flop; decade <= axes->high_flop; ++decade) {
        const double x = across(axes, pow(10, decade));
        fprintf(file, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, axes->top, axes->bottom);
        name_decade(text, sizeof text, decade);
        if (named) svg_text(file, x, axes->bottom + 15, "tick", "middle", text);
    }
}

/* The line of 1 is where the kernel is as fast as the library. */
static void draw_line(FILE *file, const struct axes *axes, double ratio, const char *format) {
    const double y = up(axes, ratio);
    char text[32];
    fprintf(file, "<path class=\"grid\"%s d=\"M%d %.1fH%d\"/>\n",
            fabs(ratio - 1) < 1e-6 ? " style=\"stroke:var(--fg)\"" : "", LEFT, y, RIGHT);
    snprintf(text, sizeof text, format, ratio);
    svg_text(file, LEFT - 6, y + 3, "tick", "end", text);
}

static void draw_dot(FILE *file, const struct axes *axes, const struct drawn_row *row) {
    const double x = across(axes, flop(row)), y = up(axes, row->ratio);
    if (row->aligned)
        fprintf(file,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" "
                "style=\"fill:var(--load);stroke:var(--bg)\">",
                x, y);
    else
        fprintf(file,
                "<path d=\"M%.1f %.1fl5 9h-10z\" "
                "style=\"fill:var(--bg);stroke:var(--store);stroke-width:1.5\">",
                x, y - 6);
    fprintf(file, "<title>%d×%d×%d: %.2f</title></%s>\n", row->size.m, row->size.n, row->size.k,
            row->ratio, row->aligned ? "circle" : "path");
}

static void draw_dots(FILE *file, const struct axes *axes, const struct drawn_record *record,
                      bool aligned) {
    for (int i = 0; i < record->rows; ++i)
        if (record->row[i].aligned == aligned) draw_dot(file, axes, &record->row[i]);
}

/* The lowest and the highest ratio of the panel's dots, and 1. */
static void find_range(struct axes *axes, const struct drawn_record *record, bool aligned) {
    axes->low_ratio = axes->high_ratio = 1;
    for (int i = 0; i < record->rows; ++i) {
        if (record->row[i].aligned != aligned) continue;
        axes->low_ratio = fmin(axes->low_ratio, record->row[i].ratio);
        axes->high_ratio = fmax(axes->high_ratio, record->row[i].ratio);
    }
}

static void draw_unaligned(FILE *file, struct axes axes, const struct drawn_record *record) {
    axes.top = FIRST_TOP;
    axes.bottom = FIRST_BOTTOM;
    find_range(&axes, record, false);
    axes.low_ratio = exp2(floor(log2(axes.low_ratio)));
    axes.high_ratio = exp2(fmax(1, ceil(log2(axes.high_ratio))));
    svg_text(file, LEFT, FIRST_TOP - 9, "name", "start",
             "triangles: n or k is not a multiple of 8");
    draw_columns(file, &axes, false);
    for (double ratio = axes.low_ratio; ratio <= axes.high_ratio; ratio *= 2)
        draw_line(file, &axes, ratio, "%g");
    draw_dots(file, &axes, record, false);
}

static void draw_aligned(FILE *file, struct axes axes, const struct drawn_record *record) {
    axes.top = SECOND_TOP;
    axes.bottom = SECOND_BOTTOM;
    find_range(&axes, record, true);
    const int low = (int)fmax(1, floor(axes.low_ratio * 10));
    const int high = (int)floor(axes.high_ratio * 10) + 1;
    axes.low_ratio = low / 10.0;
    axes.high_ratio = high / 10.0;
    svg_text(file, LEFT, SECOND_TOP - 9, "name", "start", "circles: n and k are multiples of 8");
    draw_columns(file, &axes, true);
    for (int tenths = low; tenths <= high; ++tenths)
        draw_line(file, &axes, tenths / 10.0, "%.1f");
    draw_dots(file, &axes, record, true);
    svg_text(file, (LEFT + RIGHT) / 2, SECOND_BOTTOM + 2 * LABEL, "label", "middle",
             "2 m n k, the problem's floating-point operations");
}

void drawn_figure(FILE *file, const struct drawn_record *record) {
    char subtitle[160];
    struct axes axes = {.low_flop = INFINITY, .high_flop = -INFINITY};
    for (int i = 0; i < record->rows; ++i) {
        const double decade = log10(flop(&record->row[i]));
        axes.low_flop = fmin(axes.low_flop, floor(decade));
        axes.high_flop = fmax(axes.high_flop, floor(decade) + 1);
    }
    snprintf(subtitle, sizeof subtitle,
             "TFLOPS of 10 / TFLOPS of cuBLASLt's best, in burst, on %d drawn shapes; measured, %s",
             record->rows, json_text(&record->run, "gpu"));
    svg_begin(file, HEIGHT, "10 on drawn shapes", subtitle);
    draw_unaligned(file, axes, record);
    draw_aligned(file, axes, record);
    svg_end(file);
}
