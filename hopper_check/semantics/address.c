/* address.c: PTX ISA, "Data Movement and Conversion Instructions": cvta, mapa, isspacep: addresses
 * of one state space as those of another. */
#include "semantics/address.h"

#include "program/instructions.h"
#include "sim/core/hazards.h"

enum { OPTION_SPACE };

int take_space(struct decoder *d) {
    static const char *const spaces[] = {"global",      "shared", "shared::cta", "shared::cluster",
                                         "local",       "const",  "param",       "param::entry",
                                         "param::func", NULL};
    const int space = take_one_of(d, spaces);
    return space > STATE_PARAM ? STATE_PARAM : space;
}

void *own_shared(const struct operation *op, uint64_t at) {
    unsigned rank;
    void *const pointer = shared_pointer(at, &rank);
    if (rank != sim_self->cluster_rank)
        thread_not_modelled(op, "the address is in the shared memory of another CTA");
    return pointer;
}

struct sim_cta *shared_owner(const void *pointer) {
    const struct sim_cluster *const cluster = sim_thread()->cta->cluster;
    for (int rank = 0; rank < cluster->ctas; ++rank) {
        struct sim_cta *const cta = &cluster->cta[rank];
        if ((uintptr_t)pointer - (uintptr_t)cta->shared < cta->shared_bytes) return cta;
    }
    return NULL;
}

bool own_address(const struct frame *frame, uint64_t at) {
    return at - (uintptr_t)frame->local < (size_t)frame->program->local_bytes ||
           at - (uintptr_t)frame->parameters < frame->program->function->param_bytes;
}

struct sim_shared_pointer window_pointer(uint64_t at, size_t bytes, size_t alignment) {
    unsigned rank;
    const void *const own = shared_pointer(at, &rank);
    return sim_shared_map(sim_shared_at(own, bytes, alignment), rank);
}

struct target target_of(const struct frame *frame, uint64_t at, int space, size_t bytes) {
    struct target target = {.kind = TARGET_GLOBAL, .host = (void *)(uintptr_t)at};
    const struct sim_cta *owner = NULL;
    switch (space) {
    case STATE_SHARED:
    case STATE_SHARED_CTA:
    case STATE_SHARED_CLUSTER:
        target.shared = window_pointer(at, bytes, bytes);
        break;
    case STATE_GLOBAL:
    case STATE_CONST:
        return target;
    case STATE_LOCAL:
    case STATE_PARAM:
        target.kind = TARGET_OWN;
        return target;
    default:
        if (own_address(frame, at)) target.kind = TARGET_OWN;
        if (target.kind == TARGET_GLOBAL) owner = shared_owner(target.host);
        if (!owner) return target;
        target.shared = window_pointer(((uint64_t)owner->rank << SHARED_RANK_SHIFT) + SHARED_BASE +
                                           (at - (uintptr_t)owner->shared),
                                       bytes, bytes);
    }
    target.kind = TARGET_SHARED;
    target.host = target.shared.host;
    return target;
}

/* ---- the shared window ---- */

/* What lies in no shared memory is not used, or reported when it is: an address one past the end,
 * for one. */
static void to_window(const struct operation *op, struct frame *frame) {
    const uint64_t generic = VALUE(reg_u64, 1);
    const struct sim_cta *owner = shared_owner((const void *)(uintptr_t)generic);
    if (!owner) owner = sim_thread()->cta;
    VALUE(reg_u64, 0) = ((uint64_t)owner->rank << SHARED_RANK_SHIFT) + SHARED_BASE +
                        (generic - (uintptr_t)owner->shared);
}

static void from_window(const struct operation *op, struct frame *frame) {
    const struct sim_cluster *const cluster = sim_thread()->cta->cluster;
    unsigned rank;
    const unsigned char *const own = shared_pointer(VALUE(reg_u64, 1), &rank);
    if (rank >= (unsigned)cluster->ctas) rank = sim_self->cluster_rank;
    VALUE(reg_u64, 0) =
        (uintptr_t)cluster->cta[rank].shared + (uint64_t)(own - sim_thread()->cta->shared);
}

static void from_own(const struct operation *op, struct frame *frame) {
    VALUE(reg_u64, 0) = own_pointer(frame, op->option[OPTION_SPACE], VALUE(reg_u64, 1));
}

static void same(const struct operation *op, struct frame *frame) {
    VALUE(reg_u64, 0) = VALUE(reg_u64, 1);
}

static void decode_cvta(struct decoder *d) {
    const bool to = take(d, "to");
    const int space = take_space(d);
    require(d, "u64");
    if (space < 0) refuse(d, "its space is missing");
    const bool shared = space >= STATE_SHARED && space <= STATE_SHARED_CLUSTER;
    d->op->flow = FLOW_PLAIN;
    const bool own = space == STATE_LOCAL || space == STATE_PARAM;
    d->op->option[OPTION_SPACE] = space;
    d->op->run = shared ? to ? to_window : from_window : own && !to ? from_own : same;
    take_operands(d, "dd");
}

