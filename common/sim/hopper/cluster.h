/*
 * cluster.h: the simulator's half of hopper/cluster.h.
 */
#ifndef SIM_HOPPER_CLUSTER_H
#define SIM_HOPPER_CLUSTER_H

#include "sim/hopper/call.h"

struct b128;

void sim_cluster_sync(void);
void sim_cluster_sync_relaxed(void);
void sim_cluster_arrive(void);
void sim_cluster_arrive_relaxed(void);
void sim_cluster_wait(void);
void sim_mbarrier_arrive_remote(uint64_t *barrier, uint32_t rank);
void sim_mbarrier_arrive_remote_release(uint64_t *barrier, uint32_t rank);
void sim_mbarrier_arrive_remote_relaxed(uint64_t *barrier, uint32_t rank);
struct b128 sim_ld_shared_cluster_b128(const void *pointer, uint32_t rank);

/* ---- the wrappers ---- */

#define cluster_rank() ((uint32_t)sim_self->cluster_rank)
#define cluster_sync() SIM(sim_cluster_sync())
#define cluster_sync_relaxed() SIM(sim_cluster_sync_relaxed())
#define cluster_arrive() SIM(sim_cluster_arrive())
#define cluster_wait() SIM(sim_cluster_wait())
#define mbarrier_arrive_remote(barrier, rank) SIM(sim_mbarrier_arrive_remote(barrier, rank))
#define mbarrier_arrive_remote_release(barrier, rank)                                              \
    SIM(sim_mbarrier_arrive_remote_release(barrier, rank))
#define mbarrier_arrive_remote_relaxed(barrier, rank)                                              \
    SIM(sim_mbarrier_arrive_remote_relaxed(barrier, rank))
#define ld_shared_cluster_b128(pointer, rank) SIM(sim_ld_shared_cluster_b128(pointer, rank))

#endif
