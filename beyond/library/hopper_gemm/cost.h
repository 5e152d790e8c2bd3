/*
 * cost.h: what the units of the GPU take for a GEMM, in cycles. fit.h, direct.h and select.c
 * predict kernels from it.
 */
#ifndef COST_H
#define COST_H

#include <math.h>

#include "gemm_selection.h"

enum { COST_BK = 64 /* of a k-tile: rows of 128 bytes */ };

/* Of an H200: rates in bytes per cycle of the SM clock, the others in cycles. gemm_device_rates()
 * has another device's share of its memory's rate, and of its L2's for all SMs. */

/* Each of these is measured for itself, by the probe (docs/results/probe.txt) or in timed kernels
 * (at commit 44aba7f: beyond/10_stream_k/tried.md, "The constants, one by one"). */
enum {
    COST_TENSOR_CORE = 4096,  /* FLOPs per cycle of an SM: its peak */
    COST_LEAST_WGMMA = 16,    /* of a narrow wgmma: so much and a quarter of its columns */
    COST_GAP = 76,            /* between the multiplications of two k-tiles: a drain */
    COST_ISSUE = 214,         /* a k-tile at least: wait, issue, release */
    COST_L2_BYTES = 53,       /* to one SM, if neighbours load the same rows and requests merge */
    COST_L2_LINES = 40,       /* the same, if a row of a box begins inside a line */
    COST_L2_APART = 35,       /* to each SM, if they load nothing in common, or by multicast */
    COST_L2_SECTORS = 26,     /* to one SM, if a row of a box begins inside a sector: half of 53 */
    COST_LINE_BYTES = 128,
    COST_SECTOR_BYTES = 32,
    COST_READ_BYTES = 2400,   /* from DRAM to all SMs: 4.45 TB/s (docs/machine.md) */
    COST_WRITE_BYTES = 1884,  /* of D, from all SMs */
    COST_STORE_BYTES = 12,    /* of D, from an SM, while all store: 14.3, on an H100 11.8 */
    COST_ALONE_BYTES = 24,    /* of D, from an SM, while the others multiply */
};

/* These are fitted together, with select.c's and direct.h's, to the times of 25,200 cuts and 2,100
 * other ways to compute 500 shapes, on an H200 and an H100, and to those of the persistent kernels
 * at ten large shapes (beyond/docs/results/h200-packed-store.jsonl). COST_TILE alone is fitted to
 * later times of an H100. The times of the cuts and the program that fits are at commit 44aba7f:
 * docs/results/h200-cuts.txt, h100-cuts-before-start.txt and h100-cuts.txt, common/tools/cuts. */
enum {
    COST_PORT_BYTES = 110,   /* wgmma reads both operands from shared memory; 128 at the most */
    COST_TRIP = 2400,        /* a stage's time from one load to the next */
    COST_TILE = 1600,        /* a tile of fitted.cu: the first bytes, and the way to the store */
    COST_BARRIERS = 1370,    /* the barrier of a cluster that shares rows, and its launch */
    COST_BESIDE = 64,        /* percent by which a store takes longer beside another CTA's */
    COST_PARTIAL = 41,       /* percent by which D takes longer, if a row begins inside a sector */
    COST_COUNT = 3230,       /* sums are stored, counted, and found to be there */
    COST_SUMS_BYTES = 37,    /* of sums, to the workspace and back */
    COST_SECOND_KERNEL = 9400, /* from the GEMM's end to that of the kernel that adds its sums */
    COST_SUMS_HELD = 32000000, /* bytes of sums that the L2 holds beside the operands */
};

static inline double cost_most(double a, double b) { return a > b ? a : b; }

/* Cycles that the Tensor Core needs for a k-tile of slabs * 64 rows and `width` columns. */
static inline double cost_multiply(int slabs, int width) {
    const double step = cost_most(64.0 * width * 32 / COST_TENSOR_CORE,
                                  COST_LEAST_WGMMA + width / 4.0); /* 16 of k */
    return slabs * (COST_BK / 16) * step;
}

/* Cycles in which wgmma reads the operands of such a k-tile from shared memory. */
static inline double cost_read(int slabs, int width) {
    return slabs * (64 + width) * (2.0 * COST_BK / COST_PORT_BYTES);
}

/* Do rows of `ld` elements of 16 bits begin at multiples of so many bytes? */
static inline bool cost_begin_at(int64_t ld, int bytes) { return ld * 2 % bytes == 0; }

/* The rows of both operands? */
static inline bool cost_operands_begin_at(const struct gemm_problem *p, int bytes) {
    return cost_begin_at(p->lda, bytes) && cost_begin_at(p->ldb, bytes);
}

/* Bytes per cycle that the L2 delivers to an SM. Requests of neighbours for the same line merge, if
 * they come at about the same time, and not by multicast. Then the SM's own port is the limit,
 * which is the same on every Hopper GPU. */
static inline double cost_l2_bytes(const struct gemm_problem *p, struct gemm_rates rates,
                                   bool merged) {
    const double alone = cost_operands_begin_at(p, COST_LINE_BYTES)     ? COST_L2_BYTES
                         : cost_operands_begin_at(p, COST_SECTOR_BYTES) ? COST_L2_LINES
                                                                        : COST_L2_SECTORS;
    const double apart = rates.l2 * COST_L2_APART;
    return merged || alone < apart ? alone : apart;
}

/* Cycles to read the operands from DRAM, and to write D. */
static inline double cost_memory(const struct gemm_problem *p, struct gemm_rates rates) {
    const double read = ((double)p->m * p->k + (double)p->n * p->k) * 2;
    const double written = (double)p->m * p->n * 2;
    const double partial = cost_begin_at(p->ldd, COST_SECTOR_BYTES) ? 1 : 1 + COST_PARTIAL / 100.0;
    return read / (rates.memory * COST_READ_BYTES) +
           written * partial / (rates.l2 * COST_WRITE_BYTES);
}

/* Cycles to store so many bytes of D, if `share` CTAs of an SM do so. */
static inline double cost_store(double bytes, double share) {
    return bytes * (1 + (share - 1) * (COST_BESIDE / 100.0)) / COST_STORE_BYTES;
}

#endif
