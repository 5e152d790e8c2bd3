/*
 * tma.h: the simulator's half of hopper/tma.h.
 */
#ifndef SIM_HOPPER_TMA_H
#define SIM_HOPPER_TMA_H

#include "gemm.h"
#include "sim/hopper/call.h"

void sim_tma_prefetch_map(const struct tensor_map *map);
void sim_tma_load(void *shared, const struct tensor_map *map, int row, int column,
                  uint64_t *barrier);
void sim_tma_load_3d(void *shared, const struct tensor_map *map, int matrix, int row, int column,
                     uint64_t *barrier);
void sim_tma_load_multicast(void *shared, const struct tensor_map *map, int row, int column,
                            uint64_t *barrier, uint16_t cta_mask);
void sim_tma_store(const struct tensor_map *map, int row, int column, const void *shared);
void sim_tma_store_3d(const struct tensor_map *map, int matrix, int row, int column,
                      const void *shared);
void sim_tma_reduce_add(const struct tensor_map *map, int row, int column, const void *shared);
void sim_bulk_commit_group(void);
void sim_bulk_wait_group_read(int pending);
void sim_bulk_wait_group(int pending);
void sim_fence_proxy_async(void);
void sim_fence_proxy_async_global(void);

/* ---- the wrappers ---- */

#define tma_prefetch_map(map) SIM(sim_tma_prefetch_map(map))
#define tma_load(shared, map, row, column, barrier)                                                \
    SIM(sim_tma_load(shared, map, row, column, barrier))
#define tma_load_3d(shared, map, matrix, row, column, barrier)                                     \
    SIM(sim_tma_load_3d(shared, map, matrix, row, column, barrier))
#define tma_load_multicast(shared, map, row, column, barrier, cta_mask)                            \
    SIM(sim_tma_load_multicast(shared, map, row, column, barrier, cta_mask))
#define tma_store(map, row, column, shared) SIM(sim_tma_store(map, row, column, shared))
#define tma_store_3d(map, matrix, row, column, shared)                                             \
    SIM(sim_tma_store_3d(map, matrix, row, column, shared))
#define tma_reduce_add(map, row, column, shared) SIM(sim_tma_reduce_add(map, row, column, shared))
#define bulk_commit_group() SIM(sim_bulk_commit_group())
#define bulk_wait_group_read(pending) SIM(sim_bulk_wait_group_read(IMMEDIATE(pending)))
#define bulk_wait_group(pending) SIM(sim_bulk_wait_group(IMMEDIATE(pending)))
#define fence_proxy_async() SIM(sim_fence_proxy_async())
#define fence_proxy_async_global() SIM(sim_fence_proxy_async_global())

#endif
