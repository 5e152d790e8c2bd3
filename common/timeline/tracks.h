/*
 * tracks.h: what tracks and marks are made with; it calls nothing else of the timeline.
 */
#ifndef TIMELINE_TRACKS_H
#define TIMELINE_TRACKS_H

#include "timeline/model.h"

/* Zeroed memory. Ends the program with EXIT_NO_DEVICE if there is none, as timeline_grow() does. */
void *timeline_zeroed(size_t count, size_t size);
/* Makes room for one more element of an array. */
void timeline_grow(void **array, int count, int *capacity, size_t size);

void timeline_add_mark(struct marks *marks, int64_t time, int event, int argument);
/* How many of them are `event`. */
int timeline_count_marks(const struct marks *marks, int event);
const char *timeline_role_name(int role);

/* An empty track, the next one from above. Valid until the next one is made. */
struct track *timeline_new_track(struct timeline *timeline, const struct cta_record *cta,
                                 enum track_kind kind, int role);
/* Adds a span, in any order; none if it is empty. */
void timeline_add_span(struct track *track, struct span span);
/* Sorts the spans, and ends each where the next begins. */
void timeline_finish_track(struct timeline *timeline, struct track *track);

#endif
