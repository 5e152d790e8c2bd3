/*
 * cluster_launch.h: the simulator's half of blackwell/cluster_launch.h.
 */
#ifndef SIM_BLACKWELL_CLUSTER_LAUNCH_H
#define SIM_BLACKWELL_CLUSTER_LAUNCH_H

#include "sim/hopper/call.h"

struct b128;

void sim_cluster_try_cancel(struct b128 *answer, uint64_t *barrier);
bool sim_cluster_is_canceled(struct b128 answer);
int sim_cluster_first_cta(struct b128 answer);

/* ---- the wrappers ---- */

#define cluster_try_cancel(answer, barrier) SIM(sim_cluster_try_cancel(answer, barrier))
#define cluster_is_canceled(answer) SIM(sim_cluster_is_canceled(answer))
#define cluster_first_cta(answer) SIM(sim_cluster_first_cta(answer))

#endif
