/*
 * warp.c: PTX ISA, instructions that lanes of a warp execute together: shfl.sync, vote.sync,
 * match.sync, redux.sync, elect.sync, bar.warp.sync.
 */
#include <string.h>

#include "hopper/thread.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "sim/core/lanes.h"

/* ---- shfl.sync ---- */

enum { OPTION_MODE, OPTION_PREDICATE };
enum { AT_PREDICATE = 5 };
enum shuffle_mode { UP, DOWN, BUTTERFLY, INDEX };

struct shuffle {
    uint32_t mask, value, result;
    int from;
};

/* A lane that the mask leaves out has no value to give: the reader keeps its own. */
static bool exchange(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    sim_lanes_exchanged(warp, operand);
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        struct shuffle *const s = operand[lane];
        const struct shuffle *const from = s ? operand[s->from] : NULL;
        if (s && !from && s->mask >> s->from & 1) sim_lanes_check_source(warp, lane, s->from);
        if (s) s->result = from ? from->value : s->value;
    }
    return true;
}

/* PTX ISA, "shfl.sync": c holds a clamp and, from bit 8 on, which bits of the lane are a segment's
 * number. */
static void shfl(const struct operation *op, struct frame *frame) {
    const int lane = sim_thread()->lane;
    const uint32_t b = VALUE(reg_u32, 2) & 31, c = VALUE(reg_u32, 3), mask = VALUE(reg_u32, 4);
    const int segment = (int)(c >> 8 & 31), clamp = (int)(c & 31);
    const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    int from;
    bool inside;
    switch ((enum shuffle_mode)op->option[OPTION_MODE]) {
    case UP:
        from = lane - (int)b;
        inside = from >= most;
        break;
    case DOWN:
        from = lane + (int)b;
        inside = from <= most;
        break;
    case BUTTERFLY:
        from = lane ^ (int)b;
        inside = from <= most;
        break;
    default:
        from = least | ((int)b & ~segment);
        inside = from <= most;
        break;
    }
    if (!inside) from = lane;
    if ((mask & sim_thread()->warp->lanes) == sim_thread()->warp->lanes) {
        VALUE(reg_u32, 0) = (uint32_t)sim_shuffle(UINT32_MAX, (int)VALUE(reg_u32, 1), from);
    } else {
        struct shuffle s = {mask, VALUE(reg_u32, 1), 0, from};
        sim_lanes_collective(ENDED_LEFT_OUT, "shfl.sync", mask, &s, exchange);
        VALUE(reg_u32, 0) = s.result;
    }
    if (op->option[OPTION_PREDICATE]) VALUE(reg_u32, AT_PREDICATE) = inside;
}

static void decode_shfl(struct decoder *d) {
    static const char *const modes[] = {"up", "down", "bfly", "idx", NULL};
    const struct ptx_operand *const o = d->source->operand;
    const int mode = take_one_of(d, modes);
    require(d, "b32");
    need_operands(d, 5, 5);
    if (d->why) return;
    const bool pair = o[0].kind == OPERAND_PAIR;
    d->op->run = shfl;
    d->op->option[OPTION_MODE] = mode;
    d->op->option[OPTION_PREDICATE] = pair;
    d->op->at[0] = written_operand(d, pair ? &o[0].part[0] : &o[0], 'w');
    if (pair) d->op->at[AT_PREDICATE] = written_operand(d, &o[0].part[1], 'p');
    for (int i = 1; i < 5; ++i)
        d->op->at[i] = read_operand(d, &o[i], 'w');
}

/* ---- vote.sync and redux.sync: a value of all lanes ---- */

enum reduction { ALL, ANY, UNIFORM, BALLOT, ADD, MIN_U, MAX_U, MIN_S, MAX_S, AND, OR, XOR };

struct contribution {
    enum reduction how;
    uint32_t value, result;
};

static uint32_t joined(enum reduction how, uint32_t a, uint32_t b) {
    switch (how) {
    case ALL:
    case AND:
        return a & b;
    case ADD:
        return a + b;
    case MIN_U:
        return a < b ? a : b;
    case MAX_U:
        return a > b ? a : b;
    case MIN_S:
        return (int32_t)a < (int32_t)b ? a : b;
    case MAX_S:
        return (int32_t)a > (int32_t)b ? a : b;
    case XOR:
        return a ^ b;
    default:
        return a | b;
    }
}

