/*
 * memory_model.c: L2 and DRAM as latency plus shared bandwidth, and the link between devices.
 * Whether a sector is in the L2 is remembered by tags, one place for each of them: data that a
 * kernel has not touched before comes from DRAM.
 */
#include "sim/cost/memory_model.h"

#include <math.h>
#include <stdlib.h>

#include "services/devices.h"
#include "sim/core/global_memory.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"
#include "sim/cost/timing_model.h"
#include "sim/models/bandwidth.h"

enum { L2_SECTORS = 1 << 21 /* 64 MiB */, L2_SINCE = 16 /* cycles */, SECTOR_SHIFT = 5 };
_Static_assert(1 << SECTOR_SHIFT == GLOBAL_SECTOR_BYTES, "addresses of sectors");

/* What differs between the machines. */
static const struct memory_rates {
    int sms; /* of the chip */
    int l2_bytes_per_cycle, dram_bytes_per_cycle;
} memory_rates[MACHINES] = {
    [MACHINE_HOPPER] = {CHIP_SMS, L2_BYTES_PER_CYCLE, DRAM_BYTES_PER_CYCLE},
    [MACHINE_BLACKWELL] = {B200_SMS, B200_L2_BYTES_PER_CYCLE, B200_DRAM_BYTES_PER_CYCLE},
};

/* Of one device. */
struct memory {
    uint32_t *l2;       /* tags */
    uint32_t *l2_since; /* when each of these sectors has come from DRAM, units of L2_SINCE */
    struct bandwidth l2_bandwidth, dram_bandwidth; /* of the simulated part of the chip */
    struct bandwidth link_out, link_in;            /* of the link, likewise */
};
static struct memory *memories[GEMM_DEVICES]; /* made when they are first used */
static int memory_sms;

static struct memory *memory_of(int device) {
    if (memories[device]) return memories[device];
    static const char what[] = "the model of the L2";
    struct memory *const made = host_zeroed(1, sizeof *made, what);
    made->l2 = host_zeroed(L2_SECTORS, sizeof *made->l2, what);
    made->l2_since = host_zeroed(L2_SECTORS, sizeof *made->l2_since, what);
    const struct memory_rates rates = memory_rates[sim.machine];
    const int sms = memory_sms;
    bandwidth_begin(&made->l2_bandwidth, (uint64_t)rates.l2_bytes_per_cycle * sms / rates.sms);
    /* A wave of n tiles, as square as it can be, needs the rows and columns of its edges: some
     * sqrt(n) of them. So fewer SMs ask DRAM for more per SM than the whole chip does, and get as
     * much more, or a small simulated chip would be short of memory where the real one is not. */
    const double share = sqrt(sms < rates.sms ? (double)sms / rates.sms : 1);
    bandwidth_begin(&made->dram_bandwidth, (uint64_t)(rates.dram_bytes_per_cycle * share));
    /* What crosses the link are results, as many bytes for each SM here as there. */
    bandwidth_begin(&made->link_out, (uint64_t)LINK_BYTES_PER_CYCLE * sms / rates.sms);
    bandwidth_begin(&made->link_in, (uint64_t)LINK_BYTES_PER_CYCLE * sms / rates.sms);
    return memories[device] = made;
}

void memory_model_begin(int sms) { memory_sms = sms; }

void memory_model_end(void) {
    for (int device = 0; device < GEMM_DEVICES; ++device) {
        if (!memories[device]) continue;
        free(memories[device]->l2);
        free(memories[device]->l2_since);
        free(memories[device]);
        memories[device] = NULL;
    }
}

int memory_model_home(uint64_t sector) {
    const uint64_t device = sector >> (DEVICE_SHIFT - SECTOR_SHIFT);
    return device < GEMM_DEVICES ? (int)device : 0;
}

uint64_t sim_link_book(uint64_t time, int from, int to, uint64_t bytes) {
    if (!sim_timed() || from == to) return time;
    const uint64_t sent = bandwidth_book(&memory_of(from)->link_out, time, bytes);
    const uint64_t received = bandwidth_book(&memory_of(to)->link_in, time, bytes);
    return sent > received ? sent : received;
}

uint64_t sim_l2_book(uint64_t time, int home, uint64_t bytes) {
    return sim_timed() ? bandwidth_book(&memory_of(home)->l2_bandwidth, time, bytes) : time;
}

uint64_t memory_model_fetch(uint64_t time, int device, uint64_t first, uint64_t count,
                            uint64_t bytes, uint64_t dram_latency) {
    const int home = memory_model_home(first);
    struct memory *const memory = memory_of(home);
    uint64_t arrival = bandwidth_book(&memory->l2_bandwidth, time, bytes) + L2_LATENCY;
    for (uint64_t sector = first; sector < first + count; ++sector) {
        uint32_t *since = &memory->l2_since[sector % L2_SECTORS];
        if (memory->l2[sector % L2_SECTORS] != (uint32_t)sector + 1) {
            memory->l2[sector % L2_SECTORS] = (uint32_t)sector + 1;
            const uint64_t end = bandwidth_book(&memory->dram_bandwidth, time, GLOBAL_SECTOR_BYTES);
            *since = (uint32_t)((end + dram_latency - L2_LATENCY) / L2_SINCE);
        }
        /* Who asks while the sector is on its way waits for it, too. */
        const uint64_t there = (uint64_t)*since * L2_SINCE + L2_LATENCY;
        if (arrival < there) arrival = there;
    }
    if (home == device) return arrival;
    /* The L2 that is asked is the home device's; then the bytes cross the link. */
    return sim_link_book(arrival, home, device, bytes) + LINK_LATENCY;
}

uint64_t sim_global_fetch(uint64_t time, int device, const void *address, size_t bytes) {
    if (!sim_timed() || !bytes) return time;
    const uint64_t at = global_device_address(address);
    const uint64_t first = at / GLOBAL_SECTOR_BYTES;
    const uint64_t last = (at + bytes - 1) / GLOBAL_SECTOR_BYTES;
    return memory_model_fetch(time, device, first, last - first + 1, bytes, TMA_DRAM_LATENCY);
}

int sim_home_of(const void *address) {
    return memory_model_home(global_device_address(address) / GLOBAL_SECTOR_BYTES);
}
