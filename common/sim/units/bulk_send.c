/* bulk_send.c: contiguous bytes from one CTA's shared memory to another's. */
#include <stdlib.h>
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/jobs.h"
#include "sim/core/run.h"
#include "sim/cost/timing_async.h"
#include "sim/cost/timing_model.h"
#include "sim/order/shadow.h"
#include "sim/units/mbarrier_table.h"
#include "sim/units/tma_copy.h"

enum { CHUNK = 16 };

struct send {
    struct sim_job job; /* first */
    struct async_copy copy;
    struct sim_shared_place from, to;
    uint32_t bytes;
};

static void complete(struct sim_job *job) {
    struct send *const send = (struct send *)job;
    memcpy(send->to.host, send->from.host, send->bytes);
    mbarrier_copy_lands(&send->copy, send->bytes);
    free(send);
}

static void cancel(struct sim_job *job) { free(job); }

void bulk_send(struct sim_shared_place to, const void *shared, uint32_t bytes,
               struct sim_shared_place barrier) {
    static const char operation[] = "cp.async.bulk";
    struct sim_thread *const thread = sim_thread();
    if (!bytes) return;
    if (bytes % CHUNK)
        sim_fatal("misaligned", thread, "%s: %u bytes: it has to be a multiple of %d", operation,
                  bytes, CHUNK);
    if (barrier.cta != to.cta)
        sim_fatal("mbarrier-uninitialized", thread,
                  "%s: its mbarrier is not in the CTA that gets the bytes", operation);
    check_target_alive(to.cta, operation);
    struct mbarrier_record *const record = mbarrier_find(barrier, operation);
    struct send *const send = host_zeroed(1, sizeof *send, "a bulk copy");
    send->job.complete = complete;
    send->job.cancel = cancel;
    send->job.cluster = thread->cta->cluster;
    send->from = sim_shared_at(shared, bytes, CHUNK);
    send->to = to;
    send->bytes = bytes;
    mbarrier_copy_begins(record, &send->copy, &send->job);
    sim_shadow_async(thread, send->from.cta, send->from.offset, bytes, SIM_READ, record->slot,
                     send->copy.epoch);
    sim_shadow_async(thread, to.cta, to.offset, bytes, SIM_WRITE, record->slot, send->copy.epoch);
    sim_poison(to.host, bytes);
    sim_job_start(&send->job, time_tma_load(thread->cta, bytes).end);
    sim_advance(TMA_THREAD_CYCLES);
    sim_maybe_yield();
}
