/*
 * storage.h: the memory of a resident cluster.
 */
#ifndef SIM_CORE_STORAGE_H
#define SIM_CORE_STORAGE_H

#include "gemm.h"
#include "sim/core/threads.h"

struct sim_cluster *storage_new(const struct gemm_launch *launch);
/* Empties the arena. */
void storage_clear(struct sim_cluster *cluster);
void storage_free(struct sim_cluster *cluster);

/* Zeroed memory that lives as long as the cluster does. */
void *sim_arena_alloc(struct sim_cluster *cluster, size_t bytes);

#endif
