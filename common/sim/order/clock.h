/*
 * clock.h: happens-before between the threads and async units of a cluster, by vector clocks.
 */
#ifndef SIM_ORDER_CLOCK_H
#define SIM_ORDER_CLOCK_H

#include "sim/core/threads.h"

/* A new slot of the cluster. Its epochs start at 1: an access of epoch e is ordered before thread T
 * if C_T[slot] >= e. */
int sim_slot_new(struct sim_cluster *cluster, const char *what, bool async_proxy,
                 struct sim_thread *owner);

static inline uint32_t sim_clock_get(const struct sim_clock *clock, int slot) {
    return slot < clock->size ? clock->at[slot] : 0;
}
void sim_clock_raise(struct sim_cluster *cluster, struct sim_clock *clock, int slot,
                     uint32_t epoch);
void sim_clock_join(struct sim_cluster *cluster, struct sim_clock *into,
                    const struct sim_clock *from);
void sim_clock_clear(struct sim_clock *clock);

void sim_sync_join(struct sim_cluster *cluster, struct sim_sync *into, const struct sim_sync *from);
void sim_sync_clear(struct sim_sync *sync);

/* T's accesses so far happen before whatever acquires `sync` later. */
void sim_release(struct sim_thread *thread, struct sim_sync *sync);
/* Only what T knows of async units (slots with async_proxy): the remote arrive with .cta scope. */
void sim_release_async_only(struct sim_thread *thread, struct sim_sync *sync);
void sim_acquire(struct sim_thread *thread, const struct sim_sync *sync);
/* By a relaxed operation: nothing but that T has come so far (X_T). */
void sim_release_executed(struct sim_thread *thread, struct sim_sync *sync);
void sim_acquire_executed(struct sim_thread *thread, const struct sim_sync *sync);
/* T has learned that the slot's accesses up to `epoch` are complete (a wait_group, say). */
void sim_acquire_slot(struct sim_thread *thread, int slot, uint32_t epoch);
/* Is the slot's access of this epoch ordered before T's next generic access? */
bool sim_happens_before(const struct sim_thread *thread, int slot, uint32_t epoch);

#endif
