/*
 * events.h: what happens in a run, for the timeline and for statistics.
 */
#ifndef SIM_CORE_EVENTS_H
#define SIM_CORE_EVENTS_H

#include "sim/core/threads.h"
#include "sim/hopper/turns.h"

enum sim_event_kind {
    SIM_EVENT_TMA_LOAD,      /* begin..end: issue to landed; argument: bytes; offset: destination */
    SIM_EVENT_TMA_STORE,     /* begin..end: issue to complete; offset: source */
    SIM_EVENT_STORE_CROSSES, /* begin..end: a warp's st.global crosses the link */
    SIM_EVENT_WGMMA,         /* begin..end: Tensor Core busy; argument: n */
    SIM_EVENT_MMA,           /* begin..end: Tensor Core busy, mma.sync */
    SIM_EVENT_SUMS_WRITTEN, /* begin..end: tcgen05.mma, columns of tensor memory from argument on */
    SIM_EVENT_SUMS_READ,    /* begin..end: a warp's tcgen05.ld, likewise */
    SIM_EVENT_SPECIAL,      /* begin..end: a sub-partition's special-function unit busy */
    SIM_EVENT_BARRIER_INIT, /* mbarrier at `offset`, state after the event in phase, pending, tx */
    SIM_EVENT_BARRIER_ARRIVE,
    SIM_EVENT_BARRIER_EXPECT_TX,
    SIM_EVENT_BARRIER_COMPLETE_TX,
    SIM_EVENT_BARRIER_FLIP,
    SIM_EVENT_BARRIER_WAIT, /* a thread begins to wait */
    SIM_EVENT_BARRIER_PASS, /* a thread passes */
    /* Cues: turns in the story of a warpgroup, told by its first thread. See timeline/cues.h. */
    SIM_EVENT_CUE_TILE,      /* asks where tile `argument` lies */
    SIM_EVENT_CUE_WAIT,      /* begins mbarrier_wait() */
    SIM_EVENT_CUE_PASS,      /* ends it */
    SIM_EVENT_CUE_ANNOUNCE,  /* mbarrier_arrive_expect_tx() */
    SIM_EVENT_CUE_MULTICAST, /* tma_load_multicast() */
    SIM_EVENT_CUE_COMMIT,    /* wgmma_commit_group() */
    SIM_EVENT_CUE_DRAIN,     /* wgmma_wait_group(argument) has returned */
    SIM_EVENT_CUE_PROMOTE,   /* begins wgmma_promote() or wgmma_promote_columns() */
    SIM_EVENT_CUE_PROMOTED,  /* ends it */
    SIM_EVENT_CUE_STORE,     /* bulk_commit_group() */
    SIM_EVENT_CUE_STORED,    /* bulk_wait_group() */
    /* Of mma.sync and the CUDA cores, where sim/hopper/turns.h says so. */
    SIM_EVENT_CUE_COPY,      /* the first cp.async of a group */
    SIM_EVENT_CUE_BARRIER,   /* begins __syncthreads() */
    SIM_EVENT_CUE_FREE,      /* ends it */
    SIM_EVENT_CUE_FRAGMENTS, /* ldmatrix */
    SIM_EVENT_CUE_MULTIPLY,  /* mma.sync */
    SIM_EVENT_CUE_RESULT,    /* a sum becomes an element */
    SIM_EVENT_CUE_ENTER,     /* begins */
    SIM_EVENT_CUE_EXIT,      /* ends */
};

struct sim_event {
    enum sim_event_kind kind;
    uint64_t begin, end;
    const struct sim_cta *cta;
    int thread;    /* in the CTA, of a load the one that issued it; -1: an async unit */
    bool link;     /* of a load or a store by the TMA: it crosses the link between two devices */
    int warpgroup; /* of a cue */
    int64_t argument;
    size_t offset;
    int by_cta; /* of an event at a barrier: index of the CTA that `thread` belongs to */
    unsigned phase, pending, expected;
    int tx;
    const char *file;
    int line;
    const char *name; /* of an mbarrier: the argument of its mbarrier_init(); NULL: not at one */
};

/* NULL: not recording. Called in the order of simulation, which is not quite the order of time. */
extern void (*sim_event_hook)(const struct sim_event *event);
static inline bool sim_recording(void) { return sim_event_hook != NULL; }

/* Reports a cue, if the calling thread is the first of a warpgroup. */
void sim_cue(enum sim_event_kind kind, int64_t argument);

/* Reports it if the thread's flag `turn` is set (sim/hopper/turns.h). Then clears flags and sets
 * some. */
void sim_turn(enum sim_event_kind kind, enum turn turn, unsigned clears, unsigned sets);

/* Counted over a run. A conflict is one extra pass over 32 banks of 4 bytes. The lanes of
 * ld.shared, st.shared and cp.async are put together under SCHEDULE_TIME only, and so are those of
 * ld.global and st.global; ldmatrix and stmatrix are counted under every schedule. */
struct sim_statistics {
    uint64_t ld_shared, ld_shared_conflicts;
    uint64_t st_shared, st_shared_conflicts;
    uint64_t ldmatrix, ldmatrix_conflicts;
    uint64_t stmatrix, stmatrix_conflicts;
    uint64_t cp_async, cp_async_conflicts;
    uint64_t mma, wgmma, tma_load_bytes, tma_store_bytes;
    uint64_t products;       /* of elements, by wgmma */
    uint64_t global_sectors; /* of 32 bytes, that ld.global and st.global touched */
};
extern struct sim_statistics sim_statistics;

#endif
