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

#include "core.h"
#include "timing_model.h"

enum {
    BANKS = 32,
    BANK_BYTES = 4,
    READY_ENTRIES = 256,  /* registers whose arrival is remembered, per warp */
    L1_SECTORS = 1 << 12, /* 128 KiB in sectors */
    L2_SECTORS = 1 << 21, /* 64 MiB */
    FRACTION = 256        /* bandwidth is booked in fractions of a cycle */
};

/* One instruction of the warp, as far as its lanes have come. */
struct row {
    enum timing_op op;
    unsigned bytes;
    uint32_t lanes;
    uint64_t address[WARP_SIZE];
};

struct warp_timing {
    int rows;
    uint16_t logged[WARP_SIZE];
    uint64_t load_done[LOADS_IN_FLIGHT]; /* a ring */
    int next_load;
    struct {
        const void *registers;
        uint64_t time;
    } ready[READY_ENTRIES];
    struct row row[LOG_LANES_AHEAD];
};

struct sm {
    uint64_t issue[SUB_PARTITIONS], mma[SUB_PARTITIONS];
    uint64_t server[SERVERS_PER_SM];
    uint32_t l1[L1_SECTORS]; /* tag: sector number + 1 */
};

static struct sm *sms;
static uint32_t *l2;                /* tags */
static uint64_t l2_free, dram_free; /* in fractions */
static uint64_t l2_rate, dram_rate; /* bytes per cycle of the simulated part of the chip */

void timing_begin(int sm_count) {
    timing_end();
    if (!sim_timed()) return;
    sms = calloc(sm_count, sizeof *sms);
    l2 = calloc(L2_SECTORS, sizeof *l2);
    if (!sms || !l2) sim_fatal("out-of-memory", NULL, "no memory for the timing model");
    l2_free = dram_free = 0;
    l2_rate = (uint64_t)L2_BYTES_PER_CYCLE * sm_count / CHIP_SMS;
    dram_rate = (uint64_t)DRAM_BYTES_PER_CYCLE * sm_count / CHIP_SMS;
    if (!l2_rate) l2_rate = 1;
    if (!dram_rate) dram_rate = 1;
}

