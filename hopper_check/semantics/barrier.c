/*
 * barrier.c: PTX ISA, "Parallel Synchronization and Communication Instructions": bar,
 * barrier.cluster, fence and membar.
 */
#include "hopper/cluster.h"
#include "hopper/mbarrier.h"
#include "hopper/tensormap.h"
#include "hopper/thread.h"
#include "hopper/tma.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "sim/units/strong.h"

/* ---- bar.sync a{, b}; bar.arrive a, b ---- */

enum { OPTION_COUNTED, OPTION_ARRIVE };

static void bar(const struct operation *op, struct frame *frame) {
    const int id = (int)VALUE(reg_u32, 0);
    const int threads =
        op->option[OPTION_COUNTED] ? (int)VALUE(reg_u32, 1) : sim_thread()->cta->threads;
    if (op->option[OPTION_ARRIVE])
        sim_named_barrier_arrive(id, threads);
    else if (id == 0 && !op->option[OPTION_COUNTED])
        sim_sync_threads();
    else
        sim_named_barrier_sync(id, threads);
}

static void decode_bar(struct decoder *d) {
    static const char *const forms[] = {"sync", "arrive", NULL};
    take(d, "cta");
    const int form = take_one_of(d, forms);
    take(d, "aligned");
    need_operands(d, 1, 2);
    if (form < 0) refuse(d, "this form of it is not modelled");
    if (d->why) return;
    d->op->run = bar;
    d->op->option[OPTION_COUNTED] = d->source->operands == 2;
    d->op->option[OPTION_ARRIVE] = form == 1;
    for (int i = 0; i < d->source->operands; ++i)
        d->op->at[i] = read_operand(d, &d->source->operand[i], 'w');
    if (form == 1 && d->source->operands == 1) refuse(d, "its number of threads is missing");
}

/* ---- bar.red.OP.TYPE d, a{, b}, {!}c: bar.sync, and of all threads' predicates their number, and
 * whether all or any of them are true ---- */

enum { OPTION_OPERATION = OPTION_ARRIVE + 1, OPTION_NEGATED };
enum { POPC, ALL, ANY };
enum { AT_ID, AT_COUNT, AT_PREDICATE, AT_RESULT };

/* Of a barrier that is being executed: a second wait keeps the next use out until all have read. */
struct round {
    const struct sim_cta *cta;
    int id, came, left;
    uint32_t count;
};
enum { ROUNDS = 256 };
static struct round rounds[ROUNDS];

static struct round *round_of(const struct sim_cta *cta, int id) {
    struct round *unused = NULL;
    for (int i = 0; i < ROUNDS; ++i) {
        if (rounds[i].came && rounds[i].cta == cta && rounds[i].id == id) return &rounds[i];
        if (!unused && !rounds[i].came) unused = &rounds[i];
    }
    if (!unused) unused = &rounds[0]; /* left behind by launches that were abandoned */
    *unused = (struct round){.cta = cta, .id = id};
    return unused;
}

static void sync(const struct operation *op, int id, int threads) {
    if (id == 0 && !op->option[OPTION_COUNTED])
        sim_sync_threads();
    else
        sim_named_barrier_sync(id, threads);
}

static void bar_red(const struct operation *op, struct frame *frame) {
    const struct sim_cta *const cta = sim_thread()->cta;
    const int id = (int)VALUE(reg_u32, AT_ID);
    const int threads = op->option[OPTION_COUNTED] ? (int)VALUE(reg_u32, AT_COUNT) : cta->threads;
    struct round *const round = round_of(cta, id);
    ++round->came;
    round->count += (VALUE(reg_u32, AT_PREDICATE) != 0) != op->option[OPTION_NEGATED];
    sync(op, id, threads);
    const uint32_t count = round->count;
    VALUE(reg_u32, AT_RESULT) = op->option[OPTION_OPERATION] == POPC  ? count
                                : op->option[OPTION_OPERATION] == ALL ? count == (uint32_t)threads
                                                                      : count > 0;
    if (++round->left == round->came) round->came = 0;
    sync(op, id, threads);
}

