/*
 * exchange.h: lanes that exchange registers, by shfl, vote, match or redux, or wait for wgmmas.
 *
 * Each lane waits for the others, but of the instructions that do so bar.warp.sync alone orders
 * their accesses to memory. Kernels rely on the others all the same, so whether these order
 * anything is in doubt (DOUBT_EXCHANGE). sim_lanes_exchanged() (core/lanes.h) tells of one; it
 * counts if no lane is missing that has not ended.
 */
#ifndef SIM_ORDER_EXCHANGE_H
#define SIM_ORDER_EXCHANGE_H

#include "sim/core/threads.h"

/* Would the thread know of the access if exchanges ordered something? */
bool exchange_knows(const struct sim_thread *thread, uint32_t cluster, int slot, uint32_t epoch);

#endif
