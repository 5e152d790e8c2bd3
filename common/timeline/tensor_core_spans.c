/*
 * tensor_core_spans.c: when the Tensor Core worked on what.
 *
 * The simulator reports it. On the GPU nothing does, and it is inferred: work starts when it is
 * issued and what was issued before is done, takes the time that the Tensor Core needs for it at
 * its full rate, and has ended when a wait says so.
 */
#include "timeline/tensor_core_spans.h"
#include "timeline/tracks.h"

#include <stdlib.h>

/* Dense 16-bit FLOPs per clock and SM, H100 and H200: 989 TFLOPS at 1.83 GHz on 132 SMs. Twice as
 * many of e4m3. */
static const double TENSOR_CORE_RATE = 4096;

/* mma.syncs of different warps interleave with gaps of a few cycles, which a timeline cannot show.
 */
enum { VISIBLE_GAP = 8 };

static int by_issue(const void *a, const void *b) {
    const struct multiplication *x = a, *y = b;
    if (x->issue != y->issue) return x->issue < y->issue ? -1 : 1;
    return x->role - y->role;
}

/* mma.sync is over when the role goes on to something else; fragments may be loaded meanwhile. */
bool timeline_ends_mma(int event) { return event != TRACE_FRAGMENTS; }

static void collect(const struct marks *marks, int role, struct multiplications *out) {
    const bool asynchronous = out->asynchronous[role];
    const int first = out->count;
    int waiting = first; /* the oldest whose completion has not been seen */
    int tile = -1;
    bool promotes = false;
    for (int i = 0; i < marks->count; ++i) {
        const struct mark mark = marks->at[i];
        while (!asynchronous && waiting < out->count && timeline_ends_mma(mark.event))
            out->at[waiting++].done = mark.time;
        switch (mark.event) {
        case TRACE_TILE:
            tile = mark.argument;
            break;
        case TRACE_MMA_BEGIN:
            timeline_grow((void **)&out->at, out->count, &out->capacity, sizeof *out->at);
            out->at[out->count++] = (struct multiplication){.issue = mark.time,
                                                            .done = -1,
                                                            .k_tile = mark.argument,
                                                            .tile = tile,
                                                            .role = role,
                                                            .inferred = asynchronous};
            break;
        case TRACE_MMA_DONE: { /* they complete in order: this one and all before it */
            int last = out->count - 1;
            while (last >= waiting && out->at[last].k_tile != mark.argument)
                --last;
            while (waiting <= last)
                out->at[waiting++].done = mark.time;
            break;
        }
        case TRACE_PROMOTE_BEGIN:
            promotes = true;
            break;
        case TRACE_EPILOGUE_BEGIN: /* it uses the accumulators, or what they were promoted to */
            while (!promotes && waiting < out->count)
                out->at[waiting++].done = mark.time;
            break;
        default:
            break;
        }
    }
    /* The marks may have been cut off in the middle of a tile. */
    const int64_t end = marks->closed && !marks->truncated ? marks->close : -1;
    while (waiting < out->count && end >= 0)
        out->at[waiting++].done = end;
    out->count = waiting;
    for (int i = first; i < out->count; ++i) {
        out->at[i].begin = out->at[i].issue;
        out->at[i].end = out->at[i].done;
    }
}

/* The full-rate duration of one multiplication: the CTA's work per k-tile, shared by the
 * multiplications it is split into. */
static double duration(const struct timeline *timeline, const struct multiplications *work) {
    int ordinals = 0; /* pairs (tile, k-tile), counted through the first of each role's runs */
    for (int i = 0; i < work->count; ++i) {
        bool first = true;
        for (int j = i - 1; j >= 0 && j >= i - 64 && first; --j)
            first =
                work->at[j].tile != work->at[i].tile || work->at[j].k_tile != work->at[i].k_tile;
        ordinals += first;
    }
    const double flops = 2.0 * timeline->tile_m * timeline->tile_n * timeline->tile_k;
    const double rate = TENSOR_CORE_RATE * (timeline->e4m3 ? 2 : 1);
    return work->count ? flops / rate * ordinals / work->count : 0;
}

