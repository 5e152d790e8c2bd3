/*
 * sequential_fences.h: fence.sc.
 *
 * PTX ISA, "Memory Consistency Model": of two fence.sc whose scopes contain each other's thread one
 * precedes the other (Fence-SC order), and synchronizes with it. Here the order is that in which
 * they are executed.
 */
#ifndef SIM_ORDER_SEQUENTIAL_FENCES_H
#define SIM_ORDER_SEQUENTIAL_FENCES_H

#include "sim/order/release.h"

/* T acquires what earlier fences have released. */
void sequential_fences_acquire(struct sim_thread *thread, enum sim_scope scope);
/* And later ones will acquire `now`. */
void sequential_fences_release(struct sim_thread *thread, enum sim_scope scope,
                               const struct sim_sync *now);

/* Is there a fence among what is `known` of other clusters, to a thread or behind a release, that
 * had this access of another cluster before it? `for_async_proxy`: before an async-proxy operation
 * that follows. */
bool sequential_fences_know(const struct sim_known *known, int cluster, int slot, uint32_t epoch,
                            bool for_async_proxy);

void sequential_fences_launch_begins(void);

#endif