static bool reduce(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    sim_lanes_exchanged(warp, operand);
    uint32_t result = 0, first = 0;
    bool begun = false, uniform = true;
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        if (!operand[lane]) continue;
        const struct contribution *const c = operand[lane];
        const uint32_t value = c->how == BALLOT ? c->value << lane : c->value;
        if (!begun) first = c->value;
        uniform &= c->value == first;
        result = begun ? joined(c->how, result, value) : value;
        begun = true;
    }
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        if (!operand[lane]) continue;
        struct contribution *const c = operand[lane];
        c->result = c->how == UNIFORM ? uniform : result;
    }
    return true;
}

enum { OPTION_HOW, OPTION_NEGATED };

static void run_reduction(const struct operation *op, struct frame *frame) {
    struct contribution c = {(enum reduction)op->option[OPTION_HOW],
                             VALUE(reg_u32, 1) ^ (uint32_t)op->option[OPTION_NEGATED], 0};
    sim_lanes_collective(ENDED_LEFT_OUT, op->option[OPTION_HOW] < ADD ? "vote.sync" : "redux.sync",
                         VALUE(reg_u32, 2), &c, reduce);
    VALUE(reg_u32, 0) = c.result;
}

static void decode_vote(struct decoder *d) {
    static const char *const modes[] = {"all", "any", "uni", "ballot", NULL};
    const struct ptx_operand *const o = d->source->operand;
    take(d, "sync");
    const int mode = take_one_of(d, modes);
    take(d, "sync");
    require(d, mode == BALLOT ? "b32" : "pred");
    need_operands(d, 3, 3);
    if (d->why) return;
    struct ptx_operand value = o[1];
    d->op->option[OPTION_NEGATED] = value.negated;
    value.negated = false;
    d->op->run = run_reduction;
    d->op->option[OPTION_HOW] = mode;
    d->op->at[0] = written_operand(d, &o[0], mode == BALLOT ? 'w' : 'p');
    d->op->at[1] = read_operand(d, &value, 'p');
    d->op->at[2] = read_operand(d, &o[2], 'w');
}

static void decode_redux(struct decoder *d) {
    static const struct {
        const char *word, *type;
        enum reduction how;
    } forms[] = {{"add", "u32", ADD},   {"add", "s32", ADD},   {"min", "u32", MIN_U},
                 {"max", "u32", MAX_U}, {"min", "s32", MIN_S}, {"max", "s32", MAX_S},
                 {"and", "b32", AND},   {"or", "b32", OR},     {"xor", "b32", XOR}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) {
        if (d->next + 2 != d->words || strcmp(d->word[d->next], forms[i].word) != 0 ||
            strcmp(d->word[d->next + 1], forms[i].type) != 0)
            continue;
        d->next += 2;
        d->op->run = run_reduction;
        d->op->option[OPTION_HOW] = (int)forms[i].how;
        take_operands(d, "www");
        return;
    }
    refuse(d, "this reduction is not modelled");
}

/* ---- match.sync ---- */

enum { OPTION_ALL, OPTION_WIDE, OPTION_WITH_PREDICATE };

struct match {
    uint64_t value;
    uint32_t same;
    bool all;
};

static bool compare(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    sim_lanes_exchanged(warp, operand);
    uint32_t present = 0;
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        present |= (uint32_t)(operand[lane] != NULL) << lane;
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        struct match *const m = operand[lane];
        for (int other = 0; m && other < WARP_SIZE; ++other)
            if (operand[other] && ((const struct match *)operand[other])->value == m->value)
                m->same |= 1u << other;
        if (m) m->all = m->same == present;
    }
    return true;
}

static void run_match(const struct operation *op, struct frame *frame) {
    struct match m = {.value = op->option[OPTION_WIDE] ? VALUE(reg_u64, 1) : VALUE(reg_u32, 1)};
    sim_lanes_collective(ENDED_LEFT_OUT, "match.sync", VALUE(reg_u32, 2), &m, compare);
    VALUE(reg_u32, 0) = op->option[OPTION_ALL] && !m.all ? 0 : m.same;
    if (op->option[OPTION_WITH_PREDICATE]) VALUE(reg_u32, 3) = m.all;
}

