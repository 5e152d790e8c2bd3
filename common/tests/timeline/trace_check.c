/*
 * trace_check.c: is this a Chrome trace that Perfetto shows as it was meant?
 */
#include "tests/timeline/trace_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json/json.h"

struct lane {
    int process, thread, spans;
    bool named;
    double end;
};

struct check {
    struct lane *lane;
    int lanes, capacity;
    struct trace_summary *summary;
    char *error;
    size_t size;
};

static bool violation(struct check *c, size_t event, const char *what) {
    snprintf(c->error, c->size, "event %zu: %s", event, what);
    return false;
}

/* Thread 0 with thread -1 stands for the process itself. */
static struct lane *lane_of(struct check *c, int process, int thread) {
    for (int i = c->lanes; i-- > 0;)
        if (c->lane[i].process == process && c->lane[i].thread == thread) return &c->lane[i];
    if (c->lanes == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 64;
        c->lane = realloc(c->lane, (size_t)c->capacity * sizeof *c->lane);
        if (!c->lane) abort();
    }
    c->lane[c->lanes] = (struct lane){.process = process, .thread = thread, .end = -INFINITY};
    return &c->lane[c->lanes++];
}

static bool number(const struct json *event, const char *key, double *out) {
    const struct json *value = json_member(event, key);
    if (!value || value->kind != JSON_NUMBER) return false;
    *out = value->number;
    return true;
}

static bool check_event(struct check *c, const struct json *event, size_t index) {
    const struct json *phase = json_member(event, "ph"), *name = json_member(event, "name");
    double process, thread, begin, length;
    if (!phase || phase->kind != JSON_STRING) return violation(c, index, "has no phase (ph)");
    if (!name || name->kind != JSON_STRING || !name->text[0])
        return violation(c, index, "has no name");
    if (!number(event, "pid", &process) || !number(event, "tid", &thread))
        return violation(c, index, "has no pid or tid");
    if (strcmp(phase->text, "M") == 0) {
        const struct json *value = json_member(json_member(event, "args"), "name");
        const bool names = value && value->kind == JSON_STRING && value->text[0];
        if (names && strcmp(name->text, "process_name") == 0)
            lane_of(c, (int)process, -1)->named = true;
        if (names && strcmp(name->text, "thread_name") == 0)
            lane_of(c, (int)process, (int)thread)->named = true;
        return true;
    }
    if (strcmp(phase->text, "X"))
        return violation(c, index, "is neither a span (X) nor metadata (M)");
    if (!number(event, "ts", &begin) || !number(event, "dur", &length))
        return violation(c, index, "has no time or no duration");
    if (begin < 0 || length < 0) return violation(c, index, "has a negative time or duration");
    struct lane *lane = lane_of(c, (int)process, (int)thread);
    /* In tenths of a nanosecond, which is what is written: no rounding. */
    if (llround(begin * 1e4) < llround(lane->end * 1e4) && lane->spans)
        return violation(c, index, "begins before the span before it on its track has ended");
    lane->end = begin + length;
    ++lane->spans;
    ++c->summary->spans;
    return true;
}

static bool check_document(struct check *c, const struct json *document) {
    const struct json *events = json_member(document, "traceEvents");
    if (!events || events->kind != JSON_ARRAY)
        return violation(c, 0, "there is no array traceEvents");
    for (size_t i = 0; i < events->count; ++i)
        if (!check_event(c, &events->item[i], i)) return false;
    for (int i = 0; i < c->lanes; ++i) {
        struct lane lane = c->lane[i];
        c->summary->processes += lane.thread == -1;
        c->summary->tracks += lane.thread != -1;
        if (lane.spans && !lane.named)
            return violation(c, events->count, "a track with spans has no name");
        if (lane.spans && !lane_of(c, lane.process, -1)->named)
            return violation(c, events->count, "a process with spans has no name");
    }
    return true;
}

bool trace_check(const char *text, struct trace_summary *summary, char *error, size_t size) {
    struct json document;
    struct check check = {.summary = summary, .error = error, .size = size};
    memset(summary, 0, sizeof *summary);
    if (!json_parse(text, &document, error, size)) return false;
    const bool good = check_document(&check, &document);
    free(check.lane);
    json_free(&document);
    return good;
}
