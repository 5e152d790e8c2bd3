/*
 * timeline.c: keeps what is recorded, one timeline per step and variant.
 */
#include "timeline/kept_hazards.h"
#include "timeline/model.h"
#include "timeline/tracks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "gemm_types.h"

struct timeline *timeline_list;
enum gemm_type timeline_operands;

static void free_timeline(struct timeline *timeline) {
    for (int i = 0; i < timeline->ctas; ++i) {
        for (int role = 0; role < TRACE_ROLES; ++role) {
            free(timeline->cta[i].role[role].at);
            free(timeline->cta[i].cue[role].at);
        }
        for (int unit = 0; unit < TIMELINE_UNITS; ++unit)
            free(timeline->cta[i].busy[unit].at);
    }
    for (int i = 0; i < timeline->tracks; ++i)
        free(timeline->track[i].at);
    free(timeline->cta);
    free(timeline->track);
    free(timeline->barrier);
    hazards_free(timeline);
    free(timeline);
}

struct timeline *timeline_new(const struct gemm_kernel *kernel, const struct gemm_problem *problem,
                              bool simulated) {
    struct timeline *timeline = timeline_zeroed(1, sizeof *timeline);
    snprintf(timeline->name, sizeof timeline->name, "%s", kernel->name);
    snprintf(timeline->variant, sizeof timeline->variant, "%s",
             kernel->variant ? kernel->variant : "");
    snprintf(timeline->technique, sizeof timeline->technique, "%s",
             kernel->technique ? kernel->technique : "");
    timeline->simulated = simulated;
    timeline->timed = true;
    timeline->tile_m = kernel->tile_m;
    timeline->tile_n = kernel->tile_n;
    timeline->tile_k = kernel->tile_k;
    timeline->stages = kernel->stages;
    timeline->cluster = kernel->cluster;
    timeline->m = problem->m;
    timeline->n = problem->n;
    timeline->k = problem->k;
    const int depth = kernel->loop == GEMM_ALONG_N ? problem->n : problem->k;
    timeline->tiles_k = kernel->tile_k > 0 ? ceil_div(depth, kernel->tile_k) : 0;
    timeline->e4m3 = gemm_type_is_scaled(timeline_operands);
    timeline->along_n = kernel->loop == GEMM_ALONG_N;
    timeline->slices_of_k = kernel->loop == GEMM_ALONG_SLICE_OF_K;
    timeline->cycles = -1;

    /* Takes the place of an earlier run of the same, otherwise the end of the list. */
    struct timeline **place = &timeline_list;
    while (*place &&
           (strcmp((*place)->name, timeline->name) || strcmp((*place)->variant, timeline->variant)))
        place = &(*place)->next;
    if (*place) {
        timeline->next = (*place)->next;
        free_timeline(*place);
    }
    *place = timeline;
    return timeline;
}

void timeline_free_all(void) {
    while (timeline_list) {
        struct timeline *timeline = timeline_list;
        timeline_list = timeline->next;
        free_timeline(timeline);
    }
}

int timeline_count(void) {
    int count = 0;
    for (const struct timeline *t = timeline_list; t; t = t->next)
        ++count;
    return count;
}

struct cta_record *timeline_cta(struct timeline *timeline, int cta, int sm) {
    for (int i = timeline->ctas; i-- > 0;) /* the latest first: it is the likely one */
        if (timeline->cta[i].cta == cta) return &timeline->cta[i];
    timeline_grow((void **)&timeline->cta, timeline->ctas, &timeline->cta_capacity,
                  sizeof *timeline->cta);
    struct cta_record *record = &timeline->cta[timeline->ctas++];
    *record = (struct cta_record){.cta = cta, .sm = sm};
    for (int role = 0; role < TRACE_ROLES; ++role)
        record->role[role].warp = record->cue[role].warp = -1;
    return record;
}

void timeline_add_interval(struct intervals *intervals, int64_t begin, int64_t end, int warp) {
    timeline_grow((void **)&intervals->at, intervals->count, &intervals->capacity,
                  sizeof *intervals->at);
    intervals->at[intervals->count++] = (struct interval){begin, end, warp};
}

struct timeline *timeline_begin(const struct gemm_kernel *kernel,
                                const struct gemm_problem *problem) {
    return timeline_new(kernel, problem, true);
}

void timeline_cue(struct timeline *timeline, int cta, int sm, int warpgroup, uint64_t cycle,
                  int event, int argument) {
    if (cta >= TRACE_CTAS || warpgroup >= TRACE_ROLES) return;
    struct marks *cues = &timeline_cta(timeline, cta, sm)->cue[warpgroup];
    if (cues->warp < 0) {
        cues->warp = 4 * warpgroup;
        cues->open = (int64_t)cycle;
    }
    if (event == TRACE_CUE_ENTER) return;
    if (event != TRACE_CUE_EXIT) {
        timeline_add_mark(cues, (int64_t)cycle, event, argument);
        return;
    }
    cues->close = (int64_t)cycle;
    cues->closed = true;
}

