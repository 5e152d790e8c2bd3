/*
 * trace.h: what is recorded of a kernel, and the marks from which its timeline is drawn.
 *
 * A kernel's source has no line for that. What it calls tells its story: the recorders leave cues
 * at the calls (on the GPU recorder.h, and the simulator), of which cues.h makes the marks of each
 * role, which is a producer warp, a consumer warpgroup, or all threads of a simple kernel. What a
 * mark begins lasts until the role's next mark, so a mark that says END is needed only where none
 * follows at once.
 */
#ifndef TIMELINE_TRACE_H
#define TIMELINE_TRACE_H

#include <assert.h>
#include <stdint.h>

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
    /* Cues: cues.h. */
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
    /* Of kernels that multiply by mma.sync, or by no Tensor Core: sim/hopper/turns.h. */
    TRACE_CUE_COPY,      /* begins to copy a k-tile by cp.async */
    TRACE_CUE_BARRIER,   /* begins to wait at the CTA's barrier */
    TRACE_CUE_FREE,      /* has waited at it */
    TRACE_CUE_FRAGMENTS, /* begins to load fragments */
    TRACE_CUE_MULTIPLY,  /* begins to multiply them */
    TRACE_CUE_RESULT,    /* begins to make elements of its sums */
    TRACE_CUE_ENTER,     /* these two of the simulator; on the GPU a header tells them */
    TRACE_CUE_EXIT,
    TRACE_EVENTS
};

/* One cue, as a GPU records it. */
struct trace_record {
    uint32_t clock; /* the lower half of the SM's %clock64 */
    uint32_t mark;  /* enum trace_event << 24 | the argument's lower 24 bits */
};

/* The buffer on a GPU: for CTA c < TRACE_CTAS and warpgroup w one region of TRACE_REGION records at
 * index (c * TRACE_ROLES + w) * TRACE_REGION; the one whose w is TRACE_THREADS is for the warp that
 * moves data between GPUs. It begins at a multiple of TRACE_BYTES, so that all addresses in
 * a region have the same upper half, and must be zero before the launch. The first TRACE_HEADER
 * records of a region are this: */
struct trace_header {
    uint64_t open_clock, open_time;   /* %clock64 and %globaltimer (ns) at the beginning ... */
    uint64_t close_clock, close_time; /* ... and at the end */
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
};
static_assert(sizeof(struct trace_record) == 8 && sizeof(struct trace_header) == TRACE_HEADER * 8,
              "the recorder's format");

#endif
