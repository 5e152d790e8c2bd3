/*
 * cues.c: from cues to marks.
 */
#include "timeline/cues.h"
#include "timeline/mma_cues.h"
#include "timeline/tracks.h"

#include "services/devices.h"

/* A wait for all wgmmas, after the tile's last k-tile: if neither another wait nor a promotion
 * follows it, the epilogue does. */
static bool begins_epilogue(const struct marks *cues, int wait) {
    if (cues->at[wait].argument != 0) return false;
    for (int i = wait + 1; i < cues->count; ++i) {
        if (cues->at[i].event == TRACE_CUE_TILE) break;
        if (cues->at[i].event == TRACE_CUE_DRAIN || cues->at[i].event == TRACE_CUE_PROMOTE)
            return false;
    }
    return true;
}

/* The next tile, or the wait for the stores at the end. A wait right after the last multiplication,
 * with more to come, is for the stores of the tile before. */
static bool ends_epilogue(const struct marks *cues, int i) {
    if (cues->at[i].event == TRACE_CUE_TILE) return true;
    const bool first = cues->at[i - 1].event == TRACE_CUE_DRAIN, last = i == cues->count - 1;
    return cues->at[i].event == TRACE_CUE_STORED && (last || !first);
}

static bool follows(const struct marks *cues, int i, int event) {
    return i + 1 < cues->count && cues->at[i + 1].event == event;
}

/* Does it ask where a tile lies only when it has multiplied some of it? Then the tiles begin where
 * the ones before have had all their k-tiles, and are those that it will ask for, in turn. */
static bool asks_late(const struct marks *cues) {
    for (int i = 0; i < cues->count; ++i) {
        if (cues->at[i].event == TRACE_CUE_TILE) return false;
        if (cues->at[i].event == TRACE_CUE_COMMIT)
            return timeline_count_marks(cues, TRACE_CUE_TILE) > 0;
    }
    return false;
}

/* The next tile but `tile` that it asks for, from *at on, which is passed; -1: there is none. */
static int next_tile(const struct marks *cues, int *at, int tile) {
    while (*at < cues->count &&
           (cues->at[*at].event != TRACE_CUE_TILE || cues->at[*at].argument == tile))
        ++*at;
    return *at < cues->count ? cues->at[(*at)++].argument : -1;
}

/* `groups`: of wgmmas for each k-tile. `produces`: what it waits for is a free stage, not data.
 * `loads_k_tiles`: as announces_k_tiles() says. */
static void convert(const struct marks *cues, struct marks *marks, int tiles_k, int groups,
                    bool produces, bool loads_k_tiles) {
    const bool late = asks_late(cues);
    const int of_tile = tiles_k * groups; /* commits */
    int tile = -1, before = -1, asked = 0, loads = 0, commits = 0;
    int done = 0;               /* of the commits, as the last wait has shown */
    int64_t ready = cues->open; /* to issue the next wgmmas */
    bool epilogue = false;
    for (int i = 0; i < cues->count; ++i) {
        const struct mark cue = cues->at[i];
        const bool multiplies = cue.event == TRACE_CUE_COMMIT;
        if (epilogue && ends_epilogue(cues, i)) {
            timeline_add_mark(marks, cue.time, TRACE_EPILOGUE_END, tile);
            epilogue = false;
        }
        if (late ? multiplies && commits % of_tile == 0 : cue.event == TRACE_CUE_TILE) {
            before = tile;
            tile = late ? next_tile(cues, &asked, tile) : cue.argument;
            loads = commits = done = 0;
            timeline_add_mark(marks, late ? ready : cue.time, TRACE_TILE, tile);
        }
        const int k_tile = late && commits == of_tile ? 0 : commits / groups; /* the next one */
        switch (cue.event) {
        case TRACE_CUE_WAIT:
            /* In an epilogue it is for something that the epilogue needs, and a part of it. */
            if (epilogue && !late) break;
            timeline_add_mark(marks, cue.time, produces ? TRACE_ACQUIRE_BEGIN : TRACE_WAIT_BEGIN,
                              produces ? loads : k_tile);
            break;
        case TRACE_CUE_PASS:
            ready = cue.time;
            /* Under multiplications. Elsewhere, what follows ends the wait. */
            if (follows(cues, i, TRACE_CUE_DRAIN))
                timeline_add_mark(marks, cue.time, TRACE_WAIT_END, k_tile);
            break;
        case TRACE_CUE_ANNOUNCE:
            if (loads_k_tiles) timeline_add_mark(marks, cue.time, TRACE_LOAD, loads++);
            break;
        case TRACE_CUE_MULTICAST:
            if (marks->count && marks->at[marks->count - 1].event == TRACE_LOAD)
                marks->at[marks->count - 1].event = TRACE_LOAD_MULTICAST;
            break;
        case TRACE_CUE_COMMIT:
            timeline_add_mark(marks, ready, TRACE_MMA_BEGIN, k_tile);
            timeline_add_mark(marks, cue.time, TRACE_MMA_END, k_tile);
            ready = cue.time;
            ++commits;
            break;
        case TRACE_CUE_DRAIN:
            ready = cue.time;
            if (commits == of_tile && begins_epilogue(cues, i)) {
                timeline_add_mark(marks, cue.time, TRACE_EPILOGUE_BEGIN, tile);
                epilogue = true;
            } else if (cue.argument < commits) {
                done = commits - cue.argument;
                /* Of a k-tile, unless younger groups of it are under way. */
                if (cue.argument == 0 || done % groups == 0)
                    timeline_add_mark(marks, cue.time, TRACE_MMA_DONE, (done - 1) / groups);
            }
            break;
        case TRACE_CUE_PROMOTE:
            timeline_add_mark(marks, cue.time, TRACE_PROMOTE_BEGIN, (done - 1) / groups);
            break;
        case TRACE_CUE_PROMOTED:
            ready = cue.time;
            timeline_add_mark(marks, cue.time, TRACE_PROMOTE_END, (done - 1) / groups);
            /* The sums are complete, and what follows is a store, or nothing that leaves a cue. */
            epilogue = commits == of_tile && follows(cues, i, TRACE_CUE_STORE);
            epilogue |= i == cues->count - 1 && cues->closed && !cues->truncated;
            if (epilogue) timeline_add_mark(marks, cue.time, TRACE_EPILOGUE_BEGIN, tile);
            break;
        case TRACE_CUE_STORE:
            /* Under multiplications: the first ones of a tile hide the end of the one before. */
            if (epilogue || i == 0) break;
            if (cues->at[i - 1].event != TRACE_CUE_STORE)
                timeline_add_mark(marks, cues->at[i - 1].time, TRACE_EPILOGUE_BEGIN,
                                  commits == 1 ? before : tile);
            if (!follows(cues, i, TRACE_CUE_STORE))
                timeline_add_mark(marks, cue.time, TRACE_EPILOGUE_END,
                                  commits == 1 ? before : tile);
            break;
        default:
            break;
        }
    }
}

