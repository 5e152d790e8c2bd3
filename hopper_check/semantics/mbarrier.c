/*
 * mbarrier.c: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
 *
 * Reports call a barrier by its offset in shared memory: PTX has no better name for it.
 */
#include <stdio.h>

#include "hopper/atomics.h"
#include "hopper/cluster.h"
#include "hopper/mbarrier.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "sim/core/hazards.h"

static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};

static uint64_t *barrier_at(const struct operation *op, const struct frame *frame, unsigned *rank) {
    const uint64_t at = address(op, frame, 0, op->offset);
    const void *const generic = (const void *)(uintptr_t)at;
    struct sim_cta *const owner = op->option[ADDRESS_BITS] == 64 ? shared_owner(generic) : NULL;
    if (!owner) return shared_pointer(at, rank);
    *rank = (unsigned)owner->rank;
    return (uint64_t *)(void *)(sim_thread()->cta->shared +
                                ((uintptr_t)generic - (uintptr_t)owner->shared));
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

/* mbarrier.arrive{.expect_tx}{.release{.cta, .cluster}}{.space}.b64 {state}, [a]{, count} */
enum { OPTION_EXPECT, OPTION_CLUSTER_SCOPE };

static void run_arrive(const struct operation *op, struct frame *frame) {
    unsigned rank;
    uint64_t *const barrier = barrier_at(op, frame, &rank);
    if (rank == sim_self->cluster_rank && !op->option[OPTION_CLUSTER_SCOPE])
        sim_mbarrier_arrive(barrier);
    else if (op->option[OPTION_CLUSTER_SCOPE])
        sim_mbarrier_arrive_remote_release(barrier, rank);
    else
        sim_mbarrier_arrive_remote(barrier, rank);
}

static void run_arrive_expect_tx(const struct operation *op, struct frame *frame) {
    sim_mbarrier_arrive_expect_tx(own_barrier(op, frame), VALUE(reg_u32, 1));
}

static void decode_arrive(struct decoder *d) {
    const bool expect = take(d, "expect_tx"), release = take(d, "release");
    const int scope = release ? take_one_of(d, scopes) : SCOPE_CTA;
    if (!take(d, "shared::cluster")) take_shared(d);
    require(d, "b64");
    need_operands(d, 1, 3);
    if (d->why) return;
    const struct ptx_operand *o = d->source->operand;
    int left = d->source->operands;
    if (o->kind != OPERAND_ADDRESS) {
        if (o->kind != OPERAND_SINK) refuse(d, "the phase that it returns is not modelled yet");
        ++o;
        --left;
    }
    take_address(d, 0, o);
    if (left != 1 + expect) refuse(d, "arrivals with a count are not modelled yet");
    if (expect && !d->why) d->op->at[1] = read_operand(d, &o[1], 'w');
    if (scope > SCOPE_CLUSTER) refuse(d, "this scope is not modelled");
    if (expect && scope == SCOPE_CLUSTER) refuse(d, "with this scope it is not modelled yet");
    d->op->option[OPTION_CLUSTER_SCOPE] = scope == SCOPE_CLUSTER;
    d->op->run = expect ? run_arrive_expect_tx : run_arrive;
}

/* mbarrier.try_wait.parity{.acquire{.cta, .cluster}}{.space}.b64 p, [a], parity{, time} */
enum { OPTION_TEST, OPTION_WAIT_CLUSTER };

static void run_wait(const struct operation *op, struct frame *frame) {
    uint64_t *const barrier = own_barrier(op, frame);
    const uint32_t parity = VALUE(reg_u32, 2);
    bool passed = true;
    if (op->option[OPTION_WAIT_CLUSTER])
        sim_mbarrier_wait_cluster(barrier, parity);
    else if (op->option[OPTION_TEST])
        passed = sim_mbarrier_test_wait(barrier, parity);
    else
        passed = sim_mbarrier_try_wait(barrier, parity);
    VALUE(reg_u32, 1) = passed;
}

static void decode_wait(struct decoder *d, bool test) {
    const struct ptx_operand *const o = d->source->operand;
    if (!take(d, "parity"))
        refuse(d, "a wait for a phase that an arrival returned is not modelled yet");
    const bool acquire = take(d, "acquire");
    const int scope = acquire ? take_one_of(d, scopes) : SCOPE_CTA;
    take_shared(d);
    require(d, "b64");
    need_operands(d, 3, test ? 3 : 4);
    if (scope > SCOPE_CLUSTER) refuse(d, "this scope is not modelled");
    if (d->why) return;
    d->op->run = run_wait;
    d->op->option[OPTION_TEST] = test;
    d->op->option[OPTION_WAIT_CLUSTER] = scope == SCOPE_CLUSTER;
    d->op->at[1] = written_operand(d, &o[0], 'p');
    take_address(d, 0, &o[1]);
    d->op->at[2] = read_operand(d, &o[2], 'w');
    if (scope == SCOPE_CLUSTER && test) refuse(d, "with this scope it is not modelled yet");
}

static void decode_try_wait(struct decoder *d) { decode_wait(d, false); }
static void decode_test_wait(struct decoder *d) { decode_wait(d, true); }

#define MBARRIER "Parallel Synchronization and Communication Instructions: mbarrier."
static const struct family families[] = {
    {"mbarrier.init", decode_init, MODELLED, MBARRIER "init"},
    {"mbarrier.inval", decode_inval, MODELLED, MBARRIER "inval"},
    {"mbarrier.arrive", decode_arrive, MODELLED, MBARRIER "arrive"},
    {"mbarrier.try_wait", decode_try_wait, MODELLED, MBARRIER "try_wait"},
    {"mbarrier.test_wait", decode_test_wait, MODELLED, MBARRIER "test_wait"},
};
const struct family_group mbarrier_families = FAMILY_GROUP(families);