/* One queue in the order of issue. */
static void infer(const struct timeline *timeline, struct multiplications *work) {
    const double cycles = duration(timeline, work);
    double free_at = -1e300;
    for (int i = 0; i < work->count; ++i) {
        struct multiplication *one = &work->at[i];
        if (!one->inferred) continue;
        double begin = (double)one->issue > free_at ? (double)one->issue : free_at;
        double end = begin + cycles;
        if (end > (double)one->done) end = (double)one->done;
        if (begin > end) begin = end;
        free_at = end;
        one->begin = (int64_t)begin;
        one->end = (int64_t)end;
    }
}

static int by_begin(const void *a, const void *b) {
    const struct interval *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* The wgmmas of a role, in order, are dealt out evenly to its multiplications. */
static void observe(const struct cta_record *cta, int role, struct multiplications *work) {
    const struct intervals *busy = &cta->busy[UNIT_WGMMA];
    int wgmmas = 0, multiplications = 0;
    for (int i = 0; i < busy->count; ++i)
        wgmmas += busy->at[i].warp / 4 == cta->role[role].warp / 4;
    for (int i = 0; i < work->count; ++i)
        multiplications += work->at[i].role == role;
    if (wgmmas == 0 || multiplications == 0 || wgmmas % multiplications) return;
    const int each = wgmmas / multiplications;
    int next = 0, taken = 0;
    for (int i = 0; i < work->count; ++i) {
        struct multiplication *one = &work->at[i];
        if (one->role != role) continue;
        for (taken = 0; taken < each; ++next) {
            if (busy->at[next].warp / 4 != cta->role[role].warp / 4) continue;
            if (taken++ == 0) one->begin = busy->at[next].begin;
            one->end = busy->at[next].end;
        }
        one->inferred = false;
    }
}

void timeline_multiplications(const struct timeline *timeline, struct cta_record *cta,
                              struct multiplications *out) {
    for (int role = 0; role < TRACE_ROLES; ++role) {
        const struct marks *marks = &cta->role[role];
        for (int i = 0; i < marks->count; ++i)
            out->asynchronous[role] |= marks->at[i].event == TRACE_MMA_DONE;
        collect(marks, role, out);
    }
    if (out->count == 0) return;
    qsort(out->at, (size_t)out->count, sizeof *out->at, by_issue);
    struct intervals *busy = &cta->busy[UNIT_WGMMA];
    if (busy->count) {
        qsort(busy->at, (size_t)busy->count, sizeof *busy->at, by_begin);
        for (int role = 0; role < TRACE_ROLES; ++role)
            observe(cta, role, out);
    }
    infer(timeline, out);
}

/* What a wgmma belongs to: the multiplication of its warpgroup that covers it. */
static const struct multiplication *owner(const struct cta_record *cta,
                                          const struct multiplications *work,
                                          const struct interval *busy, int hint) {
    for (int i = hint; i < work->count; ++i) {
        const struct multiplication *one = &work->at[i];
        if (one->begin > busy->begin && one->issue > busy->begin) break;
        if (cta->role[one->role].warp / 4 == busy->warp / 4 && one->begin <= busy->begin &&
            busy->end <= one->end)
            return one;
    }
    return NULL;
}

void timeline_tensor_core(struct cta_record *cta, const struct multiplications *work,
                          struct track *track, void (*add)(struct track *, struct span)) {
    struct intervals *wgmma = &cta->busy[UNIT_WGMMA], *mma = &cta->busy[UNIT_MMA];
    struct span span = {
        .kind = SPAN_MMA, .role = -1, .k_tile = -1, .tile = -1, .begin = 0, .end = -1};
    int hint = 0;
    for (int i = 0; i < wgmma->count; ++i) {
        while (hint < work->count && work->at[hint].end <= wgmma->at[i].begin)
            ++hint;
        const struct multiplication *of = owner(cta, work, &wgmma->at[i], hint);
        const int role = of ? of->role : -1, k_tile = of ? of->k_tile : -1,
                  tile = of ? of->tile : -1;
        if (span.end == wgmma->at[i].begin && span.role == role && span.k_tile == k_tile &&
            span.tile == tile) {
            span.end = wgmma->at[i].end;
            continue;
        }
        add(track, span);
        span = (struct span){.kind = SPAN_MMA,
                             .role = (int8_t)role,
                             .k_tile = k_tile,
                             .tile = tile,
                             .begin = wgmma->at[i].begin,
                             .end = wgmma->at[i].end};
    }
    add(track, span);
    if (wgmma->count) return;

    span = (struct span){
        .kind = SPAN_MMA, .role = -1, .k_tile = -1, .tile = -1, .begin = 0, .end = -1};
    if (mma->count) qsort(mma->at, (size_t)mma->count, sizeof *mma->at, by_begin);
    for (int i = 0; i < mma->count; ++i) {
        if (span.end >= 0 && mma->at[i].begin <= span.end + VISIBLE_GAP) {
            if (mma->at[i].end > span.end) span.end = mma->at[i].end;
            continue;
        }
        add(track, span);
        span.begin = mma->at[i].begin;
        span.end = mma->at[i].end;
    }
    add(track, span);
    if (mma->count) return;

    for (int i = 0; i < work->count; ++i) {
        const struct multiplication *one = &work->at[i];
        add(track, (struct span){.kind = SPAN_MMA,
                                 .inferred = true,
                                 .role = (int8_t)one->role,
                                 .k_tile = one->k_tile,
                                 .tile = one->tile,
                                 .begin = one->begin,
                                 .end = one->end});
    }
}

static int by_span(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The parts of [begin, end) that none of the first `own` spans of the track covers; `from`: where
 * to begin looking. */
static void add_uncovered(struct track *track, int own, int *from, int64_t begin, int64_t end,
                          void (*add)(struct track *, struct span)) {
    struct span part = {.kind = SPAN_OTHER, .role = -1, .k_tile = -1, .tile = -1, .begin = begin};
    while (*from < own && track->at[*from].end <= begin)
        ++*from;
    for (int i = *from; i < own && track->at[i].begin < end; ++i) {
        const struct span mine = track->at[i]; /* a copy: the track may move as it grows */
        part.end = mine.begin;
        add(track, part);
        part.begin = mine.end;
    }
    part.end = end;
    add(track, part);
}

void timeline_share_tensor_core(struct timeline *timeline,
                                void (*add)(struct track *, struct span)) {
    struct track *others = timeline_zeroed(1, sizeof *others);
    int *own = timeline_zeroed((size_t)timeline->tracks + 1, sizeof *own);
    for (int i = 0; i < timeline->tracks; ++i)
        own[i] = timeline->track[i].count;
    for (int i = 0; i < timeline->tracks; ++i) {
        struct track *track = &timeline->track[i];
        if (track->kind != TRACK_TENSOR_CORE) continue;
        others->count = 0;
        for (int j = 0; j < timeline->tracks; ++j) {
            const struct track *other = &timeline->track[j];
            if (j == i || other->kind != TRACK_TENSOR_CORE || other->sm != track->sm) continue;
            for (int k = 0; k < own[j]; ++k)
                if (other->at[k].kind != SPAN_OTHER) add(others, other->at[k]);
        }
        if (others->count == 0) continue;
        qsort(others->at, (size_t)others->count, sizeof *others->at, by_span);
        int64_t done = INT64_MIN;
        int from = 0;
        for (int k = 0; k < others->count; ++k) {
            const int64_t begin = others->at[k].begin > done ? others->at[k].begin : done;
            if (others->at[k].end <= begin) continue;
            done = others->at[k].end;
            add_uncovered(track, own[i], &from, begin, done, add);
        }
    }
    /* Only now, because the tracks' own spans stood first. */
    for (int i = 0; i < timeline->tracks; ++i)
        if (timeline->track[i].kind == TRACK_TENSOR_CORE && timeline->track[i].count)
            qsort(timeline->track[i].at, (size_t)timeline->track[i].count, sizeof(struct span),
                  by_span);
    free(others->at);
    free(others);
    free(own);
}
