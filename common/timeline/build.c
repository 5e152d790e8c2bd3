/*
 * build.c: from marks to tracks of spans.
 *
 * A mark is a moment in one thread. What lies between two marks of a thread is a span by itself (a wait, an epilogue); what an
 * asynchronous unit does is pieced together from several: a load is in flight from its issue until it landed, which the
 * simulator knows and the card shows only when a consumer's wait ends.
 */
#include "timeline/model.h"
#include "timeline/tensor_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One k-tile's way through the ring. Times are -1 while not known. */
struct load {
    int64_t issue, arrive, release;
    int tile, k_tile, slot, role;
    bool multicast, inferred;
};

struct loads {
    struct load *at;
    int count, capacity;
    int *by_key; /* indices, sorted by (tile, k_tile) */
};

static struct track *new_track(struct timeline *timeline, const struct cta_record *cta, enum track_kind kind,
                               int role) {
    timeline_grow((void **)&timeline->track, timeline->tracks, &timeline->track_capacity,
                  sizeof *timeline->track);
    struct track *track = &timeline->track[timeline->tracks++];
    *track = (struct track){.cta = cta->cta, .sm = cta->sm, .kind = (uint8_t)kind, .role = (int8_t)role};
    const char *suffix = kind == TRACK_FRAGMENTS ? " fragments" : kind == TRACK_MMA ? " multiply" : "";
    if (kind == TRACK_TENSOR_CORE) strcpy(track->name, "Tensor Core");
    else if (role >= 0) snprintf(track->name, sizeof track->name, "%s%s", timeline_role_name(role), suffix);
    return track;
}

static void add_span(struct track *track, struct span span) {
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
static void finish_track(struct timeline *timeline, struct track *track) {
    if (track->count == 0) return;
    qsort(track->at, (size_t)track->count, sizeof *track->at, by_begin);
    int kept = 0;
    for (int i = 0; i < track->count; ++i) {
        struct span span = track->at[i];
        if (i + 1 < track->count && span.end > track->at[i + 1].begin) span.end = track->at[i + 1].begin;
        if (span.end <= span.begin) continue;
        track->at[kept++] = span;
        if (span.end > timeline->end) timeline->end = span.end;
    }
    track->count = kept;
}

/* ---- loads ---- */

static const struct loads *sorting; /* what by_key compares in: qsort passes no context */

static int compare_key(const struct load *a, int tile, int k_tile) {
    if (a->tile != tile) return a->tile < tile ? -1 : 1;
    return (a->k_tile > k_tile) - (a->k_tile < k_tile);
}

static int by_key(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    const int order = compare_key(&sorting->at[x], sorting->at[y].tile, sorting->at[y].k_tile);
    return order ? order : x - y;
}

static int by_issue(const void *a, const void *b) {
    const struct load *x = a, *y = b;
    return (x->issue > y->issue) - (x->issue < y->issue);
}

static struct load *find_load(const struct loads *loads, int tile, int k_tile) {
    int low = 0, high = loads->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (compare_key(&loads->at[loads->by_key[middle]], tile, k_tile) < 0) low = middle + 1;
        else high = middle;
    }
    if (low == loads->count) return NULL;
    struct load *load = &loads->at[loads->by_key[low]];
    return compare_key(load, tile, k_tile) == 0 ? load : NULL;
}

static void collect_loads(const struct timeline *timeline, const struct cta_record *cta, struct loads *loads) {
    for (int role = 0; role < TRACE_ROLES; ++role) {
        int tile = -1;
        for (int i = 0; i < cta->role[role].count; ++i) {
            const struct mark mark = cta->role[role].at[i];
            if (mark.event == TRACE_TILE) tile = mark.argument;
            if (mark.event != TRACE_LOAD && mark.event != TRACE_LOAD_MULTICAST) continue;
            if (mark.argument < 0 || mark.argument >= timeline->tiles_k) continue; /* none is issued */
            timeline_grow((void **)&loads->at, loads->count, &loads->capacity, sizeof *loads->at);
            loads->at[loads->count++] = (struct load){.issue = mark.time, .arrive = -1, .release = -1,
                                                      .tile = tile, .k_tile = mark.argument, .role = role,
                                                      .multicast = mark.event == TRACE_LOAD_MULTICAST,
                                                      .inferred = true};
        }
    }
    if (loads->count == 0) return;
    qsort(loads->at, (size_t)loads->count, sizeof *loads->at, by_issue);
    const int slots = timeline->stages > 0 ? timeline->stages : 1;
    int capacity = 0;
    for (int i = 0; i < loads->count; ++i) {
        loads->at[i].slot = i % slots;
        timeline_grow((void **)&loads->by_key, i, &capacity, sizeof *loads->by_key);
        loads->by_key[i] = i;
    }
    sorting = loads;
    qsort(loads->by_key, (size_t)loads->count, sizeof *loads->by_key, by_key);
}

