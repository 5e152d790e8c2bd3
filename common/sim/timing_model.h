/*
 * timing_model.h: every constant of the timing model, with its source. Cycles of the SM clock
 * unless said otherwise.
 *
 * The model predicts; none of its results is a measurement. Sources: [micro] public microbenchmarks
 * of Hopper, [sheet] the card's data sheet and the CUDA manual, [guess] ours, to be replaced by a
 * probe.
 */
#ifndef SIM_TIMING_MODEL_H
#define SIM_TIMING_MODEL_H

enum {
    KERNEL_LAUNCH_CYCLES = 0, /* between launches; the host's share is not modelled */
    CTA_LAUNCH_CYCLES = 300,  /* from a free place to the first instruction [guess] */

    SUB_PARTITIONS = 4, /* of an SM; warp w issues from w % 4 [sheet] */
    SHARED_PORT_BYTES =
        128,             /* per cycle and SM: ld, st, ldmatrix, wgmma operands, TMA fills [sheet] */
    SHARED_LATENCY = 29, /* ld.shared to use [micro] */
    GLOBAL_SECTOR_BYTES = 32,

    L1_LATENCY = 36,             /* 32-41 [micro] */
    L2_LATENCY = 260,            /* near partition [micro] */
    DRAM_LATENCY = 560,          /* 480-650 [micro] */
    /* 64 per SM [sheet]. Public microbenchmarks give 5500 for the chip [micro], but kernels that
     * need 6500 have been measured (128 x 128 tiles at 720 TFLOPS and 1.7 GHz). */
    L2_BYTES_PER_CYCLE = 8448,   /* whole chip of 132 SMs */
    DRAM_BYTES_PER_CYCLE = 2400, /* 4.2 TB/s measured at 1.75 GHz, whole chip */
    CHIP_SMS = 132,              /* bandwidths scale with the simulated SMs */

    MMA_LATENCY = 25, /* mma.sync m16n8k16 to use: 24-25 [micro] */
    MMA_INTERVAL = 6, /* per warp with independent accumulators [micro]; 66.7 % of wgmma's rate */

    FENCE_CYCLES = 10,    /* fence.proxy.async [guess] */
    BARRIER_LATENCY = 20, /* __syncthreads, 15-30 [micro] */
    ISSUE_CYCLES = 1,     /* one warp instruction per cycle and sub-partition [sheet] */
    SCALAR_OVERHEAD = 2,  /* address arithmetic and FMA that come with a scalar access [guess] */
    LOADS_IN_FLIGHT =
        8, /* global loads of a warp before it stalls: registers they land in [guess] */

    LOG_LANES_AHEAD = 64 /* accesses a lane may be ahead of the slowest of its warp */
};

/* The asynchronous units. */
enum {
    MBARRIER_ARRIVE_CYCLES = 6,     /* [micro] */
    MBARRIER_TRY_WAIT_CYCLES = 43,  /* successful [micro] */
    MBARRIER_EXPECT_TX_CYCLES = 28, /* arrive.expect_tx and a wait take 71 [micro] */
    REMOTE_ARRIVE_CYCLES = 212,     /* to the owner's release [micro] */
    DSMEM_CYCLES = 190,             /* a word into another CTA's shared memory, 180-215 [micro] */
    DSMEM_BYTES_PER_CYCLE = 14,     /* that an SM reads of others: 3.3 TB/s on the chip [micro] */
    CLUSTER_BARRIER_CYCLES = 190,   /* as one trip between SMs [guess] */

    TMA_ISSUE_CYCLES = 32,   /* between two boxes of an SM [micro] */
    TMA_OVERHEAD = 250,      /* besides the memory's latency; in all 380 from L2, 1040-1350 from
                              * DRAM [micro] */
    TMA_BYTES_PER_CYCLE = 117, /* of an SM: 5 ns per KB [micro] */
    TMA_STORE_LATENCY = 600, /* last byte read to complete [guess] */

    WGMMA_SMALL_BASE =
        17, /* cycles per instruction: N / 2 or 17 + N / 4, whichever is more [micro] */
    WGMMA_DRAIN_CYCLES = 46, /* from the last one's issue slot to its result [micro] */
    SETMAXNREG_CYCLES = 20   /* [guess] */
};

#endif
