/*
 * timeline_synthetic.h: nine plausible timelines without a kernel, for tests of what draws them.
 *
 * Not a model of the hardware: round numbers that look like the nine chapters, in the simulator's
 * format, with everything that the page must show: busy units, ring stages, waits, epilogues, and
 * the life of every mbarrier.
 */
#ifndef TESTS_TIMELINE_TIMELINE_SYNTHETIC_H
#define TESTS_TIMELINE_TIMELINE_SYNTHETIC_H

#include "timeline/timeline.h"

/* Records nine timelines of two CTAs with `k_tiles` k-tiles per output tile. */
void synthetic_timelines(int k_tiles);

/* The rows of the results table that go with them; returns how many (at most 16). */
int synthetic_rows(struct report_row rows[16]);

extern const struct report_info synthetic_info;

#endif