static bool only_announces(const struct marks *cues) {
    return timeline_count_marks(cues, TRACE_CUE_ANNOUNCE) > 0 &&
           timeline_count_marks(cues, TRACE_CUE_COMMIT) == 0;
}

/* Are the bytes that a role announces those of k-tiles? Where a producer loads them, a consumer
 * announces something else, such as a piece of another matrix for its epilogue. */
static bool announces_k_tiles(const struct cta_record *cta, int role) {
    bool producer = false;
    for (int i = 0; i < TRACE_ROLES; ++i)
        producer |= only_announces(&cta->cue[i]);
    return !producer || only_announces(&cta->cue[role]);
}

/* Groups of wgmmas in which the warpgroup multiplies a k-tile: its commits for each k-tile that the
 * CTA has begun to load by the last of them, rounded, as the records may have been cut off. */
static int groups_of(const struct cta_record *cta, const struct marks *cues) {
    const int commits = timeline_count_marks(cues, TRACE_CUE_COMMIT);
    int64_t last = cues->open;
    int loads = 0;
    for (int i = 0; i < cues->count; ++i)
        if (cues->at[i].event == TRACE_CUE_COMMIT) last = cues->at[i].time;
    for (int role = 0; role < TRACE_ROLES; ++role)
        for (int i = 0; i < cta->cue[role].count && announces_k_tiles(cta, role); ++i)
            loads += cta->cue[role].at[i].event == TRACE_CUE_ANNOUNCE &&
                     cta->cue[role].at[i].time <= last;
    return commits > loads && loads > 0 ? (commits + loads / 2) / loads : 1;
}

/* K-tiles of a tile on the CTA's GPU; one, of zeros, if its slice is empty. */
static int tiles_of(const struct timeline *timeline, const struct cta_record *cta) {
    if (!timeline->slices_of_k || timeline->gpus < 2) return timeline->tiles_k;
    const int gpu = timeline_gpu(timeline, cta->sm);
    const int tiles = gemm_slice(timeline->tiles_k, gpu + 1, timeline->gpus) -
                      gemm_slice(timeline->tiles_k, gpu, timeline->gpus);
    return tiles > 0 ? tiles : 1;
}

/* The marks of a role, none yet. */
static struct marks *begin_marks(const struct marks *cues, struct marks *marks) {
    marks->warp = cues->warp;
    marks->closed = cues->closed;
    marks->truncated = cues->truncated;
    marks->open = cues->open;
    marks->close = cues->close;
    return marks;
}

void timeline_marks_of_cues(const struct timeline *timeline, struct cta_record *cta) {
    int warpgroups = 0, consumers = 0, commits = 0, turns = 0;
    for (int i = 0; i < TRACE_ROLES; ++i) {
        if (cta->role[i].warp >= 0) return; /* it has marks already */
        warpgroups += cta->cue[i].warp >= 0;
        commits += timeline_count_marks(&cta->cue[i], TRACE_CUE_COMMIT);
        turns += timeline_count_marks(&cta->cue[i], TRACE_CUE_MULTIPLY);
        turns += timeline_count_marks(&cta->cue[i], TRACE_CUE_RESULT);
    }
    if (commits == 0 && turns > 0) {
        timeline_marks_of_mma_cues(&cta->cue[0],
                                   begin_marks(&cta->cue[0], &cta->role[TRACE_THREADS]), cta->cta,
                                   timeline->tiles_k);
        return;
    }
    for (int i = 0; i < TRACE_ROLES; ++i) {
        const struct marks *cues = &cta->cue[i];
        if (cues->warp < 0) continue;
        const bool produces = only_announces(cues);
        const int role = warpgroups == 1 ? TRACE_THREADS
                         : produces      ? TRACE_PRODUCER
                                         : TRACE_CONSUMER_0 + consumers++;
        if (role <= TRACE_CONSUMER_1 || warpgroups == 1)
            convert(cues, begin_marks(cues, &cta->role[role]), tiles_of(timeline, cta),
                    groups_of(cta, cues), produces, announces_k_tiles(cta, i));
    }
}
