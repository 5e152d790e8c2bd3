/*
 * gpu_records.c: from the buffer that a traced kernel wrote on the GPU to marks on one time axis.
 */
#include "timeline/model.h"
#include "timeline/tracks.h"

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
    double *rates = timeline_zeroed(2 * REGIONS, sizeof *rates), *rough = rates + REGIONS;
    int trusted = 0, all = 0;
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

/* One GPU's records on the common axis. */
struct gpu_axis {
    const unsigned char *buffer;
    int gpu;
    uint64_t time_zero; /* of the axis, by this GPU's timer */
    double rate;        /* this GPU's SM cycles per ns */
    double axis_rate;   /* cycles of the axis per ns */
    struct sm_clock *sms;
};

/* A time on the axis: SM cycles after a moment whose place is known in ns. */
static int64_t on_axis(const struct gpu_axis *axis, const struct sm_clock *sm, uint64_t clock) {
    /* To the middle of the step, so that it is right on average; then from ns to cycles. */
    const int64_t base = (int64_t)((sm->origin + GLOBALTIMER_STEP_NS / 2) * axis->axis_rate);
    const int64_t cycles = (int64_t)(clock - sm->clock_origin);
    if (axis->gpu == 0) return base + cycles; /* the axis has its cycles */
    return base + (int64_t)((double)cycles * axis->axis_rate / axis->rate);
}

/* Nanoseconds in which a piece of a copy warp crosses the link, inferred: 512 bytes, and as many of
 * the CTA's other copy warp, at an SM's share of 349 GB/s. */
static const double PIECE_NS = 2 * 512 / (349.0 / 132);

/* What a warp has moved between GPUs: a tile of the TMA from its announcement until it has arrived;
 * of ordinary stores only the beginning is known. */
static void add_link_cue(const struct gpu_axis *axis, struct cta_record *cta, int event,
                         int64_t time, int64_t *announced) {
    if (event == TRACE_CUE_ANNOUNCE) *announced = time;
    if (event == TRACE_CUE_SEND)
        timeline_add_interval(&cta->busy[UNIT_LINK], time,
                              time + (int64_t)(PIECE_NS * axis->axis_rate), 1);
    if (event != TRACE_CUE_PASS || *announced < 0) return;
    timeline_add_interval(&cta->busy[UNIT_LINK], *announced, time, 1);
    *announced = -1;
}

/* The cues of one region. Returns when it was closed, or its last mark. */
static int64_t add_region(struct timeline *timeline, const struct gpu_axis *axis, int region) {
    const struct trace_header header = header_of(axis->buffer, region);
    const struct sm_clock *sm = &axis->sms[header.sm];
    struct cta_record *cta =
        timeline_cta(timeline, axis->gpu * TRACE_CTAS + region / TRACE_ROLES,
                     axis->gpu * (timeline->gpus > 1 ? SMS_MAX : 0) + (int)header.sm);
    const int role = region % TRACE_ROLES;
    const bool link = role == TRACE_THREADS;
    struct marks moved = {0}, *marks = link ? &moved : &cta->cue[role];
    int64_t announced = -1;
    marks->warp = (int)header.warp;
    marks->closed = header.state & TRACE_CLOSED;
    marks->open = on_axis(axis, sm, header.open_clock);
    marks->close = on_axis(axis, sm, header.close_clock);
    marks->truncated = header.marks == TRACE_MARKS;
    timeline->truncated += marks->truncated;
    const unsigned char *at =
        axis->buffer + (size_t)region * TRACE_BYTES + sizeof(struct trace_header);
    uint64_t clock = header.open_clock;
    int64_t last = marks->open;
    for (int i = 0; i < TRACE_MARKS; ++i, at += sizeof(struct trace_record)) {
        struct trace_record record;
        memcpy(&record, at, sizeof record);
        const uint32_t event = record.mark >> TRACE_EVENT_SHIFT;
        if (event == TRACE_NONE || event >= TRACE_EVENTS) break;
        clock += (uint32_t)(record.clock - (uint32_t)clock); /* less than 2^32 cycles apart */
        last = on_axis(axis, sm, clock);
        if (link)
            add_link_cue(axis, cta, (int)event, last, &announced);
        else if (event != TRACE_CUE_SEND)
            timeline_add_mark(marks, last, (int)event,
                              (int)(record.mark & ((1u << TRACE_EVENT_SHIFT) - 1)));
    }
    if (!marks->closed) marks->close = last;
    return marks->close;
}

