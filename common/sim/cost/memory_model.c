/*
 * memory_model.c: L2 and DRAM as latency plus shared bandwidth. Whether a sector is in the L2 is
 * remembered by tags, one place for each of them: data that a kernel has not touched before comes
 * from DRAM.
 */
#include "sim/cost/memory_model.h"

#include <math.h>
#include <stdlib.h>

#include "sim/core/global_memory.h"
#include "sim/core/hazards.h"
#include "sim/core/run.h"
#include "sim/cost/timing_model.h"
#include "sim/models/bandwidth.h"

enum { L2_SECTORS = 1 << 21 /* 64 MiB */, L2_SINCE = 16 /* cycles */ };

static uint32_t *l2;       /* tags */
static uint32_t *l2_since; /* when each of these sectors has come from DRAM, units of L2_SINCE */
static struct bandwidth *l2_bandwidth, *dram_bandwidth; /* of the simulated part of the chip */

void memory_model_begin(int sms) {
    l2 = calloc(L2_SECTORS, sizeof *l2);
    l2_since = calloc(L2_SECTORS, sizeof *l2_since);
    l2_bandwidth = malloc(sizeof *l2_bandwidth);
    dram_bandwidth = malloc(sizeof *dram_bandwidth);
    if (!l2 || !l2_since || !l2_bandwidth || !dram_bandwidth)
        sim_fatal("out-of-memory", NULL, "no memory for the timing model");
    bandwidth_begin(l2_bandwidth, (uint64_t)L2_BYTES_PER_CYCLE * sms / CHIP_SMS);
    /* A wave of n tiles, as square as it can be, needs the rows and columns of its edges: some
     * sqrt(n) of them. So fewer SMs ask DRAM for more per SM than the whole chip does, and get as
     * much more, or a small simulated chip would be short of memory where the real one is not. */
    const double share = sqrt(sms < CHIP_SMS ? (double)sms / CHIP_SMS : 1);
    bandwidth_begin(dram_bandwidth, (uint64_t)(DRAM_BYTES_PER_CYCLE * share));
}

void memory_model_end(void) {
    free(l2);
    free(l2_since);
    free(l2_bandwidth);
    free(dram_bandwidth);
    l2 = l2_since = NULL;
    l2_bandwidth = dram_bandwidth = NULL;
}

uint64_t sim_l2_book(uint64_t time, uint64_t bytes) {
    return sim_timed() ? bandwidth_book(l2_bandwidth, time, bytes) : time;
}

uint64_t memory_model_fetch(uint64_t time, uint64_t first, uint64_t count, uint64_t bytes,
                            uint64_t dram_latency) {
    uint64_t arrival = bandwidth_book(l2_bandwidth, time, bytes) + L2_LATENCY;
    for (uint64_t sector = first; sector < first + count; ++sector) {
        uint32_t *since = &l2_since[sector % L2_SECTORS];
        if (l2[sector % L2_SECTORS] != (uint32_t)sector + 1) {
            l2[sector % L2_SECTORS] = (uint32_t)sector + 1;
            const uint64_t end = bandwidth_book(dram_bandwidth, time, GLOBAL_SECTOR_BYTES);
            *since = (uint32_t)((end + dram_latency - L2_LATENCY) / L2_SINCE);
        }
        /* Who asks while the sector is on its way waits for it, too. */
        const uint64_t there = (uint64_t)*since * L2_SINCE + L2_LATENCY;
        if (arrival < there) arrival = there;
    }
    return arrival;
}

uint64_t sim_global_fetch(uint64_t time, const void *address, size_t bytes) {
    if (!sim_timed() || !bytes) return time;
    const uint64_t device = global_device_address(address);
    const uint64_t first = device / GLOBAL_SECTOR_BYTES;
    const uint64_t last = (device + bytes - 1) / GLOBAL_SECTOR_BYTES;
    return memory_model_fetch(time, first, last - first + 1, bytes, TMA_DRAM_LATENCY);
}
