/*
 * cost.h: what the units of the GPU take for a GEMM, in cycles. fit.h, direct.h and select.c
 * predict kernels from it.
 */
#ifndef COST_H
#define COST_H

#include <math.h>

#include "services/selection.h"

enum { COST_BK = 64 /* of a k-tile: rows of 128 bytes */ };

/* Of an H200: rates in bytes per cycle of the SM clock, the others in cycles. gemm_device_rates()
 * has another device's share of its memory's rate, and of its L2's for all SMs.
 *
 * The Tensor Core's and wgmma's are the hardware's best. The others are fitted together, with
 * fit.h's, select.c's and direct.h's: library/how-it-chooses.md. */
enum {
    COST_CLOCK_MHZ = 1800,   /* in which the times are cycles */
    COST_TENSOR_CORE = 4096, /* FLOPs per cycle of an SM: its peak */
    COST_LEAST_WGMMA = 16,   /* of a narrow wgmma: so much and a quarter of its columns */
    COST_LAUNCH = 945,      /* from the end of the kernel ahead to the first instruction of a CTA */
    COST_ISSUE = 192,       /* a k-tile at least: wait, issue, release */
    COST_PORT_BYTES = 107,  /* wgmma reads both operands from shared memory; 128 at the most */
    COST_L2_BYTES = 310,    /* to an SM, while few SMs load or neighbours load the same rows */
    COST_L2_LINES = 62,     /* the same, if a row of a box begins inside a line */
    COST_L2_SECTORS = 30,   /* the same, if it begins inside a sector */
    COST_L2_ALL = 68,       /* to each SM, while all load */
    COST_L2_MULTICAST = 33, /* that an SM asks for, for a whole cluster: nothing merges */
    COST_MULTICAST = 58,    /* that reach an SM, its own and those that others have asked for */
    COST_READ_BYTES = 2213, /* from DRAM to all SMs */
    COST_WRITE_BYTES = 1979, /* of D, from all SMs, by the TMA */
    COST_PARTIAL_ROWS = 26,  /* percent that reading takes longer, if rows begin inside sectors */
    COST_TRIP = 2710,        /* a stage's time from one load to the next */
    COST_BARRIERS = 401,     /* the barrier of a cluster that shares rows, and its launch */
    COST_LINE_BYTES = 128,
    COST_SECTOR_BYTES = 32,
};

static inline double cost_most(double a, double b) { return a > b ? a : b; }

/* Cycles of two things that run at the same time: a little more than the longer one, since what is
 * nearly as long is in its way at times. */
static inline double cost_both(double a, double b) {
    const double fourth_a = a * a * (a * a), fourth_b = b * b * (b * b);
    return sqrt(sqrt(sqrt(fourth_a * fourth_a + fourth_b * fourth_b)));
}

/* A prediction, in cycles: what the SMs do, and their loads from memory, which go on at the same
 * time; and what comes before and after. */
struct cost {
    double work, memory, rest;
};
static inline double cost_cycles(struct cost cost) {
    return cost_both(cost.work, cost.memory) + cost.rest;
}

/* cost_both() for the units of an SM, which are in each other's way more often. */
static inline double cost_units(const double *cycles, int units) {
    double sum = 0; /* of the fourth powers */
    for (int i = 0; i < units; ++i)
        sum += cycles[i] * cycles[i] * (cycles[i] * cycles[i]);
    return sqrt(sqrt(sum));
}

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

/* Do the rows of both operands begin at multiples of so many bytes? */
static inline bool cost_operands_begin_at(const struct gemm_problem *p, int bytes) {
    return p->lda * 2 % bytes == 0 && p->ldb * 2 % bytes == 0;
}

/* Bytes per cycle from the L2 to an SM, by its own port, which is the same on every Hopper GPU. */
static inline double cost_l2_bytes(const struct gemm_problem *p) {
    return cost_operands_begin_at(p, COST_LINE_BYTES)     ? COST_L2_BYTES
           : cost_operands_begin_at(p, COST_SECTOR_BYTES) ? COST_L2_LINES
                                                          : COST_L2_SECTORS;
}

/* The same, if what an SM asks for goes to a whole cluster. */
static inline double cost_multicast_bytes(const struct gemm_problem *p, struct gemm_rates rates) {
    const double own = cost_l2_bytes(p), apart = rates.l2 * COST_L2_MULTICAST;
    return own < apart ? own : apart;
}

/* Cycles to read the operands from DRAM. A row that begins inside a sector has one sector more. */
static inline double cost_reading(const struct gemm_problem *p, struct gemm_rates rates) {
    const double bytes = ((double)p->m * p->k + (double)p->n * p->k) * 2;
    const bool whole = cost_operands_begin_at(p, COST_SECTOR_BYTES);
    return bytes * (whole ? 1 : 1 + COST_PARTIAL_ROWS / 100.0) / (rates.memory * COST_READ_BYTES);
}

#endif
