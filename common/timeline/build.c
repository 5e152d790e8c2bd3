/*
 * build.c: from marks to tracks of spans.
 *
 * A mark is a moment in one thread. What lies between two marks of a thread is a span by itself (a
 * wait, an epilogue); what an asynchronous unit does is pieced together from several: a load is in
 * flight from its issue until it landed, which the simulator knows and the GPU shows only when a
 * consumer's wait ends.
 */
#include "timeline/build.h"
#include "timeline/cues.h"
#include "timeline/tensor_core_spans.h"
#include "timeline/tracks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the threads of a role do ---- */

/* The kind of span that begins with a mark; -1 if it begins none. It lasts until the role's next
 * mark. */
static int span_of(int event, bool asynchronous) {
    switch (event) {
    case TRACE_WAIT_BEGIN:
        return SPAN_WAIT;
    case TRACE_ACQUIRE_BEGIN:
        return SPAN_ACQUIRE;
    case TRACE_FMA_BEGIN:
        return SPAN_FMA;
    case TRACE_MMA_BEGIN:
        return asynchronous ? SPAN_ISSUE : -1;
    case TRACE_EPILOGUE_BEGIN:
        return SPAN_EPILOGUE;
    case TRACE_STORE:
        return SPAN_STORE;
    default:
        return -1;
    }
}

static void build_role(struct timeline *timeline, const struct cta_record *cta, int role,
                       bool asynchronous) {
    const struct marks *marks = &cta->role[role];
    struct track *track = timeline_new_track(timeline, cta, TRACK_ROLE, role);
    int tile = -1;
    for (int i = 0; i < marks->count; ++i) {
        const struct mark mark = marks->at[i];
        if (mark.event == TRACE_TILE) tile = mark.argument;
        const int kind = span_of(mark.event, asynchronous);
        if (kind < 0) continue;
        const bool is_tile = kind == SPAN_EPILOGUE || kind == SPAN_STORE;
        const int64_t end = i + 1 < marks->count ? marks->at[i + 1].time : marks->close;
        timeline_add_span(track,
                          (struct span){.begin = mark.time,
                                        .end = end,
                                        .kind = (uint8_t)kind,
                                        .role = (int8_t)role,
                                        .k_tile = is_tile || kind == SPAN_FMA ? -1 : mark.argument,
                                        .tile = is_tile ? mark.argument : tile});
    }
    timeline_finish_track(timeline, track);
}

/* The n-th fragment load is needed by the n-th multiplication, which cannot begin before it is
 * there. Nor does a role wait for the next k-tile before it has used up this one's fragments, but
 * it may have loaded them long before: then the wait is where the drawn span ends. */
static void build_fragments(struct timeline *timeline, const struct cta_record *cta, int role) {
    const struct marks *marks = &cta->role[role];
    struct track *track = NULL;
    int user = -1, tile = -1;
    for (int i = 0; i < marks->count; ++i) {
        if (marks->at[i].event == TRACE_TILE) tile = marks->at[i].argument;
        if (marks->at[i].event != TRACE_FRAGMENTS) continue;
        if (!track) track = timeline_new_track(timeline, cta, TRACK_FRAGMENTS, role);
        for (++user; user < marks->count; ++user)
            if (marks->at[user].event == TRACE_MMA_BEGIN) break;
        if (user >= marks->count) break;
        int end = i + 1;
        while (end < user && marks->at[end].event != TRACE_WAIT_BEGIN)
            ++end;
        timeline_add_span(track, (struct span){.begin = marks->at[i].time,
                                               .end = marks->at[end].time,
                                               .kind = SPAN_FRAGMENTS,
                                               .inferred = true,
                                               .role = (int8_t)role,
                                               .k_tile = marks->at[i].argument,
                                               .tile = tile});
    }
    if (track) timeline_finish_track(timeline, track);
}

/* A promotion takes its threads' time as the role's other spans do. Its lane is its own, so that it
 * is seen beside the multiplications. */
static void build_promotions(struct timeline *timeline, const struct cta_record *cta, int role) {
    const struct marks *marks = &cta->role[role];
    struct track *track = NULL;
    int tile = -1;
    for (int i = 0; i < marks->count; ++i) {
        if (marks->at[i].event == TRACE_TILE) tile = marks->at[i].argument;
        if (marks->at[i].event != TRACE_PROMOTE_BEGIN) continue;
        if (!track) track = timeline_new_track(timeline, cta, TRACK_PROMOTION, role);
        const int64_t end = i + 1 < marks->count ? marks->at[i + 1].time : marks->close;
        timeline_add_span(track, (struct span){.begin = marks->at[i].time,
                                               .end = end,
                                               .kind = SPAN_PROMOTION,
                                               .role = (int8_t)role,
                                               .k_tile = marks->at[i].argument,
                                               .tile = tile});
    }
    if (track) timeline_finish_track(timeline, track);
}

