/*
 * svg.h: timelines as figures: 860 units wide, for light and dark backgrounds, text as text.
 */
#ifndef TIMELINE_SVG_H
#define TIMELINE_SVG_H

#include "timeline/model.h"

/* One step, every track of its first CTA (and of its cluster's other CTAs), k-tile numbers in the
 * spans. A long run is shown in two parts: its beginning, and the change from one output tile to
 * the next. */
bool timeline_write_kernel_svg(const char *path, const struct timeline *timeline);

/* All steps below each other on one time axis. */
bool timeline_write_stack_svg(const char *path);

#endif
