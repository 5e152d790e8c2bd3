/*
 * launch_order.c: order between launches that follow each other on each of several devices.
 *
 * For each launch of each device there is a list of what comes before its beginning: the clocks of
 * the clusters of the launch before, which are complete, what their threads have acquired, and what
 * comes before the beginning of every launch that they have acquired from. So the lists are closed,
 * and whoever acquires from a thread need not carry them: which launch the thread belongs to is
 * enough.
 */
#include "sim/order/launch_order.h"

#include <stdlib.h>

#include "sim/core/host_memory.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/order/clock.h"
#include "sim/order/known_clocks.h"

static const uint32_t COMPLETE = INT32_MAX; /* later than any epoch; clocks compare signed */

static struct sim_cluster world;  /* the lists outlive the clusters */
static struct sim_known **before; /* [launch][device] */
static int rows;

static struct sim_known **list_of(struct sim_scopes scopes) {
    return &before[scopes.launch * sim.devices + scopes.device];
}

void launch_order_begins(void) {
    storage_clear(&world);
    free(before);
    rows = sim.launches * sim.devices;
    before = host_zeroed((size_t)rows, sizeof *before, "the order of the launches");
}

static bool is_empty(const struct sim_clock *clock) {
    for (int i = 0; i < clock->size; ++i)
        if (clock->at[i]) return false;
    return true;
}

/* The end of a launch orders for all proxies. */
static void join_proxies(struct sim_known *list) {
    for (; list; list = list->next) {
        sim_clock_join(&world, &list->sync.p, &list->sync.c);
        sim_clock_join(&world, &list->sync.g, &list->sync.c);
    }
}

/* What comes before the launches in which the clusters of the list are. */
static void close_list(struct sim_known **list) {
    for (int i = 0; i < rows; ++i) {
        bool acquired = false;
        for (const struct sim_known *k = *list; k && !acquired; k = k->next)
            acquired = list_of(sim_scopes_at(k->cluster, 0)) == &before[i] && !is_empty(&k->sync.c);
        if (acquired) known_join(&world, list, before[i]);
    }
}

void launch_order_retire(struct sim_cluster *cluster) {
    struct sim_scopes next = sim_scopes_at(cluster->index, 0);
    if (++next.launch == sim.launches) return;
    struct sim_known **const list = list_of(next);
    struct sim_sync *const own = known_of(&world, list, cluster->index);
    for (int slot = 0; slot < cluster->slots; ++slot)
        sim_clock_raise(&world, &own->c, slot, COMPLETE);
    for (int rank = 0; rank < cluster->ctas; ++rank)
        for (int i = 0; i < cluster->cta[rank].threads; ++i)
            known_join(&world, list, cluster->cta[rank].thread[i].known);
    close_list(list);
    join_proxies(*list);
}

static bool has(const struct sim_known *list, int cluster, int slot, uint32_t epoch,
                bool for_async_proxy) {
    const struct sim_sync *const sync = known_get(list, cluster);
    return sync && sim_clock_get(for_async_proxy ? &sync->g : &sync->c, slot) >= epoch;
}

bool launch_order_knows(const struct sim_thread *thread, int cluster, int slot, uint32_t epoch,
                        bool for_async_proxy) {
    if (sim.launches < 2) return false;
    if (has(*list_of(sim_scopes_of(thread)), cluster, slot, epoch, for_async_proxy)) return true;
    for (const struct sim_known *k = thread->known; k; k = k->next)
        if (!is_empty(&k->sync.c) &&
            has(*list_of(sim_scopes_at(k->cluster, 0)), cluster, slot, epoch, for_async_proxy))
            return true;
    return false;
}