static void decode_bar_red(struct decoder *d) {
    static const char *const operations[] = {"popc", "and", "or", NULL};
    const struct ptx_operand *const o = d->source->operand;
    take(d, "aligned");
    const int operation = take_one_of(d, operations);
    take(d, "aligned");
    require(d, operation == POPC ? "u32" : "pred");
    need_operands(d, 3, 4);
    if (operation < 0) refuse(d, "this form of it is not modelled");
    if (d->why) return;
    const bool counted = d->source->operands == 4;
    struct ptx_operand predicate = o[counted ? 3 : 2];
    d->op->option[OPTION_NEGATED] = predicate.negated;
    predicate.negated = false;
    d->op->run = bar_red;
    d->op->option[OPTION_OPERATION] = operation;
    d->op->option[OPTION_COUNTED] = counted;
    d->op->at[AT_RESULT] = written_operand(d, &o[0], operation == POPC ? 'w' : 'p');
    d->op->at[AT_ID] = read_operand(d, &o[1], 'w');
    if (counted) d->op->at[AT_COUNT] = read_operand(d, &o[2], 'w');
    d->op->at[AT_PREDICATE] = read_operand(d, &predicate, 'p');
}

/* ---- barrier.cluster ---- */

static void cluster_arrive_release(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_cluster_arrive();
}
static void cluster_arrive_relaxed(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_cluster_arrive_relaxed();
}
static void cluster_wait_acquire(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_cluster_wait();
}

static void decode_cluster_arrive(struct decoder *d) {
    const bool relaxed = take(d, "relaxed");
    if (!relaxed) take(d, "release");
    take(d, "aligned");
    need_operands(d, 0, 0);
    d->op->run = relaxed ? cluster_arrive_relaxed : cluster_arrive_release;
}

static void decode_cluster_wait(struct decoder *d) {
    take(d, "acquire");
    take(d, "aligned");
    need_operands(d, 0, 0);
    d->op->run = cluster_wait_acquire;
}

/* ---- fences ---- */

enum { OPTION_SCOPE, OPTION_SEMANTICS, OPTION_PROXY };
static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};

/* The proxy's part of a release, of what lies in the own CTA's shared memory. */
static void run_fence(const struct operation *op, struct frame *frame) {
    (void)frame;
    if (op->option[OPTION_PROXY]) sim_fence_proxy_async();
    strong_fence((enum sim_semantics)op->option[OPTION_SEMANTICS],
                 (enum sim_scope)op->option[OPTION_SCOPE]);
}

/* {.sem}{.sync_restrict}.scope. One that is restricted to shared memory orders less than the
 * simulator tells apart. */
static void decode_fence(struct decoder *d) {
    static const char *const kinds[] = {"acq_rel", "sc", "acquire", "release", NULL};
    const int kind = take_one_of(d, kinds);
    const bool restricted = (kind == 2 && take(d, "sync_restrict::shared::cluster")) ||
                            (kind == 3 && take(d, "sync_restrict::shared::cta"));
    const int scope = take_one_of(d, scopes);
    need_operands(d, 0, 0);
    if (scope < 0 || (restricted && scope != SIM_SCOPE_CLUSTER))
        refuse(d, "this fence is not modelled");
    static const enum sim_semantics semantics[] = {SIM_ACQ_REL, SIM_SC, SIM_ACQUIRE, SIM_RELEASE};
    d->op->option[OPTION_SEMANTICS] = kind < 0 ? SIM_ACQ_REL : semantics[kind];
    d->op->option[OPTION_SCOPE] = scope;
    d->op->run = run_fence;
}

/* fence.proxy.async::generic.{acquire, release}.sync_restrict.cluster */
static void decode_fence_generic_async(struct decoder *d) {
    decode_fence(d);
    if (d->op->option[OPTION_SEMANTICS] >= SIM_ACQ_REL) refuse(d, "this fence is not modelled");
    d->op->option[OPTION_PROXY] = d->op->option[OPTION_SEMANTICS] == SIM_RELEASE;
}

static void decode_membar(struct decoder *d) {
    static const char *const levels[] = {"cta", "gl", "sys", NULL};
    static const enum sim_scope scope_of[] = {SIM_SCOPE_CTA, SIM_SCOPE_GPU, SIM_SCOPE_SYS};
    const int level = take_one_of(d, levels);
    need_operands(d, 0, 0);
    if (level < 0) refuse(d, "this fence is not modelled");
    if (d->why) return;
    d->op->option[OPTION_SEMANTICS] = SIM_SC;
    d->op->option[OPTION_SCOPE] = (int)scope_of[level];
    d->op->run = run_fence;
}

