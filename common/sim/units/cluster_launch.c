/*
 * cluster_launch.c: requests for clusters that have not begun.
 *
 * Whether there is one is decided when the answer comes. A refusal need not mean that there is
 * none: at random, one comes all the same, and the clusters that are left begin when an SM is free.
 */
#include "blackwell/cluster_launch.h"

#include <stdlib.h>
#include <string.h>

#include "sim/core/events.h"
#include "sim/core/grid.h"
#include "sim/core/hazards.h"
#include "sim/core/host_memory.h"
#include "sim/core/jobs.h"
#include "sim/core/state.h"
#include "sim/cost/timing_model.h"
#include "sim/order/shadow.h"
#include "sim/units/mbarrier/table.h"
#include "sim/units/tcgen05_memory.h"

#define ANSWER_MARK 0xc1c0c1c0u

struct request {
    struct sim_job job; /* first */
    struct async_copy copy;
    struct sim_shared_pointer pointer;
};

static void answer(struct sim_job *job) {
    struct request *const request = (struct request *)job;
    const int cta = sim_chance(8) ? -1 : grid_cancel(request->pointer.cta->device);
    const struct b128 word = {{ANSWER_MARK, cta >= 0, (uint32_t)cta, 0}};
    memcpy(request->pointer.host, &word, sizeof word);
    mbarrier_copy_lands(&request->copy, sizeof word);
    free(request);
}

static void cancel_job(struct sim_job *job) { free(job); }

void sim_cluster_try_cancel(struct b128 *where, uint64_t *barrier) {
    struct sim_thread *const thread = sim_thread();
    struct sim_cta *const cta = thread->cta;
    if (!sim.tensor_memory) tcgen05_no_machine("clusterlaunchcontrol.try_cancel");
    if (cta->refused_file)
        sim_hazard("cluster-refused", thread,
                   "asks for another cluster, although this CTA has seen a refusal at %s:%d\n"
                   "    The behavior is undefined: end the loop there.",
                   source_name(cta->refused_file), cta->refused_line);
    struct request *const request = host_zeroed(1, sizeof *request, "a request for a cluster");
    request->pointer = sim_shared_at(where, sizeof *where, sizeof *where);
    struct mbarrier_record *const record =
        mbarrier_find(sim_shared_at(barrier, sizeof *barrier, sizeof *barrier),
                      "clusterlaunchcontrol.try_cancel");
    mbarrier_set_copies(record, "clusterlaunchcontrol.try_cancel");
    request->job.complete = answer;
    request->job.cancel = cancel_job;
    request->job.cluster = cta->cluster;
    mbarrier_copy_begins(record, &request->copy, &request->job);
    sim_shadow_async(thread, cta, request->pointer.offset, sizeof *where, SIM_WRITE, record->slot,
                     request->copy.epoch);
    sim_poison(request->pointer.host, sizeof *where);
    sim_job_start(&request->job, sim_now() + CLUSTER_CANCEL_CYCLES);
    sim_maybe_yield();
}

static void check(struct b128 answer) {
    if (answer.word[0] != ANSWER_MARK)
        sim_fatal("cluster-answer", sim_thread(),
                  "this is no answer of clusterlaunchcontrol.try_cancel: 0x%08x\n"
                  "    Wait for the phase of its mbarrier before loading it.",
                  answer.word[0]);
}

bool sim_cluster_is_canceled(struct b128 answer) {
    struct sim_thread *const thread = sim_thread();
    check(answer);
    if (!answer.word[1]) {
        thread->cta->refused_file = thread->self.file;
        thread->cta->refused_line = thread->self.line;
    }
    return answer.word[1];
}

int sim_cluster_first_cta(struct b128 answer) {
    check(answer);
    if (!answer.word[1])
        sim_hazard("cluster-answer", sim_thread(),
                   "takes a CTA from a refusal: it is undefined\n    Ask cluster_is_canceled() "
                   "first.");
    return (int)answer.word[2];
}
