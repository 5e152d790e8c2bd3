/*
 * build.h: how tracks are made.
 */
#ifndef TIMELINE_BUILD_H
#define TIMELINE_BUILD_H

#include "timeline/model.h"

/* An empty track, the next one from above. Valid until the next one is made. */
struct track *timeline_new_track(struct timeline *timeline, const struct cta_record *cta,
                                 enum track_kind kind, int role);
/* Adds a span, in any order; none if it is empty. */
void timeline_add_span(struct track *track, struct span span);
/* Sorts the spans, and ends each where the next begins. */
void timeline_finish_track(struct timeline *timeline, struct track *track);

/* The CTA's TRACK_SLOT tracks. */
void timeline_build_slots(struct timeline *timeline, struct cta_record *cta);

#endif
