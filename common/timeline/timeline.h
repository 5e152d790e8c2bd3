/*
 * timeline.h: what happened when, in one run of one kernel.
 *
 * A timeline is filled in one of two ways: from the records that a traced kernel wrote on the GPU
 * (timeline_add_device_records), or by the simulator, which calls timeline_begin, then the hooks
 * for cues, busy units and mbarriers, then timeline_end. Both end in the same tracks of spans. The
 * timelines of a process are kept until timeline_free_all; a second run of the same step and
 * variant replaces the first.
 *
 * Times are SM clock cycles since the start of the kernel. On the GPU the clocks of the SMs are
 * lined up by the
 * (%globaltimer, %clock64) pairs of the trace, which is good to some 60 cycles between SMs and
 * exact within one.
 *
 * The host thread calls everything here.
 */
#ifndef TIMELINE_TIMELINE_H
#define TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gemm.h"

struct timeline;

/* ---- recording: the GPU ---- */

/* Size of the buffer for gemm_problem.trace; the caller zeroes it before the traced launch. */
size_t trace_buffer_bytes(void);

/* The buffer is aligned: the size of an allocation with room for it, and its place in there. */
size_t trace_memory_bytes(void);
struct trace_record *trace_buffer_in(void *memory);

/* Turns the buffer's contents, copied to the host, into the timeline of `kernel`. `clock_mhz`: the
 * SM clock if it is known, or 0: then it is taken from the records. False, with a line on stderr,
 * if the buffer holds no usable record. */
bool timeline_add_device_records(const struct gemm_kernel *kernel,
                                 const struct gemm_problem *problem, const void *buffer,
                                 size_t bytes, double clock_mhz);

/* The same of a kernel that ran on several GPUs: a buffer of each, and how far its timer is ahead
 * of the first one's, in ns. The axis has the first GPU's cycles. */
bool timeline_add_devices_records(const struct gemm_kernel *kernel,
                                  const struct gemm_problem *problem, const void *const *buffers,
                                  int gpus, const int64_t *ahead_ns);

/* ---- recording: the simulator ---- */

/* Starts the timeline of one simulated run. The result stays valid until timeline_end; never NULL.
 */
struct timeline *timeline_begin(const struct gemm_kernel *kernel,
                                const struct gemm_problem *problem);

/* One cue of a warpgroup's first thread. `event`: a TRACE_CUE_ of timeline/trace.h. */
void timeline_cue(struct timeline *timeline, int cta, int sm, int warpgroup, uint64_t cycle,
                  int event, int argument);

/* The type of the operands, of the timelines that begin from here on. */
extern enum gemm_type timeline_operands;

/* The run is on several GPUs, whose SMs are numbered through. */
void timeline_gpus(struct timeline *timeline, int gpus, int sms_per_gpu);

enum timeline_unit {
    UNIT_MMA,     /* the Tensor Core, at an mma.sync of warp `warp` */
    UNIT_WGMMA,   /* the Tensor Core, at one wgmma of the warpgroup that `warp` belongs to; one call
                   per instruction */
    UNIT_COPY,    /* a load on its way to shared memory; `warp` issued it at `begin` */
    UNIT_LINK,    /* bytes on their way to another GPU or from it */
    UNIT_SPECIAL, /* a special-function unit, at an instruction of warp `warp` */
    UNIT_SUMS_WRITTEN, /* multiplications write tensor memory, whose columns from `warp` on */
    UNIT_SUMS_READ,    /* loads read it, likewise */
    TIMELINE_UNITS
};

/* An asynchronous unit was busy in [begin, end). Any order. */
void timeline_busy(struct timeline *timeline, int cta, int sm, enum timeline_unit unit, int warp,
                   uint64_t begin, uint64_t end);

enum barrier_event_kind {
    BARRIER_INIT,        /* amount: expected arrivals */
    BARRIER_ARRIVE,      /* amount: arrivals */
    BARRIER_EXPECT_TX,   /* amount: bytes */
    BARRIER_COMPLETE_TX, /* amount: bytes */
    BARRIER_FLIP,        /* the phase completed; the state is that of the phase that begins */
    BARRIER_WAIT_BEGIN,  /* a thread begins to wait; amount: the parity it waits for */
    BARRIER_WAIT_END,
};

/* One step of an mbarrier's life, and its state after that step. */
struct barrier_event {
    uint64_t cycle;
    uint8_t kind;    /* enum barrier_event_kind */
    int cta;         /* whose shared memory holds the barrier */
    uint32_t offset; /* of the barrier in that shared memory: with cta, its identity */
    int by_cta;      /* who did it, in which CTA ... */
    int by_thread;   /* ... -1: an asynchronous unit (the TMA) */
    uint32_t amount;
    uint32_t
        phase;    /* phases completed since init; its lowest bit is the parity that is under way */
    int pending;  /* arrivals still missing */
    int expected; /* arrivals of a whole phase */
    int32_t tx;   /* bytes still missing; negative: they came before they were expected */
    const char
        *name; /* how the kernel calls the barrier ("shared->full[stage]"), or NULL; not copied */
    const char *file; /* the chapter's line, or NULL; not copied */
    int line;
};

