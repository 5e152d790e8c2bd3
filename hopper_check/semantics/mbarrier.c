/*
 * mbarrier.c: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
 *
 * Reports call a barrier by its offset in shared memory: PTX has no better name for it.
 */
#include <stdio.h>

#include "hopper/atomics.h"
#include "hopper/mbarrier.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "sim/core/hazards.h"
#include "sim/units/mbarrier/table.h"

static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};

/* Where the barrier is in the running thread's own CTA, and which CTA it is in. */
static uint64_t *barrier_at(const struct operation *op, const struct frame *frame, unsigned *rank) {
    const uint64_t at = address(op, frame, 0, op->offset);
    const void *const generic = (const void *)(uintptr_t)at;
    struct sim_cta *const owner = op->option[ADDRESS_BITS] == 64 ? shared_owner(generic) : NULL;
    if (!owner) return shared_pointer(at, rank);
    *rank = (unsigned)owner->rank;
    return (uint64_t *)(void *)(sim_thread()->cta->shared +
                                ((uintptr_t)generic - (uintptr_t)owner->shared));
}

static struct sim_shared_pointer barrier_pointer(const struct operation *op,
                                                 const struct frame *frame) {
    unsigned rank;
    const uint64_t *const barrier = barrier_at(op, frame, &rank);
    return sim_shared_map(sim_shared_at(barrier, sizeof *barrier, sizeof *barrier), rank);
}

static uint64_t *own_barrier(const struct operation *op, const struct frame *frame) {
    unsigned rank;
    uint64_t *const barrier = barrier_at(op, frame, &rank);
    if (rank != sim_self->cluster_rank)
        thread_not_modelled(op, "the mbarrier is in the shared memory of another CTA");
    return barrier;
}

static void run_init(const struct operation *op, struct frame *frame) {
    uint64_t *const barrier = own_barrier(op, frame);
    char name[48];
    snprintf(name, sizeof name, "@%#zx",
             (size_t)((unsigned char *)barrier - sim_thread()->cta->shared));
    sim_mbarrier_init(barrier, (int)VALUE(reg_u32, 1), source_keep(name));
}

static void run_inval(const struct operation *op, struct frame *frame) {
    sim_mbarrier_inval(own_barrier(op, frame));
}

static void take_shared(struct decoder *d) {
    if (!take(d, "shared::cta")) take(d, "shared");
}

static void decode_init(struct decoder *d) {
    take_shared(d);
    require(d, "b64");
    need_operands(d, 2, 2);
    if (d->why) return;
    d->op->run = run_init;
    take_address(d, 0, &d->source->operand[0]);
    d->op->at[1] = read_operand(d, &d->source->operand[1], 'w');
}

static void decode_inval(struct decoder *d) {
    take_shared(d);
    require(d, "b64");
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->run = run_inval;
    take_address(d, 0, &d->source->operand[0]);
}

/* ---- arrive, arrive_drop: {.expect_tx, .noComplete}{.sem}{.scope}{.space}.b64 state, [a], n ----
 */

enum { OPTION_FORM, OPTION_CLUSTER_SCOPE, OPTION_DROP, OPTION_RELAXED };
enum form { PLAIN, COUNTED, EXPECTING };
enum { AT_BARRIER, AT_COUNT, AT_STATE };

static void run_arrive(const struct operation *op, struct frame *frame) {
    unsigned rank;
    uint64_t *const barrier = barrier_at(op, frame, &rank);
    struct mbarrier_arrival how = {
        .count = 1, .drop = op->option[OPTION_DROP], .relaxed = op->option[OPTION_RELAXED]};
    if (op->option[OPTION_FORM] == COUNTED) how.count = VALUE(reg_u32, AT_COUNT);
    if (op->option[OPTION_FORM] == EXPECTING) {
        how.announce = true;
        how.bytes = VALUE(reg_u32, AT_COUNT);
    }
    if (rank == sim_self->cluster_rank)
        VALUE(reg_u64, AT_STATE) = sim_mbarrier_arrive_as(barrier, how);
    else
        sim_mbarrier_arrive_remote_as(barrier, rank, op->option[OPTION_CLUSTER_SCOPE], how);
}

/* The scope that follows; `sem`: whether a word for the semantics stood before it. */
static int take_scope(struct decoder *d, bool sem) {
    const int scope = sem ? take_one_of(d, scopes) : SCOPE_CTA;
    if (scope < 0 || scope > SCOPE_CLUSTER) refuse(d, "this scope is not modelled");
    return scope;
}

static bool take_any_shared(struct decoder *d) {
    if (take(d, "shared::cluster")) return true;
    take_shared(d);
    return false;
}

