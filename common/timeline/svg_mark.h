/*
 * svg_mark.h: the one thing of a timeline to look at first.
 */
#ifndef TIMELINE_SVG_MARK_H
#define TIMELINE_SVG_MARK_H

#include "timeline/svg_canvas.h"

struct svg_mark {
    int64_t begin, end; /* the same: a moment */
    char text[96];
};

/* Finds it in what the panels show of a CTA: the longest gap between the Tensor Core's
 * multiplications, if it is more than an eighth of `period`, the cycles from k-tile to k-tile;
 * otherwise the first epilogue, if the Tensor Core multiplies for the CTA during most of it;
 * otherwise the load that ends the longest wait for data. False if there is none of them. An
 * epilogue may end behind the panel. */
bool svg_find_mark(const struct timeline *timeline, int cta, const struct panel *panels, int count,
                   double period, struct svg_mark *mark);

enum { SVG_MARK_HEIGHT = 15 }; /* of its text */

/* Its limits as lines across all lanes, from `top`, where the text stands, to `bottom`. */
void svg_draw_mark(FILE *file, const struct svg_mark *mark, const struct panel *panels, int count,
                   double top, double bottom);

/* Does its text fit between a name at the left and a note at the right of the same line? */
bool svg_mark_fits(const struct svg_mark *mark, const struct panel *panels, int count,
                   const char *name, const char *note);

#endif