static void run_fence_mbarrier_init(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_fence_mbarrier_init();
}

/* fence.proxy.tensormap::generic.{release, acquire}.SCOPE{ [map], 128} */
static void run_fence_tensor_map(const struct operation *op, struct frame *frame) {
    const enum scope scope = (enum scope)op->option[OPTION_SCOPE];
    if (op->source->operands)
        sim_fence_tensor_map_acquire(
            (const struct tensor_map *)(uintptr_t)address(op, frame, 0, op->offset), scope);
    else
        sim_fence_tensor_map_release(scope);
}

static void decode_fence_tensor_map(struct decoder *d) {
    const bool release = take(d, "release");
    if (!release) require(d, "acquire");
    const int scope = take_one_of(d, scopes);
    if (scope < 0) refuse(d, "its scope is missing");
    need_operands(d, release ? 0 : 2, release ? 0 : 2);
    if (d->why) return;
    d->op->option[OPTION_SCOPE] = scope;
    d->op->run = run_fence_tensor_map;
    if (!release) take_address(d, 0, &d->source->operand[0]);
}

/* Between addresses of the generic proxy that name the same memory: here there is one for each. */
static void run_nothing(const struct operation *op, struct frame *frame) { (void)op, (void)frame; }

static void decode_fence_alias(struct decoder *d) {
    need_operands(d, 0, 0);
    d->op->run = run_nothing;
}

static void decode_fence_mbarrier_init(struct decoder *d) {
    require(d, "release");
    require(d, "cluster");
    need_operands(d, 0, 0);
    d->op->run = run_fence_mbarrier_init;
}

enum { OPTION_SHARED, OPTION_GLOBAL };

static void run_fence_proxy_async(const struct operation *op, struct frame *frame) {
    (void)frame;
    if (op->option[OPTION_SHARED]) sim_fence_proxy_async();
    if (op->option[OPTION_GLOBAL]) sim_fence_proxy_async_global();
}

static void decode_fence_proxy_async(struct decoder *d) {
    const bool global = take(d, "global");
    const bool shared = !global && (take(d, "shared::cta") || take(d, "shared::cluster"));
    need_operands(d, 0, 0);
    d->op->option[OPTION_SHARED] = !global;
    d->op->option[OPTION_GLOBAL] = !shared;
    d->op->run = run_fence_proxy_async;
}

#define SYNCHRONIZATION "Parallel Synchronization and Communication Instructions: "
static const struct family families[] = {
    {"bar", decode_bar, MODELLED, SYNCHRONIZATION "bar"},
    {"barrier", decode_bar, MODELLED, SYNCHRONIZATION "barrier"},
    {"bar.red", decode_bar_red, MODELLED, SYNCHRONIZATION "bar"},
    {"bar.cta.red", decode_bar_red, MODELLED, SYNCHRONIZATION "bar"},
    {"barrier.red", decode_bar_red, MODELLED, SYNCHRONIZATION "barrier"},
    {"barrier.cta.red", decode_bar_red, MODELLED, SYNCHRONIZATION "barrier"},
    {"barrier.cluster.arrive", decode_cluster_arrive, MODELLED, SYNCHRONIZATION "barrier.cluster"},
    {"barrier.cluster.wait", decode_cluster_wait, MODELLED, SYNCHRONIZATION "barrier.cluster"},
    {"fence", decode_fence, MODELLED, SYNCHRONIZATION "fence"},
    {"membar", decode_membar, MODELLED, SYNCHRONIZATION "membar"},
    {"fence.mbarrier_init", decode_fence_mbarrier_init, MODELLED, SYNCHRONIZATION "fence"},
    {"fence.proxy.alias", decode_fence_alias, ORDERING, SYNCHRONIZATION "fence"},
    {"fence.proxy.tensormap::generic", decode_fence_tensor_map, MODELLED, SYNCHRONIZATION "fence"},
    {"fence.proxy.async", decode_fence_proxy_async, MODELLED, SYNCHRONIZATION "fence"},
    {"fence.proxy.async::generic", decode_fence_generic_async, MODELLED, SYNCHRONIZATION "fence"},
    {"membar.proxy.alias", decode_fence_alias, ORDERING, SYNCHRONIZATION "membar"},
    {"membar.proxy.async", decode_fence_proxy_async, MODELLED, SYNCHRONIZATION "membar"},
};
const struct family_group barrier_families = FAMILY_GROUP(families);
