/*
 * tcgen05.h: the simulator's half of blackwell/tcgen05.h.
 */
#ifndef SIM_BLACKWELL_TCGEN05_H
#define SIM_BLACKWELL_TCGEN05_H

#include "gemm.h"
#include "sim/hopper/call.h"

void sim_tcgen05_alloc(int group, uint32_t *address, int columns);
void sim_tcgen05_relinquish(int group);
void sim_tcgen05_dealloc(int group, uint32_t address, int columns);
void sim_tcgen05_mma(int group, uint32_t d, uint64_t a, uint64_t b, uint32_t instruction,
                     bool accumulate);
void sim_tcgen05_commit(int group, uint64_t *barrier, uint16_t cta_mask);
void sim_tcgen05_fence_before(void);
void sim_tcgen05_fence_after(void);
void sim_tcgen05_load(int n, float *values, uint32_t address);
void sim_tcgen05_wait_load(void);
void sim_tma_load_pair(void *shared, const struct tensor_map *map, int row, int column,
                       uint64_t *barrier);

/* ---- the wrappers ---- */

#define tcgen05_alloc(group, address, columns) SIM(sim_tcgen05_alloc(group, address, columns))
#define tcgen05_relinquish(group) SIM(sim_tcgen05_relinquish(group))
#define tcgen05_dealloc(group, address, columns) SIM(sim_tcgen05_dealloc(group, address, columns))
#define tcgen05_mma(group, d, a, b, instruction, accumulate)                                       \
    SIM(sim_tcgen05_mma(group, d, a, b, instruction, accumulate))
#define tcgen05_commit(group, barrier)                                                             \
    SIM(sim_tcgen05_commit(group, barrier, (uint16_t)(1u << sim_self->cluster_rank)))
#define tcgen05_commit_multicast(group, barrier, cta_mask)                                         \
    SIM(sim_tcgen05_commit(group, barrier, cta_mask))
#define tcgen05_fence_before() SIM(sim_tcgen05_fence_before())
#define tcgen05_fence_after() SIM(sim_tcgen05_fence_after())
#define tcgen05_load(n, values, address) SIM(sim_tcgen05_load(IMMEDIATE(n), values, address))
#define tcgen05_wait_load() SIM(sim_tcgen05_wait_load())
#define tma_load_pair(shared, map, row, column, barrier)                                           \
    SIM(sim_tma_load_pair(shared, map, row, column, barrier))

#endif
