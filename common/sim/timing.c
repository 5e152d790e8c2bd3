/*
 * timing.c: what the instructions of a warp cost under SCHEDULE_TIME.
 *
 * Lanes run one after another, so their accesses to memory are logged first: the n-th access of
 * each lane makes one row, which stands for one instruction of the warp. When the lanes have had
 * their turn the rows are settled: coalesced into sectors, counted for bank conflicts, charged to
 * the warp's clock and to the servers that warps and units share. A server is the cycle from which
 * it is free again.
 */
#include <stdlib.h>
#include <string.h>

#include "banks.h"
#include "core.h"
#include "memory_model.h"
#include "timing_model.h"

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
    uint64_t issue[SUB_PARTITIONS], mma[SUB_PARTITIONS];
    uint64_t server[SERVERS_PER_SM];
    uint64_t network; /* loads from other SMs' shared memory */
    uint32_t l1[L1_SECTORS]; /* tag: sector number + 1 */
};

static struct sm *sms;

void timing_begin(int sm_count) {
    timing_end();
    if (!sim_timed()) return;
    sms = calloc(sm_count, sizeof *sms);
    if (!sms) sim_fatal("out-of-memory", NULL, "no memory for the timing model");
    memory_model_begin(sm_count);
}

void timing_end(void) {
    free(sms);
    sms = NULL;
    memory_model_end();
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* ---- servers ---- */

static uint64_t book(uint64_t *server, uint64_t time, uint64_t cycles) {
    uint64_t begin = later(*server, time);
    *server = begin + cycles;
    return begin;
}

uint64_t sim_server_book(int sm, enum sim_server server, uint64_t time, uint64_t cycles) {
    return sim_timed() ? book(&sms[sm].server[server], time, cycles) : time;
}

/* ---- global memory ---- */

uint64_t timing_copy(struct sim_thread *thread, const void *global) {
    uint64_t behind = (uint64_t)thread->warp->timing->logged[thread->lane] * ISSUE_CYCLES;
    return memory_model_fetch(thread->warp->clock + behind,
                              global_device_address(global) / GLOBAL_SECTOR_BYTES, 1, 16) +
           SHARED_LATENCY;
}

/* The sectors of a row, each once. Returns how many. */
static int sectors_of(const struct row *row, uint64_t sector[WARP_SIZE]) {
    enum { TABLE = 128 };
    uint64_t table[TABLE] = {0};
    int count = 0;
    uint64_t last = 0;
    for (uint32_t lanes = row->lanes; lanes; lanes &= lanes - 1) {
        uint64_t s = row->address[__builtin_ctz(lanes)] / GLOBAL_SECTOR_BYTES;
        if (count && s == last) continue;
        last = s;
        unsigned i = (unsigned)(s % TABLE);
        while (table[i] && table[i] != s)
            i = (i + 1) % TABLE;
        if (table[i]) continue;
        table[i] = s;
        sector[count++] = s;
    }
    return count;
}

/* When a warp may issue this: with too many loads in flight it stalls for the oldest, and what it
 * stores to shared memory it has loaded before. */
static uint64_t stall_of(const struct warp_timing *t, enum timing_op op) {
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

static void charge_global(struct sim_warp *warp, const struct row *row) {
    struct sm *sm = &sms[warp->cta->sm];
    uint64_t sector[WARP_SIZE];
    const int count = sectors_of(row, sector);
    sim_statistics.global_sectors += (uint64_t)count;
    const uint64_t begin =
        book(&sm->server[SERVER_SHARED_PORT], warp->clock,
             (uint64_t)(count * GLOBAL_SECTOR_BYTES + SHARED_PORT_BYTES - 1) / SHARED_PORT_BYTES);
    if (row->op == TIMING_ST_GLOBAL) {
        sim_l2_book(begin, (uint64_t)count * GLOBAL_SECTOR_BYTES);
        return;
    }
    uint64_t arrival = begin + L1_LATENCY;
    for (int i = 0; i < count; ++i) {
        if (row->op == TIMING_LD_GLOBAL && memory_model_hit(sm->l1, L1_SECTORS, sector[i]))
            continue;
        arrival = later(arrival, memory_model_fetch(begin, sector[i], 1, GLOBAL_SECTOR_BYTES));
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
    uint64_t *port = &sms[warp->cta->sm].server[SERVER_SHARED_PORT];
    const uint64_t begin = book(port, warp->clock, passes);
    switch (row->op) {
    case TIMING_LD_SHARED:
        ++sim_statistics.ld_shared;
        sim_statistics.ld_shared_conflicts += extra;
        load_in_flight(warp, begin + passes + SHARED_LATENCY);
        break;
    case TIMING_ST_SHARED:
        ++sim_statistics.st_shared;
        sim_statistics.st_shared_conflicts += extra;
        break;
    default:
        sim_statistics.cp_async_conflicts += extra;
    }
}

/* From another CTA's shared memory: the network between the SMs is slower than any bank conflict. */
static void charge_cluster(struct sim_warp *warp, const struct row *row) {
    const uint64_t bytes = (uint64_t)__builtin_popcount(row->lanes) * row->bytes;
    const uint64_t cycles = (bytes + DSMEM_BYTES_PER_CYCLE - 1) / DSMEM_BYTES_PER_CYCLE;
    const uint64_t begin = book(&sms[warp->cta->sm].network, warp->clock, cycles);
    load_in_flight(warp, begin + cycles + DSMEM_CYCLES);
}

unsigned timing_rows(struct sim_warp *warp, const size_t *offset, int rows) {
    uint64_t address[WARP_SIZE];
    for (int i = 0; i < rows; ++i)
        address[i] = offset[i];
    unsigned passes;
    const unsigned extra = bank_passes(address, 0xffffffffu, 16, &passes);
    if (!sim_timed()) return extra;
    struct sm *sm = &sms[warp->cta->sm];
    warp->clock =
        book(&sm->issue[warp->index % SUB_PARTITIONS], warp->clock, ISSUE_CYCLES) + ISSUE_CYCLES;
    warp->rows_done = book(&sm->server[SERVER_SHARED_PORT], warp->clock, passes) + passes;
    return extra;
}

/* ---- registers that arrive later ---- */

/* Found by their place relative to the first ones that the warp used, so that every run finds the
 * same. */
static uint64_t *ready_entry(struct warp_timing *t, const void *registers, bool claim) {
    if (!t->first_registers) t->first_registers = registers;
    const uintptr_t distance = (uintptr_t)registers - (uintptr_t)t->first_registers;
    const unsigned i = (unsigned)(distance / 8 % READY_ENTRIES);
    if (t->ready[i].registers == registers) return &t->ready[i].time;
    if (!claim) return NULL;
    t->ready[i].registers = registers;
    return &t->ready[i].time;
}

static uint64_t ready_time(struct warp_timing *t, const void *registers) {
    const uint64_t *entry = ready_entry(t, registers, false);
    return entry ? *entry : 0;
}

void timing_fragments(struct sim_warp *warp, const uint32_t *r) {
    if (!sim_timed()) return;
    /* An mma takes all four registers, or two of them. */
    for (int half = 0; half < 2; ++half)
        *ready_entry(warp->timing, r + 2 * half, true) = warp->rows_done + SHARED_LATENCY;
}

void timing_mma(struct sim_warp *warp, const float *d) {
    if (!sim_timed()) return;
    struct sm *sm = &sms[warp->cta->sm];
    const int sub = warp->index % SUB_PARTITIONS;
    const uint64_t issue = book(&sm->issue[sub], warp->clock, ISSUE_CYCLES);
    const uint64_t begin = book(&sm->mma[sub], issue, MMA_INTERVAL);
    *ready_entry(warp->timing, d, true) = begin + MMA_LATENCY;
    warp->clock = begin + ISSUE_CYCLES;
    if (sim_recording())
        sim_event_hook(&(struct sim_event){.kind = SIM_EVENT_MMA,
                                           .begin = begin,
                                           .end = begin + MMA_INTERVAL,
                                           .cta = warp->cta,
                                           .thread = warp->index * WARP_SIZE});
}

/* ---- the log ---- */

void timing_warp_begin(struct sim_warp *warp, uint64_t time) {
    warp->clock = time;
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
    uint64_t *issue = &sms[warp->cta->sm].issue[warp->index % SUB_PARTITIONS];
    while (t->settled < t->rows) {
        const struct row *row = &t->row[t->settled];
        /* Stall first and book later: a server booked ahead of time would keep others waiting. */
        warp->clock = later(warp->clock, stall_of(t, row->op));
        if (warp->clock > horizon) return true;
        const uint64_t cycles =
            ISSUE_CYCLES + (row->bytes < SHARED_BANK_BYTES ? SCALAR_OVERHEAD : 0);
        warp->clock = book(issue, warp->clock, cycles) + cycles;
        if (row->op == TIMING_LD_SHARED || row->op == TIMING_ST_SHARED ||
            row->op == TIMING_CP_ASYNC)
            charge_shared(warp, row);
        else if (row->op == TIMING_LD_CLUSTER)
            charge_cluster(warp, row);
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

void timing_operands(struct sim_thread *thread, const float *d, const uint32_t *a,
                     const uint32_t *b) {
    if (!sim_timed() || thread->lane) return;
    struct sim_warp *warp = thread->warp;
    struct warp_timing *t = warp->timing;
    const uint64_t ready = later(ready_time(t, a), later(ready_time(t, b), ready_time(t, d)));
    const uint64_t busy = sms[warp->cta->sm].mma[warp->index % SUB_PARTITIONS];
    const uint64_t begin = later(ready, busy);
    if (begin <= warp->clock) return;
    warp->clock = begin;
    scheduler_yield();
}