void timing_end(void) {
    free(sms);
    free(l2);
    sms = NULL;
    l2 = NULL;
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

static uint64_t book_bytes(uint64_t *server, uint64_t time, uint64_t bytes, uint64_t rate) {
    return (book(server, time * FRACTION, bytes * FRACTION / rate) + bytes * FRACTION / rate) /
           FRACTION;
}

uint64_t sim_l2_book(uint64_t time, uint64_t bytes) {
    return sim_timed() ? book_bytes(&l2_free, time, bytes, l2_rate) : time;
}

/* ---- global memory ---- */

static bool tag_hit(uint32_t *tags, unsigned count, uint64_t sector) {
    uint32_t *tag = &tags[(sector ^ sector >> 21) % count];
    if (*tag == (uint32_t)sector + 1) return true;
    *tag = (uint32_t)sector + 1;
    return false;
}

static uint64_t fetch_sectors(uint64_t time, uint64_t first, uint64_t count) {
    uint64_t missing = 0;
    for (uint64_t i = 0; i < count; ++i)
        missing += !tag_hit(l2, L2_SECTORS, first + i);
    uint64_t arrival =
        book_bytes(&l2_free, time, count * GLOBAL_SECTOR_BYTES, l2_rate) + L2_LATENCY;
    if (missing)
        arrival =
            later(arrival, book_bytes(&dram_free, time, missing * GLOBAL_SECTOR_BYTES, dram_rate) +
                               DRAM_LATENCY);
    return arrival;
}

uint64_t sim_global_fetch(uint64_t time, const void *address, size_t bytes) {
    if (!sim_timed() || !bytes) return time;
    uint64_t first = (uintptr_t)address / GLOBAL_SECTOR_BYTES;
    uint64_t last = ((uintptr_t)address + bytes - 1) / GLOBAL_SECTOR_BYTES;
    return fetch_sectors(time, first, last - first + 1);
}

uint64_t timing_copy(struct sim_thread *thread, const void *global) {
    uint64_t behind = (uint64_t)thread->warp->timing->logged[thread->lane] * ISSUE_CYCLES;
    return fetch_sectors(thread->warp->clock + behind, (uintptr_t)global / GLOBAL_SECTOR_BYTES, 1) +
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

static void stall_for_loads(struct sim_warp *warp) {
    for (int i = 0; i < LOADS_IN_FLIGHT; ++i)
        warp->clock = later(warp->clock, warp->timing->load_done[i]);
}

/* A load's registers arrive at `time`; a warp with too many loads in flight stalls for the oldest.
 */
static void load_in_flight(struct sim_warp *warp, uint64_t time) {
    struct warp_timing *t = warp->timing;
    uint64_t *oldest = &t->load_done[t->next_load++ % LOADS_IN_FLIGHT];
    warp->clock = later(warp->clock, *oldest);
    *oldest = time;
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
        if (row->op == TIMING_LD_GLOBAL && tag_hit(sm->l1, L1_SECTORS, sector[i])) continue;
        arrival = later(arrival, fetch_sectors(begin, sector[i], 1));
    }
    if (row->op == TIMING_ATOMIC)
        warp->clock = arrival; /* its result decides what comes next */
    else
        load_in_flight(warp, arrival);
}

/* ---- shared memory ---- */

/* Passes over the banks that these accesses of `words` words each take together: the most different
 * words that any bank holds. */
static unsigned passes_of(const uint64_t *address, int count, unsigned words) {
    uint64_t held[BANKS][WARP_SIZE];
    int depth[BANKS] = {0};
    int most = 0;
    for (int i = 0; i < count; ++i)
        for (unsigned w = 0; w < words; ++w) {
            uint64_t word = address[i] / BANK_BYTES + w;
            int bank = (int)(word % BANKS), j = 0;
            while (j < depth[bank] && held[bank][j] != word)
                ++j;
            if (j < depth[bank]) continue;
            held[bank][depth[bank]++] = word;
            if (most < depth[bank]) most = depth[bank];
        }
    return (unsigned)most;
}

/* 16-byte accesses go eight lanes at a time. */
static unsigned charge_port(struct sim_warp *warp, const uint64_t address[WARP_SIZE],
                            uint32_t lanes, unsigned bytes, unsigned *passes) {
    const int together = bytes >= 16 ? 8 : bytes >= 8 ? 16 : 32;
    unsigned extra = 0;
    *passes = 0;
    for (int first = 0; first < WARP_SIZE; first += together) {
        uint64_t some[WARP_SIZE];
        int count = 0;
        for (int lane = first; lane < first + together; ++lane)
            if (lanes >> lane & 1) some[count++] = address[lane];
        if (!count) continue;
        unsigned needed = passes_of(some, count, (bytes + BANK_BYTES - 1) / BANK_BYTES);
        *passes += needed;
        extra += needed - 1;
    }
    (void)warp;
    return extra;
}

static void charge_shared(struct sim_warp *warp, const struct row *row) {
    unsigned passes;
    const unsigned extra = charge_port(warp, row->address, row->lanes, row->bytes, &passes);
    uint64_t *port = &sms[warp->cta->sm].server[SERVER_SHARED_PORT];
    if (row->op == TIMING_ST_SHARED) stall_for_loads(warp); /* what is stored was loaded before */
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

unsigned timing_rows(struct sim_warp *warp, const size_t *offset, int rows) {
    uint64_t address[WARP_SIZE];
    for (int i = 0; i < rows; ++i)
        address[i] = offset[i];
    unsigned passes;
    const unsigned extra = charge_port(warp, address, 0xffffffffu, 16, &passes);
    if (!sim_timed()) return extra;
    struct sm *sm = &sms[warp->cta->sm];
    warp->clock =
        book(&sm->issue[warp->index % SUB_PARTITIONS], warp->clock, ISSUE_CYCLES) + ISSUE_CYCLES;
    warp->rows_done = book(&sm->server[SERVER_SHARED_PORT], warp->clock, passes) + passes;
    return extra;
}

/* ---- registers that arrive later ---- */

static uint64_t *ready_entry(struct warp_timing *t, const void *registers, bool claim) {
    unsigned i = (unsigned)((uintptr_t)registers / 8 * 2654435761u >> 8) % READY_ENTRIES;
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

void timing_mma(struct sim_warp *warp, const float *d, const uint32_t *a, const uint32_t *b) {
    if (!sim_timed()) return;
    struct warp_timing *t = warp->timing;
    struct sm *sm = &sms[warp->cta->sm];
    const int sub = warp->index % SUB_PARTITIONS;
    uint64_t operands = later(ready_time(t, a), later(ready_time(t, b), ready_time(t, d)));
    uint64_t issue = book(&sm->issue[sub], later(warp->clock, operands), ISSUE_CYCLES);
    uint64_t begin = book(&sm->mma[sub], issue, MMA_INTERVAL);
    *ready_entry(t, d, true) = begin + MMA_LATENCY;
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

void timing_warp_end(struct sim_warp *warp) { timing_settle(warp); }

void timing_access(struct sim_thread *thread, enum timing_op op, uint64_t address, unsigned bytes) {
    struct warp_timing *t = thread->warp->timing;
    const int lane = thread->lane;
    struct row *row = &t->row[t->logged[lane]];
    if (t->logged[lane] == t->rows) {
        ++t->rows;
        row->op = op;
        row->bytes = bytes;
        row->lanes = 0;
    }
    row->lanes |= 1u << lane;
    row->address[lane] = address;
    if (++t->logged[lane] == LOG_LANES_AHEAD) scheduler_yield();
}

void timing_settle(struct sim_warp *warp) {
    if (!sim_timed() || !warp->timing->rows) return;
    struct warp_timing *t = warp->timing;
    uint64_t *issue = &sms[warp->cta->sm].issue[warp->index % SUB_PARTITIONS];
    for (int i = 0; i < t->rows; ++i) {
        const struct row *row = &t->row[i];
        const uint64_t cycles = ISSUE_CYCLES + (row->bytes < BANK_BYTES ? SCALAR_OVERHEAD : 0);
        warp->clock = book(issue, warp->clock, cycles) + cycles;
        if (row->op == TIMING_LD_SHARED || row->op == TIMING_ST_SHARED ||
            row->op == TIMING_CP_ASYNC)
            charge_shared(warp, row);
        else
            charge_global(warp, row);
    }
    t->rows = 0;
    memset(t->logged, 0, sizeof t->logged);
}