static void decode_arrive_form(struct decoder *d, bool drop) {
    static const struct ptx_operand sink = {.kind = OPERAND_SINK};
    const bool expect = take(d, "expect_tx");
    if (!expect) take(d, "noComplete");
    const bool relaxed = take(d, "relaxed"), sem = relaxed || take(d, "release");
    const int scope = take_scope(d, sem);
    take_any_shared(d);
    require(d, "b64");
    need_operands(d, 1, 3);
    if (d->why) return;
    const struct ptx_operand *o = d->source->operand, *state = &sink;
    int left = d->source->operands;
    if (o->kind != OPERAND_ADDRESS) {
        state = o++;
        --left;
    }
    take_address(d, AT_BARRIER, o);
    if (left > 2 || (expect && left != 2)) refuse(d, "this number of operands is not modelled");
    if (d->why) return;
    if (left == 2) d->op->at[AT_COUNT] = read_operand(d, &o[1], 'w');
    d->op->at[AT_STATE] = written_operand(d, state, 'd');
    d->op->option[OPTION_FORM] = expect ? EXPECTING : left == 2 ? COUNTED : PLAIN;
    d->op->option[OPTION_CLUSTER_SCOPE] = scope == SCOPE_CLUSTER;
    d->op->option[OPTION_DROP] = drop;
    d->op->option[OPTION_RELAXED] = relaxed;
    d->op->run = run_arrive;
}
static void decode_arrive(struct decoder *d) { decode_arrive_form(d, false); }
static void decode_arrive_drop(struct decoder *d) { decode_arrive_form(d, true); }

/* ---- expect_tx, complete_tx ---- */

static void run_expect_tx(const struct operation *op, struct frame *frame) {
    sim_mbarrier_expect_tx(barrier_pointer(op, frame), VALUE(reg_u32, AT_COUNT));
}
static void run_complete_tx(const struct operation *op, struct frame *frame) {
    sim_mbarrier_complete_tx(barrier_pointer(op, frame), VALUE(reg_u32, AT_COUNT));
}

static void decode_tx(struct decoder *d, operation_run *run) {
    take_scope(d, take(d, "relaxed"));
    take_any_shared(d);
    require(d, "b64");
    need_operands(d, 2, 2);
    if (d->why) return;
    take_address(d, AT_BARRIER, &d->source->operand[0]);
    d->op->at[AT_COUNT] = read_operand(d, &d->source->operand[1], 'w');
    d->op->run = run;
}
static void decode_expect_tx(struct decoder *d) { decode_tx(d, run_expect_tx); }
static void decode_complete_tx(struct decoder *d) { decode_tx(d, run_complete_tx); }

/* ---- try_wait, test_wait: {.parity}{.sem.scope}{.space}.b64 p, [a], phase{, time} ---- */

enum { OPTION_TEST, OPTION_WAIT_CLUSTER, OPTION_STATE, OPTION_WAIT_RELAXED };

/* Of a state the lowest bit is the phase's parity. */
static void run_wait(const struct operation *op, struct frame *frame) {
    const uint64_t *const barrier = own_barrier(op, frame);
    const uint32_t parity =
        op->option[OPTION_STATE] ? (uint32_t)VALUE(reg_u64, 2) & 1 : VALUE(reg_u32, 2);
    VALUE(reg_u32, 1) =
        sim_mbarrier_poll(barrier, parity, !op->option[OPTION_TEST],
                          op->option[OPTION_WAIT_CLUSTER], op->option[OPTION_WAIT_RELAXED]);
}

static void decode_wait(struct decoder *d, bool test) {
    const struct ptx_operand *const o = d->source->operand;
    const bool parity = take(d, "parity");
    const bool relaxed = take(d, "relaxed");
    const int scope = take_scope(d, relaxed || take(d, "acquire"));
    take_shared(d);
    require(d, "b64");
    need_operands(d, 3, test ? 3 : 4);
    if (d->why) return;
    d->op->run = run_wait;
    d->op->option[OPTION_TEST] = test;
    d->op->option[OPTION_WAIT_CLUSTER] = scope == SCOPE_CLUSTER;
    d->op->option[OPTION_STATE] = !parity;
    d->op->option[OPTION_WAIT_RELAXED] = relaxed;
    d->op->at[1] = written_operand(d, &o[0], 'p');
    take_address(d, 0, &o[1]);
    d->op->at[2] = read_operand(d, &o[2], parity ? 'w' : 'd');
}

static void decode_try_wait(struct decoder *d) { decode_wait(d, false); }
static void decode_test_wait(struct decoder *d) { decode_wait(d, true); }

static void run_pending_count(const struct operation *op, struct frame *frame) {
    VALUE(reg_u32, 0) = (uint32_t)(VALUE(reg_u64, 1) >> 32);
}
static void decode_pending_count(struct decoder *d) {
    require(d, "b64");
    d->op->run = run_pending_count;
    take_operands(d, "wd");
}

#define MBARRIER "Parallel Synchronization and Communication Instructions: mbarrier."
static const struct family families[] = {
    {"mbarrier.init", decode_init, MODELLED, MBARRIER "init"},
    {"mbarrier.inval", decode_inval, MODELLED, MBARRIER "inval"},
    {"mbarrier.arrive", decode_arrive, MODELLED, MBARRIER "arrive"},
    {"mbarrier.arrive_drop", decode_arrive_drop, MODELLED, MBARRIER "arrive_drop"},
    {"mbarrier.expect_tx", decode_expect_tx, MODELLED, MBARRIER "expect_tx"},
    {"mbarrier.complete_tx", decode_complete_tx, MODELLED, MBARRIER "complete_tx"},
    {"mbarrier.pending_count", decode_pending_count, MODELLED, MBARRIER "pending_count"},
    {"mbarrier.try_wait", decode_try_wait, MODELLED, MBARRIER "try_wait"},
    {"mbarrier.test_wait", decode_test_wait, MODELLED, MBARRIER "test_wait"},
};
const struct family_group mbarrier_families = FAMILY_GROUP(families);
