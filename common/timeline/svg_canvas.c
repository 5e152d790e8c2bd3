/*
 * svg_canvas.c: the parts that both figures are drawn with.
 *
 * Colours are CSS variables, so that the figure follows the reader's light or dark theme also
 * inside an <img>. They are those of the page (page/style.css).
 */
#include "timeline/svg_canvas.h"

#include <math.h>
#include <string.h>

#include "timeline/page_source.h"

static const char *const classes[SPAN_KINDS] = {
    [SPAN_LOAD] = "load",   [SPAN_MULTICAST] = "multicast",
    [SPAN_HELD] = "held",   [SPAN_ACQUIRE] = "acquire",
    [SPAN_WAIT] = "wait",   [SPAN_FRAGMENTS] = "fragments",
    [SPAN_ISSUE] = "issue", [SPAN_MMA] = "mma",
    [SPAN_FMA] = "fma",     [SPAN_EPILOGUE] = "epilogue",
    [SPAN_STORE] = "store", [SPAN_OTHER] = "other",
    [SPAN_LINK] = "link",   [SPAN_PROMOTION] = "fma", /* which it consists of */
    [SPAN_SPECIAL] = "fma",
};

/* Narrower than this (units of the figure), spans of one kind are drawn as one. */
static const double FINEST = 0.35;

void svg_text(FILE *file, double x, double y, const char *class, const char *anchor,
              const char *text) {
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y, class,
            anchor);
    write_xml_text(file, text);
    fputs("</text>\n", file);
}

void svg_begin(FILE *file, double height, const char *title, const char *subtitle) {
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
            "height=\"%.0f\" "
            "role=\"img\" aria-label=\"",
            SVG_WIDTH, height, SVG_WIDTH, height);
    write_xml_text(file, title);
    fputs("\">\n", file);
    fwrite(figure_style, 1, figure_style_size, file);
    fprintf(file, "<rect width=\"%d\" height=\"%.0f\" style=\"fill:var(--bg)\"/>\n", SVG_WIDTH,
            height);
    svg_text(file, 10, 22, "title", "start", title);
    svg_text(file, 10, 39, "note", "start", subtitle);
}

void svg_end(FILE *file) { fputs("</svg>\n", file); }

