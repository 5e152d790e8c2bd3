#include "timeline/tracks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

static void no_memory(size_t count, size_t size) {
    fprintf(stderr, "timeline: no memory for %zu records of %zu bytes; choose smaller sizes\n",
            count, size);
    exit(EXIT_NO_DEVICE);
}

void *timeline_zeroed(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) no_memory(count, size);
    return memory;
}

void timeline_grow(void **array, int count, int *capacity, size_t size) {
    if (count < *capacity) return;
    *capacity = *capacity ? 2 * *capacity : 16;
    *array = realloc(*array, (size_t)*capacity * size);
    if (!*array) no_memory((size_t)*capacity, size);
}

void timeline_add_mark(struct marks *marks, int64_t time, int event, int argument) {
    timeline_grow((void **)&marks->at, marks->count, &marks->capacity, sizeof *marks->at);
    marks->at[marks->count++] = (struct mark){time, (uint16_t)event, argument};
}

int timeline_count_marks(const struct marks *marks, int event) {
    int count = 0;
    for (int i = 0; i < marks->count; ++i)
        count += marks->at[i].event == event;
    return count;
}

const char *timeline_role_name(int role) {
    static const char *const names[TRACE_ROLES] = {
        [TRACE_PRODUCER] = "producer",
        [TRACE_CONSUMER_0] = "consumer 0",
        [TRACE_CONSUMER_1] = "consumer 1",
        [TRACE_THREADS] = "threads",
    };
    return role >= 0 && role < TRACE_ROLES ? names[role] : "";
}

struct track *timeline_new_track(struct timeline *timeline, const struct cta_record *cta,
                                 enum track_kind kind, int role) {
    timeline_grow((void **)&timeline->track, timeline->tracks, &timeline->track_capacity,
                  sizeof *timeline->track);
    struct track *track = &timeline->track[timeline->tracks++];
    *track =
        (struct track){.cta = cta->cta, .sm = cta->sm, .kind = (uint8_t)kind, .role = (int8_t)role};
    const char *suffix = kind == TRACK_FRAGMENTS   ? " fragments"
                         : kind == TRACK_MMA       ? " multiply"
                         : kind == TRACK_PROMOTION ? " promotion"
                         : kind == TRACK_SPECIAL   ? " SFU"
                                                   : "";
    if (kind == TRACK_TENSOR_CORE)
        strcpy(track->name, "Tensor Core");
    else if (kind == TRACK_LINK)
        strcpy(track->name, "link");
    else if (role >= 0)
        snprintf(track->name, sizeof track->name, "%s%s", timeline_role_name(role), suffix);
    return track;
}

void timeline_add_span(struct track *track, struct span span) {
    if (span.end <= span.begin) return;
    timeline_grow((void **)&track->at, track->count, &track->capacity, sizeof *track->at);
    track->at[track->count++] = span;
}

static int by_begin(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Sorts, and ends each span where the next begins. */
void timeline_finish_track(struct timeline *timeline, struct track *track) {
    if (track->count == 0) return;
    qsort(track->at, (size_t)track->count, sizeof *track->at, by_begin);
    int kept = 0;
    for (int i = 0; i < track->count; ++i) {
        struct span span = track->at[i];
        if (i + 1 < track->count && span.end > track->at[i + 1].begin)
            span.end = track->at[i + 1].begin;
        if (span.end <= span.begin) continue;
        track->at[kept++] = span;
        if (span.end > timeline->end) timeline->end = span.end;
    }
    track->count = kept;
}
