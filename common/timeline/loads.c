/*
 * loads.c: the stages of the ring: what is on its way into each, and what is held there.
 *
 * A load is in flight from its issue until it landed, which the simulator knows and the GPU shows
 * only when a consumer's wait ends; the stage is held until the multiplications that read it are
 * over.
 */
#include "timeline/build.h"
#include "timeline/tensor_core_spans.h"
#include "timeline/tracks.h"

#include <stdio.h>
#include <stdlib.h>

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
        if (compare_key(&loads->at[loads->by_key[middle]], tile, k_tile) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == loads->count) return NULL;
    struct load *load = &loads->at[loads->by_key[low]];
    return compare_key(load, tile, k_tile) == 0 ? load : NULL;
}

static void collect_loads(const struct timeline *timeline, const struct cta_record *cta,
                          struct loads *loads) {
    for (int role = 0; role < TRACE_ROLES; ++role) {
        int tile = -1;
        for (int i = 0; i < cta->role[role].count; ++i) {
            const struct mark mark = cta->role[role].at[i];
            if (mark.event == TRACE_TILE) tile = mark.argument;
            if (mark.event != TRACE_LOAD && mark.event != TRACE_LOAD_MULTICAST) continue;
            if (mark.argument < 0 || mark.argument >= timeline->tiles_k)
                continue; /* none is issued */
            timeline_grow((void **)&loads->at, loads->count, &loads->capacity, sizeof *loads->at);
            /* A cluster of one shares nothing. */
            const bool multicast = mark.event == TRACE_LOAD_MULTICAST && timeline->cluster > 1;
            loads->at[loads->count++] = (struct load){.issue = mark.time,
                                                      .arrive = -1,
                                                      .release = -1,
                                                      .tile = tile,
                                                      .k_tile = mark.argument,
                                                      .role = role,
                                                      .multicast = multicast,
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
            if (mark.event == TRACE_MMA_DONE && mark.time > load->release)
                load->release = mark.time;
            if (mark.event == TRACE_MMA_BEGIN && !asynchronous) multiplied = load;
        }
    }
}

static int by_interval(const void *a, const void *b) {
    const struct interval *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Is this a copy for something else than k-tiles: of a role's warpgroup that loads none of them,
 * beside one that does? */
static bool is_foreign(const struct cta_record *cta, const struct loads *loads, int warp) {
    for (int role = 0; role < TRACE_ROLES; ++role) {
        if (cta->role[role].warp < 0 || cta->role[role].warp / 4 != warp / 4) continue;
        for (int i = 0; i < loads->count; ++i)
            if (loads->at[i].role == role) return false;
        return true;
    }
    return false;
}

/* Leaves the copies of k-tiles. */
static void keep_loads(const struct cta_record *cta, const struct loads *loads,
                       struct intervals *copies) {
    int kept = 0;
    for (int i = 0; i < copies->count; ++i)
        if (!is_foreign(cta, loads, copies->at[i].warp)) copies->at[kept++] = copies->at[i];
    copies->count = kept;
}

/* The simulator knows when the copies landed. Every load consists of the same number of them, and
 * they begin in order. */
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

/* As many tracks as loads are in flight at a time, up to a dozen. */
static void build_copies(struct timeline *timeline, const struct cta_record *cta,
                         struct intervals *copies) {
    enum { MOST_TRACKS = 12 };
    int left = copies->count;
    if (left) qsort(copies->at, (size_t)left, sizeof *copies->at, by_interval);
    for (int i = 0; i < MOST_TRACKS && left > 0; ++i) {
        struct track *const track = timeline_new_track(timeline, cta, TRACK_COPIES, -1);
        int64_t end = 0;
        snprintf(track->name, sizeof track->name, "loads %d", i);
        for (int j = 0; j < copies->count; ++j) {
            struct interval *const copy = &copies->at[j];
            if (copy->end < 0 || copy->begin < end) continue;
            end = copy->end;
            timeline_add_span(track, (struct span){.begin = copy->begin,
                                                   .end = end,
                                                   .kind = SPAN_LOAD,
                                                   .role = -1,
                                                   .k_tile = -1,
                                                   .tile = -1});
            copy->end = -1; /* it is drawn */
            --left;
        }
        timeline_finish_track(timeline, track);
    }
}

void timeline_build_slots(struct timeline *timeline, struct cta_record *cta) {
    struct loads loads = {0};
    if (!timeline->tile_k) {
        build_copies(timeline, cta, &cta->busy[UNIT_COPY]);
        return;
    }
    collect_loads(timeline, cta, &loads);
    observe_loads(cta, &loads);
    struct intervals *copies = &cta->busy[UNIT_COPY];
    if (copies->count) {
        keep_loads(cta, &loads, copies);
        qsort(copies->at, (size_t)copies->count, sizeof *copies->at, by_interval);
        land_loads(copies, &loads);
    }
    const int slots = timeline->stages > 0 ? timeline->stages : 1;
    for (int slot = 0; slot < slots && loads.count; ++slot) {
        struct track *track = timeline_new_track(timeline, cta, TRACK_SLOT, -1);
        track->slot = slot;
        if (slots > 1)
            snprintf(track->name, sizeof track->name, "stage %d", slot);
        else
            snprintf(track->name, sizeof track->name, "tile buffer");
        for (int i = slot; i < loads.count; i += slots) {
            const struct load *load = &loads.at[i];
            if (load->arrive < 0) continue; /* no wait for it was recorded */
            const struct span span = {.begin = load->issue,
                                      .end = load->arrive,
                                      .kind = load->multicast ? SPAN_MULTICAST : SPAN_LOAD,
                                      .inferred = load->inferred,
                                      .role = (int8_t)load->role,
                                      .k_tile = load->k_tile,
                                      .tile = load->tile};
            timeline_add_span(track, span);
            struct span held = span;
            held.begin = load->arrive;
            held.end = load->release;
            held.kind = SPAN_HELD;
            timeline_add_span(track, held);
        }
        timeline_finish_track(timeline, track);
    }
    free(loads.at);
    free(loads.by_key);
}