/* 1, 2 or 5 times a power of ten, so that there are at most `ticks` of them in `range`. */
static double tick_step(double range, int ticks) {
    const double power = pow(10, floor(log10(range / ticks)));
    const double ratio = range / ticks / power;
    return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

double svg_x(const struct panel *panel, double time) {
    return panel->left + (panel->right - panel->left) * (time - (double)panel->begin) /
                             (double)(panel->end - panel->begin);
}

void svg_axis(FILE *file, const struct panel *panel, double top, double bottom) {
    const double step = tick_step((double)(panel->end - panel->begin),
                                  (int)((panel->right - panel->left) / 80) + 1);
    for (double t = ceil((double)panel->begin / step) * step; t <= (double)panel->end; t += step) {
        const double x = svg_x(panel, t);
        char text[32];
        const bool sign = panel->begin < 0 && t != 0;
        const int digits =
            snprintf(text, sizeof text, sign ? "%+.0f" : "%.0f", t + 0.0); /* no -0 */
        fprintf(file, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, top, bottom);
        /* Neither over the figure's edge nor into the gap between two panels. */
        if (x + 3 + 5.6 * digits < panel->right + 6)
            svg_text(file, x + 3, bottom + 9, "tick", "start", text);
    }
}

static void draw_span(FILE *file, const struct span *span, const char *class, double x,
                      double width, double y, double height, bool number) {
    fprintf(file, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>\n",
            class, x, y, width, height);
    if (span->inferred && width > 2 && height > 5)
        fprintf(
            file,
            "<rect fill=\"url(#hatch)\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>\n",
            x, y, width, height);
    if (!number || span->k_tile < 0) return;
    char text[16];
    const int digits = snprintf(text, sizeof text, "%d", span->k_tile);
    if (width < 6 * digits + 4) return;
    const bool pale = span->kind == SPAN_HELD || span->kind == SPAN_ACQUIRE;
    fprintf(file, "<text class=\"in%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", pale ? " dark" : "",
            x + width / 2, y + height / 2 + 3.2, text);
}

bool svg_is_second(const struct span *span) {
    return span->kind == SPAN_MMA && span->role == TRACE_CONSUMER_1;
}

void svg_lane(FILE *file, const struct track *track, const struct panel *panel, double y,
              double height, bool numbers) {
    fprintf(file, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
            track->kind == TRACK_TENSOR_CORE ? "idle" : "lane", panel->left, y,
            panel->right - panel->left, height);
    const char *pending = NULL; /* what is too fine to be drawn alone */
    double from = 0, to = 0;
    for (int i = 0; i < track->count; ++i) {
        const struct span *span = &track->at[i];
        if (span->end <= panel->begin || span->begin >= panel->end) continue;
        double x = svg_x(panel, (double)(span->begin > panel->begin ? span->begin : panel->begin));
        const double end = svg_x(panel, (double)(span->end < panel->end ? span->end : panel->end));
        const char *class = svg_is_second(span) ? "mma1" : classes[span->kind];
        if (pending && (pending != class || x - to > FINEST || end - from > 4)) {
            draw_span(file, &(struct span){.k_tile = -1}, pending, from, to - from, y, height,
                      false);
            pending = NULL;
        }
        if (end - x < FINEST) {
            if (!pending) from = x;
            pending = class;
            to = end > from + 0.1 ? end : from + 0.1;
            continue;
        }
        /* A hair between neighbours of the same colour, where there is room for it. */
        if (end - x > 4) x += 0.5;
        draw_span(file, span, class, x, end - x, y, height, numbers);
    }
    if (pending)
        draw_span(file, &(struct span){.k_tile = -1}, pending, from, to - from, y, height, false);
}

double svg_width_of(const char *text) {
    double width = 0;
    for (const char *c = text; *c; ++c)
        width += strchr("fijlt ,:-", *c) ? 4 : strchr("mwCMTW", *c) ? 9.5 : 7;
    return width;
}

struct corner {
    double x, y;
};

/* Draws an entry if `file` is not NULL. Returns where the next one may begin. */
static struct corner entry(FILE *file, struct corner at, const char *class, bool hatched,
                           const char *text) {
    const double width = 16 + svg_width_of(text) + 14;
    if (at.x + width > SVG_RIGHT + 14) at = (struct corner){10, at.y + 17};
    if (file) {
        fprintf(file, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"10\"/>\n",
                class, at.x, at.y);
        if (hatched)
            fprintf(file,
                    "<rect fill=\"url(#hatch)\" x=\"%.1f\" y=\"%.1f\" width=\"12\" "
                    "height=\"10\"/>\n",
                    at.x, at.y);
        svg_text(file, at.x + 16, at.y + 9, "note", "start", text);
    }
    at.x += width;
    return at;
}

static double draw_legend(FILE *file, double y, const struct legend *legend) {
    struct corner at = {10, y};
    for (int kind = 0; kind < SPAN_KINDS; ++kind) {
        if (legend->kinds[kind])
            at = entry(file, at, classes[kind], false, timeline_span_name(kind));
        if (kind == SPAN_MMA && legend->second)
            at = entry(file, at, "mma1", false, "multiply, consumer 1");
    }
    at = entry(file, at, "idle", false, "Tensor Core idle");
    if (legend->inferred) at = entry(file, at, "load", true, "hatched: inferred, not recorded");
    return at.y - y + 17;
}

double svg_legend_height(const struct legend *legend) { return draw_legend(NULL, 0, legend); }

void svg_legend(FILE *file, double y, const struct legend *legend) { draw_legend(file, y, legend); }

const char *svg_source(const struct timeline *timeline) {
    if (!timeline->simulated) return "measured";
    return timeline->timed ? "simulated" : "simulated without a clock";
}
