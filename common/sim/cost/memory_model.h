/*
 * memory_model.h: how long global memory takes, for the `time` schedule. Cycles.
 */
#ifndef SIM_COST_MEMORY_MODEL_H
#define SIM_COST_MEMORY_MODEL_H

#include <stddef.h>
#include <stdint.h>

void memory_model_begin(int sms);
void memory_model_end(void);

/* Fetches sectors for an SM of `device` from the L2 of the device that they belong to or, those
 * that are not there yet, from DRAM. Returns when the last one has arrived at the SM. `bytes`: what
 * the L2 moves for it; half sectors count as half, because a neighbouring lane takes the other one
 * with the same request. */
uint64_t memory_model_fetch(uint64_t time, int device, uint64_t first, uint64_t count,
                            uint64_t bytes, uint64_t dram_latency);
/* The device that a sector belongs to; the device that an address belongs to. */
int memory_model_home(uint64_t sector);
int sim_home_of(const void *address);

/* Books bytes of the bandwidth of the L2 of device `home`; returns when the last byte has arrived.
 * `latency` excluded. */
uint64_t sim_l2_book(uint64_t time, int home, uint64_t bytes);
/* Books bytes of the link from one device to another, latency excluded; returns when the last one
 * has crossed. At once if the two are one device. */
uint64_t sim_link_book(uint64_t time, int from, int to, uint64_t bytes);
/* Fetches these bytes of global memory from `time` on, for an SM of `device`: L2 or, if they are
 * not there yet, DRAM; their latency and bandwidth. Returns when the last byte has arrived at the
 * SM. */
uint64_t sim_global_fetch(uint64_t time, int device, const void *address, size_t bytes);

#endif
