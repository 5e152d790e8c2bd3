/* bulk_send.c: contiguous bytes from one CTA's shared memory, or registers, to another's, or a
 * reduction there. */
#include <stdlib.h>
#include <string.h>

#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/jobs.h"
#include "sim/core/state.h"
#include "sim/cost/timing_async.h"
#include "sim/cost/timing_model.h"
#include "sim/order/shadow.h"
#include "sim/units/mbarrier/table.h"
#include "sim/units/tma/copy.h"

enum { CHUNK = 16 };

struct send {
    struct sim_job job; /* first */
    struct async_copy copy;
    struct sim_shared_pointer from, to; /* from: host NULL, `value` is sent */
    unsigned char value[CHUNK];
    uint32_t bytes;
    struct tma_reduction reduction;
};

static void complete(struct sim_job *job) {
    struct send *const send = (struct send *)job;
    tma_bring(&send->reduction, send->to.host, send->from.host ? send->from.host : send->value,
              send->bytes);
    mbarrier_copy_lands(&send->copy, send->bytes);
    free(send);
}

static void cancel(struct sim_job *job) { free(job); }

static struct send *new_send(struct sim_shared_pointer to, uint32_t bytes,
                             struct sim_shared_pointer barrier, struct tma_reduction reduction,
                             const char *operation) {
    if (barrier.cta != to.cta)
        sim_fatal("mbarrier-uninitialized", sim_thread(),
                  "%s: its mbarrier is not in the CTA that gets the bytes", operation);
    check_target_alive(to.cta, operation);
    struct send *const send = host_zeroed(1, sizeof *send, "a bulk copy");
    send->job.complete = complete;
    send->job.cancel = cancel;
    send->job.cluster = to.cta->cluster;
    send->to = to;
    send->bytes = bytes;
    send->reduction = reduction;
    return send;
}

/* What another reduction may come to meanwhile still holds what it has so far. */
static void claim(const struct send *send, const struct mbarrier_record *record) {
    const struct sim_shared_pointer *const to = &send->to;
    const bool reduces = send->reduction.reduce, async_proxy = send->from.host;
    sim_shadow_async_store(sim_thread(), to->cta, to->offset, send->bytes, record->slot,
                           send->copy.epoch, async_proxy, reduces);
    if (!reduces) sim_poison(to->host, send->bytes);
}

void async_store(struct sim_shared_pointer to, const void *value, uint32_t bytes,
                 struct sim_shared_pointer barrier, struct tma_reduction reduction) {
    const char *const operation = reduction.reduce ? "red.async" : "st.async";
    struct send *const send = new_send(to, bytes, barrier, reduction, operation);
    struct mbarrier_record *const record = mbarrier_find(barrier, operation);
    memcpy(send->value, value, bytes);
    mbarrier_store_begins(record, &send->copy, &send->job);
    claim(send, record);
    sim_advance(MBARRIER_ARRIVE_CYCLES);
    sim_job_start(&send->job, sim_now() + REMOTE_ARRIVE_CYCLES);
    sim_maybe_yield();
}

void bulk_send(struct sim_shared_pointer to, const void *shared, uint32_t bytes,
               struct sim_shared_pointer barrier, struct tma_reduction reduction) {
    const char *const operation = reduction.reduce ? "cp.reduce.async.bulk" : "cp.async.bulk";
    struct sim_thread *const thread = sim_thread();
    if (!bytes) return;
    if (bytes % CHUNK)
        sim_fatal("misaligned", thread, "%s: %u bytes: it has to be a multiple of %d", operation,
                  bytes, CHUNK);
    struct send *const send = new_send(to, bytes, barrier, reduction, operation);
    struct mbarrier_record *const record = mbarrier_find(barrier, operation);
    send->from = sim_shared_at(shared, bytes, CHUNK);
    mbarrier_copy_begins(record, &send->copy, &send->job);
    sim_shadow_async(thread, send->from.cta, send->from.offset, bytes, SIM_READ, record->slot,
                     send->copy.epoch);
    claim(send, record);
    sim_job_start(&send->job, time_tma_load(thread->cta, bytes).end);
    sim_advance(TMA_THREAD_CYCLES);
    sim_maybe_yield();
}
