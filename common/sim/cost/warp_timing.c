/*
 * warp_timing.c: what the instructions of a warp cost under SCHEDULE_TIME.
 *
 * Lanes run one after another, so their accesses to memory are logged first: the n-th access of
 * each lane makes one row, which stands for one instruction of the warp. When the lanes have had
 * their turn the rows are settled: coalesced into sectors, counted for bank conflicts, charged to
 * the warp's clock and to the servers that warps and units share. A server is the cycle from which
 * it is free again.
 */
#include "sim/cost/warp_timing.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/events.h"
#include "sim/core/global_memory.h"
#include "sim/core/host_memory.h"
#include "sim/core/scheduler.h"
#include "sim/core/storage.h"
#include "sim/cost/memory_model.h"
#include "sim/cost/timing_model.h"
#include "sim/cost/timing_units.h"
#include "sim/models/banks.h"

struct sm *timing_sms;

void timing_begin(int devices, int sms) {
    timing_end();
    if (!sim_timed()) return;
    const int sm_count = devices * sms;
    timing_sms = host_zeroed((size_t)sm_count, sizeof *timing_sms, "the timing model");
    for (int i = 0; i < sm_count; ++i)
        bandwidth_begin(&timing_sms[i].port, SHARED_PORT_BYTES);
    memory_model_begin(sms);
}

void timing_end(void) {
    free(timing_sms);
    timing_sms = NULL;
    memory_model_end();
}

/* ---- servers ---- */

uint64_t sim_server_book(int sm, enum sim_server server, uint64_t time, uint64_t cycles) {
    return sim_timed() ? book(&timing_sms[sm].server[server], time, cycles) : time;
}

uint64_t sim_port_book(int sm, uint64_t time, uint64_t bytes) {
    return sim_timed() ? bandwidth_book(&timing_sms[sm].port, time, bytes) : time;
}

/* An instruction of the warp goes through the port in `passes`. The warp may go on while some are
 * still to come, but not far: the queue in front of the port is short. Returns when the last is
 * through. */
static uint64_t pass_port(struct sim_warp *warp, uint64_t passes) {
    const uint64_t end = sim_port_book(warp->cta->sm, warp->clock, passes * SHARED_PORT_BYTES);
    if (end > warp->clock + passes + PORT_QUEUE_CYCLES)
        warp->clock = end - passes - PORT_QUEUE_CYCLES;
    return later(end, warp->clock + passes);
}

/* ---- global memory ---- */

uint64_t timing_copy(struct sim_thread *thread, const void *global) {
    uint64_t behind = (uint64_t)thread->warp->timing->logged[thread->lane] * ISSUE_CYCLES;
    const uint64_t arrival = memory_model_fetch(thread->warp->clock + behind, thread->cta->device,
                                                global_device_address(global) / GLOBAL_SECTOR_BYTES,
                                                1, 16, DRAM_LATENCY);
    return arrival + SHARED_LATENCY;
}

/* The units of `bytes` bytes that a row touches, each once. Returns how many. */
static int units_of(const struct row *row, uint64_t bytes, uint64_t unit[WARP_SIZE]) {
    enum { TABLE = 2 * WARP_SIZE };
    uint64_t table[TABLE] = {0};
    int count = 0;
    uint64_t last = 0;
    for (uint32_t lanes = row->lanes; lanes; lanes &= lanes - 1) {
        uint64_t s = row->address[__builtin_ctz(lanes)] / bytes;
        if (count && s == last) continue;
        last = s;
        unsigned i = (unsigned)(s % TABLE);
        while (table[i] && table[i] != s)
            i = (i + 1) % TABLE;
        if (table[i]) continue;
        table[i] = s;
        unit[count++] = s;
    }
    return count;
}

/* When a warp may issue this: with too many loads in flight it stalls for the oldest, what it
 * stores to shared memory it has loaded before, and the special-function unit takes one at a
 * time. */
