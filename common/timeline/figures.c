/*
 * figures.c: what can be read off a timeline, as numbers.
 */
#include "timeline/model.h"
#include "timeline/tracks.h"

#include <stdlib.h>

const struct track *timeline_find_track(const struct timeline *timeline, int cta,
                                        enum track_kind kind, int role) {
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (track->cta == cta && track->kind == kind && track->role == role) return track;
    }
    return NULL;
}

int64_t timeline_covered(const struct track *track, int64_t begin, int64_t end) {
    if (!track) return 0;
    /* The first span that ends after `begin`; spans are sorted and do not overlap. */
    int low = 0, high = track->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (track->at[middle].end <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t covered = 0;
    for (int i = low; i < track->count && track->at[i].begin < end; ++i) {
        const int64_t from = track->at[i].begin > begin ? track->at[i].begin : begin;
        const int64_t to = track->at[i].end < end ? track->at[i].end : end;
        covered += to - from;
    }
    return covered;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median distance between the first multiplications of successive k-tiles of one output tile, over
 * all roles. */
static double k_tile_period(const struct timeline *timeline, int cta) {
    double *distance = NULL, median = 0;
    int count = 0, capacity = 0;
    for (int role = 0; role < TRACE_ROLES; ++role) {
        const struct track *track = timeline_find_track(timeline, cta, TRACK_MMA, role);
        int64_t last = -1;
        for (int i = 0; track && i < track->count; ++i) {
            const struct span *span = &track->at[i];
            const bool same = i > 0 && span->tile == span[-1].tile;
            if (same && span->k_tile == span[-1].k_tile) continue;
            if (same && span->k_tile == span[-1].k_tile + 1 && last >= 0) {
                timeline_grow((void **)&distance, count, &capacity, sizeof *distance);
                distance[count++] = (double)(span->begin - last);
            }
            last = span->begin;
        }
    }
    if (count) {
        qsort(distance, (size_t)count, sizeof *distance, by_value);
        median = distance[count / 2];
    }
    free(distance);
    return median;
}

static bool has_span(const struct timeline *timeline, enum span_kind kind) {
    for (int i = 0; i < timeline->tracks; ++i)
        for (int j = 0; j < timeline->track[i].count; ++j)
            if (timeline->track[i].at[j].kind == kind) return true;
    return false;
}

/* Do warps multiply by mma.sync? Between those there are fragment loads and idle cycles without a
 * mark; wgmmas, which a warpgroup issues, fill the Tensor Core while they are under way. */
static bool multiplies_by_warps(const struct timeline *timeline) {
    for (int i = 0; i < timeline->tracks; ++i)
        if (timeline->track[i].kind == TRACK_SUMS) return false; /* by one thread, asynchronously */
    return has_span(timeline, SPAN_MMA) && !has_span(timeline, SPAN_ISSUE);
}

struct timeline_figures timeline_figures(int index) {
    const struct timeline *timeline = timeline_list;
    while (timeline && index-- > 0)
        timeline = timeline->next;
    struct timeline_figures figures = {0};
    if (!timeline || timeline->ctas == 0) return figures;
    figures.name = timeline->name;
    figures.variant = timeline->variant[0] ? timeline->variant : NULL;
    figures.simulated = timeline->simulated;
    figures.busy_means = multiplies_by_warps(timeline) ? "mma.sync under way" : "Tensor Core busy";

    const struct cta_record *record = &timeline->cta[0];
    const struct track *core = timeline_find_track(timeline, record->cta, TRACK_TENSOR_CORE, -1);
    figures.k_tile_period = k_tile_period(timeline, record->cta);
    int64_t first = -1, last = -1; /* of this CTA's own multiplications */
    for (int i = 0; core && i < core->count; ++i) {
        if (core->at[i].kind == SPAN_OTHER) continue;
        if (first < 0) first = core->at[i].begin;
        last = core->at[i].end;
    }
    if (first < 0) return figures;
    int64_t start = first;
    for (int role = 0; role < TRACE_ROLES; ++role)
        if (record->role[role].count && record->role[role].at[0].time < start)
            start = record->role[role].at[0].time;
    figures.prologue = (double)(first - start);
    figures.tensor_core_busy = (double)timeline_covered(core, first, last) / (double)(last - first);

    double loading = 0, fragments = 0, overlapped = 0, epilogue = 0, hidden = 0;
    for (int i = 0; i < timeline->tracks; ++i) {
        const struct track *track = &timeline->track[i];
        if (track->cta != record->cta) continue;
        const struct track *multiply =
            timeline_find_track(timeline, track->cta, TRACK_MMA, track->role);
        for (int j = 0; j < track->count; ++j) {
            const struct span *span = &track->at[j];
            const double length = (double)(span->end - span->begin);
            if (span->kind == SPAN_LOAD || span->kind == SPAN_MULTICAST) {
                const int64_t from = span->begin > first ? span->begin : first;
                const int64_t to = span->end < last ? span->end : last;
                if (to > from) loading += (double)(to - from);
            } else if (span->kind == SPAN_FRAGMENTS) {
                fragments += length;
                overlapped += (double)timeline_covered(multiply, span->begin, span->end);
            } else if (span->kind == SPAN_EPILOGUE || span->kind == SPAN_STORE) {
                epilogue += length;
                hidden += (double)timeline_covered(core, span->begin, span->end);
            }
        }
    }
    figures.loads_in_flight = loading / (double)(last - first);
    figures.fragment_overlap = fragments > 0 ? overlapped / fragments : 0;
    figures.epilogue_overlap = epilogue > 0 ? hidden / epilogue : 0;
    return figures;
}