/* Events of one barrier come in the order in which they took effect. */
void timeline_barrier(struct timeline *timeline, const struct barrier_event *event);

/* One of the accesses that a hazard is about. */
struct hazard_side {
    int64_t cycle;     /* -1: not known */
    const char *what;  /* "write by TMA load"; empty: not said */
    const char *place; /* "05_tma_mbarrier/kernel.cu", of a verb with the header's line before it */
    const char *path;  /* the kernel's file, as the compiler was given it; NULL: none */
    int line, cta, thread;
};

/* A mistake of the kernel: the simulator's report, and the accesses, the accused one first. */
struct timeline_hazard {
    const char *kind, *text;
    int sides;
    struct hazard_side side[2];
};
void timeline_hazard(struct timeline *timeline, const struct timeline_hazard *hazard); /* copied */

/* Ends the run: `cycles` is its length in simulated cycles, or negative if the schedule keeps no
 * time (the cycles given to the hooks are then only an order). Builds the tracks. */
void timeline_end(struct timeline *timeline, double cycles);

/* ---- output ---- */

/* A row of the page's results table. What is not known is 0 (or NULL). */
struct report_row {
    const char *name;      /* "07_warp_specialized", "cublas" */
    const char *variant;   /* NULL: the chapter's own kernel, or a baseline */
    const char *technique; /* NULL for a baseline */
    const char *problem;   /* with this row begins the table of this problem; NULL: it does not */
    bool baseline;
    bool verified;       /* of a step */
    const char *failure; /* why it is not: "hazard", "wrong"; NULL: not known */
    double burst_ms, burst_tflops, burst_clock_mhz, burst_spread;
    double sustained_ms, sustained_tflops, sustained_clock_mhz, sustained_spread, power_w;
    double cycles; /* simulated cycles, or SM cycles per multiplication as measured in a burst */
    double utilization; /* of the Tensor Core, 0..1 */
    int registers;
    size_t smem_bytes;
};

/* The page's heading. */
struct report_info {
    bool simulated;
    const char *device; /* "NVIDIA H200", "simulator, 4 SMs" */
    const char *dtype;  /* "bf16" */
    const char *input;  /* "uniform" */
    int m, n, k;        /* and the type and input above: of the first table */
    int sms;
    double power_limit_w;
    const char *driver, *toolkit, *command; /* NULL: not known */
    const char *docs; /* the folder docs/, from that of the page; NULL: not known */
};

/* How many timelines there are. */
int timeline_count(void);

/* What can be read off a timeline, from the first recorded CTA; cycles. What it does not show is 0.
 */
struct timeline_figures {
    const char *name, *variant;
    bool simulated;
    double k_tile_period; /* median distance from one k-tile's multiplications to the next, within
                             an output tile */
    double tensor_core_busy; /* share of the time from the first multiplication to the last, 0..1;
                                for any CTA */
    const char *busy_means;  /* what the Tensor Core's track shows: "Tensor Core busy" if wgmma
                                keeps it so, "mma.sync under way" otherwise */
    double prologue;         /* from the first mark to the first multiplication */
    double loads_in_flight;  /* mean number of k-tiles on their way between the first and the last
                                multiplication */
    double fragment_overlap; /* share of the fragment loads' time during which the same warp
                                multiplies */
    double epilogue_overlap; /* share of the epilogues' time during which the Tensor Core is busy */
};
struct timeline_figures timeline_figures(int index);

/* What the times of all timelines are: "simulated cycles", "SM clock cycles", or, where a schedule
 * keeps no time, "steps of the simulator", which are an order alone. */
const char *timeline_times(void);

/* SMs of each GPU whose CTAs a trace shows, the first ones: usually, and at the most. */
enum { TRACE_SMS = 4, TRACE_MOST_SMS = 264 };

/* Writes all timelines as Chrome trace JSON (opens in Perfetto). The file appears under its name
 * only when it is whole. False, with errno, if it cannot be written. */
bool timeline_write_trace(const char *path, int sms);

/* Writes into the directory `dir`, which is made if it is not there: index.html (the page),
 * timeline_<step>.svg for each timeline, timelines.svg (all of them on one axis) and trace.json.
 * False as above; then some of them may be there, each of them whole. */
bool timeline_write_report(const char *dir, const struct report_info *info,
                           const struct report_row *rows, int count);

/* Prints the life of an mbarrier, step by step: the `index`-th, by address, of the first CTA of the
 * first timeline. Returns how many mbarriers that CTA has; prints nothing unless index is less. */
int timeline_explain_barrier(FILE *file, int index);

/* Forgets all timelines. */
void timeline_free_all(void);

#endif