static uint64_t stall_of(const struct sim_warp *warp, enum timing_op op) {
    const struct warp_timing *const t = warp->timing;
    if (op == TIMING_SPECIAL_FUNCTION)
        return timing_sms[warp->cta->sm].special_function[warp->index % SUB_PARTITIONS];
    if (op == TIMING_LD_GLOBAL || op == TIMING_LD_SHARED || op == TIMING_LD_CLUSTER)
        return t->load_done[t->next_load % LOADS_IN_FLIGHT];
    uint64_t latest = 0;
    if (op == TIMING_ST_SHARED)
        for (int i = 0; i < LOADS_IN_FLIGHT; ++i)
            latest = later(latest, t->load_done[i]);
    return latest;
}

static void load_in_flight(struct sim_warp *warp, uint64_t time) {
    struct warp_timing *t = warp->timing;
    t->load_done[t->next_load++ % LOADS_IN_FLIGHT] = time;
}

/* Is the sector in the L1? Afterwards it is. Rows of a matrix lie a power of two apart: the product
 * spreads them over the places. */
static bool l1_hit(struct sm *sm, uint64_t sector) {
    uint32_t *tag = &sm->l1[((uint32_t)(sector * 2654435761u) >> 8) % L1_SECTORS];
    if (*tag == (uint32_t)sector + 1) return true;
    *tag = (uint32_t)sector + 1;
    return false;
}

/* Stores of the warp that cross the link between two devices. */
static void report_crossing(const struct sim_warp *warp, uint64_t begin, uint64_t end) {
    if (!sim_recording()) return;
    sim_event_hook(&(struct sim_event){.kind = SIM_EVENT_STORE_CROSSES,
                                       .begin = begin,
                                       .end = end,
                                       .cta = warp->cta,
                                       .thread = -1,
                                       .link = true});
}

static void charge_global(struct sim_warp *warp, const struct row *row) {
    struct sm *sm = &timing_sms[warp->cta->sm];
    uint64_t sector[WARP_SIZE];
    const uint64_t lines = (uint64_t)units_of(row, GLOBAL_LINE_BYTES, sector);
    const int count = units_of(row, GLOBAL_SECTOR_BYTES, sector);
    sim_statistics.global_sectors += (uint64_t)count;
    if (row->op == TIMING_ST_GLOBAL) {
        const uint64_t end = pass_port(warp, lines * STORE_LINE_CYCLES);
        const uint64_t bytes = (uint64_t)count * GLOBAL_SECTOR_BYTES;
        const int home = memory_model_home(sector[0]);
        const uint64_t crossed = sim_link_book(end, warp->cta->device, home, bytes);
        sim_l2_book(crossed, home, bytes);
        if (home == warp->cta->device) return;
        report_crossing(warp, end, crossed);
        if (crossed > end + LINK_QUEUE_CYCLES) warp->clock = crossed - LINK_QUEUE_CYCLES;
        return;
    }
    const uint64_t begin = pass_port(warp, lines);
    uint64_t arrival = begin + L1_LATENCY;
    for (int i = 0; i < count; ++i) {
        if (row->op == TIMING_LD_GLOBAL && l1_hit(sm, sector[i])) continue;
        arrival = later(arrival, memory_model_fetch(begin, warp->cta->device, sector[i], 1,
                                                    GLOBAL_SECTOR_BYTES, DRAM_LATENCY));
    }
    if (row->op == TIMING_ATOMIC)
        warp->clock = arrival; /* its result decides what comes next */
    else
        load_in_flight(warp, arrival);
}

/* ---- shared memory ---- */

static void charge_shared(struct sim_warp *warp, const struct row *row) {
    unsigned passes;
    const unsigned extra = bank_passes(row->address, row->lanes, row->bytes, &passes);
    if (row->op == TIMING_CP_ASYNC) passes += CP_ASYNC_EXTRA_PASSES;
    const uint64_t end = pass_port(warp, passes);
    switch (row->op) {
    case TIMING_LD_SHARED:
        ++sim_statistics.ld_shared;
        sim_statistics.ld_shared_conflicts += extra;
        load_in_flight(warp, end + SHARED_LATENCY);
        break;
    case TIMING_ST_SHARED:
        ++sim_statistics.st_shared;
        sim_statistics.st_shared_conflicts += extra;
        break;
    default:
        sim_statistics.cp_async_conflicts += extra;
    }
}

/* From another CTA's shared memory: the network between the SMs is slower than any bank
 * conflict. */
