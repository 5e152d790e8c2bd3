/*
 * cues.h: the marks of a kernel that has none of its own.
 *
 * From chapter 06 on a kernel's story shows in what it calls: it asks where a tile lies, announces
 * bytes, waits for barriers, commits wgmmas, waits for them, promotes their sums and stores. Each
 * such call of a warpgroup's first thread is a cue (TRACE_CUE_ in trace.h). The simulator gives
 * them by itself, and on the GPU recorder.h puts itself between the kernel and the wrappers. Here
 * cues become the marks that the kernel would have had: k-tiles are counted, and roles follow from
 * what a warpgroup does.
 */
#ifndef TIMELINE_CUES_H
#define TIMELINE_CUES_H

#include "timeline/model.h"

/* Does nothing for a CTA whose kernel has marks. */
void timeline_marks_of_cues(const struct timeline *timeline, struct cta_record *cta);

#endif
