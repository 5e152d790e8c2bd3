/*
 * hooks.c: who answers what the core asks of the folders above it.
 */
#include "sim/core/hooks.h"

#include "sim/cost/warp_timing.h"
#include "sim/order/launch_order.h"
#include "sim/order/global_shadow.h"
#include "sim/order/map_order.h"
#include "sim/order/release.h"
#include "sim/order/sequential_fences.h"
#include "sim/order/shadow.h"
#include "sim/units/thread_copies.h"
#include "sim/units/mbarrier/table.h"
#include "sim/units/named_barrier.h"
#include "sim/units/poll.h"
#include "sim/units/tcgen05_memory.h"
#include "sim/units/tma/box.h"
#include "sim/units/tma/map.h"

static void cta_begins(struct sim_cta *cta) {
    shadow_clear(cta);
    named_barriers_begin(cta);
}

static void thread_ends(struct sim_thread *thread) {
    cp_async_thread_exit(thread);
    named_barrier_thread_exit(thread);
}

static bool too_weak(const struct sim_thread *thread, int slot, uint32_t epoch, char *text,
                     size_t size) {
    return mbarrier_scope_too_narrow(thread, slot, epoch, text, size) ||
           cluster_barrier_was_relaxed(thread, slot, epoch, text, size);
}

static void launch_begins(void) {
    shadow_too_weak = too_weak;
    shadow_uncommitted = tma_store_uncommitted;
    global_under_way = tma_store_under_way;
    release_launch_begins();
    sequential_fences_launch_begins();
    launch_order_begins();
    global_shadow_launch_begins();
    map_order_launch_begins();
    tma_maps_launch_begins();
    poll_launch_begins();
    cp_async_launch_begin();
    tensor_launch_begins();
}

const struct sim_hooks sim_hooks = {
    .cta_made = shadow_new,
    .cta_freed = shadow_free,
    .cta_begins = cta_begins,
    .warp_begins = timing_warp_begin,
    .thread_ends = thread_ends,
    .cluster_retires = launch_order_retire,
    .launch_begins = launch_begins,
    .settle = timing_settle,
};

void sim_drain(struct sim_warp *warp) { timing_drain(warp); }
