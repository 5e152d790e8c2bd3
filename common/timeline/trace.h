/*
 * trace.h: the marks in a kernel from which its timeline is drawn.
 *
 * Compiled out unless the file is compiled with TRACE=1. On the card one elected thread per role appends records to its own
 * region of a buffer; in the simulator the same marks go to the same recorder.
 */
#ifndef TIMELINE_TRACE_H
#define TIMELINE_TRACE_H

#include "hopper/thread.h"

enum trace_event {
    TRACE_CTA_BEGIN,      /* argument: output tile */
    TRACE_CTA_END,
    TRACE_LOAD,           /* a load of k-tile `argument` was issued */
    TRACE_WAIT_BEGIN,     /* begins to wait for k-tile `argument` to be full (consumer) */
    TRACE_WAIT_END,
    TRACE_ACQUIRE_BEGIN,  /* begins to wait for a free stage for k-tile `argument` (producer) */
    TRACE_ACQUIRE_END,
    TRACE_FRAGMENTS,      /* begins loading fragments of k-tile `argument` */
    TRACE_MMA_BEGIN,      /* issues the multiplications of k-tile `argument` */
    TRACE_MMA_END,        /* they have been issued (wgmma) or done (mma.sync) */
    TRACE_MMA_DONE,       /* a wait has shown that those of k-tile `argument` are complete */
    TRACE_EPILOGUE_BEGIN, /* argument: output tile */
    TRACE_STORE,          /* stores were issued */
    TRACE_EPILOGUE_END,
    TRACE_EVENTS
};

/* 16 bytes. */
struct trace_record {
    uint64_t clock;    /* clock64 of the SM; simulated cycles */
    uint16_t event;
    uint16_t track;    /* warpgroup (or warp) of the CTA: the recording thread's index / 32 */
    uint32_t argument;
};

/* The buffer: a header record (region size in .argument), then for each CTA and each of TRACE_ROLES roles a region. Its first
 * record counts the records that follow (.argument) and carries the SM's number (.track); the second and the last carry
 * globaltimer/clock64 pairs. See recorder.c. */
enum { TRACE_ROLES = 4, TRACE_CTAS = 264 };

#if TRACE
#ifdef __CUDACC__
#error "the recorder's device side belongs here"
#else
#define trace(args, event, argument) SIM(sim_trace(event, (int)(argument)))
#endif
#else
#define trace(args, event, argument) ((void)0)
#endif

#endif
