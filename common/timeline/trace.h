/*
 * trace.h: the marks in a kernel from which its timeline is drawn.
 *
 * A role (a producer warp, a consumer warpgroup, or all threads of a simple kernel) opens its trace
 * once, drops a mark at each turn of its story, and closes it:
 *
 *     struct trace trace = trace_open(args.trace, TRACE_CONSUMER_0, threadIdx.x % 128 == 0);
 *     for (k_tile ...) {
 *         trace_mark(&trace, TRACE_WAIT_BEGIN, k_tile);
 *         consumer_wait(...);
 *         trace_mark(&trace, TRACE_MMA_BEGIN, k_tile);
 *         wgmma(...);
 *         trace_mark(&trace, TRACE_MMA_END, k_tile);
 *         wgmma_wait_group(1);
 *         trace_mark(&trace, TRACE_MMA_DONE, k_tile - 1);
 *     }
 *     trace_mark(&trace, TRACE_EPILOGUE_BEGIN, tile);
 *     ...
 *     trace_close(&trace);
 *
 * What a mark begins lasts until the role's next mark, so a mark that says END is needed only where
 * none follows at once. Functions that the role is made of take a `struct trace *`. On the card all
 * this compiles to nothing unless the file is compiled with TRACE=1; then one thread of the role
 * writes 16 bytes per mark, predicated, so that no branch appears between two wgmma instructions.
 * In the simulator the marks are always there and cost nothing while nobody records.
 */
#ifndef TIMELINE_TRACE_H
#define TIMELINE_TRACE_H

#include <assert.h>

#include "hopper/thread.h"

/* Who records: one thread for each of these, per CTA. */
enum trace_role {
    TRACE_PRODUCER,
    TRACE_CONSUMER_0, /* TRACE_CONSUMER_0 + warpgroup */
    TRACE_CONSUMER_1,
    TRACE_THREADS, /* a kernel whose threads all do the same */
    TRACE_ROLES
};

/* The argument is a k-tile's index within its output tile unless said otherwise. */
enum trace_event {
    TRACE_NONE, /* no record */
    TRACE_TILE, /* begins work on output tile `argument`, in each role; where a CTA has several */
    TRACE_LOAD, /* is about to issue the loads of a k-tile */
    TRACE_LOAD_MULTICAST, /* the same, and they go to all CTAs of the cluster */
    TRACE_WAIT_BEGIN,     /* begins to wait for the k-tile's data, however it does that */
    TRACE_WAIT_END,
    TRACE_ACQUIRE_BEGIN, /* begins to wait for a free stage to load the k-tile into */
    TRACE_ACQUIRE_END,
    TRACE_FRAGMENTS, /* begins to load fragments; the n-th belongs to the n-th TRACE_MMA_BEGIN */
    TRACE_MMA_BEGIN, /* begins to issue multiplications */
    TRACE_MMA_END,   /* has issued them */
    TRACE_MMA_DONE, /* a wait has shown that the k-tile's wgmmas are complete; none with mma.sync */
    TRACE_FMA_BEGIN, /* begins arithmetic on the CUDA cores */
    TRACE_FMA_END,
    TRACE_EPILOGUE_BEGIN, /* argument: output tile, in these three */
    TRACE_STORE,          /* the first stores to D are issued */
    TRACE_EPILOGUE_END,
    TRACE_EVENTS
};

/* One mark, 16 bytes. */
struct trace_record {
    uint64_t clock; /* %clock64 of the SM; simulated cycles */
    uint16_t event; /* enum trace_event */
    uint16_t role;  /* enum trace_role */
    uint32_t argument;
};

/* The buffer: for CTA c < TRACE_CTAS and role r one region of TRACE_REGION records at index (c *
 * TRACE_ROLES + r) * TRACE_REGION. It must be zero before the launch. The first TRACE_HEADER
 * records of a region are this: */
struct trace_header {
    uint64_t open_clock, open_time;   /* %clock64 and %globaltimer (ns) at trace_open ... */
    uint64_t close_clock, close_time; /* ... and at trace_close */
    uint32_t marks;                   /* marks made; those beyond TRACE_MARKS were dropped */
    uint32_t sm;                      /* %smid */
    uint32_t warp;                    /* of the recording thread, in its CTA */
    uint32_t state;                   /* 0 never opened, 1 opened, 2 closed */
};
enum {
    TRACE_CTAS = 264,    /* two waves of one CTA per SM */
    TRACE_REGION = 4096, /* records */
    TRACE_HEADER = 3,    /* records: sizeof(struct trace_header) / sizeof(struct trace_record) */
    TRACE_MARKS = TRACE_REGION - TRACE_HEADER,
};
static_assert(sizeof(struct trace_record) == 16 && sizeof(struct trace_header) == TRACE_HEADER * 16,
              "the recorder's format");