/* mapa.shared::cluster.u32 d, a, rank: the same place in another CTA. Behind the cluster's end
 * there is no such CTA, which is reported when the address is used. */
static void mapa_window(const struct operation *op, struct frame *frame) {
    VALUE(reg_u32, 0) = (VALUE(reg_u32, 1) & SHARED_OFFSET_MASK) | VALUE(reg_u32, 2)
                                                                       << SHARED_RANK_SHIFT;
}

static void mapa_wide_window(const struct operation *op, struct frame *frame) {
    VALUE(reg_u64, 0) = (VALUE(reg_u64, 1) & SHARED_OFFSET_MASK) | (uint64_t)VALUE(reg_u32, 2)
                                                                       << SHARED_RANK_SHIFT;
}

static void mapa_generic(const struct operation *op, struct frame *frame) {
    const uint64_t a = VALUE(reg_u64, 1);
    const struct sim_cluster *const cluster = sim_thread()->cta->cluster;
    const struct sim_cta *const owner = shared_owner((const void *)(uintptr_t)a);
    const uint32_t rank = VALUE(reg_u32, 2);
    if (!owner || rank >= (uint32_t)cluster->ctas)
        sim_fatal("bad-rank", NULL, "CTA %u of a cluster of %d, or an address outside of it", rank,
                  cluster->ctas);
    VALUE(reg_u64, 0) = (uintptr_t)cluster->cta[rank].shared + (a - (uintptr_t)owner->shared);
}

static void rank_window(const struct operation *op, struct frame *frame) {
    VALUE(reg_u32, 0) = VALUE(reg_u32, 1) >> SHARED_RANK_SHIFT;
}
static void rank_generic(const struct operation *op, struct frame *frame) {
    const struct sim_cta *const owner = shared_owner((const void *)(uintptr_t)VALUE(reg_u64, 1));
    if (!owner) sim_fatal("bad-rank", NULL, "the address is in no CTA's shared memory");
    VALUE(reg_u32, 0) = (uint32_t)owner->rank;
}
static void decode_rank(struct decoder *d) {
    const bool window = take(d, "shared::cluster"), wide = take(d, "u64");
    if (!wide) require(d, "u32");
    if (!window && !wide) refuse(d, "this form of it is not modelled");
    d->op->run = window ? rank_window : rank_generic;
    take_operands(d, wide ? "wd" : "ww");
}

static void decode_mapa(struct decoder *d) {
    if (take(d, "shared::cluster")) {
        const bool wide = take(d, "u64");
        if (!wide) require(d, "u32");
        d->op->run = wide ? mapa_wide_window : mapa_window;
        take_operands(d, wide ? "ddw" : "www");
    } else {
        require(d, "u64");
        d->op->run = mapa_generic;
        take_operands(d, "ddw");
    }
}

/* In a variable of the module in constant memory. */
static bool is_constant(const struct frame *frame, uint64_t at) {
    const struct ptx_module *const m = frame->program->module;
    for (int i = 0; i < m->variables; ++i)
        if (m->variable[i].space == SPACE_CONST &&
            at - (uintptr_t)m->variable[i].memory < m->variable[i].bytes)
            return true;
    return false;
}

static void isspacep(const struct operation *op, struct frame *frame) {
    const uint64_t a = VALUE(reg_u64, 1);
    const struct sim_cta *const owner = shared_owner((const void *)(uintptr_t)a);
    bool is;
    switch (op->option[OPTION_SPACE]) {
    case STATE_GLOBAL:
        is = !owner && !own_address(frame, a) && !is_constant(frame, a);
        break;
    case STATE_CONST:
        is = is_constant(frame, a);
        break;
    case STATE_SHARED:
    case STATE_SHARED_CTA:
        is = owner == sim_thread()->cta;
        break;
    case STATE_SHARED_CLUSTER:
        is = owner != NULL;
        break;
    default:
        is = own_address(frame, a);
        break;
    }
    VALUE(reg_u32, 0) = is;
}

static void decode_isspacep(struct decoder *d) {
    const int space = take_space(d);
    if (space < 0) refuse(d, "this space is not modelled");
    d->op->option[OPTION_SPACE] = space;
    d->op->run = isspacep;
    take_operands(d, "pd");
}

#define MOVEMENT "Data Movement and Conversion Instructions: "
static const struct family families[] = {
    {"cvta", decode_cvta, MODELLED, MOVEMENT "cvta"},
    {"mapa", decode_mapa, MODELLED, MOVEMENT "mapa"},
    {"getctarank", decode_rank, MODELLED, MOVEMENT "getctarank"},
    {"isspacep", decode_isspacep, MODELLED, MOVEMENT "isspacep"},
};
const struct family_group address_families = FAMILY_GROUP(families);