/* When the consumers saw the k-tiles arrive, and when they were done with them. */
static void observe_loads(const struct cta_record *cta, struct loads *loads) {
    for (int role = 0; role < TRACE_ROLES; ++role) {
        const struct marks *marks = &cta->role[role];
        bool asynchronous = false;
        for (int i = 0; i < marks->count; ++i)
            asynchronous |= marks->at[i].event == TRACE_MMA_DONE;
        struct load *multiplied = NULL; /* by mma.sync, right now */
        int tile = -1;
        for (int i = 0; i < marks->count; ++i) {
            const struct mark mark = marks->at[i];
            if (mark.event == TRACE_TILE) tile = mark.argument;
            if (multiplied && timeline_ends_mma(mark.event)) {
                if (mark.time > multiplied->release) multiplied->release = mark.time;
                multiplied = NULL;
            }
            const bool arrival = mark.event == TRACE_WAIT_END || mark.event == TRACE_FRAGMENTS ||
                                 mark.event == TRACE_MMA_BEGIN;
            if (!arrival && mark.event != TRACE_MMA_DONE) continue;
            struct load *load = find_load(loads, tile, mark.argument);
            if (!load || mark.time < load->issue) continue;
            if (arrival && (load->arrive < 0 || mark.time < load->arrive)) load->arrive = mark.time;
            if (mark.event == TRACE_MMA_DONE && mark.time > load->release) load->release = mark.time;
            if (mark.event == TRACE_MMA_BEGIN && !asynchronous) multiplied = load;
        }
    }
}

