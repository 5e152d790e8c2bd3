/*
 * mma_cues.h: the marks of a kernel that multiplies by mma.sync, or by no Tensor Core.
 */
#ifndef TIMELINE_MMA_CUES_H
#define TIMELINE_MMA_CUES_H

#include "timeline/model.h"

/* Of one thread, which speaks for all of CTA `cta`. `tiles_k`: k-tiles of a tile. */
void timeline_marks_of_mma_cues(const struct marks *cues, struct marks *marks, int cta,
                                int tiles_k);

#endif
