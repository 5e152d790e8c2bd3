/*
 * events.c: who listens to a run, and the cues.
 */
#include "sim/core/events.h"

#include "sim/core/state.h"

void (*sim_event_hook)(const struct sim_event *event);

void sim_cue(enum sim_event_kind kind, int64_t argument) {
    enum { WARPGROUP = 128 };
    if (!sim_recording()) return;
    const struct sim_thread *thread = sim_thread();
    if (thread->index % WARPGROUP != 0) return;
    const uint64_t now = sim_now();
    sim_event_hook(&(struct sim_event){.kind = kind,
                                       .begin = now,
                                       .end = now,
                                       .cta = thread->cta,
                                       .thread = thread->index,
                                       .warpgroup = thread->index / WARPGROUP,
                                       .argument = argument});
}

void sim_turn(enum sim_event_kind kind, enum turn turn, unsigned clears, unsigned sets) {
    if (!sim_recording()) return;
    struct sim_thread *thread = sim_thread();
    if (thread->cues & turn) sim_cue(kind, 0);
    thread->cues = (thread->cues & ~clears) | sets;
}

void sim_tile(int number) { sim_cue(SIM_EVENT_CUE_TILE, number); }
