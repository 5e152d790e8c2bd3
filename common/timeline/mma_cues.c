/*
 * mma_cues.c: from cues to marks, for kernels that multiply by mma.sync, or by no Tensor Core.
 *
 * All of their threads do the same, and k-tiles are counted: the n-th copy loads k-tile n, the n-th
 * wait is for it, and so many steps of multiplications belong to each.
 */
#include "timeline/mma_cues.h"
#include "timeline/tracks.h"

struct story {
    const struct marks *cues;
    struct marks *marks;
    int tiles_k;
    int steps;            /* in which a k-tile is multiplied */
    int announces;        /* of bytes, for each k-tile */
    bool copies;          /* a cue tells of each load; else a load is what lies between barriers */
    int tile;             /* of D */
    int loads, announced; /* so far */
    int waits;
    int fragments, done; /* loads of fragments, and multiplications */
};

static bool multiplies(const struct marks *cues, int i) {
    return cues->at[i].event == TRACE_CUE_MULTIPLY;
}

static bool waits(const struct marks *cues, int i) {
    return cues->at[i].event == TRACE_CUE_WAIT || cues->at[i].event == TRACE_CUE_BARRIER;
}

/* The most multiplications between two waits, or after the last. */
static int most_between_waits(const struct marks *cues) {
    int most = 0, count = 0;
    for (int i = 0; i < cues->count; ++i) {
        if (waits(cues, i)) count = 0;
        count += multiplies(cues, i);
        if (count > most) most = count;
    }
    return most;
}

/* Steps of a k-tile. Two of them without a load in between are one cue, which occurs at the end. */
static int steps_of(const struct marks *cues, int tiles_k) {
    if (cues->truncated || !cues->closed || tiles_k < 1) return most_between_waits(cues);
    return (timeline_count_marks(cues, TRACE_CUE_MULTIPLY) + tiles_k - 1) / tiles_k;
}

/* Are the first fragments loaded for two steps, one of them ahead? Then the second wait, which is
 * for the fragments of the next k-tile, comes a step early. */
static bool loads_ahead(const struct marks *cues, int steps) {
    int count = 0;
    for (int i = 0; i < cues->count; ++i) {
        if (waits(cues, i) && count > 0) return count < steps;
        count += multiplies(cues, i);
    }
    return false;
}

static int k_tile_of(const struct story *story, int step) {
    const int k_tile = story->steps ? step / story->steps : 0;
    return k_tile < story->tiles_k || story->tiles_k == 0 ? k_tile : story->tiles_k;
}

static void add(struct story *story, int64_t time, int event, int argument) {
    timeline_add_mark(story->marks, time, event, argument);
}

static void add_wait(struct story *story, int i) {
    const struct mark *const cue = &story->cues->at[i];
    const int last = story->cues->count - 1;
    if (i > 0 && (waits(story->cues, i - 1) || story->cues->at[i - 1].event == TRACE_CUE_PASS))
        return; /* the same wait */
    if (story->done && story->done >= story->steps * story->tiles_k) {
        add(story, cue->time, TRACE_MMA_END, story->tiles_k - 1);
        return;
    }
    /* For an mbarrier, and what follows is a copy: it has waited for a stage. */
    if (i + 2 <= last && story->cues->at[i + 1].event == TRACE_CUE_PASS &&
        story->cues->at[i + 2].event == TRACE_CUE_COPY)
        add(story, cue->time, TRACE_ACQUIRE_BEGIN, story->loads);
    else
        add(story, cue->time, TRACE_WAIT_BEGIN, story->waits++);
}

/* Before and behind the barrier that follows the multiplications, or the one that follows the
 * copies; the latter is a wait. */
static void add_barrier(struct story *story, int i) {
    const struct mark *const cue = &story->cues->at[i];
    const bool reads = i > 0 && multiplies(story->cues, i - (cue->event == TRACE_CUE_FREE ? 2 : 1));
    if (cue->event == TRACE_CUE_BARRIER && (story->copies || !reads)) add_wait(story, i);
    if (story->copies || !reads) return;
    if (cue->event == TRACE_CUE_BARRIER)
        add(story, cue->time, TRACE_MMA_END, k_tile_of(story, story->done - 1));
    else if (story->loads < story->tiles_k)
        add(story, cue->time, TRACE_LOAD, story->loads++);
}

static void tell(struct story *story, bool ahead) {
    const struct marks *const cues = story->cues;
    for (int i = 0; i < cues->count; ++i) {
        const struct mark cue = cues->at[i];
        switch (cue.event) {
        case TRACE_CUE_TILE:
            story->tile = cue.argument;
            break;
        case TRACE_CUE_ANNOUNCE:
            if (story->announced++ % story->announces) break;
            add(story, cue.time, TRACE_LOAD, story->loads++);
            break;
        case TRACE_CUE_COPY:
            add(story, cue.time, TRACE_LOAD, story->loads++);
            break;
        case TRACE_CUE_WAIT:
            add_wait(story, i);
            break;
        case TRACE_CUE_BARRIER:
        case TRACE_CUE_FREE:
            add_barrier(story, i);
            break;
        case TRACE_CUE_FRAGMENTS:
            add(story, cue.time, TRACE_FRAGMENTS, k_tile_of(story, story->fragments++));
            if (ahead && i + 1 < cues->count) /* those of the next step, in the same cue */
                add(story, (cue.time + cues->at[i + 1].time) / 2, TRACE_FRAGMENTS,
                    k_tile_of(story, story->fragments++));
            ahead = false;
            break;
        case TRACE_CUE_MULTIPLY:
            add(story, cue.time, TRACE_MMA_BEGIN, k_tile_of(story, story->done++));
            break;
        case TRACE_CUE_RESULT:
            add(story, cue.time, TRACE_EPILOGUE_BEGIN, story->tile);
            break;
        default:
            break;
        }
    }
}

void timeline_marks_of_mma_cues(const struct marks *cues, struct marks *marks, int cta,
                                int tiles_k) {
    struct story story = {.cues = cues, .marks = marks, .tiles_k = tiles_k, .tile = cta};
    const int announces = timeline_count_marks(cues, TRACE_CUE_ANNOUNCE);
    const bool whole = cues->closed && !cues->truncated && announces > tiles_k && tiles_k > 0;
    story.steps = steps_of(cues, tiles_k);
    story.announces = whole ? announces / tiles_k : 1;
    story.copies = announces > 0 || timeline_count_marks(cues, TRACE_CUE_COPY) > 0;
    if (story.steps == 0)
        timeline_add_mark(marks, cues->open, TRACE_FMA_BEGIN, 0);
    else if (!story.copies)
        timeline_add_mark(marks, cues->open, TRACE_LOAD, story.loads++);
    tell(&story, loads_ahead(cues, story.steps));
}