/* Learns a GPU's clocks. */
static void learn_clocks(struct gpu_axis *axis, double clock_mhz) {
    axis->rate = clock_rate(axis->buffer, clock_mhz);
    axis->sms = timeline_zeroed(SMS_MAX, sizeof *axis->sms);
    for (int region = 0; region < REGIONS; ++region) {
        const struct trace_header header = header_of(axis->buffer, region);
        if (!header.state || header.sm >= SMS_MAX) continue;
        struct sm_clock *const sm = &axis->sms[header.sm];
        learn(sm, axis->time_zero, header.open_time, header.open_clock, axis->rate);
        if (header.state & TRACE_CLOSED)
            learn(sm, axis->time_zero, header.close_time, header.close_clock, axis->rate);
    }
}

/* When the first region was opened, by this GPU's timer. UINT64_MAX: none was. */
static uint64_t first_time(const unsigned char *buffer) {
    uint64_t first = UINT64_MAX;
    for (int region = 0; region < REGIONS; ++region) {
        const struct trace_header header = header_of(buffer, region);
        if (header.state && header.sm < SMS_MAX && header.open_time < first)
            first = header.open_time;
    }
    return first;
}

static bool add_records(const struct gemm_kernel *kernel, const struct gemm_problem *problem,
                        const void *const *buffers, int gpus, const int64_t *ahead_ns,
                        double clock_mhz) {
    struct gpu_axis axis[GEMM_DEVICES] = {0};
    uint64_t time_zero = UINT64_MAX; /* by the first GPU's timer */
    for (int gpu = 0; gpu < gpus; ++gpu) {
        const uint64_t first = first_time(buffers[gpu]);
        if (first == UINT64_MAX) {
            fprintf(stderr,
                    "%s: the trace buffer is empty: is the kernel compiled with the "
                    "recorder?\n",
                    kernel->name);
            return false;
        }
        if (first - (uint64_t)ahead_ns[gpu] < time_zero)
            time_zero = first - (uint64_t)ahead_ns[gpu];
    }
    for (int gpu = 0; gpu < gpus; ++gpu) {
        axis[gpu] = (struct gpu_axis){
            .buffer = buffers[gpu], .gpu = gpu, .time_zero = time_zero + (uint64_t)ahead_ns[gpu]};
        learn_clocks(&axis[gpu], clock_mhz);
        axis[gpu].axis_rate = axis[0].rate;
    }
    struct timeline *timeline = timeline_new(kernel, problem, false);
    timeline_gpus(timeline, gpus, SMS_MAX);
    timeline->clock_mhz = axis[0].rate * 1000;
    bool all_closed = true;
    int64_t end = 0; /* of the last CTA */
    for (int i = 0; i < gpus * REGIONS; ++i) {
        const struct trace_header header = header_of(buffers[i / REGIONS], i % REGIONS);
        if (!header.state || header.sm >= SMS_MAX) continue;
        const int64_t close = add_region(timeline, &axis[i / REGIONS], i % REGIONS);
        all_closed &= (header.state & TRACE_CLOSED) != 0;
        if (close > end) end = close;
    }
    if (all_closed) timeline->cycles = (double)end;
    timeline_build(timeline);
    for (int gpu = 0; gpu < gpus; ++gpu)
        free(axis[gpu].sms);
    return true;
}

bool timeline_add_device_records(const struct gemm_kernel *kernel,
                                 const struct gemm_problem *problem, const void *memory,
                                 size_t bytes, double clock_mhz) {
    const int64_t ahead = 0;
    if (bytes >= trace_buffer_bytes())
        return add_records(kernel, problem, &memory, 1, &ahead, clock_mhz);
    fprintf(stderr, "%s: the trace buffer has %zu bytes, %zu are needed\n", kernel->name, bytes,
            trace_buffer_bytes());
    return false;
}

bool timeline_add_devices_records(const struct gemm_kernel *kernel,
                                  const struct gemm_problem *problem, const void *const *buffers,
                                  int gpus, const int64_t *ahead_ns) {
    return add_records(kernel, problem, buffers, gpus, ahead_ns, 0);
}
