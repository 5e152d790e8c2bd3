/* launches_ahead.c: a table of the words of global memory that unfinished launches have
 * accessed. */
#include "sim/order/launches_ahead.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/state.h"
#include "sim/order/prerequisites.h"

enum { CELL_BYTES = 4 };

/* The accesses of one kind to a cell. */
struct accesses {
    uint32_t launch;     /* the latest; 0: none */
    uint16_t site;       /* of the latest */
    uint8_t bytes, weak; /* masks; weak: not by strong accesses alone */
};

struct cell {
    uintptr_t number;      /* the address / CELL_BYTES; 0: free */
    struct accesses of[2]; /* enum sim_access */
};

bool launches_ahead_known, launches_ahead_kept;

static struct cell *table;
static size_t room, used;

static uint32_t launch; /* the running one */
/* Unfinished are launches from `first` on while the running one has not waited, and those from
 * `behind` on, but for the one directly ahead, when it has. */
static uint32_t first, behind;
static bool complete = true;

static struct cell *cell_in(struct cell *cells, size_t size, uintptr_t number) {
    size_t i = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) % size;
    while (cells[i].number && cells[i].number != number)
        i = (i + 1) % size;
    return &cells[i];
}

static struct cell *cell_made(uintptr_t number) {
    if (2 * used >= room) {
        const size_t more = room ? 2 * room : 1 << 12;
        struct cell *const grown =
            host_zeroed(more, sizeof *grown, "the accesses of the launches ahead");
        for (size_t i = 0; i < room; ++i)
            if (table[i].number) *cell_in(grown, more, table[i].number) = table[i];
        free(table);
        table = grown;
        room = more;
    }
    struct cell *const cell = cell_in(table, room, number);
    if (!cell->number) ++used;
    cell->number = number;
    return cell;
}

static void forget(void) {
    free(table);
    table = NULL;
    room = used = 0;
}

void launches_ahead_next(bool early, bool lets) {
    const bool overlaps = early && !complete && sim.lets_next;
    launches_ahead_known = true;
    launches_ahead_kept = lets;
    complete = false;
    const uint32_t before = first;
    ++launch;
    if (!overlaps) {
        first = behind = launch;
        forget();
        return;
    }
    /* Has the launch ahead let this one begin only behind the end of those ahead of it? */
    first = sim.lets_late ? launch - 1 : before;
    behind = sim.waits ? launch - 1 : before;
}

void launches_ahead_complete(void) { complete = true; }

/* The part of [at, end) that lies in one cell. */
struct part {
    uintptr_t number, next;
    unsigned bytes; /* mask */
};

static struct part part_at(uintptr_t at, uintptr_t end) {
    struct part part = {.number = at / CELL_BYTES, .next = (at / CELL_BYTES + 1) * CELL_BYTES};
    if (part.next > end) part.next = end;
    part.bytes = ((1u << (part.next - at)) - 1) << at % CELL_BYTES;
    return part;
}

void launches_ahead_keep(const void *pointer, size_t bytes, enum sim_access access, bool strong) {
    const struct sim_thread *const thread = sim_thread();
    const uint16_t site = source_site(thread->self.file, thread->self.line);
    const uintptr_t end = (uintptr_t)pointer + bytes;
    struct part part;
    for (uintptr_t at = (uintptr_t)pointer; at < end; at = part.next) {
        part = part_at(at, end);
        struct accesses *const a = &cell_made(part.number)->of[access];
        if (a->launch < first) *a = (struct accesses){0}; /* complete by now */
        a->launch = launch;
        a->bytes |= (uint8_t)part.bytes;
        if (!strong) a->weak |= (uint8_t)part.bytes;
        a->site = site;
    }
}

static bool is_unfinished(uint32_t of, bool waited) {
    return waited ? of >= behind && of + 1 < launch : of >= first && of < launch;
}

static void accuse(const void *pointer, enum sim_access access, const struct accesses *then,
                   enum sim_access then_access, bool waited) {
    struct sim_thread *const thread = sim_thread();
    struct sim_side now_side = {.file = thread->self.file,
                                .line = thread->self.line,
                                .cta = thread->cta->index,
                                .thread = thread->index,
                                .cycle = sim_now()};
    struct sim_side then_side = {.cta = -1, .thread = -1, .cycle = SIDE_UNKNOWN};
    const char *file;
    int line;
    char where[96];
    source_site_raw(then->site, &then_side.file, &then_side.line);
    source_site_of(then->site, &file, &line);
    sim_hazard_between(&now_side, &then_side);
    sim_hazard("early-access", thread,
               "%s %s %s\n    and the launch %s may still %s it, at %s:%d.\n    %s",
               access == SIM_READ ? "reads" : "writes", global_where(pointer, where, sizeof where),
               waited ? "after griddepcontrol_wait()," : "before griddepcontrol_wait(),",
               waited ? "before the one ahead" : "ahead",
               then_access == SIM_READ ? "read" : "write", file, line,
               waited ? "The launch ahead has never waited, so the end of it is not the end of "
                        "those before: let it call griddepcontrol_wait(), too."
                      : "That launch has let this one begin, and its own writes are not visible "
                        "yet. This thread has to wait first, or to be\n    ordered after a thread "
                        "that has waited.");
}

void launches_ahead_check(const void *pointer, size_t bytes, enum sim_access access, bool strong,
                          bool waited) {
    const uintptr_t end = (uintptr_t)pointer + bytes;
    struct part part;
    if (first == launch || !room) return;
    for (uintptr_t at = (uintptr_t)pointer; at < end; at = part.next) {
        part = part_at(at, end);
        const struct cell *const cell = cell_in(table, room, part.number);
        for (int i = access == SIM_READ ? SIM_WRITE : SIM_READ; i <= SIM_WRITE; ++i) {
            const struct accesses *const then = &cell->of[i];
            const unsigned shared = then->bytes & part.bytes;
            if (!shared || !is_unfinished(then->launch, waited)) continue;
            if (!strong || (then->weak & shared)) {
                accuse((const char *)(part.number * CELL_BYTES) + __builtin_ctz(shared), access,
                       then, (enum sim_access)i, waited);
                return;
            }
            if (access == SIM_READ) prerequisites_acquire_all(sim_thread());
        }
    }
}
