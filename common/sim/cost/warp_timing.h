/*
 * warp_timing.h: charging a warp for what its lanes do, and the servers that warps and units share.
 * Cycles; all no-ops but under SCHEDULE_TIME.
 */
#ifndef SIM_COST_WARP_TIMING_H
#define SIM_COST_WARP_TIMING_H

#include "sim/core/threads.h"

void timing_begin(int devices, int sms); /* a run begins: caches are cold; `sms` of a device */
void timing_end(void);

/* ---- the instructions of a warp ---- */

enum timing_op {
    TIMING_LD_GLOBAL,
    TIMING_ST_GLOBAL,
    TIMING_ATOMIC,
    TIMING_LD_SHARED,
    TIMING_ST_SHARED,
    TIMING_CP_ASYNC,
    TIMING_LD_CLUSTER, /* of another CTA's shared memory */
    TIMING_SPECIAL_FUNCTION
};

void timing_warp_begin(struct sim_warp *warp, uint64_t time);
/* One lane's access. `address` is a global address or an offset in shared memory. */
void timing_access(struct sim_thread *thread, enum timing_op op, uint64_t address, unsigned bytes);
/* See sim_hooks. */
bool timing_settle(struct sim_warp *warp, uint64_t horizon);
void timing_drain(struct sim_warp *warp);
/* A warp-wide access to shared memory of `rows` 16-byte rows at these offsets; returns extra passes
 * over the banks. */
unsigned timing_rows(struct sim_warp *warp, const size_t *offset, int rows);
/* When a copy of up to 16 bytes from this address, issued by the thread now, will have landed. */
uint64_t timing_copy(struct sim_thread *thread, const void *global);

/* Before an mma.sync, by each lane: the warp waits for the registers it takes and for its Tensor
 * Core. timing_mma.c, as the next three. */
void timing_operands(struct sim_thread *thread, const float *d, const uint32_t *a,
                     const uint32_t *b);
/* mma.sync by a warp, into d. */
void timing_mma(struct sim_warp *warp, const float *d);
/* `count` instructions of the warp on its sub-partition's CUDA cores, which do not wait for one
 * another, but for what the warp has loaded. */
void timing_arithmetic(struct sim_warp *warp, int count);
/* ldmatrix: the registers at r are ready when the rows have come. */
void timing_fragments(struct sim_warp *warp, const uint32_t *r);

/* ---- servers ---- */

/* Books `cycles` of a server from `time` on; returns when the work begins. */
enum sim_server { SERVER_TENSOR_CORE, SERVER_TMA, SERVER_TMA_STORE, SERVERS_PER_SM };
uint64_t sim_server_book(int sm, enum sim_server server, uint64_t time, uint64_t cycles);
/* Books bytes of the pipe that L1 and shared memory share, from `time` on; returns when the last of
 * them has passed. */
uint64_t sim_port_book(int sm, uint64_t time, uint64_t bytes);

#endif
