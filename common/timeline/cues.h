/*
 * cues.h: from what a kernel calls to the marks from which its timeline is drawn.
 *
 * A kernel's story shows in what it calls: it asks where a tile lies, announces bytes, waits for
 * barriers, commits wgmmas, waits for them, promotes their sums and stores. Each such call of a
 * warpgroup's first thread is a cue (TRACE_CUE_ in trace.h). The simulator gives them by itself,
 * and on the GPU recorder.h puts itself between the kernel and the wrappers. Here cues become
 * marks: k-tiles are counted, and roles follow from what a warpgroup does. A kernel of chapters 01
 * to 05, whose threads all do the same, is told by mma_cues.h.
 */
#ifndef TIMELINE_CUES_H
#define TIMELINE_CUES_H

#include "timeline/model.h"

/* Does nothing for a CTA that has marks. */
void timeline_marks_of_cues(const struct timeline *timeline, struct cta_record *cta);

#endif
