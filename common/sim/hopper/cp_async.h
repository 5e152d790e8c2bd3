/*
 * cp_async.h: the simulator's half of hopper/cp_async.h.
 */
#ifndef SIM_HOPPER_CP_ASYNC_H
#define SIM_HOPPER_CP_ASYNC_H

#include "sim/hopper/call.h"

/* `bytes`: 4, 8 or 16, of which `valid_bytes` are copied; the rest become zeros. */
void sim_cp_async(void *shared, const void *global, int bytes, int valid_bytes);
void sim_cp_async_16(void *shared, const void *global, int valid_bytes);
void sim_cp_async_commit_group(void);
void sim_cp_async_wait_group(int pending);
void sim_cp_async_mbarrier_arrive_noinc(uint64_t *barrier);

/* ---- the wrappers ---- */

#define cp_async_16(shared, global, valid_bytes) SIM(sim_cp_async_16(shared, global, valid_bytes))
#define cp_async_commit_group() SIM(sim_cp_async_commit_group())
#define cp_async_wait_group(pending) SIM(sim_cp_async_wait_group(IMMEDIATE(pending)))
#define cp_async_mbarrier_arrive_noinc(barrier) SIM(sim_cp_async_mbarrier_arrive_noinc(barrier))

#endif