/*
 * trace_open: opens the trace of `role` in one CTA. `recorder` is true in the one thread that
 * records; every thread of the role may call, here and below. `buffer` (gemm_args.trace) may be
 * NULL: nothing is recorded then. trace_mark: one mark. trace_close: the last one.
 */

#if !defined(__CUDACC__)

struct trace {
    int role; /* negative: does not record */
};

DEVICE struct trace trace_open(struct trace_record *buffer, int role, bool recorder) {
    const struct trace trace = {recorder ? role : -1};
    (void)buffer; /* the simulator's recorder has its own */
    if (recorder) sim_trace(role, TRACE_NONE, 1);
    return trace;
}

DEVICE void trace_mark(struct trace *trace, enum trace_event event, int argument) {
    if (trace->role >= 0) sim_trace(trace->role, event, argument);
}

DEVICE void trace_close(struct trace *trace) {
    if (trace->role >= 0) sim_trace(trace->role, TRACE_NONE, 0);
}

#elif TRACE

struct trace {
    struct trace_record *buffer; /* a kernel's parameter: takes no register */
    uint32_t role;               /* nor does this constant */
    uint32_t
        cursor; /* the region above, the marks made so far below; all ones below: does not record */
};

enum { TRACE_COUNT_BITS = 21, TRACE_COUNT_MASK = (1 << TRACE_COUNT_BITS) - 1 };

DEVICE uint64_t trace_clock(void) {
    uint64_t clock;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock));
    return clock;
}

DEVICE uint64_t trace_time(void) {
    uint64_t nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
}

DEVICE struct trace trace_open(struct trace_record *buffer, uint32_t role, bool recorder) {
    struct trace trace = {buffer, role, TRACE_COUNT_MASK};
    const uint32_t cta = blockIdx.x;
    if (!recorder || buffer == NULL || cta >= TRACE_CTAS) return trace;
    const uint32_t region = cta * TRACE_ROLES + role;
    struct trace_header *header = (struct trace_header *)(buffer + region * TRACE_REGION);
    uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    header->sm = sm;
    header->warp = threadIdx.x / 32;
    header->state = 1;
    header->open_time = trace_time();
    header->open_clock = trace_clock();
    trace.cursor = region << TRACE_COUNT_BITS;
    return trace;
}

/* One statement of assembly, so that the store is predicated and not branched around: the compiler
 * would serialize wgmmas that stand on both sides of a branch. Marks beyond the region's end are
 * counted only. */
DEVICE void trace_mark(struct trace *trace, enum trace_event event, uint32_t argument) {
    const uint32_t count = trace->cursor & TRACE_COUNT_MASK;
    const uint32_t record =
        (trace->cursor >> TRACE_COUNT_BITS) * TRACE_REGION + TRACE_HEADER + count;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 ".reg .b64 clock, payload;\n"
                 "setp.lt.u32 p, %1, %2;\n"
                 "mov.b64 payload, {%3, %4};\n"
                 "mov.u64 clock, %%clock64;\n"
                 "@p st.global.v2.b64 [%0], {clock, payload};\n"
                 "}" ::"l"(trace->buffer + record),
                 "r"(count), "n"((int)TRACE_MARKS), "r"(event | trace->role << 16), "r"(argument));
    trace->cursor += count != TRACE_COUNT_MASK;
}

DEVICE void trace_close(struct trace *trace) {
    const uint32_t count = trace->cursor & TRACE_COUNT_MASK;
    if (count == TRACE_COUNT_MASK) return;
    struct trace_header *header =
        (struct trace_header *)(trace->buffer + (trace->cursor >> TRACE_COUNT_BITS) * TRACE_REGION);
    header->marks = count;
    header->close_time = trace_time();
    header->close_clock = trace_clock();
    header->state = 2;
}

#else

struct trace {
    char nothing;
};

DEVICE struct trace trace_open(struct trace_record *buffer, int role, bool recorder) {
    const struct trace trace = {0};
    (void)buffer, (void)role, (void)recorder;
    return trace;
}

DEVICE void trace_mark(struct trace *trace, enum trace_event event, int argument) {
    (void)trace, (void)event, (void)argument;
}

DEVICE void trace_close(struct trace *trace) { (void)trace; }

#endif
#endif
