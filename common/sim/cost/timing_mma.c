/*
 * timing_mma.c: what ldmatrix, mma.sync and ordinary arithmetic cost under SCHEDULE_TIME: registers
 * that arrive later, the Tensor Core's share of a sub-partition, and slots of its scheduler.
 */
#include "sim/core/events.h"
#include "sim/core/scheduler.h"
#include "sim/cost/timing_units.h"

/* Found by their place relative to the first ones that the warp used, so that every run finds the
 * same. */
static uint64_t *ready_entry(struct warp_timing *t, const void *registers, bool claim) {
    if (!t->first_registers) t->first_registers = registers;
    const uintptr_t distance = (uintptr_t)registers - (uintptr_t)t->first_registers;
    const unsigned i = (unsigned)(distance / 8 % READY_ENTRIES);
    if (t->ready[i].registers == registers) return &t->ready[i].time;
    if (!claim) return NULL;
    t->ready[i].registers = registers;
    return &t->ready[i].time;
}

static uint64_t ready_time(struct warp_timing *t, const void *registers) {
    const uint64_t *entry = ready_entry(t, registers, false);
    return entry ? *entry : 0;
}

void timing_fragments(struct sim_warp *warp, const uint32_t *r) {
    if (!sim_timed()) return;
    /* An mma takes all four registers, or two of them. */
    for (int half = 0; half < 2; ++half)
        *ready_entry(warp->timing, r + 2 * half, true) = warp->rows_done + SHARED_LATENCY;
}

void timing_mma(struct sim_warp *warp, const float *d) {
    if (!sim_timed()) return;
    struct sm *sm = &timing_sms[warp->cta->sm];
    const int sub = warp->index % SUB_PARTITIONS;
    const uint64_t issue = book(&sm->issue[sub], warp->clock, ISSUE_CYCLES);
    const uint64_t begin = book(&sm->mma[sub], issue, MMA_INTERVAL);
    *ready_entry(warp->timing, d, true) = begin + MMA_LATENCY;
    warp->clock = begin + ISSUE_CYCLES;
    if (sim_recording())
        sim_event_hook(&(struct sim_event){.kind = SIM_EVENT_MMA,
                                           .begin = begin,
                                           .end = begin + MMA_INTERVAL,
                                           .cta = warp->cta,
                                           .thread = warp->index * WARP_SIZE});
}

void timing_arithmetic(struct sim_warp *warp, int count) {
    if (!sim_timed()) return;
    struct sm *sm = &timing_sms[warp->cta->sm];
    const uint64_t cycles = (uint64_t)count * ISSUE_CYCLES;
    for (int i = 0; i < LOADS_IN_FLIGHT; ++i)
        warp->clock = later(warp->clock, warp->timing->load_done[i]);
    warp->clock = book(&sm->issue[warp->index % SUB_PARTITIONS], warp->clock, cycles) + cycles +
                  ARITHMETIC_LATENCY;
}

void timing_operands(struct sim_thread *thread, const float *d, const uint32_t *a,
                     const uint32_t *b) {
    if (!sim_timed() || thread->lane) return;
    struct sim_warp *warp = thread->warp;
    struct warp_timing *t = warp->timing;
    const uint64_t ready = later(ready_time(t, a), later(ready_time(t, b), ready_time(t, d)));
    const uint64_t busy = timing_sms[warp->cta->sm].mma[warp->index % SUB_PARTITIONS];
    const uint64_t begin = later(ready, busy);
    if (begin <= warp->clock) return;
    warp->clock = begin;
    scheduler_yield();
}
