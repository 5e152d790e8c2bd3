/*
 * access_times.c: a table in which a later access may take an earlier one's place: of a long run
 * the recent accesses are known, and it is these that hazards are about.
 */
#include "sim/order/access_times.h"

#include <stdlib.h>

#include "sim/core/host_memory.h"
#include "sim/core/state.h"

enum { ENTRIES = 1 << 18 };

static struct when {
    uint64_t cycle;
    uint32_t epoch;
    int cluster;
    uint16_t slot, site;
} * table; /* NULL: nothing is recorded */

static struct when *entry(int cluster, int slot, uint32_t epoch, uint16_t site) {
    uint32_t hash = (uint32_t)cluster * 2654435761u ^ (uint32_t)slot * 40503u;
    hash = (hash ^ epoch * 2246822519u ^ site) * 2654435761u;
    return &table[hash >> 14];
}

void access_times_begin(void) {
    table = host_zeroed(ENTRIES, sizeof *table, "the times of accesses");
    for (int i = 0; i < ENTRIES; ++i)
        table[i].cluster = -1;
}

void access_times_end(void) {
    free(table);
    table = NULL;
}

void access_times_note(const struct sim_thread *thread, int slot, uint32_t epoch, uint16_t site) {
    if (!table) return;
    const int cluster = thread->cta->cluster->index;
    *entry(cluster, slot, epoch, site) =
        (struct when){sim_now(), epoch, cluster, (uint16_t)slot, site};
}

uint64_t access_time_of(int cluster, int slot, uint32_t epoch, uint16_t site) {
    if (!table) return SIDE_UNKNOWN;
    const struct when *const found = entry(cluster, slot, epoch, site);
    const bool same = found->cluster == cluster && found->slot == slot && found->epoch == epoch &&
                      found->site == site;
    return same ? found->cycle : SIDE_UNKNOWN;
}
