/*
 * recording.c: from the simulator's events to the timeline.
 */
#include "sim/recording.h"

#include "sim/core/events.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/order/access_times.h"
#include "timeline/timeline.h"
#include "timeline/trace.h"

static struct timeline *recorded;

static enum barrier_event_kind barrier_kind(enum sim_event_kind kind) {
    switch (kind) {
    case SIM_EVENT_BARRIER_INIT:
        return BARRIER_INIT;
    case SIM_EVENT_BARRIER_ARRIVE:
        return BARRIER_ARRIVE;
    case SIM_EVENT_BARRIER_EXPECT_TX:
        return BARRIER_EXPECT_TX;
    case SIM_EVENT_BARRIER_COMPLETE_TX:
        return BARRIER_COMPLETE_TX;
    case SIM_EVENT_BARRIER_FLIP:
        return BARRIER_FLIP;
    case SIM_EVENT_BARRIER_WAIT:
        return BARRIER_WAIT_BEGIN;
    default:
        return BARRIER_WAIT_END;
    }
}

/* The event of timeline/trace.h that a cue is; TRACE_NONE: it is none. */
static int cue_of(enum sim_event_kind kind) {
    static const uint8_t cues[] = {
        [SIM_EVENT_CUE_TILE] = TRACE_CUE_TILE,
        [SIM_EVENT_CUE_WAIT] = TRACE_CUE_WAIT,
        [SIM_EVENT_CUE_PASS] = TRACE_CUE_PASS,
        [SIM_EVENT_CUE_ANNOUNCE] = TRACE_CUE_ANNOUNCE,
        [SIM_EVENT_CUE_MULTICAST] = TRACE_CUE_MULTICAST,
        [SIM_EVENT_CUE_COMMIT] = TRACE_CUE_COMMIT,
        [SIM_EVENT_CUE_DRAIN] = TRACE_CUE_DRAIN,
        [SIM_EVENT_CUE_PROMOTE] = TRACE_CUE_PROMOTE,
        [SIM_EVENT_CUE_PROMOTED] = TRACE_CUE_PROMOTED,
        [SIM_EVENT_CUE_STORE] = TRACE_CUE_STORE,
        [SIM_EVENT_CUE_STORED] = TRACE_CUE_STORED,
        [SIM_EVENT_CUE_COPY] = TRACE_CUE_COPY,
        [SIM_EVENT_CUE_BARRIER] = TRACE_CUE_BARRIER,
        [SIM_EVENT_CUE_FREE] = TRACE_CUE_FREE,
        [SIM_EVENT_CUE_FRAGMENTS] = TRACE_CUE_FRAGMENTS,
        [SIM_EVENT_CUE_MULTIPLY] = TRACE_CUE_MULTIPLY,
        [SIM_EVENT_CUE_RESULT] = TRACE_CUE_RESULT,
        [SIM_EVENT_CUE_ENTER] = TRACE_CUE_ENTER,
        [SIM_EVENT_CUE_EXIT] = TRACE_CUE_EXIT,
    };
    return cues[kind];
}

static void record(const struct sim_event *event) {
    const int cta = event->cta->index, sm = event->cta->sm;
    const int warp = event->thread / WARP_SIZE, cue = cue_of(event->kind);
    if (cue != TRACE_NONE) {
        timeline_cue(recorded, cta, sm, event->warpgroup, event->begin, cue, (int)event->argument);
        return;
    }
    switch (event->kind) {
    case SIM_EVENT_TMA_LOAD:
        timeline_busy(recorded, cta, sm, event->link ? UNIT_LINK : UNIT_COPY, warp, event->begin,
                      event->end);
        break;
    case SIM_EVENT_WGMMA:
        timeline_busy(recorded, cta, sm, UNIT_WGMMA, warp, event->begin, event->end);
        break;
    case SIM_EVENT_MMA:
        timeline_busy(recorded, cta, sm, UNIT_MMA, warp, event->begin, event->end);
        break;
    case SIM_EVENT_SUMS_WRITTEN:
        timeline_busy(recorded, cta, sm, UNIT_SUMS_WRITTEN, (int)event->argument, event->begin,
                      event->end);
        break;
    case SIM_EVENT_SUMS_READ:
        timeline_busy(recorded, cta, sm, UNIT_SUMS_READ, (int)event->argument, event->begin,
                      event->end);
        break;
    case SIM_EVENT_SPECIAL:
        timeline_busy(recorded, cta, sm, UNIT_SPECIAL, warp, event->begin, event->end);
        break;
    case SIM_EVENT_STORE_CROSSES:
        timeline_busy(recorded, cta, sm, UNIT_LINK, warp, event->begin, event->end);
        break;
    case SIM_EVENT_TMA_STORE: /* of others the store's mark is enough */
        if (event->link)
            timeline_busy(recorded, cta, sm, UNIT_LINK, warp, event->begin, event->end);
        break;
    default:
        timeline_barrier(recorded, &(struct barrier_event){
                                       .cycle = event->begin,
                                       .kind = (uint8_t)barrier_kind(event->kind),
                                       .cta = cta,
                                       .offset = (uint32_t)event->offset,
                                       .by_cta = event->by_cta,
                                       .by_thread = event->thread,
                                       .amount = (uint32_t)event->argument,
                                       .phase = event->phase,
                                       .pending = (int)event->pending,
                                       .expected = (int)event->expected,
                                       .tx = event->tx,
                                       .file = event->file,
                                       .line = event->line,
                                       .name = event->name,
                                   });
    }
}

static void record_hazard(const struct sim_hazard *hazard) {
    struct timeline_hazard copy = {
        .kind = hazard->kind, .text = hazard->text, .sides = hazard->sides};
    for (int i = 0; i < hazard->sides; ++i) {
        const struct sim_side *const side = &hazard->side[i];
        copy.side[i] =
            (struct hazard_side){.cycle = side->cycle == SIDE_UNKNOWN ? -1 : (int64_t)side->cycle,
                                 .what = side->what,
                                 .place = source_name(side->file),
                                 .path = source_path(side->file),
                                 .line = side->line,
                                 .cta = side->cta,
                                 .thread = side->thread};
    }
    timeline_hazard(recorded, &copy);
}

void sim_recording_begin(const struct gemm_kernel *kernel, const struct gemm_problem *problem) {
    recorded = timeline_begin(kernel, problem);
    if (kernel->several_devices) timeline_gpus(recorded, sim.gpus, sim.sms);
    sim_event_hook = record;
    sim_hazard_hook = record_hazard;
    access_times_begin();
}

void sim_recording_end(double cycles) {
    sim_event_hook = NULL;
    sim_hazard_hook = NULL;
    access_times_end();
    timeline_end(recorded, cycles);
    recorded = NULL;
}
