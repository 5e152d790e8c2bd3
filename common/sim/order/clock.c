/*
 * clock.c: happens-before between the threads and async units of a cluster.
 *
 * A slot's accesses are numbered by epochs. C_T[s] is the last epoch of slot s that is ordered
 * before thread T's next generic access, P_T[s] the last one that is also ordered before an
 * async-proxy operation that T issues next: generic accesses get there only through a
 * fence.proxy.async of the thread that made them. G_T[s] is to global memory what P_T[s] is to
 * shared memory; empty until a thread calls fence_proxy_async_global(). A thread's own epoch counts
 * up at every release and at every proxy fence, so that what it does afterwards is not covered by
 * them.
 *
 * X_T[s] is the last epoch of slot s that has been executed before T's next instruction, whether or
 * not its effects are ordered before it: relaxed operations pass it on, too. For threads and
 * multiplications it is at least C_T[s]. Fences make an order of it: tensor_shadow.c. Nothing else
 * asks, so it is kept for machines with tensor memory alone.
 */
#include "sim/order/clock.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"
#include "sim/core/storage.h"
#include "sim/order/known_clocks.h"

/* Joining clocks takes more time than anything else here, so it is done by vectors; the signed
 * comparison is the one that every vector unit has, and epochs stay far below 2^31. */
typedef int32_t clock_vector __attribute__((vector_size(16), may_alias));
enum { VECTOR_ENTRIES = sizeof(clock_vector) / sizeof(uint32_t) };
enum { STEP_VECTORS = 4 };
enum { CLOCK_STEP = STEP_VECTORS * VECTOR_ENTRIES }; /* clocks are a multiple of it long */

/* Makes room for entries 0 .. slots - 1. A clock that has come from elsewhere may have more of them
 * than the cluster has slots. Then there is room for these and no more: else clocks that are passed
 * to and fro would grow each time. */
static void grow(struct sim_cluster *cluster, struct sim_clock *clock, int slots) {
    if (slots <= clock->size) return;
    const int most = (cluster->slots + CLOCK_STEP - 1) / CLOCK_STEP * CLOCK_STEP;
    int size = (slots + CLOCK_STEP - 1) / CLOCK_STEP * CLOCK_STEP;
    if (size < 2 * clock->size && size < most)
        size = 2 * clock->size < most ? 2 * clock->size : most;
    uint32_t *at = sim_arena_alloc(cluster, size * sizeof *at);
    if (clock->size) memcpy(at, clock->at, clock->size * sizeof *at);
    clock->at = at;
    clock->size = size;
}

void sim_clock_raise(struct sim_cluster *cluster, struct sim_clock *clock, int slot,
                     uint32_t epoch) {
    if (sim_clock_get(clock, slot) >= epoch) return;
    grow(cluster, clock, slot + 1);
    clock->at[slot] = epoch;
}

static inline void raise_entries(clock_vector *a, const clock_vector *b) {
    const clock_vector later = *a > *b;
    *a = (*a & later) | (*b & ~later);
}

void sim_clock_join(struct sim_cluster *cluster, struct sim_clock *into,
                    const struct sim_clock *from) {
    grow(cluster, into, from->size);
    clock_vector *a = (clock_vector *)into->at;
    const clock_vector *b = (const clock_vector *)from->at;
    for (int left = from->size; left > 0;
         left -= CLOCK_STEP, a += STEP_VECTORS, b += STEP_VECTORS) {
        raise_entries(&a[0], &b[0]);
        raise_entries(&a[1], &b[1]);
        raise_entries(&a[2], &b[2]);
        raise_entries(&a[3], &b[3]);
    }
}

void sim_clock_clear(struct sim_clock *clock) {
    if (clock->size) memset(clock->at, 0, clock->size * sizeof *clock->at);
}

void sim_sync_join(struct sim_cluster *cluster, struct sim_sync *into,
                   const struct sim_sync *from) {
    sim_clock_join(cluster, &into->c, &from->c);
    sim_clock_join(cluster, &into->p, &from->p);
    if (from->g.size) sim_clock_join(cluster, &into->g, &from->g);
    if (from->known) known_join(cluster, &into->known, from->known);
    if (from->x.size) sim_clock_join(cluster, &into->x, &from->x);
}

void sim_sync_clear(struct sim_sync *sync) {
    sim_clock_clear(&sync->c);
    sim_clock_clear(&sync->p);
    sim_clock_clear(&sync->g);
    sim_clock_clear(&sync->x);
    if (sync->known) known_clear(sync->known);
}

int sim_slot_new(struct sim_cluster *cluster, const char *what, bool async_proxy,
                 struct sim_thread *owner) {
    if (cluster->slots == SLOT_LIMIT)
        sim_fatal("simulator-limit", NULL, "more than %d actors in one cluster", SLOT_LIMIT);
    if (cluster->slots == cluster->slot_capacity) {
        cluster->slot_capacity *= 2;
        cluster->slot = host_grown(cluster->slot, (size_t)cluster->slot_capacity,
                                   sizeof *cluster->slot, "the names of the actors");
    }
    cluster->slot[cluster->slots] = (struct sim_slot){what, async_proxy, owner};
    return cluster->slots++;
}

void sim_release(struct sim_thread *thread, struct sim_sync *sync) {
    struct sim_cluster *cluster = thread->cta->cluster;
    sim_sync_join(cluster, sync,
                  &(struct sim_sync){thread->c, thread->p, thread->g, thread->known, thread->x});
    if (sim.tensor_memory) sim_clock_raise(cluster, &sync->x, thread->slot, thread->epoch);
    sim_clock_raise(cluster, &sync->c, thread->slot, thread->epoch++);
}

void sim_release_executed(struct sim_thread *thread, struct sim_sync *sync) {
    struct sim_cluster *cluster = thread->cta->cluster;
    if (!sim.tensor_memory) return;
    sim_clock_join(cluster, &sync->x, &thread->x);
    sim_clock_raise(cluster, &sync->x, thread->slot, thread->epoch++);
}

void sim_acquire_executed(struct sim_thread *thread, const struct sim_sync *sync) {
    if (sync->x.size) sim_clock_join(thread->cta->cluster, &thread->x, &sync->x);
}

void sim_release_async_only(struct sim_thread *thread, struct sim_sync *sync) {
    struct sim_cluster *cluster = thread->cta->cluster;
    for (int slot = cluster->ctas * cluster->cta->threads; slot < thread->c.size; ++slot)
        if (thread->c.at[slot] && cluster->slot[slot].async_proxy)
            sim_clock_raise(cluster, &sync->c, slot, thread->c.at[slot]);
}

void sim_acquire(struct sim_thread *thread, const struct sim_sync *sync) {
    struct sim_cluster *cluster = thread->cta->cluster;
    ++thread->acquired;
    sim_clock_join(cluster, &thread->c, &sync->c);
    sim_clock_join(cluster, &thread->p, &sync->p);
    if (sync->g.size) sim_clock_join(cluster, &thread->g, &sync->g);
    if (sync->known) known_join(cluster, &thread->known, sync->known);
    if (sync->x.size) sim_clock_join(cluster, &thread->x, &sync->x);
}

void sim_acquire_slot(struct sim_thread *thread, int slot, uint32_t epoch) {
    sim_clock_raise(thread->cta->cluster, &thread->c, slot, epoch);
}

bool sim_happens_before(const struct sim_thread *thread, int slot, uint32_t epoch) {
    return slot == thread->slot || sim_clock_get(&thread->c, slot) >= epoch;
}
