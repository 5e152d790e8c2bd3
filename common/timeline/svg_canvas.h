/*
 * svg_canvas.h: the parts that both figures are drawn with: style, axis, lanes of spans, legend.
 */
#ifndef TIMELINE_SVG_CANVAS_H
#define TIMELINE_SVG_CANVAS_H

#include "timeline/model.h"
#include "timeline/text_file.h"

enum { SVG_WIDTH = 860, SVG_LABELS = 150, SVG_RIGHT = 850 };

/* A stretch of time and where it is drawn. */
struct panel {
    int64_t begin, end;
    double left, right;
};

/* Where a time is drawn. */
double svg_x(const struct panel *panel, double time);
/* Opens the document: style, patterns, background, title. */
void svg_begin(FILE *file, double height, const char *title, const char *subtitle);
void svg_end(FILE *file);
/* Grid lines from `top` to `bottom`, and the cycles below; signed if they begin below zero. */
void svg_axis(FILE *file, const struct panel *panel, double top, double bottom);
/* The lane of a track; `numbers`: k-tile numbers where they fit. */
void svg_lane(FILE *file, const struct track *track, const struct panel *panel, double y,
              double height, bool numbers);
/* Text in a class of the style ("label", "name", "note"); anchor "start" or "end". */
void svg_text(FILE *file, double x, double y, const char *class, const char *anchor,
              const char *text);
/* About as wide as a sans-serif font of 11 units draws it. */
double svg_width_of(const char *text);
/* Is it a multiplication of the second consumer? Those have a green of their own. */
bool svg_is_second(const struct span *span);

/* What the colours in a figure mean, as far as they are in it. svg_legend_height() is what
 * svg_legend() will take. */
struct legend {
    bool kinds[SPAN_KINDS];
    bool second;   /* svg_is_second() */
    bool inferred; /* hatched */
};
double svg_legend_height(const struct legend *legend);
void svg_legend(FILE *file, double y, const struct legend *legend);
/* "measured" or "simulated", with what it needs to be understood. */
const char *svg_source(const struct timeline *timeline);

#endif