void timeline_busy(struct timeline *timeline, int cta, int sm, enum timeline_unit unit, int warp,
                   uint64_t begin, uint64_t end) {
    if (cta >= TRACE_CTAS || end <= begin) return;
    struct intervals *busy = &timeline_cta(timeline, cta, sm)->busy[unit];
    if (unit == UNIT_MMA || unit == UNIT_SPECIAL) {
        /* Thousands of them follow one another in a warp; a k-tile's worth is what one can see. Of
         * the last few intervals one is likely this warp's. Two warps take turns at a
         * special-function unit. */
        const int64_t near = unit == UNIT_SPECIAL ? (int64_t)(end - begin) : 0;
        for (int i = busy->count - 1; i >= 0 && i >= busy->count - 16; --i) {
            struct interval *last = &busy->at[i];
            if (last->warp != warp) continue;
            if ((int64_t)begin > last->end + near || (int64_t)begin < last->begin) break;
            if ((int64_t)end > last->end) last->end = (int64_t)end;
            return;
        }
    }
    timeline_add_interval(busy, (int64_t)begin, (int64_t)end, warp);
}

void timeline_barrier(struct timeline *timeline, const struct barrier_event *event) {
    if (event->cta >= TRACE_CTAS) return;
    timeline_grow((void **)&timeline->barrier, timeline->barriers, &timeline->barrier_capacity,
                  sizeof *timeline->barrier);
    timeline->barrier[timeline->barriers++] = *event;
}

void timeline_end(struct timeline *timeline, double cycles) {
    timeline->cycles = cycles;
    timeline->timed = cycles >= 0;
    timeline_build(timeline);
}

const char *timeline_times_of(const struct timeline *timeline) {
    if (!timeline->simulated) return "SM clock cycles";
    return timeline->timed ? "simulated cycles" : "steps of the simulator";
}

const char *timeline_times(void) {
    return timeline_list ? timeline_times_of(timeline_list) : "SM clock cycles";
}

const char *timeline_span_name(int kind) {
    static const char *const names[SPAN_KINDS] = {
        [SPAN_LOAD] = "load in flight",
        [SPAN_MULTICAST] = "multicast load in flight",
        [SPAN_HELD] = "data held",
        [SPAN_ACQUIRE] = "wait for a free stage",
        [SPAN_WAIT] = "wait for data",
        [SPAN_FRAGMENTS] = "fragment loads",
        [SPAN_ISSUE] = "issue wgmma",
        [SPAN_MMA] = "multiply",
        [SPAN_FMA] = "CUDA-core arithmetic",
        [SPAN_EPILOGUE] = "epilogue",
        [SPAN_STORE] = "store",
        [SPAN_OTHER] = "multiply for another CTA of the SM",
        [SPAN_LINK] = "crosses the link",
        [SPAN_PROMOTION] = "promotion",
        [SPAN_SPECIAL] = "special-function unit",
    };
    return names[kind];
}

void timeline_gpus(struct timeline *timeline, int gpus, int sms_per_gpu) {
    if (gpus < 2) return;
    timeline->gpus = gpus;
    timeline->sms_per_gpu = sms_per_gpu;
}

/* The first CTA of the same GPU. */
static int first_cta_beside(const struct timeline *timeline, int sm) {
    for (int i = 0; i < timeline->ctas; ++i)
        if (timeline_gpu(timeline, timeline->cta[i].sm) == timeline_gpu(timeline, sm))
            return timeline->cta[i].cta;
    return 0;
}

const char *timeline_cta_name(const struct timeline *timeline, int cta, int sm, char *text,
                              size_t size) {
    if (timeline->gpus < 2)
        snprintf(text, size, "CTA %d, SM %d", cta, sm);
    else
        snprintf(text, size, "GPU %d, CTA %d, SM %d", timeline_gpu(timeline, sm),
                 cta - first_cta_beside(timeline, sm), sm % timeline->sms_per_gpu);
    return text;
}

bool timeline_shows(const struct timeline *timeline, int sm, int sms) {
    int seen[TRACE_MOST_SMS], count = 0;
    if (sms > TRACE_MOST_SMS) sms = TRACE_MOST_SMS;
    /* timeline_build has sorted the CTAs. */
    for (int i = 0; i < timeline->ctas && count < sms; ++i) {
        int j = 0;
        if (timeline_gpu(timeline, timeline->cta[i].sm) != timeline_gpu(timeline, sm)) continue;
        while (j < count && seen[j] != timeline->cta[i].sm)
            ++j;
        if (j == count) seen[count++] = timeline->cta[i].sm;
    }
    for (int j = 0; j < count; ++j)
        if (seen[j] == sm) return true;
    return false;
}
