/*
 * trace.h: the marks from which a kernel's timeline is drawn.
 *
 * Chapters 01 to 05 have them in the source. From 06 on there are none: what a kernel calls tells
 * its story (cues.h). A role (a producer warp, a consumer warpgroup, or all threads of a simple
 * kernel) opens its trace once, drops a mark at each turn of its story, and closes it:
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
 * none follows at once. Functions that the role is made of take a `struct trace *`. On the GPU all
 * this compiles to nothing unless the file is compiled with TRACE=1; then one thread of the role
 * writes 8 bytes per mark: five instructions, predicated, so that no branch appears between two
 * wgmma instructions. In the simulator the marks are always there and cost nothing while no
 * recording runs.
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
    TRACE_PROMOTE_BEGIN, /* begins to add the Tensor Core's sums of a k-tile to those in fp32 */
    TRACE_PROMOTE_END,
    TRACE_EPILOGUE_BEGIN, /* argument: output tile, in these three */
    TRACE_STORE,          /* the first stores to D are issued */
    TRACE_EPILOGUE_END,
    /* Cues, for kernels without marks: cues.h. */
    TRACE_CUE_TILE,      /* asks where output tile `argument` lies */
    TRACE_CUE_WAIT,      /* begins to wait for an mbarrier */
    TRACE_CUE_PASS,      /* has waited for it */
    TRACE_CUE_ANNOUNCE,  /* has announced a k-tile's bytes, and will issue its loads */
    TRACE_CUE_MULTICAST, /* issues one of them for all CTAs of the cluster */
    TRACE_CUE_COMMIT,    /* has issued a group of wgmmas: those of a k-tile, or of a part of it */
    TRACE_CUE_DRAIN,     /* has waited until `argument` groups of wgmmas were left */
    TRACE_CUE_PROMOTE,   /* begins to promote the sums of a group of wgmmas, or some of them */
    TRACE_CUE_PROMOTED,  /* has promoted them */
    TRACE_CUE_STORE,     /* has issued the store of an epilogue tile */
    TRACE_CUE_STORED,    /* has nothing left to do but to wait for its stores */
    TRACE_CUE_SEND,      /* stores 16 bytes, as do the other lanes: a piece for another GPU */
    TRACE_CUE_EXIT,
    TRACE_EVENTS
};

/* One mark. */
struct trace_record {
    uint32_t clock; /* the lower half of the SM's %clock64 */
    uint32_t mark;  /* enum trace_event << 24 | the argument's lower 24 bits */
};

/* The buffer: for CTA c < TRACE_CTAS and role r one region of TRACE_REGION records at index (c *
 * TRACE_ROLES + r) * TRACE_REGION. It begins at a multiple of TRACE_BYTES, so that all addresses in
 * a region have the same upper half, and must be zero before the launch. The first TRACE_HEADER
 * records of a region are this: */
struct trace_header {
    uint64_t open_clock, open_time;   /* %clock64 and %globaltimer (ns) at trace_open ... */
    uint64_t close_clock, close_time; /* ... and at trace_close */
    uint32_t marks;                   /* TRACE_MARKS: the region is full, later ones are lost */
    uint32_t sm;                      /* %smid */
    uint32_t warp;                    /* of the recording thread, in its CTA */
    uint32_t state;                   /* 0: never opened; TRACE_OPENED, TRACE_CLOSED, ... */
};
enum {
    TRACE_CTAS = 264,               /* two waves of one CTA per SM */
    TRACE_REGION = 4096,            /* records */
    TRACE_BYTES = TRACE_REGION * 8, /* of a region; a power of two */
    TRACE_HEADER = 6, /* records: sizeof(struct trace_header) / sizeof(struct trace_record) */
    TRACE_MARKS = TRACE_REGION - TRACE_HEADER,
    TRACE_EVENT_SHIFT = 24,
    TRACE_OPENED = 1,
    TRACE_CLOSED = 2,
    TRACE_CUES = 4, /* what follows are cues, and the region's number is the warpgroup's; in that of
                     * TRACE_THREADS they are of the warp that moves data between GPUs */
};
static_assert(sizeof(struct trace_record) == 8 && sizeof(struct trace_header) == TRACE_HEADER * 8,
              "the recorder's format");

/*
 * trace_open: opens the trace of `role` in one CTA. `recorder` is true in the one thread that
 * records; every thread of the role may call, here and below. `buffer` (gemm_args.trace) may be
 * NULL: nothing is recorded then. trace_mark: one mark. trace_close: the last one.
 */

#if !defined(__CUDACC__)
#include "sim/hopper/trace.h"

#elif TRACE

struct trace {
    uint32_t next, upper; /* the next record's address, its halves; next 0: does not record */
};

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
    struct trace trace = {0, 0};
    const uint32_t cta = blockIdx.x;
    if (!recorder || buffer == NULL || cta >= TRACE_CTAS) return trace;
    struct trace_record *region = buffer + (cta * TRACE_ROLES + role) * TRACE_REGION;
    struct trace_header *header = (struct trace_header *)region;
    uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    header->sm = sm;
    header->warp = threadIdx.x / 32;
    header->state = TRACE_OPENED;
    header->open_time = trace_time();
    header->open_clock = trace_clock();
    const uint64_t next = (uint64_t)(region + TRACE_HEADER);
    trace.next = (uint32_t)next;
    trace.upper = (uint32_t)(next >> 32);
    return trace;
}

/* A mark, in PTX: the halves of the next record's address, and operands that are TRACE_BYTES - 1, a
 * record's size and the mark. One statement, so that all of it is predicated and nothing branched
 * around: the compiler would serialize wgmmas that stand on both sides of a branch. A region's end
 * is a multiple of TRACE_BYTES: marks beyond it are lost. The address is advanced before the store,
 * because what overwrites an operand of a store waits until the store has read it. */
#define TRACE_MARK_PTX(next, upper, mask, size, mark)                                              \
    "{\n"                                                                                          \
    ".reg .pred p;\n"                                                                              \
    ".reg .b32 clock, place;\n"                                                                    \
    ".reg .b64 behind;\n"                                                                          \
    "and.b32 place, " next ", " mask ";\n"                                                         \
    "setp.ne.u32 p, place, 0;\n"                                                                   \
    "@p add.u32 " next ", " next ", " size ";\n"                                                   \
    "mov.b64 behind, {" next ", " upper "};\n"                                                     \
    "mov.u32 clock, %%clock;\n"                                                                    \
    "@p st.global.v2.b32 [behind + -" size "], {clock, " mark "};\n"                               \
    "}"

DEVICE void trace_mark(struct trace *trace, enum trace_event event, uint32_t argument) {
    asm volatile(TRACE_MARK_PTX("%0", "%1", "%2", "%3", "%4")
                 : "+r"(trace->next)
                 : "r"(trace->upper), "n"(TRACE_BYTES - 1), "n"((int)sizeof(struct trace_record)),
                   "r"(((uint32_t)event << TRACE_EVENT_SHIFT) + argument));
}

DEVICE void trace_close(struct trace *trace) {
    if (trace->next == 0) return;
    const uint64_t next = (uint64_t)trace->upper << 32 | trace->next;
    const uint64_t last = next - sizeof(struct trace_record);
    struct trace_header *header = (struct trace_header *)(last / TRACE_BYTES * TRACE_BYTES);
    header->marks = last % TRACE_BYTES / sizeof(struct trace_record) + 1 - TRACE_HEADER;
    header->close_time = trace_time();
    header->close_clock = trace_clock();
    header->state |= TRACE_CLOSED;
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
