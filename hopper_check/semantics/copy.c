/*
 * copy.c: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy": cp.async of a
 * thread, and boxes of a tensor map.
 */
#include "hopper/cp_async.h"
#include "hopper/tma.h"
#include "program/instructions.h"
#include "semantics/address.h"

static const char *const cache_words[] = {"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B",
                                          NULL};

/* ---- cp.async ---- */

enum { OPTION_SIZE };
enum { COPY_BYTES = 16 };

/* [to], [from], 16{, bytes that are valid} */
static void cp_async(const struct operation *op, struct frame *frame) {
    void *const to = own_shared(op, address(op, frame, 0, op->offset));
    const void *const from =
        (const void *)(uintptr_t)(VALUE(reg_u64, 1) + (uint64_t)(int64_t)op->list[0]);
    sim_cp_async_16(to, from, op->option[OPTION_SIZE] ? VALUE(reg_s32, 2) : COPY_BYTES);
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
    if (immediate(d, &o[2]) != COPY_BYTES)
        refuse(d, "copies of 4 and 8 bytes are not modelled yet");
    d->op->run = cp_async;
    take_address(d, 1, &o[1]);
    d->op->list = arena_alloc(&d->module->arena, sizeof *d->op->list);
    d->op->list[0] = (int)d->op->offset;
    if (d->op->option[ADDRESS_BITS] != 64) refuse(d, "an address of global memory has 64 bits");
    take_address(d, 0, &o[0]);
    const int sizes = d->source->operands - 3 - hint;
    d->op->option[OPTION_SIZE] = sizes == 1;
    if (sizes < 0 || sizes > 1) refuse(d, "this number of operands is not modelled");
    if (sizes == 1 && register_bytes(d, &o[3]) != 4 && o[3].kind != OPERAND_INTEGER)
        refuse(d, "a predicate that leaves out the copy is not modelled yet");
    if (sizes == 1 && !d->why) d->op->at[2] = read_operand(d, &o[3], 'w');
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
static void arrive_noinc(const struct operation *op, struct frame *frame) {
    sim_cp_async_mbarrier_arrive_noinc(own_shared(op, address(op, frame, 0, op->offset)));
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
static void decode_arrive_noinc(struct decoder *d) {
    if (!take(d, "shared::cta")) take(d, "shared");
    require(d, "b64");
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->run = arrive_noinc;
    take_address(d, 0, &d->source->operand[0]);
}

/* ---- cp.async.bulk.tensor ---- */

enum { COLUMN, ROW, MAP, SHARED, BARRIER, MASK, BOX_PARTS }; /* in op->list */
enum { OPTION_MULTICAST, OPTION_REDUCE };

static struct tensor_map *map_of(const struct operation *op, const struct frame *frame) {
    return (struct tensor_map *)(uintptr_t)VALUE_AT(reg_u64, op->list[MAP]);
}

static int coordinate(const struct operation *op, const struct frame *frame, int part) {
    return VALUE_AT(reg_s32, op->list[part]);
}

static void tensor_load(const struct operation *op, struct frame *frame) {
    void *const to = own_shared(op, VALUE_AT(reg_u32, op->list[SHARED]) + (uint64_t)op->offset);
    uint64_t *const barrier = own_shared(op, VALUE_AT(reg_u32, op->list[BARRIER]));
    const int row = coordinate(op, frame, ROW), column = coordinate(op, frame, COLUMN);
    if (op->option[OPTION_MULTICAST])
        sim_tma_load_multicast(to, map_of(op, frame), row, column, barrier,
                               VALUE_AT(reg_u16, op->list[MASK]));
    else
        sim_tma_load(to, map_of(op, frame), row, column, barrier);
}

static void tensor_store(const struct operation *op, struct frame *frame) {
    void *const from = own_shared(op, VALUE_AT(reg_u32, op->list[SHARED]) + (uint64_t)op->offset);
    const int row = coordinate(op, frame, ROW), column = coordinate(op, frame, COLUMN);
    if (op->option[OPTION_REDUCE])
        sim_tma_reduce_add(map_of(op, frame), row, column, from);
    else
        sim_tma_store(map_of(op, frame), row, column, from);
}

/* An address of shared memory in 32 bits, without an offset. */
static int shared_operand(struct decoder *d, const struct ptx_operand *operand) {
    if (operand->kind != OPERAND_ADDRESS || operand->parts != 1) {
        refuse(d, "an address of shared memory is missing");
        return 0;
    }
    if (operand->offset) refuse(d, "an offset is not modelled here");
    return read_operand(d, &operand->part[0], 'w');
}

/* [map, {column, row}] */
static void take_box(struct decoder *d, const struct ptx_operand *operand, int *part) {
    if (operand->kind != OPERAND_ADDRESS || operand->parts != 2 || operand->offset ||
        operand->part[1].kind != OPERAND_VECTOR || operand->part[1].parts != 2) {
        refuse(d, "the box has another form than its rank says");
        return;
    }
    part[MAP] = read_operand(d, &operand->part[0], 'd');
    part[COLUMN] = read_operand(d, &operand->part[1].part[0], 'w');
    part[ROW] = read_operand(d, &operand->part[1].part[1], 'w');
}

static void need_rank_2(struct decoder *d) {
    static const char *const others[] = {"1d", "3d", "4d", "5d", NULL};
    if (take_one_of(d, others) >= 0)
        refuse(d, "of tensor maps only those of rank 2 are modelled yet");
    require(d, "2d");
}

static int *box_parts(struct decoder *d) {
    d->op->list = arena_alloc(&d->module->arena, BOX_PARTS * sizeof *d->op->list);
    d->op->listed = BOX_PARTS;
    return d->op->list;
}

static void decode_tensor(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    need_rank_2(d);
    const bool load = take(d, "shared::cluster") || take(d, "shared::cta");
    if (load) {
        require(d, "global");
        take(d, "tile");
        require(d, "mbarrier::complete_tx::bytes");
        d->op->option[OPTION_MULTICAST] = take(d, "multicast::cluster");
    } else {
        require(d, "global");
        require(d, "shared::cta");
        take(d, "tile");
        require(d, "bulk_group");
    }
    const bool hint = take(d, "L2::cache_hint");
    const int operands = (load ? 3 + d->op->option[OPTION_MULTICAST] : 2) + hint;
    need_operands(d, operands, operands);
    if (d->why) return;
    int *const part = box_parts(d);
    take_box(d, &o[load ? 1 : 0], part);
    part[SHARED] = shared_operand(d, &o[load ? 0 : 1]);
    if (load) part[BARRIER] = shared_operand(d, &o[2]);
    if (d->op->option[OPTION_MULTICAST]) part[MASK] = read_operand(d, &o[3], 'h');
    d->op->run = load ? tensor_load : tensor_store;
}

static void decode_tensor_reduce(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    need_rank_2(d);
    require(d, "global");
    require(d, "shared::cta");
    require(d, "add");
    take(d, "tile");
    require(d, "bulk_group");
    need_operands(d, 2, 2);
    if (d->why) return;
    int *const part = box_parts(d);
    take_box(d, &o[0], part);
    part[SHARED] = shared_operand(d, &o[1]);
    d->op->option[OPTION_REDUCE] = true;
    d->op->run = tensor_store;
}

static void bulk_commit(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_bulk_commit_group();
}
enum { OPTION_PENDING, OPTION_READ };
static void bulk_wait(const struct operation *op, struct frame *frame) {
    (void)frame;
    if (op->option[OPTION_READ])
        sim_bulk_wait_group_read(op->option[OPTION_PENDING]);
    else
        sim_bulk_wait_group(op->option[OPTION_PENDING]);
}
static void decode_bulk_commit(struct decoder *d) {
    need_operands(d, 0, 0);
    d->op->run = bulk_commit;
}
static void decode_bulk_wait(struct decoder *d) {
    d->op->option[OPTION_READ] = take(d, "read");
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->option[OPTION_PENDING] = (int)immediate(d, &d->source->operand[0]);
    d->op->run = bulk_wait;
}

static void prefetch_map(const struct operation *op, struct frame *frame) {
    sim_tma_prefetch_map((const struct tensor_map *)(uintptr_t)address(op, frame, 0, op->offset));
}
static void decode_prefetch_map(struct decoder *d) {
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->run = prefetch_map;
    take_address(d, 0, &d->source->operand[0]);
}

static void decode_bulk(struct decoder *d) {
    refuse(d, "bulk copies without a tensor map are not modelled yet");
}

#define COPY "Data Movement and Conversion Instructions: Asynchronous copy: "
static const struct family families[] = {
    {"cp.async", decode_cp_async, MODELLED, COPY "cp.async"},
    {"cp.async.commit_group", decode_commit, MODELLED, COPY "cp.async.commit_group"},
    {"cp.async.wait_group", decode_wait_group, MODELLED, COPY "cp.async.wait_group"},
    {"cp.async.wait_all", decode_wait_all, MODELLED, COPY "cp.async.wait_all"},
    {"cp.async.mbarrier.arrive.noinc", decode_arrive_noinc, MODELLED,
     "Parallel Synchronization and Communication Instructions: cp.async.mbarrier.arrive"},
    {"cp.async.bulk", decode_bulk, REFUSED, COPY "cp.async.bulk"},
    {"cp.async.bulk.tensor", decode_tensor, MODELLED, COPY "cp.async.bulk.tensor"},
    {"cp.reduce.async.bulk", decode_bulk, REFUSED, COPY "cp.reduce.async.bulk"},
    {"cp.reduce.async.bulk.tensor", decode_tensor_reduce, MODELLED,
     COPY "cp.reduce.async.bulk.tensor"},
    {"cp.async.bulk.commit_group", decode_bulk_commit, MODELLED, COPY "commit_group"},
    {"cp.async.bulk.wait_group", decode_bulk_wait, MODELLED, COPY "wait_group"},
    {"prefetch.tensormap", decode_prefetch_map, MODELLED, COPY "prefetch.tensormap"},
};
const struct family_group copy_families = FAMILY_GROUP(families);
