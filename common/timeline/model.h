/*
 * model.h: a timeline in memory, shared by the recorder and the writers.
 */
#ifndef TIMELINE_MODEL_H
#define TIMELINE_MODEL_H

#include "services/devices.h"
#include "timeline/timeline.h"
#include "timeline/trace.h"

/* ---- what was recorded ---- */

struct mark {
    int64_t time;
    uint16_t event; /* enum trace_event */
    int32_t argument;
};

struct marks {
    struct mark *at;
    int count, capacity;
    int warp; /* of the recording thread; -1: this role never opened its trace */
    bool closed;
    bool truncated; /* later marks did not fit */
    int64_t open, close;
};

struct interval {
    int64_t begin, end;
    int warp;
};

struct intervals {
    struct interval *at;
    int count, capacity;
};

struct cta_record {
    int cta, sm;
    struct marks role[TRACE_ROLES];
    struct marks cue[TRACE_ROLES]; /* of each warpgroup, until cues.h makes marks of them */
    struct intervals busy[TIMELINE_UNITS];
};

/* ---- what is drawn ---- */

enum span_kind {
    SPAN_LOAD,      /* a k-tile is on its way to shared memory */
    SPAN_MULTICAST, /* the same, to all CTAs of the cluster */
    SPAN_HELD,      /* it has arrived and is not consumed yet */
    SPAN_ACQUIRE,   /* the producer waits for a free stage */
    SPAN_WAIT,      /* a consumer waits for data */
    SPAN_FRAGMENTS, /* fragments on their way to registers */
    SPAN_ISSUE,     /* a warpgroup issues wgmmas */
    SPAN_MMA,       /* multiplications of a k-tile under way */
    SPAN_FMA,       /* arithmetic on the CUDA cores */
    SPAN_EPILOGUE,
    SPAN_STORE,
    SPAN_OTHER,     /* the Tensor Core works for another CTA of the SM */
    SPAN_LINK,      /* bytes of the CTA cross the link between two GPUs */
    SPAN_PROMOTION, /* sums of the Tensor Core are added to those in fp32 */
    SPAN_SPECIAL,   /* a special-function unit computes, such as exponentials */
    SPAN_KINDS
};

enum track_kind {
    TRACK_SLOT,        /* a stage of the ring */
    TRACK_ROLE,        /* what a role's threads do, in program order */
    TRACK_FRAGMENTS,   /* fragment loads of a role */
    TRACK_MMA,         /* multiplications of a role */
    TRACK_TENSOR_CORE, /* the SM's Tensor Core: for this CTA, and for others (SPAN_OTHER) */
    TRACK_LINK,        /* what the CTA has on the link between GPUs */
    TRACK_PROMOTION,   /* promotions of a role */
    TRACK_SPECIAL,     /* the special-function units, for a role */
    TRACK_SUMS,        /* a set of sums in tensor memory */
    TRACK_COPIES,      /* loads one behind the other, of a kernel whose stages are not known */
};

struct span {
    int64_t begin, end;
    uint8_t kind;     /* enum span_kind */
    uint8_t inferred; /* not recorded: concluded from issue and observed completion */
    int8_t role;      /* enum trace_role; -1: none */
    int32_t k_tile;   /* -1: none */
    int32_t tile;     /* output tile; -1: not known */
};

struct track {
    int cta, sm;
    uint8_t kind; /* enum track_kind */
    int8_t role;  /* enum trace_role, or -1 */
    int slot;     /* of TRACK_SLOT, and the number of the set of TRACK_SUMS */
    char name[40];
    struct span *at; /* sorted, not overlapping */
    int count, capacity;
};

struct timeline {
    char name[64], variant[64], technique[128];
    bool simulated;
    bool timed; /* false: the times are only an order */
    int tile_m, tile_n, tile_k, stages, cluster;
    int gpus, sms_per_gpu; /* 0: one */
    bool slices_of_k;      /* each GPU has one, of tiles_k in all */
    bool along_n;          /* the main loop goes along n, with two products in each step */
    bool e4m3;             /* what is multiplied; else a 16-bit type */
    int m, n, k, tiles_k;
    double clock_mhz; /* 0: not known */
    double cycles;    /* of the run; on a GPU, until the last CTA ends; < 0: not known */
    int64_t end;      /* the last thing that is drawn */
    int truncated;    /* roles whose later marks did not fit */
    struct cta_record *cta;
    int ctas, cta_capacity;
    struct track *track; /* by CTA, then as they are drawn from top to bottom */
    int tracks, track_capacity;
    struct barrier_event *barrier;
    int barriers, barrier_capacity;
    struct kept_hazard *hazard; /* kept_hazards.h */
    int hazards, hazard_capacity;
    struct timeline *next;
};

/* The list of all timelines, in the order in which they were recorded. */
extern struct timeline *timeline_list;

struct timeline *timeline_new(const struct gemm_kernel *kernel, const struct gemm_problem *problem,
                              bool simulated);
struct cta_record *timeline_cta(struct timeline *timeline, int cta, int sm);
void timeline_add_interval(struct intervals *intervals, int64_t begin, int64_t end, int warp);
void timeline_build(struct timeline *timeline);
/* timeline_times() of one. */
const char *timeline_times_of(const struct timeline *timeline);
const char *timeline_span_name(int kind);

/* The GPU of an SM. */
static inline int timeline_gpu(const struct timeline *timeline, int sm) {
    return timeline->sms_per_gpu ? sm / timeline->sms_per_gpu : 0;
}

/* "CTA 4, SM 0", or "GPU 1, CTA 0, SM 0" if there are several. Returns text. */
const char *timeline_cta_name(const struct timeline *timeline, int cta, int sm, char *text,
                              size_t size);

/* The CTAs that the writers show: those on the first `sms` SMs, in the order of their CTAs; of each
 * of several GPUs. */
bool timeline_shows(const struct timeline *timeline, int sm, int sms);

/* Parts of the Tensor Core's track in [begin, end): cycles. */
int64_t timeline_covered(const struct track *track, int64_t begin, int64_t end);
const struct track *timeline_find_track(const struct timeline *timeline, int cta,
                                        enum track_kind kind, int role);

#endif
