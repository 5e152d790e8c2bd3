/*
 * timing_async.h: when the TMA and the Tensor Core will be done, for the `time` schedule. Cycles;
 * the constants are in timing_model.h.
 */
#ifndef SIM_COST_TIMING_ASYNC_H
#define SIM_COST_TIMING_ASYNC_H

#include "sim/core/threads.h"

struct busy {
    uint64_t begin, end;
    uint64_t asked; /* bytes of a load so far */
};

/* A box of `bytes` that the running thread loads: from the moment the TMA takes it up; no end yet.
 */
struct busy time_tma_load(const struct sim_cta *cta, uint64_t bytes);
/* One row of it, from global memory: may move the end. */
void time_tma_load_row(struct busy *busy, const struct sim_cta *cta, const void *global,
                       uint64_t bytes);
/* The box has landed in the CTA's shared memory, where its writing takes turns with the reading of
 * wgmma's operands. In the job that lands it. */
void time_tma_fill(const struct sim_cta *cta, uint64_t bytes);
/* A box that it stores to the memory of device `home`: `end` is when shared memory has been read.
 */
struct busy time_tma_store(const struct sim_cta *cta, int home, uint64_t bytes);
/* When the bytes of such a store are in global memory. */
uint64_t time_tma_store_complete(const struct sim_cta *cta, int home, uint64_t read_end,
                                 uint64_t bytes);
/* One wgmma, 64 x n x 16, that the running warpgroup issues: Tensor Core busy. `ready`: not before
 * this time. */
struct busy time_wgmma(const struct sim_cta *cta, int n, bool a_in_registers, uint64_t ready);
/* Cycles from one tcgen05.mma, m x n x 32 bytes of k, to the next: the Tensor Core's, or those in
 * which the operands come from shared memory. */
uint64_t umma_cycles(int m, int n, int group, bool a_in_shared);
/* One of them on the Tensor Core of this CTA's SM. */
struct busy time_umma(const struct sim_cta *cta, int m, int n, int group);

#endif
