/*
 * copy.c: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy": cp.async of a
 * thread.
 */
#include "hopper/cp_async.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "sim/units/mbarrier/table.h"

static const char *const cache_words[] = {"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B",
                                          NULL};

/* ---- cp.async ---- */

enum { OPTION_SIZE, OPTION_IGNORE, OPTION_BYTES };

/* [to], [from], bytes{, bytes that are valid, or a predicate that leaves them all out} */
static void cp_async(const struct operation *op, struct frame *frame) {
    const int bytes = op->option[OPTION_BYTES];
    void *const to = own_shared(op, address(op, frame, 0, op->offset));
    const void *const from =
        (const void *)(uintptr_t)(VALUE(reg_u64, 1) + (uint64_t)(int64_t)op->list[0]);
    const int valid = op->option[OPTION_SIZE]     ? VALUE(reg_s32, 2)
                      : op->option[OPTION_IGNORE] ? (VALUE(reg_u32, 2) ? 0 : bytes)
                                                  : bytes;
    sim_cp_async(to, from, bytes, valid);
}

static void decode_cp_async(struct decoder *d) {
    static const char *const caches[] = {"ca", "cg", NULL};
    const struct ptx_operand *const o = d->source->operand;
    if (take_one_of(d, caches) < 0) refuse(d, "this form of it is not modelled");
    if (!take(d, "shared") && !take(d, "shared::cta")) refuse(d, "this form of it is not modelled");
    require(d, "global");
    const bool hint = take_one_of(d, cache_words) == 0;
    take_one_of(d, cache_words);
    need_operands(d, 3, 5);
    if (d->why) return;
    const int64_t bytes = immediate(d, &o[2]);
    if (bytes != 4 && bytes != 8 && bytes != 16) refuse(d, "it copies 4, 8 or 16 bytes");
    d->op->run = cp_async;
    d->op->option[OPTION_BYTES] = (int)bytes;
    take_address(d, 1, &o[1]);
    d->op->list = arena_alloc(&d->module->arena, sizeof *d->op->list);
    d->op->list[0] = (int)d->op->offset;
    if (d->op->option[ADDRESS_BITS] != 64) refuse(d, "an address of global memory has 64 bits");
    take_address(d, 0, &o[0]);
    const int sizes = d->source->operands - 3 - hint;
    if (sizes < 0 || sizes > 1) refuse(d, "this number of operands is not modelled");
    if (sizes != 1 || d->why) return;
    const bool size = register_bytes(d, &o[3]) == 4 || o[3].kind == OPERAND_INTEGER;
    const bool ignore = o[3].kind == OPERAND_REGISTER &&
                        d->program->function->reg[o[3].reg].type.kind == KIND_PREDICATE;
    d->op->option[OPTION_SIZE] = size && !ignore;
    d->op->option[OPTION_IGNORE] = ignore;
    d->op->at[2] = read_operand(d, &o[3], ignore ? 'p' : 'w');
}

static void commit(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_cp_async_commit_group();
}
static void wait_group(const struct operation *op, struct frame *frame) {
    (void)frame;
    sim_cp_async_wait_group(op->option[0]);
}
static void wait_all(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_cp_async_commit_group();
    sim_cp_async_wait_group(0);
}
/* Without .noinc it counts as an arrival that the phase expects in addition. */
static void arrive_landed(const struct operation *op, struct frame *frame) {
    uint64_t *const barrier = own_shared(op, address(op, frame, 0, op->offset));
    if (op->option[0]) sim_mbarrier_expect_arrival(barrier);
    sim_cp_async_mbarrier_arrive_noinc(barrier);
}

static void decode_commit(struct decoder *d) {
    need_operands(d, 0, 0);
    d->op->run = commit;
}
static void decode_wait_all(struct decoder *d) {
    need_operands(d, 0, 0);
    d->op->run = wait_all;
}
static void decode_wait_group(struct decoder *d) {
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->option[0] = (int)immediate(d, &d->source->operand[0]);
    d->op->run = wait_group;
}
static void decode_arrive_landed(struct decoder *d) {
    d->op->option[0] = !take(d, "noinc");
    if (!take(d, "shared::cta")) take(d, "shared");
    require(d, "b64");
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->run = arrive_landed;
    take_address(d, 0, &d->source->operand[0]);
}

#define COPY "Data Movement and Conversion Instructions: Asynchronous copy: "
static const struct family families[] = {
    {"cp.async", decode_cp_async, MODELLED, COPY "cp.async"},
    {"cp.async.commit_group", decode_commit, MODELLED, COPY "cp.async.commit_group"},
    {"cp.async.wait_group", decode_wait_group, MODELLED, COPY "cp.async.wait_group"},
    {"cp.async.wait_all", decode_wait_all, MODELLED, COPY "cp.async.wait_all"},
    {"cp.async.mbarrier.arrive", decode_arrive_landed, MODELLED,
     "Parallel Synchronization and Communication Instructions: cp.async.mbarrier.arrive"},
};
const struct family_group copy_families = FAMILY_GROUP(families);
