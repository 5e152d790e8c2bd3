/*
 * timing_model.h: every constant of the timing model, with its source. Cycles of the SM clock
 * unless said otherwise.
 *
 * The model predicts; none of its results is a measurement. Sources:
 *   [probe]  build/gpu/probe on an H200: docs/results/probe.txt; latencies of two runs differ by up
 *            to 4 %, and a constant may come from either
 *   [sheet]  the GPU's data sheet, the CUDA programming guide
 *   [micro]  public microbenchmarks of Hopper; below B200_SMS, of a B200
 *   [fit]    chosen so that the chapter named runs as fast as it has been measured to; the others
 *            are then predictions
 *   [guess]  ours
 */
#ifndef SIM_COST_TIMING_MODEL_H
#define SIM_COST_TIMING_MODEL_H

/* The SM: its clock, its warps, its port to shared memory and L1. */
enum {
    CTA_LAUNCH_CYCLES = 322, /* from a CTA's end to the next one's first instruction [probe] */
    CTA_SETUP_CYCLES = 700,  /* what else a CTA begins with: instructions that are not in a cache,
                               * the tensor maps [fit: 07] */

    SUB_PARTITIONS = 4,     /* of an SM; warp w issues from w % 4 [sheet] */
    ISSUE_CYCLES = 1,       /* a warp instruction per cycle and sub-partition [sheet] */
    ARITHMETIC_LATENCY = 4, /* of a dependent FMA [micro] */
    W4_CYCLES = 3,          /* for eight weights: lop3, shf, lop3 */
    SPECIAL_CYCLES = 8,     /* of the special-function unit, for a warp: 16 lanes an SM [sheet] */
    SCALAR_OVERHEAD = 2,    /* address arithmetic and FMA of a scalar access [guess] */
    LOADS_IN_FLIGHT = 8,    /* of a warp, before it stalls for the registers [guess] */
    LOG_LANES_AHEAD = 64,   /* accesses that a lane may be ahead of the slowest of its warp */
    BARRIER_LATENCY = 13,   /* __syncthreads: 21 for 4 warps, 37 for 12 [probe] */
    BARRIER_WARP_CYCLES = 2,
    FENCE_CYCLES = 10,      /* fence.proxy.async [probe] */
    SHUFFLE_CYCLES = 20,    /* __shfl_sync and the selp beside it [fit: 06] */
    SETMAXNREG_CYCLES = 20, /* [guess] */

    /* One pipe serves L1 and shared memory: ld, st, ldmatrix, stmatrix, cp.async's addresses. What
     * cp.async and the TMA write into shared memory does not go through it, nor do wgmma's
     * operands, which have a path as wide: counted there, 03 to 05 would be a quarter slower than
     * measured, and 128 x 128 x 64 would take wgmma 640 cycles instead of 544. */
    SHARED_PORT_BYTES = 128, /* a cycle; one pass over the 32 banks [sheet] */
    PORT_QUEUE_CYCLES = 256, /* a warp goes on while its last instruction waits so long [fit: 05] */
    CP_ASYNC_EXTRA_PASSES = 1, /* besides those for the addresses [fit: 04] */
    SHARED_LATENCY = 23,       /* ld.shared to use [probe] */
    L1_LATENCY = 32,           /* [probe] */
    GLOBAL_LINE_BYTES = 128,   /* a load takes a pass for every line it touches [probe] */
    STORE_LINE_CYCLES = 2,     /* a store two [probe] */
    GLOBAL_SECTOR_BYTES = 32
};

/* Global memory. An SM has its share of the whole chip's bandwidth (memory_model.c). */
enum {
    CHIP_SMS = 132,
    L2_LATENCY = 274, /* [probe] */
    /* 64 for each SM [sheet]. If all SMs fetch different data from it, each gets 35 [probe]; in a
     * GEMM, neighbours ask for the same. */
    L2_BYTES_PER_CYCLE = 8448,
    DRAM_LATENCY = 650,         /* [probe] */
    DRAM_BYTES_PER_CYCLE = 2400 /* 4.2 TB/s at 1.75 GHz; 1900 through the TMA [probe] */
};

/* NVLink between two devices of one host. An SM has its share of the bandwidth. */
enum {
    LINK_BYTES_PER_CYCLE = 200, /* each way: 349 GB/s at 1.75 GHz, what stores of all SMs reached on
                                 * two H200 with 18 links [measured once, not yet by the probe] */
    LINK_LATENCY = 1000,        /* besides the L2's of the device at the other end [guess] */
    LINK_QUEUE_CYCLES = 2048    /* a warp goes on while its last store waits so long for the link
                                 * [guess] */
};

/* Between launches. */
enum {
    GRID_END_CYCLES = 2 * L2_LATENCY /* from a grid's end to the end of the next one's
                                      * griddepcontrol.wait: there and back [guess] */
};

