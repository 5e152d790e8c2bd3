/*
 * kept_hazards.h: the mistakes that a run has shown, kept for the page.
 */
#ifndef TIMELINE_KEPT_HAZARDS_H
#define TIMELINE_KEPT_HAZARDS_H

#include "timeline/model.h"

/* Are there any in this CTA? The page shows it, whichever it is. */
bool hazards_concern(const struct timeline *timeline, int cta);
/* As a JSON array. */
void hazards_write(FILE *file, const struct timeline *timeline);
void hazards_free(struct timeline *timeline);

#endif