/* What the four sub-partitions' units have of a role's warps, as one. */
static void build_special(struct timeline *timeline, const struct cta_record *cta, int role) {
    const struct intervals *busy = &cta->busy[UNIT_SPECIAL];
    struct track *track = NULL;
    for (int i = 0; i < busy->count; ++i) {
        if (busy->at[i].warp / 4 != cta->role[role].warp / 4) continue;
        if (!track) track = timeline_new_track(timeline, cta, TRACK_SPECIAL, role);
        timeline_add_span(track, (struct span){.begin = busy->at[i].begin,
                                               .end = busy->at[i].end,
                                               .kind = SPAN_SPECIAL,
                                               .role = (int8_t)role,
                                               .k_tile = -1,
                                               .tile = -1});
    }
    if (track) timeline_finish_track(timeline, track);
}

/* What the CTA has on the link, whichever of its threads gave it. */
static void build_link(struct timeline *timeline, const struct cta_record *cta) {
    const struct intervals *busy = &cta->busy[UNIT_LINK];
    struct track *track = timeline_new_track(timeline, cta, TRACK_LINK, -1);
    for (int i = 0; i < busy->count; ++i)
        timeline_add_span(track, (struct span){.begin = busy->at[i].begin,
                                               .end = busy->at[i].end,
                                               .kind = SPAN_LINK,
                                               .role = -1,
                                               .k_tile = -1,
                                               .tile = -1});
    timeline_finish_track(timeline, track);
}

/* The first column, from `from` on, that multiplications write; -1: there is none. */
static int next_sums(const struct intervals *written, int from) {
    int found = -1;
    for (int i = 0; i < written->count; ++i)
        if (written->at[i].warp >= from && (found < 0 || written->at[i].warp < found))
            found = written->at[i].warp;
    return found;
}

/* What has become of a set in turn: it is filled by multiplications, then read. */
static void build_sums(struct timeline *timeline, const struct cta_record *cta) {
    const struct intervals *const written = &cta->busy[UNIT_SUMS_WRITTEN];
    const struct intervals *const both[] = {written, &cta->busy[UNIT_SUMS_READ]};
    int set = 0;
    for (int column = next_sums(written, 0), next; column >= 0; column = next, ++set) {
        next = next_sums(written, column + 1);
        struct track *const track = timeline_new_track(timeline, cta, TRACK_SUMS, -1);
        track->slot = set;
        snprintf(track->name, sizeof track->name, "sums %d", set);
        for (int use = 0; use < 2; ++use)
            for (int i = 0; i < both[use]->count; ++i) {
                const struct interval *const one = &both[use]->at[i];
                if (one->warp < column || (next >= 0 && one->warp >= next)) continue;
                timeline_add_span(track, (struct span){.begin = one->begin,
                                                       .end = one->end,
                                                       .kind = use ? SPAN_EPILOGUE : SPAN_MMA,
                                                       .role = -1,
                                                       .k_tile = -1,
                                                       .tile = -1});
            }
        timeline_finish_track(timeline, track);
        int kept = 0; /* one span for a use of the set */
        for (int i = 1; i < track->count; ++i) {
            if (track->at[i].kind == track->at[kept].kind)
                track->at[kept].end = track->at[i].end;
            else
                track->at[++kept] = track->at[i];
        }
        if (track->count) track->count = kept + 1;
    }
}

static void build_cta(struct timeline *timeline, struct cta_record *cta) {
    timeline_marks_of_cues(timeline, cta);
    timeline_build_slots(timeline, cta);
    struct multiplications work = {0};
    timeline_multiplications(timeline, cta, &work);
    for (int role = 0; role < TRACE_ROLES; ++role) {
        const struct marks *marks = &cta->role[role];
        if (marks->warp < 0 && marks->count == 0) continue;
        if (marks->close > timeline->end) timeline->end = marks->close;
        build_role(timeline, cta, role, work.asynchronous[role]);
        build_fragments(timeline, cta, role);
        struct track *track = NULL;
        for (int i = 0; i < work.count; ++i) {
            if (work.at[i].role != role) continue;
            if (!track) track = timeline_new_track(timeline, cta, TRACK_MMA, role);
            timeline_add_span(track, (struct span){.begin = work.at[i].begin,
                                                   .end = work.at[i].end,
                                                   .kind = SPAN_MMA,
                                                   .inferred = work.at[i].inferred,
                                                   .role = (int8_t)role,
                                                   .k_tile = work.at[i].k_tile,
                                                   .tile = work.at[i].tile});
        }
        if (track) timeline_finish_track(timeline, track);
        build_promotions(timeline, cta, role);
        build_special(timeline, cta, role);
    }
    struct track *track = timeline_new_track(timeline, cta, TRACK_TENSOR_CORE, -1);
    timeline_tensor_core(cta, &work, track, timeline_add_span);
    timeline_finish_track(timeline, track);
    free(work.at);
    build_sums(timeline, cta);
    if (timeline->gpus > 1) build_link(timeline, cta);
}

static int by_cta(const void *a, const void *b) {
    return ((const struct cta_record *)a)->cta - ((const struct cta_record *)b)->cta;
}

void timeline_build(struct timeline *timeline) {
    if (timeline->ctas) qsort(timeline->cta, (size_t)timeline->ctas, sizeof *timeline->cta, by_cta);
    for (int i = 0; i < timeline->ctas; ++i)
        build_cta(timeline, &timeline->cta[i]);
    timeline_share_tensor_core(timeline, timeline_add_span);
}
