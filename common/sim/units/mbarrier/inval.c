/*
 * inval.c: the end of an mbarrier, after which its memory may hold something else.
 *
 * PTX ISA: mbarrier.inval, and mbarrier.init: it must not meet a valid mbarrier object.
 */
#include <stdio.h>

#include "hopper/mbarrier.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/cost/timing_model.h"
#include "sim/order/clock.h"
#include "sim/order/shadow.h"
#include "sim/units/mbarrier/table.h"

/* Does some operation on the barrier possibly still come, for all that the thread knows? */
static const char *still_used(const struct mbarrier_record *record, const struct sim_thread *thread,
                              char *text, size_t size) {
    const struct sim_cluster *const cluster = record->cta->cluster;
    char who[96];
    if (record->copy_epoch && !sim_happens_before(thread, record->slot, record->copy_epoch))
        return "copies that count for it may still be under way";
    for (const struct remote_arrival *a = record->remote; a; a = a->next) {
        const bool waited = a->landed && sim_happens_before(thread, record->slot, a->landed_phase);
        if (!waited && !sim_happens_before(thread, a->issuer->slot, a->epoch))
            return "an arrival from another CTA may still be under way";
    }
    for (int slot = 0; slot < record->uses.size; ++slot) {
        if (!record->uses.at[slot] || sim_happens_before(thread, slot, record->uses.at[slot]))
            continue;
        snprintf(text, size, "%s may still use it",
                 sim_who(cluster->slot[slot].owner, who, sizeof who));
        return text;
    }
    return NULL;
}

void sim_mbarrier_inval(uint64_t *barrier) {
    struct sim_thread *const thread = sim_thread();
    const struct sim_shared_pointer pointer =
        sim_shared_at(barrier, sizeof *barrier, sizeof *barrier);
    struct mbarrier_record *const record = mbarrier_find(pointer, "mbarrier.inval");
    char text[128], what[320];
    const char *const used = still_used(record, thread, text, sizeof text);
    if (used) {
        snprintf(what, sizeof what,
                 "invalidated, but %s: nothing orders that use before this\n"
                 "    put a barrier after the last use of the mbarrier; then one thread "
                 "invalidates it",
                 used);
        mbarrier_report("mbarrier-inval-order", record, thread, what);
    }
    sim_shadow_mbarrier(thread, pointer.cta, pointer.offset, false);
    sim_poison(pointer.host, sizeof *barrier);
    sim_advance(MBARRIER_ARRIVE_CYCLES);
}
