/*
 * cues.c: from cues to marks.
 */
#include "timeline/cues.h"

static int count_cues(const struct marks *cues, int event) {
    int count = 0;
    for (int i = 0; i < cues->count; ++i)
        count += cues->at[i].event == event;
    return count;
}

/* A wait for all wgmmas, after the tile's last k-tile: if no other wait follows it, the epilogue
 * does. */
static bool begins_epilogue(const struct marks *cues, int wait, int commits, int tiles_k) {
    if (cues->at[wait].argument != 0 || commits != tiles_k) return false;
    for (int i = wait + 1; i < cues->count; ++i) {
        if (cues->at[i].event == TRACE_CUE_TILE) break;
        if (cues->at[i].event == TRACE_CUE_DRAIN) return false;
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

/* `produces`: what it waits for is a free stage, not data. */
static void convert(const struct marks *cues, struct marks *marks, int tiles_k, bool produces) {
    int tile = -1, loads = 0, commits = 0;
    int64_t passed = cues->open;
    bool epilogue = false;
    marks->warp = cues->warp;
    marks->closed = cues->closed;
    marks->truncated = cues->truncated;
    marks->open = cues->open;
    marks->close = cues->close;
    for (int i = 0; i < cues->count; ++i) {
        const struct mark cue = cues->at[i];
        if (epilogue && ends_epilogue(cues, i)) {
            timeline_add_mark(marks, cue.time, TRACE_EPILOGUE_END, tile);
            epilogue = false;
        }
        switch (cue.event) {
        case TRACE_CUE_TILE:
            tile = cue.argument;
            loads = commits = 0;
            timeline_add_mark(marks, cue.time, TRACE_TILE, tile);
            break;
        case TRACE_CUE_WAIT:
            timeline_add_mark(marks, cue.time, produces ? TRACE_ACQUIRE_BEGIN : TRACE_WAIT_BEGIN,
                              produces ? loads : commits);
            break;
        case TRACE_CUE_PASS:
            passed = cue.time;
            break;
        case TRACE_CUE_ANNOUNCE:
            timeline_add_mark(marks, cue.time, TRACE_LOAD, loads++);
            break;
        case TRACE_CUE_MULTICAST:
            if (marks->count && marks->at[marks->count - 1].event == TRACE_LOAD)
                marks->at[marks->count - 1].event = TRACE_LOAD_MULTICAST;
            break;
        case TRACE_CUE_COMMIT:
            timeline_add_mark(marks, passed, TRACE_MMA_BEGIN, commits);
            timeline_add_mark(marks, cue.time, TRACE_MMA_END, commits++);
            break;
        case TRACE_CUE_DRAIN:
            if (begins_epilogue(cues, i, commits, tiles_k)) {
                timeline_add_mark(marks, cue.time, TRACE_EPILOGUE_BEGIN, tile);
                epilogue = true;
            } else if (cue.argument < commits) {
                timeline_add_mark(marks, cue.time, TRACE_MMA_DONE, commits - 1 - cue.argument);
            }
            break;
        default:
            break;
        }
    }
}

/* K-tiles of a tile on the CTA's GPU; one, of zeros, if its slice is empty. */
static int tiles_of(const struct timeline *timeline, const struct cta_record *cta) {
    if (!timeline->slices_of_k || timeline->gpus < 2) return timeline->tiles_k;
    const int gpu = timeline_gpu(timeline, cta->sm);
    const int tiles = gemm_slice(timeline->tiles_k, gpu + 1, timeline->gpus) -
                      gemm_slice(timeline->tiles_k, gpu, timeline->gpus);
    return tiles > 0 ? tiles : 1;
}

void timeline_marks_of_cues(const struct timeline *timeline, struct cta_record *cta) {
    int warpgroups = 0, consumers = 0;
    for (int i = 0; i < TRACE_ROLES; ++i) {
        if (cta->role[i].warp >= 0) return; /* the kernel has marks */
        warpgroups += cta->cue[i].warp >= 0;
    }
    for (int i = 0; i < TRACE_ROLES; ++i) {
        const struct marks *cues = &cta->cue[i];
        if (cues->warp < 0) continue;
        const bool produces =
            count_cues(cues, TRACE_CUE_ANNOUNCE) > 0 && count_cues(cues, TRACE_CUE_COMMIT) == 0;
        const int role = warpgroups == 1 ? TRACE_THREADS
                         : produces      ? TRACE_PRODUCER
                                         : TRACE_CONSUMER_0 + consumers++;
        if (role <= TRACE_CONSUMER_1 || warpgroups == 1)
            convert(cues, &cta->role[role], tiles_of(timeline, cta), produces);
    }
}
