/*
 * proxy_fence.c: fence.proxy.async: what a thread has accessed through the generic proxy comes
 * before what the async proxy does later, in shared or in global memory.
 */
#include "hopper/tma.h"
#include "sim/core/doubt.h"
#include "sim/core/events.h"
#include "sim/core/state.h"
#include "sim/cost/timing_model.h"
#include "sim/order/clock.h"
#include "sim/order/global_shadow.h"
#include "sim/units/thread_copies.h"

void sim_fence_proxy_async(void) {
    struct sim_thread *thread = sim_thread();
    sim_turn(SIM_EVENT_CUE_WAIT, TURN_RESULT, TURN_BARRIER, 0);
    struct sim_cluster *cluster = thread->cta->cluster;
    thread->fence.epoch = thread->epoch;
    thread->fence.acquired = thread->acquired;
    sim_clock_raise(cluster, &thread->p, thread->slot, thread->epoch++);
    /* What its own cp.async has landed went through the generic proxy, too. */
    int copies = cp_async_slot(thread);
    if (copies >= 0)
        sim_clock_raise(cluster, &thread->p, copies, sim_clock_get(&thread->c, copies));
    /* And so did what others have accessed before, if it may fence that. */
    if (!doubtful_rules) sim_clock_join(cluster, &thread->p, &thread->c);
    sim_advance(FENCE_CYCLES);
    sim_maybe_yield();
}

void sim_fence_proxy_async_global(void) {
    sim_global_proxy_fence(sim_thread());
    sim_advance(FENCE_CYCLES);
    sim_maybe_yield();
}
