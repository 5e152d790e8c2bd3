/* waves_trace.c: the Tensor Cores in a trace. */
#include "tools/book/waves_trace.h"

#include <stdlib.h>
#include <string.h>

#include "tools/json/json.h"

static const char *argument_text(const struct json *event, const char *key) {
    return json_text(json_member(event, "args"), key);
}

static int64_t argument(const struct json *event, const char *key) {
    return (int64_t)json_number(json_member(event, "args"), key);
}

static int whole(const struct json *object, const char *key) {
    return (int)json_number(object, key);
}

/* The first CTA of each SM: its track of the Tensor Core has the other CTAs' multiplications, too.
 */
static void add_lane(struct wave *wave, const struct json *event) {
    const char *place = strstr(argument_text(event, "name"), ", SM ");
    int sm;
    if (!place || sscanf(place, ", SM %d", &sm) != 1 || wave->lanes == TRACE_MOST_SMS) return;
    for (int i = 0; i < wave->lanes; ++i)
        if (wave->lane[i].sm == sm) return;
    wave->lane[wave->lanes++] = (struct lane){
        .sm = sm, .process = whole(event, "pid"), .thread = -1, .track.kind = TRACK_TENSOR_CORE};
}

static struct lane *lane_of(struct wave *wave, const struct json *event) {
    const int process = whole(event, "pid");
    for (int i = wave->lanes; i-- > 0;) /* the latest first: it is the likely one */
        if (wave->lane[i].process == process) return &wave->lane[i];
    return NULL;
}

static void add_span(struct lane *lane, const struct json *event) {
    struct track *track = &lane->track;
    const int64_t begin = argument(event, "cycle"), end = begin + argument(event, "cycles");
    lane->busy += end - begin;
    lane->last = end;
    timeline_grow((void **)&track->at, track->count, &track->capacity, sizeof *track->at);
    track->at[track->count++] = (struct span){
        .begin = begin,
        .end = end,
        .kind = SPAN_MMA,
        .inferred = strcmp(json_text(event, "cat"), "inferred") == 0,
        .role = -1,
        .k_tile = -1,
        .tile = -1,
    };
}

/* Multiplications with a shorter pause between them are drawn as one. */
static void join_spans(struct track *track, int64_t pause) {
    int kept = 0;
    for (int i = 0; i < track->count; ++i)
        if (kept && track->at[i].begin - track->at[kept - 1].end < pause)
            track->at[kept - 1].end = track->at[i].end;
        else
            track->at[kept++] = track->at[i];
    track->count = kept;
}

static void read_events(struct wave *wave, const struct json *events) {
    for (size_t i = 0; i < events->count; ++i) {
        const struct json *event = &events->item[i];
        const char *name = json_text(event, "name");
        if (strcmp(name, "process_name") == 0) add_lane(wave, event);
        struct lane *lane = lane_of(wave, event);
        if (lane && strcmp(name, "thread_name") == 0 &&
            strcmp(argument_text(event, "name"), "Tensor Core") == 0)
            lane->thread = whole(event, "tid");
        if (strcmp(json_text(event, "ph"), "X") != 0) continue;
        const int64_t end = argument(event, "cycle") + argument(event, "cycles");
        if (end > wave->end) wave->end = end;
        if (lane && whole(event, "tid") == lane->thread) add_span(lane, event);
    }
}

bool waves_read_trace(struct wave *wave, const struct json *trace, char *error, size_t size) {
    const struct json *about = json_member(trace, "otherData");
    const struct json *events = json_member(trace, "traceEvents");
    if (!events || !about || about->count != 1) {
        snprintf(error, size, "is no trace of one kernel");
        return false;
    }
    *wave = (struct wave){
        .m = whole(about->item, "m"),
        .n = whole(about->item, "n"),
        .k = whole(about->item, "k"),
        .measured = strcmp(json_text(about->item, "source"), "measured") == 0,
        .period = (int64_t)json_number(about->item, "k_tile_period"),
        .end = (int64_t)json_number(about->item, "cycles"),
    };
    snprintf(wave->name, sizeof wave->name, "%s", about->key[0]);
    read_events(wave, events);
    const bool few = wave->lanes <= WAVES_FEW_SMS;
    for (int i = 0; i < wave->lanes; ++i) {
        if (!wave->lane[i].busy) {
            snprintf(error, size, "has an SM without a multiplication in cycles");
            return false;
        }
        join_spans(&wave->lane[i].track, few ? wave->period / 4 : wave->period);
    }
    if (!wave->lanes) snprintf(error, size, "has no SM");
    return wave->lanes > 0;
}
