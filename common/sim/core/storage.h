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
/* calloc, or the end of the program with a message. */
void *storage_zeroed(size_t count, size_t size);

/* Zeroed memory that lives as long as the cluster does. */
void *sim_arena_alloc(struct sim_cluster *cluster, size_t bytes);

#endif
