/*
 * timing_model.h: every constant of the timing model, with its source. Cycles of the SM clock
 * unless said otherwise.
 *
 * The model predicts; none of its results is a measurement. Sources:
 *   [sheet]  the card's data sheet, the CUDA programming guide
 *   [micro]  public microbenchmarks of Hopper
 *   [fit]    chosen so that the chapter named runs as fast as it has been measured to; the others
 *            are then predictions
 *   [guess]  ours
 * build/gpu/probe measures most of them; they stand in its order.
 */
#ifndef SIM_TIMING_MODEL_H
#define SIM_TIMING_MODEL_H

/* The SM: its clock, its warps, its port to shared memory and L1. */
enum {
    KERNEL_LAUNCH_CYCLES = 0, /* between launches; the host's share is not modelled */
    CTA_LAUNCH_CYCLES = 1000, /* from a place that is free to the first instruction [fit: 07] */

    SUB_PARTITIONS = 4,   /* of an SM; warp w issues from w % 4 [sheet] */
    ISSUE_CYCLES = 1,     /* a warp instruction per cycle and sub-partition [sheet] */
    SCALAR_OVERHEAD = 2,  /* address arithmetic and FMA of a scalar access [guess] */
    LOADS_IN_FLIGHT = 8,  /* of a warp, before it stalls for the registers [guess] */
    LOG_LANES_AHEAD = 64, /* accesses that a lane may be ahead of the slowest of its warp */
    BARRIER_LATENCY = 20, /* __syncthreads, 15-30 [micro] */
    FENCE_CYCLES = 10,    /* fence.proxy.async [guess] */
    SETMAXNREG_CYCLES = 20, /* [guess] */

    /* One pipe serves L1 and shared memory: ld, st, ldmatrix, stmatrix, cp.async's addresses. What
     * cp.async and the TMA write into shared memory does not go through it, nor do wgmma's
     * operands, which have a path as wide: counted there, 03 to 05 would be a quarter slower than
     * measured, and 128 x 128 x 64 would take wgmma 640 cycles instead of 533. */
    SHARED_PORT_BYTES = 128, /* a cycle; one pass over the 32 banks [sheet] */
    PORT_QUEUE_CYCLES = 256, /* a warp goes on while its last instruction waits so long [fit: 05] */
    CP_ASYNC_EXTRA_PASSES = 1, /* besides those for the addresses [fit: 04] */
    SHARED_LATENCY = 29,     /* ld.shared to use [micro] */
    L1_LATENCY = 36,         /* 32-41 [micro] */
    GLOBAL_LINE_BYTES = 128, /* a load takes a pass for every line it touches [sheet] */
    STORE_LINE_CYCLES = 2,   /* a store two [fit: a tile stored 4 bytes at a time takes 3200 cycles
                              * longer than 16 at a time, and touches 1536 lines more] */
    GLOBAL_SECTOR_BYTES = 32
};

/* Global memory. An SM has its share of the whole chip's bandwidth (memory_model.c). */
enum {
    CHIP_SMS = 132,
    L2_LATENCY = 335, /* ld.global; near partition 260, far 410 [micro] */
    L2_BYTES_PER_CYCLE = 8118, /* of 132 SMs: 61.5 each [fit: 07 and 08], at most 64 [sheet] */
    DRAM_LATENCY = 650,        /* 480-650 [micro] */
    DRAM_BYTES_PER_CYCLE = 2400 /* 4.2 TB/s measured at 1.75 GHz */
};

/* The Tensor Core. */
enum {
    MMA_LATENCY = 25, /* mma.sync m16n8k16 to use: 24-25 [micro] */
    MMA_INTERVAL = 6, /* of a sub-partition [micro]; 66.7 % of wgmma's rate */

    /* wgmma m64nNk16: 1 + N / 2 or 17 + N / 4 cycles, whichever is more [micro]. */
    WGMMA_LARGE_BASE = 1,
    WGMMA_SMALL_BASE = 17,
    WGMMA_FENCE_CYCLES = 96, /* wgmma.fence and the descriptors' way to the Tensor Core [fit: 06
                              * with wait<0>] */
    WGMMA_DRAIN_CYCLES = 64  /* from the end of the last one to the wait's [fit: the same];
                              * wait<0> adds 46 [micro] */
};

/* mbarriers and clusters. */
enum {
    MBARRIER_ARRIVE_CYCLES = 6,     /* [micro] */
    MBARRIER_TRY_WAIT_CYCLES = 43,  /* successful [micro] */
    MBARRIER_EXPECT_TX_CYCLES = 28, /* arrive.expect_tx and a wait take 71 [micro] */
    REMOTE_ARRIVE_CYCLES = 212,     /* to the owner's release [micro] */
    DSMEM_CYCLES = 190,             /* a word into another CTA's shared memory, 180-215 [micro] */
    DSMEM_BYTES_PER_CYCLE = 14,     /* that an SM reads of others: 3.3 TB/s on the chip [micro] */
    CLUSTER_BARRIER_CYCLES = 190    /* as one trip between SMs [guess] */
};

/* The TMA. */
enum {
    TMA_ISSUE_CYCLES = 32, /* of the thread that asks, and between two boxes of an SM [micro] */
    TMA_BYTES_PER_CYCLE = 117, /* of an SM: 5 ns per KB [micro] */
    TMA_OVERHEAD = 175, /* besides the memory's latency: 510 to the wait's end from L2, where public
                         * numbers say 380-520 [micro] */
    TMA_DRAM_LATENCY = 1135, /* instead of DRAM_LATENCY: 1310 to the wait's end [fit: 06]; 1044-1890
                              * [micro] */
    TMA_STORE_LATENCY = 600 /* from the last byte read to completion [guess] */
};

#endif