static void decode_match(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    const bool all = take(d, "all");
    if (!all) require(d, "any");
    require(d, "sync");
    const bool wide = take(d, "b64");
    if (!wide) require(d, "b32");
    need_operands(d, 3, 3);
    if (d->why) return;
    const bool pair = o[0].kind == OPERAND_PAIR;
    d->op->run = run_match;
    d->op->option[OPTION_ALL] = all;
    d->op->option[OPTION_WIDE] = wide;
    d->op->option[OPTION_WITH_PREDICATE] = pair;
    d->op->at[0] = written_operand(d, pair ? &o[0].part[0] : &o[0], 'w');
    if (pair) d->op->at[3] = written_operand(d, &o[0].part[1], 'p');
    d->op->at[1] = read_operand(d, &o[1], wide ? 'd' : 'w');
    d->op->at[2] = read_operand(d, &o[2], 'w');
}

/* ---- elect.sync ---- */

static bool meet(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    (void)warp, (void)operand;
    return true;
}

/* PTX leaves the lane open. Kernels that are known to work take it for the lowest. */
static void elect(const struct operation *op, struct frame *frame) {
    const struct sim_thread *const thread = sim_thread();
    const uint32_t mask = VALUE(reg_u32, 2) & thread->warp->lanes;
    int lane;
    if (mask != thread->warp->lanes) {
        sim_lanes_collective(ENDED_MISSING, "elect.sync", mask, frame, meet);
        lane = __builtin_ctz(mask);
    } else {
        (void)sim_elect_one();
        lane = launch_running->elect_any ? thread->warp->elected - 1 : __builtin_ctz(mask);
    }
    VALUE(reg_u32, 0) = (uint32_t)lane;
    VALUE(reg_u32, 1) = thread->lane == lane;
}

static void decode_elect(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    need_operands(d, 2, 2);
    if (d->why) return;
    if (o[0].kind != OPERAND_PAIR) {
        refuse(d, "its predicate is missing");
        return;
    }
    d->op->run = elect;
    d->op->at[0] = written_operand(d, &o[0].part[0], 'w');
    d->op->at[1] = written_operand(d, &o[0].part[1], 'p');
    d->op->at[2] = read_operand(d, &o[1], 'w');
}

/* ---- bar.warp.sync ---- */

static void bar_warp(const struct operation *op, struct frame *frame) {
    sim_sync_lanes(VALUE(reg_u32, 0));
}

static void decode_bar_warp(struct decoder *d) {
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->run = bar_warp;
    d->op->at[0] = read_operand(d, &d->source->operand[0], 'w');
}

/* ---- activemask ---- */

/* Which lanes execute an instruction together is not specified. Here it is the lane alone, which
 * what must not rely on others does not notice. */
static void active(const struct operation *op, struct frame *frame) {
    VALUE(reg_u32, 0) = 1u << sim_thread()->lane;
}

static void decode_active(struct decoder *d) {
    require(d, "b32");
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->run = active;
    d->op->at[0] = written_operand(d, &d->source->operand[0], 'w');
}

#define SYNCHRONIZATION "Parallel Synchronization and Communication Instructions: "
static const struct family families[] = {
    {"shfl.sync", decode_shfl, MODELLED, "Data Movement and Conversion Instructions: shfl.sync"},
    {"vote", decode_vote, MODELLED, SYNCHRONIZATION "vote.sync"},
    {"match", decode_match, MODELLED, SYNCHRONIZATION "match.sync"},
    {"redux.sync", decode_redux, MODELLED, SYNCHRONIZATION "redux.sync"},
    {"elect.sync", decode_elect, MODELLED, SYNCHRONIZATION "elect.sync"},
    {"activemask", decode_active, MODELLED, SYNCHRONIZATION "activemask; it names the lane alone"},
    {"bar.warp.sync", decode_bar_warp, MODELLED, SYNCHRONIZATION "bar.warp.sync"},
};
const struct family_group warp_families = FAMILY_GROUP(families);
