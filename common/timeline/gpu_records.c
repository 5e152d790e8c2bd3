/*
 * gpu_records.c: from the buffer that a traced kernel wrote on the GPU to marks on one time axis.
 */
#include "timeline/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGIONS = TRACE_CTAS * TRACE_ROLES };

/* A clock rate taken from less than this may be off by more than 0.2 %, since %globaltimer ticks in
 * steps of 32 ns. */
static const double TRUSTED_NS = 20000;
static const double GLOBALTIMER_STEP_NS = 32;

size_t trace_buffer_bytes(void) { return (size_t)REGIONS * TRACE_BYTES; }

size_t trace_memory_bytes(void) { return trace_buffer_bytes() + TRACE_BYTES - 1; }

struct trace_record *trace_buffer_in(void *memory) {
    return (struct trace_record *)(((uintptr_t)memory + TRACE_BYTES - 1) / TRACE_BYTES *
                                   TRACE_BYTES);
}

static struct trace_header header_of(const unsigned char *buffer, int region) {
    struct trace_header header;
    memcpy(&header, buffer + (size_t)region * TRACE_BYTES, sizeof header);
    return header;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* SM cycles per nanosecond: the median over all closed regions that are long enough. */
static double clock_rate(const unsigned char *buffer, double clock_mhz) {
    double *rates = malloc(2 * REGIONS * sizeof *rates), *rough = rates + REGIONS;
    int trusted = 0, all = 0;
    if (!rates) return clock_mhz > 0 ? clock_mhz / 1000 : 1;
    for (int region = 0; region < REGIONS; ++region) {
        const struct trace_header header = header_of(buffer, region);
        if (!(header.state & TRACE_CLOSED) || header.close_time <= header.open_time) continue;
        const double ns = (double)(header.close_time - header.open_time);
        const double rate = (double)(header.close_clock - header.open_clock) / ns;
        rough[all++] = rate;
        if (ns >= TRUSTED_NS) rates[trusted++] = rate;
    }
    double rate = 1;
    if (trusted) {
        qsort(rates, (size_t)trusted, sizeof *rates, by_value);
        rate = rates[trusted / 2];
    } else if (clock_mhz > 0) {
        rate = clock_mhz / 1000;
    } else if (all) {
        qsort(rough, (size_t)all, sizeof *rough, by_value);
        rate = rough[all / 2];
    }
    free(rates);
    return rate;
}

/* How the clock of one SM maps to the common time: time (ns) = origin + (clock - clock_origin) /
 * rate. */
struct sm_clock {
    bool known;
    uint64_t clock_origin;
    double origin;
};

enum { SMS_MAX = 1024 };

/* A globaltimer reading g taken with the clock c says that c's true time is in [g, g + 32 ns). All
 * pairs of an SM together narrow its origin down: it is at least the largest g - c / rate. */
static void learn(struct sm_clock *sm, uint64_t time_zero, uint64_t time, uint64_t clock,
                  double rate) {
    if (!sm->known) *sm = (struct sm_clock){true, clock, -1e300};
    const double cycles = (double)(int64_t)(clock - sm->clock_origin);
    const double origin = (double)(int64_t)(time - time_zero) - cycles / rate;
    if (origin > sm->origin) sm->origin = origin;
}

bool timeline_add_device_records(const struct gemm_kernel *stage,
                                 const struct gemm_problem *problem, const void *memory,
                                 size_t bytes, double clock_mhz) {
    const unsigned char *buffer = memory;
    if (bytes < trace_buffer_bytes()) {
        fprintf(stderr, "%s: the trace buffer has %zu bytes, %zu are needed\n", stage->name, bytes,
                trace_buffer_bytes());
        return false;
    }
    uint64_t time_zero = UINT64_MAX;
    for (int region = 0; region < REGIONS; ++region) {
        const struct trace_header header = header_of(buffer, region);
        if (header.state && header.sm < SMS_MAX && header.open_time < time_zero)
            time_zero = header.open_time;
    }
    if (time_zero == UINT64_MAX) {
        fprintf(stderr, "%s: the trace buffer is empty: is the kernel compiled with TRACE=1?\n",
                stage->name);
        return false;
    }
    const double rate = clock_rate(buffer, clock_mhz);
    struct sm_clock *sms = calloc(SMS_MAX, sizeof *sms);
    if (!sms) {
        fprintf(stderr, "%s: no memory for the timeline\n", stage->name);
        return false;
    }
    for (int region = 0; region < REGIONS; ++region) {
        const struct trace_header header = header_of(buffer, region);
        if (!header.state || header.sm >= SMS_MAX) continue;
        learn(&sms[header.sm], time_zero, header.open_time, header.open_clock, rate);
        if (header.state & TRACE_CLOSED)
            learn(&sms[header.sm], time_zero, header.close_time, header.close_clock, rate);
    }

    struct timeline *timeline = timeline_new(stage, problem, false);
    timeline->clock_mhz = rate * 1000;
    bool all_closed = true;
    int64_t end = 0; /* of the last CTA */
    for (int region = 0; region < REGIONS; ++region) {
        const struct trace_header header = header_of(buffer, region);
        if (!header.state || header.sm >= SMS_MAX) continue;
        const struct sm_clock *sm = &sms[header.sm];
        /* To the middle of the step, so that it is right on average; then from ns to cycles. */
        const int64_t base = (int64_t)((sm->origin + GLOBALTIMER_STEP_NS / 2) * rate);
        struct cta_record *cta = timeline_cta(timeline, region / TRACE_ROLES, (int)header.sm);
        const bool cues = header.state & TRACE_CUES;
        struct marks *marks = &(cues ? cta->cue : cta->role)[region % TRACE_ROLES];
        marks->warp = (int)header.warp;
        marks->closed = header.state & TRACE_CLOSED;
        marks->open = base + (int64_t)(header.open_clock - sm->clock_origin);
        marks->close = base + (int64_t)(header.close_clock - sm->clock_origin);
        marks->truncated = header.marks == TRACE_MARKS;
        timeline->truncated += marks->truncated;
        const unsigned char *at =
            buffer + (size_t)region * TRACE_BYTES + sizeof(struct trace_header);
        uint64_t clock = header.open_clock;
        for (int i = 0; i < TRACE_MARKS; ++i, at += sizeof(struct trace_record)) {
            struct trace_record record;
            memcpy(&record, at, sizeof record);
            const uint32_t event = record.mark >> TRACE_EVENT_SHIFT;
            if (event == TRACE_NONE || event >= TRACE_EVENTS) break;
            clock += (uint32_t)(record.clock - (uint32_t)clock); /* less than 2^32 cycles apart */
            timeline_add_mark(marks, base + (int64_t)(clock - sm->clock_origin), (int)event,
                              (int)(record.mark & ((1u << TRACE_EVENT_SHIFT) - 1)));
        }
        if (!marks->closed)
            marks->close = marks->count ? marks->at[marks->count - 1].time : marks->open;
        all_closed &= marks->closed;
        if (marks->close > end) end = marks->close;
    }
    free(sms);
    if (all_closed) timeline->cycles = (double)end;
    timeline_build(timeline);
    return true;
}
