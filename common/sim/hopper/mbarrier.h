/*
 * mbarrier.h: the simulator's half of hopper/mbarrier.h.
 */
#ifndef SIM_HOPPER_MBARRIER_H
#define SIM_HOPPER_MBARRIER_H

#include "sim/hopper/call.h"

/* `text`: the argument as the source has it, for reports. */
void sim_mbarrier_init(uint64_t *barrier, int arrivals, const char *text);
void sim_mbarrier_inval(uint64_t *barrier);
void sim_fence_mbarrier_init(void);
void sim_mbarrier_arrive(uint64_t *barrier);
void sim_mbarrier_arrive_expect_tx(uint64_t *barrier, uint32_t bytes);
bool sim_mbarrier_test_wait(const uint64_t *barrier, uint32_t parity);
bool sim_mbarrier_try_wait(const uint64_t *barrier, uint32_t parity);
void sim_mbarrier_wait(const uint64_t *barrier, uint32_t parity);
void sim_mbarrier_wait_cluster(const uint64_t *barrier, uint32_t parity);
void sim_mbarrier_arrive_relaxed(uint64_t *barrier);
void sim_mbarrier_wait_relaxed(const uint64_t *barrier, uint32_t parity);

/* ---- the wrappers ---- */

#define mbarrier_init(barrier, arrivals) SIM(sim_mbarrier_init(barrier, arrivals, #barrier))
#define mbarrier_inval(barrier) SIM(sim_mbarrier_inval(barrier))
#define fence_mbarrier_init() SIM(sim_fence_mbarrier_init())
#define mbarrier_arrive(barrier) SIM(sim_mbarrier_arrive(barrier))
#define mbarrier_arrive_expect_tx(barrier, bytes) SIM(sim_mbarrier_arrive_expect_tx(barrier, bytes))
#define mbarrier_test_wait(barrier, parity) SIM(sim_mbarrier_test_wait(barrier, parity))
#define mbarrier_try_wait(barrier, parity) SIM(sim_mbarrier_try_wait(barrier, parity))
#define mbarrier_wait(barrier, parity) SIM(sim_mbarrier_wait(barrier, parity))
#define mbarrier_wait_cluster(barrier, parity) SIM(sim_mbarrier_wait_cluster(barrier, parity))
#define mbarrier_arrive_relaxed(barrier) SIM(sim_mbarrier_arrive_relaxed(barrier))
#define mbarrier_wait_relaxed(barrier, parity) SIM(sim_mbarrier_wait_relaxed(barrier, parity))

#endif
