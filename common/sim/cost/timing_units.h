/*
 * timing_units.h: what the timing model remembers of warps and SMs. A server is the cycle from
 * which it is free again.
 */
#ifndef SIM_COST_TIMING_UNITS_H
#define SIM_COST_TIMING_UNITS_H

#include "sim/cost/timing_model.h"
#include "sim/cost/warp_timing.h"
#include "sim/models/bandwidth.h"

enum {
    READY_ENTRIES = 1024, /* registers whose arrival is remembered, per warp */
    L1_SECTORS = 1 << 12, /* 128 KiB */
};

/* One instruction of the warp, as far as its lanes have come. */
struct row {
    enum timing_op op;
    unsigned bytes;
    uint32_t lanes;
    uint64_t address[WARP_SIZE];
};

struct warp_timing {
    int rows, settled; /* of the log below */
    uint16_t logged[WARP_SIZE];
    uint64_t load_done[LOADS_IN_FLIGHT]; /* a ring */
    int next_load;
    const void *first_registers;
    struct {
        const void *registers;
        uint64_t time;
    } ready[READY_ENTRIES];
    struct row row[LOG_LANES_AHEAD];
};

struct sm {
    uint64_t issue[SUB_PARTITIONS], mma[SUB_PARTITIONS], special_function[SUB_PARTITIONS];
    uint64_t server[SERVERS_PER_SM];
    uint64_t filled;  /* lines that the TMA has written and that have not delayed a wgmma yet */
    uint64_t network; /* loads from other SMs' shared memory */
    struct bandwidth port;   /* of L1 and shared memory, which are one */
    uint32_t l1[L1_SECTORS]; /* tag: sector number + 1 */
};

extern struct sm *timing_sms;

static inline uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Occupies a server from `time` on at the earliest; returns when the work begins. */
static inline uint64_t book(uint64_t *server, uint64_t time, uint64_t cycles) {
    uint64_t begin = later(*server, time);
    *server = begin + cycles;
    return begin;
}

#endif
