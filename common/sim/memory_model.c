/*
 * memory_model.c: L2 and DRAM as latency plus shared bandwidth. Whether a sector is in the L2 is
 * remembered by tags, one place for each of them: data that a kernel has not touched before comes
 * from DRAM.
 */
#include "memory_model.h"

#include <stdlib.h>

#include "bandwidth.h"
#include "core.h"
#include "timing_model.h"

enum { L2_SECTORS = 1 << 21 /* 64 MiB */ };

static uint32_t *l2;                                    /* tags */
static struct bandwidth *l2_bandwidth, *dram_bandwidth; /* of the simulated part of the chip */

void memory_model_begin(int sms) {
    l2 = calloc(L2_SECTORS, sizeof *l2);
    l2_bandwidth = malloc(sizeof *l2_bandwidth);
    dram_bandwidth = malloc(sizeof *dram_bandwidth);
    if (!l2 || !l2_bandwidth || !dram_bandwidth)
        sim_fatal("out-of-memory", NULL, "no memory for the timing model");
    bandwidth_begin(l2_bandwidth, (uint64_t)L2_BYTES_PER_CYCLE * sms / CHIP_SMS);
    bandwidth_begin(dram_bandwidth, (uint64_t)DRAM_BYTES_PER_CYCLE * sms / CHIP_SMS);
}

void memory_model_end(void) {
    free(l2);
    free(l2_bandwidth);
    free(dram_bandwidth);
    l2 = NULL;
    l2_bandwidth = dram_bandwidth = NULL;
}

uint64_t sim_l2_book(uint64_t time, uint64_t bytes) {
    return sim_timed() ? bandwidth_book(l2_bandwidth, time, bytes) : time;
}

bool memory_model_hit(uint32_t *tags, unsigned count, uint64_t sector) {
    uint32_t *tag = &tags[(sector ^ sector >> 21) % count];
    if (*tag == (uint32_t)sector + 1) return true;
    *tag = (uint32_t)sector + 1;
    return false;
}

uint64_t memory_model_fetch(uint64_t time, uint64_t first, uint64_t count, uint64_t bytes) {
    uint64_t missing = 0;
    for (uint64_t i = 0; i < count; ++i)
        missing += !memory_model_hit(l2, L2_SECTORS, first + i);
    uint64_t arrival = bandwidth_book(l2_bandwidth, time, bytes) + L2_LATENCY;
    if (!missing) return arrival;
    const uint64_t from_dram =
        bandwidth_book(dram_bandwidth, time, missing * GLOBAL_SECTOR_BYTES) + DRAM_LATENCY;
    if (arrival < from_dram) arrival = from_dram;
    return arrival;
}

uint64_t sim_global_fetch(uint64_t time, const void *address, size_t bytes) {
    if (!sim_timed() || !bytes) return time;
    const uint64_t device = global_device_address(address);
    const uint64_t first = device / GLOBAL_SECTOR_BYTES;
    const uint64_t last = (device + bytes - 1) / GLOBAL_SECTOR_BYTES;
    return memory_model_fetch(time, first, last - first + 1, bytes);
}