static void charge_cluster(struct sim_warp *warp, const struct row *row) {
    const uint64_t bytes = (uint64_t)__builtin_popcount(row->lanes) * row->bytes;
    const uint64_t cycles = (bytes + DSMEM_BYTES_PER_CYCLE - 1) / DSMEM_BYTES_PER_CYCLE;
    const uint64_t begin = book(&timing_sms[warp->cta->sm].network, warp->clock, cycles);
    load_in_flight(warp, begin + cycles + DSMEM_CYCLES);
}

unsigned timing_rows(struct sim_warp *warp, const size_t *offset, int rows) {
    uint64_t address[WARP_SIZE];
    for (int i = 0; i < rows; ++i)
        address[i] = offset[i];
    unsigned passes;
    const unsigned extra = bank_passes(address, 0xffffffffu >> (WARP_SIZE - rows), 16, &passes);
    if (!sim_timed()) return extra;
    struct sm *sm = &timing_sms[warp->cta->sm];
    warp->clock =
        book(&sm->issue[warp->index % SUB_PARTITIONS], warp->clock, ISSUE_CYCLES) + ISSUE_CYCLES;
    warp->rows_done = pass_port(warp, passes);
    return extra;
}

/* ---- special functions ---- */

static void charge_special(const struct sim_warp *warp, uint64_t begin) {
    const uint64_t end = begin + SPECIAL_CYCLES;
    timing_sms[warp->cta->sm].special_function[warp->index % SUB_PARTITIONS] = end;
    if (sim_recording())
        sim_event_hook(&(struct sim_event){.kind = SIM_EVENT_SPECIAL,
                                           .begin = begin,
                                           .end = end,
                                           .cta = warp->cta,
                                           .thread = warp->index * WARP_SIZE});
}

/* ---- the log ---- */

void timing_warp_begin(struct sim_warp *warp, uint64_t time) {
    warp->clock = time + CTA_LAUNCH_CYCLES + CTA_SETUP_CYCLES;
    warp->timing = NULL;
    if (sim_timed()) warp->timing = sim_arena_alloc(warp->cta->cluster, sizeof *warp->timing);
}

void timing_access(struct sim_thread *thread, enum timing_op op, uint64_t address, unsigned bytes) {
    struct warp_timing *t = thread->warp->timing;
    const int lane = thread->lane;
    struct row *row = &t->row[t->logged[lane]];
    if (t->logged[lane] == t->rows) {
        ++t->rows;
        thread->warp->backlog = true;
        row->op = op;
        row->bytes = bytes;
        row->lanes = 0;
    }
    row->lanes |= 1u << lane;
    row->address[lane] = address;
    if (++t->logged[lane] == LOG_LANES_AHEAD) scheduler_yield();
}

bool timing_settle(struct sim_warp *warp, uint64_t horizon) {
    struct warp_timing *t = warp->timing;
    uint64_t *issue = &timing_sms[warp->cta->sm].issue[warp->index % SUB_PARTITIONS];
    while (t->settled < t->rows) {
        const struct row *row = &t->row[t->settled];
        /* Stall first and book later: a server booked ahead of time would keep others waiting. */
        warp->clock = later(warp->clock, stall_of(warp, row->op));
        if (warp->clock > horizon) return true;
        const uint64_t cycles =
            ISSUE_CYCLES + (row->bytes < SHARED_BANK_BYTES ? SCALAR_OVERHEAD : 0);
        warp->clock = book(issue, warp->clock, cycles) + cycles;
        if (row->op == TIMING_LD_SHARED || row->op == TIMING_ST_SHARED ||
            row->op == TIMING_CP_ASYNC)
            charge_shared(warp, row);
        else if (row->op == TIMING_LD_CLUSTER)
            charge_cluster(warp, row);
        else if (row->op == TIMING_SPECIAL_FUNCTION)
            charge_special(warp, warp->clock - cycles);
        else
            charge_global(warp, row);
        ++t->settled;
    }
    t->rows = t->settled = 0;
    warp->backlog = false;
    memset(t->logged, 0, sizeof t->logged);
    return false;
}

void timing_drain(struct sim_warp *warp) {
    if (!sim_timed()) return;
    while (warp->backlog)
        scheduler_yield();
    scheduler_advance_warp(warp);
}
