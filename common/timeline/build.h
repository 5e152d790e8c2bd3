/*
 * build.h: the parts of build.c.
 */
#ifndef TIMELINE_BUILD_H
#define TIMELINE_BUILD_H

#include "timeline/model.h"

/* The CTA's TRACK_SLOT tracks. */
void timeline_build_slots(struct timeline *timeline, struct cta_record *cta);

#endif
