/*
 * known_clocks.h: what a thread knows of threads in other clusters, and what it passes on.
 *
 * A cluster's clocks (clock.h) have entries for its own threads and units alone. Order between
 * clusters goes through words of global memory (release.h), and few kernels have it: so whatever
 * arrives from another cluster is kept as that cluster's clocks, in a list that is empty otherwise.
 */
#ifndef SIM_ORDER_KNOWN_CLOCKS_H
#define SIM_ORDER_KNOWN_CLOCKS_H

#include "sim/core/threads.h"

struct sim_known {
    struct sim_known *next;
    int cluster; /* its index in the grid, never that of the cluster that knows it */
    struct sim_sync sync;
};

/* The clocks that are known of a cluster; NULL: nothing is. */
const struct sim_sync *known_get(const struct sim_known *known, int cluster);
/* The same, made if there are none; memory comes from the arena of `owner`. */
struct sim_sync *known_of(struct sim_cluster *owner, struct sim_known **known, int cluster);
void known_join(struct sim_cluster *owner, struct sim_known **into, const struct sim_known *from);
void known_clear(struct sim_known *known);
/* T learns what happened before in `cluster`, which may be its own, and what was known there. */
void known_acquire(struct sim_thread *thread, int cluster, const struct sim_sync *sync);

#endif