static int by_interval(const void *a, const void *b) {
    const struct interval *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* The simulator knows when the copies landed. Every load consists of the same number of them, and they begin in order. */
static void land_loads(const struct intervals *copies, struct loads *loads) {
    if (loads->count == 0 || copies->count % loads->count) return;
    const int each = copies->count / loads->count;
    for (int i = 0; i < loads->count; ++i) {
        struct load *load = &loads->at[i];
        int64_t landed = -1;
        for (int j = i * each; j < (i + 1) * each; ++j)
            if (copies->at[j].end > landed) landed = copies->at[j].end;
        if (landed <= load->issue) continue;
        load->arrive = landed;
        load->inferred = false;
    }
}

static void build_slots(struct timeline *timeline, struct cta_record *cta) {
    struct loads loads = {0};
    collect_loads(timeline, cta, &loads);
    observe_loads(cta, &loads);
    struct intervals *copies = &cta->busy[UNIT_COPY];
    if (copies->count) {
        qsort(copies->at, (size_t)copies->count, sizeof *copies->at, by_interval);
        land_loads(copies, &loads);
    }
    const int slots = timeline->stages > 0 ? timeline->stages : 1;
    for (int slot = 0; slot < slots && loads.count; ++slot) {
        struct track *track = new_track(timeline, cta, TRACK_SLOT, -1);
        track->slot = slot;
        if (slots > 1) snprintf(track->name, sizeof track->name, "stage %d", slot);
        else snprintf(track->name, sizeof track->name, "tile buffer");
        for (int i = slot; i < loads.count; i += slots) {
            const struct load *load = &loads.at[i];
            if (load->arrive < 0) continue; /* nobody waited for it while marks were taken */
            const struct span span = {.begin = load->issue, .end = load->arrive,
                                      .kind = load->multicast ? SPAN_MULTICAST : SPAN_LOAD,
                                      .inferred = load->inferred, .role = (int8_t)load->role,
                                      .k_tile = load->k_tile, .tile = load->tile};
            add_span(track, span);
            struct span held = span;
            held.begin = load->arrive;
            held.end = load->release;
            held.kind = SPAN_HELD;
            add_span(track, held);
        }
        finish_track(timeline, track);
    }
    free(loads.at);
    free(loads.by_key);
}

/* ---- what the threads of a role do ---- */

/* The kind of span that begins with a mark; -1 if it begins none. It lasts until the role's next mark. */
static int span_of(int event, bool asynchronous) {
    switch (event) {
    case TRACE_WAIT_BEGIN: return SPAN_WAIT;
    case TRACE_ACQUIRE_BEGIN: return SPAN_ACQUIRE;
    case TRACE_FMA_BEGIN: return SPAN_FMA;
    case TRACE_MMA_BEGIN: return asynchronous ? SPAN_ISSUE : -1;
    case TRACE_EPILOGUE_BEGIN: return SPAN_EPILOGUE;
    case TRACE_STORE: return SPAN_STORE;
    default: return -1;
    }
}

static void build_role(struct timeline *timeline, const struct cta_record *cta, int role,
                       bool asynchronous) {
    const struct marks *marks = &cta->role[role];
    struct track *track = new_track(timeline, cta, TRACK_ROLE, role);
    int tile = -1;
    for (int i = 0; i < marks->count; ++i) {
        const struct mark mark = marks->at[i];
        if (mark.event == TRACE_TILE) tile = mark.argument;
        const int kind = span_of(mark.event, asynchronous);
        if (kind < 0) continue;
        const bool is_tile = kind == SPAN_EPILOGUE || kind == SPAN_STORE;
        const int64_t end = i + 1 < marks->count ? marks->at[i + 1].time : marks->close;
        add_span(track, (struct span){.begin = mark.time,
                                      .end = end,
                                      .kind = (uint8_t)kind,
                                      .role = (int8_t)role,
                                      .k_tile = is_tile || kind == SPAN_FMA ? -1 : mark.argument,
                                      .tile = is_tile ? mark.argument : tile});
    }
    finish_track(timeline, track);
}

/* The n-th fragment load is needed by the n-th multiplication, which cannot begin before it is there. */
static void build_fragments(struct timeline *timeline, const struct cta_record *cta, int role) {
    const struct marks *marks = &cta->role[role];
    struct track *track = NULL;
    int user = -1, tile = -1;
    for (int i = 0; i < marks->count; ++i) {
        if (marks->at[i].event == TRACE_TILE) tile = marks->at[i].argument;
        if (marks->at[i].event != TRACE_FRAGMENTS) continue;
        if (!track) track = new_track(timeline, cta, TRACK_FRAGMENTS, role);
        for (++user; user < marks->count; ++user)
            if (marks->at[user].event == TRACE_MMA_BEGIN) break;
        if (user >= marks->count) break;
        add_span(track, (struct span){.begin = marks->at[i].time, .end = marks->at[user].time,
                                      .kind = SPAN_FRAGMENTS, .inferred = true, .role = (int8_t)role,
                                      .k_tile = marks->at[i].argument, .tile = tile});
    }
    if (track) finish_track(timeline, track);
}

static void build_cta(struct timeline *timeline, struct cta_record *cta) {
    build_slots(timeline, cta);
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
            if (!track) track = new_track(timeline, cta, TRACK_MMA, role);
            add_span(track, (struct span){.begin = work.at[i].begin, .end = work.at[i].end, .kind = SPAN_MMA,
                                          .inferred = work.at[i].inferred, .role = (int8_t)role,
                                          .k_tile = work.at[i].k_tile, .tile = work.at[i].tile});
        }
        if (track) finish_track(timeline, track);
    }
    struct track *track = new_track(timeline, cta, TRACK_TENSOR_CORE, -1);
    timeline_tensor_core(cta, &work, track, add_span);
    finish_track(timeline, track);
    free(work.at);
}

static int by_cta(const void *a, const void *b) {
    return ((const struct cta_record *)a)->cta - ((const struct cta_record *)b)->cta;
}

void timeline_build(struct timeline *timeline) {
    if (timeline->ctas) qsort(timeline->cta, (size_t)timeline->ctas, sizeof *timeline->cta, by_cta);
    for (int i = 0; i < timeline->ctas; ++i) build_cta(timeline, &timeline->cta[i]);
}