/* The Tensor Core. */
enum {
    MMA_LATENCY = 25, /* mma.sync m16n8k16 to use [probe] */
    MMA_INTERVAL = 6, /* of a sub-partition; 6.3 with two warps or more, 7.3 with one [probe] */

    /* wgmma m64nNk16: N / 2 or 16 + N / 4 cycles, the greater [probe]. m64nNk32 of e4m3 reads as
     * many bytes and takes as long: 8192 FLOPs a cycle instead of 4096 [sheet]. */
    WGMMA_SMALL_BASE = 16,
    WGMMA_ROW_BYTES = 32,    /* of k: of a row of A or B that an instruction multiplies */
    WGMMA_FILL_LINES = 8,    /* lines of 128 bytes that the TMA writes cost it a cycle: 4 to 8
                              * [probe] */
    WGMMA_FENCE_CYCLES = 30, /* wgmma.fence and the way to the Tensor Core: with the drain 76
                              * [probe] */
    WGMMA_DRAIN_CYCLES = 46  /* from the end of the last one to the wait's [micro] */
};

/* A B200. What is not here is the H200's for it, too: caches' latencies, the TMA, launches. */
enum {
    B200_SMS = 148,                   /* [sheet] */
    B200_L2_BYTES_PER_CYCLE = 10216,  /* 11.8 TB/s at 1155 MHz [micro: FlashGPU-Sim] */
    B200_DRAM_BYTES_PER_CYCLE = 4070, /* 8 TB/s at 1.965 GHz [sheet] */

    UMMA_ROW_BYTES = 32,        /* of k */
    UMMA_ISSUE_CYCLES = 4,      /* [guess] */
    UMMA_COMMIT_CYCLES = 128,   /* from the end of a multiplication to the end of a wait for its
                                * commit: 119 to 137 on one SM, of a pair 145 to 173 [micro] */
    TENSOR_LOAD_CYCLES = 20,    /* [guess] */
    TENSOR_ALLOC_CYCLES = 100,  /* [guess] */
    CLUSTER_CANCEL_CYCLES = 800 /* [guess]: no measurement is public */
};

/* mbarriers and clusters. */
enum {
    MBARRIER_ARRIVE_CYCLES = 6,    /* [probe] */
    MBARRIER_TRY_WAIT_CYCLES = 60, /* successful: 58 to 70 [probe] */
    MBARRIER_EXPECT_TX_CYCLES = 7, /* arrive.expect_tx and a wait take 67 [probe] */
    REMOTE_ARRIVE_CYCLES = 212,    /* [micro]; 281 to the end of the owner's wait [probe] */
    DSMEM_CYCLES = 195,            /* a word from or to another CTA's shared memory [probe] */
    DSMEM_BYTES_PER_CYCLE = 14,    /* that an SM reads of others: 3.3 TB/s on the chip [micro] */
    CLUSTER_BARRIER_CYCLES = 410   /* of two CTAs [probe] */
};

/* The TMA. */
enum {
    TMA_THREAD_CYCLES = 64,    /* of the thread that asks: up to 109 [probe]; less [fit: 05] */
    TMA_ISSUE_CYCLES = 32,     /* between two boxes of an SM [micro] */
    TMA_BYTES_PER_CYCLE = 108, /* of an SM: 138 to 142 cycles between 1 and 16 KB [probe] */
    TMA_OVERHEAD = 236, /* besides the memory's latency: 520 for 1 KB, 658 for 16 from L2 [probe] */
    TMA_DRAM_LATENCY = 800, /* instead of DRAM_LATENCY: 972 for 1 KB, 1283 for 16 in all [probe] */
    TMA_STORE_BYTES_PER_CYCLE = 28, /* of an SM; one box after the other [fit: 08, persistent] */
    TMA_STORE_READ_CYCLES = 22,     /* besides: 8 KB have been read after 314 [probe] */
    TMA_STORE_LATENCY = 14          /* from then on to completion [probe] */
};

/* Tensor maps that are changed on the device. nvcc 13.0 compiles the copy with its release to an
 * atomic exchange of four bytes by each lane, for which the warp waits, and the acquire to an
 * instruction that makes the TMA forget the map. */
enum {
    TENSOR_MAP_REPLACE_CYCLES = 4, /* a field, in shared memory: a store [guess] */
    TENSOR_MAP_COPY_CYCLES = SHARED_LATENCY + L2_LATENCY, /* [guess] */
    TENSOR_MAP_ACQUIRE_CYCLES = FENCE_CYCLES,             /* [guess] */
    TENSOR_MAP_FETCH_CYCLES = L2_LATENCY /* of a map that the SM does not have, once [guess] */
};

#endif
