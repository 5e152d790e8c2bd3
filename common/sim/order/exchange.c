/* exchange.c: what the lanes of a warp would tell one another when they exchange registers. */
#include "sim/order/exchange.h"

#include "sim/core/doubt.h"
#include "sim/core/lanes.h"
#include "sim/core/storage.h"
#include "sim/order/clock.h"
#include "sim/order/known_clocks.h"

void sim_lanes_exchanged(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    const uint32_t left = warp->lanes & ~warp->exited;
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (left >> lane & 1 && !operand[lane]) return;
    if (!warp->exchanged)
        warp->exchanged = sim_arena_alloc(warp->cta->cluster, sizeof *warp->exchanged);
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        if (operand[lane]) sim_release(warp->thread[lane], warp->exchanged);
    for (int lane = 0; lane < WARP_SIZE && !doubtful_rules; ++lane)
        if (operand[lane]) sim_acquire(warp->thread[lane], warp->exchanged);
}

bool exchange_knows(const struct sim_thread *thread, uint32_t cluster, int slot, uint32_t epoch) {
    const struct sim_sync *sync = thread->warp->exchanged;
    if (sync && (int)cluster != thread->cta->cluster->index)
        sync = known_get(sync->known, (int)cluster);
    return sync && sim_clock_get(&sync->c, slot) >= epoch;
}
