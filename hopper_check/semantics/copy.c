/*
 * copy.c: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy": cp.async of a
 * thread, boxes of a tensor map, and contiguous bytes.
 */
#include <string.h>

#include "hopper/cp_async.h"
#include "hopper/tma.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "sim/units/mbarrier/table.h"
#include "sim/units/tma/copy.h"

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

/* ---- cp.async.bulk.tensor ---- */

/* In op->list. An address has a register, its bits, and an offset. */
enum { MAP, SHARED, BARRIER = SHARED + 3, TARGET = BARRIER + 3, SIZE = TARGET + 3, MASK, AT };
enum { PARTS = AT + TENSOR_MAP_MAX_RANK };
enum { OPTION_MULTICAST, OPTION_REDUCE, OPTION_RANK, OPTION_TYPE };

static uint64_t address_part(const struct operation *op, const struct frame *frame, int part) {
    const int *const p = op->list + part;
    return (p[1] == 32 ? VALUE_AT(reg_u32, p[0]) : VALUE_AT(reg_u64, p[0])) +
           (uint64_t)(int64_t)p[2];
}

static void *shared_part(const struct operation *op, const struct frame *frame, int part) {
    return own_shared(op, address_part(op, frame, part));
}

static void *global_part(const struct operation *op, const struct frame *frame, int part) {
    return (void *)(uintptr_t)address_part(op, frame, part);
}

/* The CTAs that get it: bits. */
static unsigned mask_of(const struct operation *op, const struct frame *frame) {
    return op->option[OPTION_MULTICAST] ? VALUE_AT(reg_u16, op->list[MASK])
                                        : 1u << sim_self->cluster_rank;
}

static struct tma_at box_at(const struct operation *op, const struct frame *frame) {
    struct tma_at at = {.rank = op->option[OPTION_RANK]};
    for (int i = 0; i < at.rank; ++i)
        at.at[i] = VALUE_AT(reg_s32, op->list[AT + i]);
    return at;
}

static const struct tensor_map *map_of(const struct operation *op, const struct frame *frame) {
    return (const struct tensor_map *)(uintptr_t)VALUE_AT(reg_u64, op->list[MAP]);
}

static void tensor_load(const struct operation *op, struct frame *frame) {
    tma_load_box(shared_part(op, frame, SHARED), map_of(op, frame), box_at(op, frame),
                 shared_part(op, frame, BARRIER), mask_of(op, frame),
                 op->option[OPTION_MULTICAST] ? "TMA multicast load" : "TMA load");
}

static void tensor_store(const struct operation *op, struct frame *frame) {
    tma_store_box(map_of(op, frame), box_at(op, frame), shared_part(op, frame, SHARED),
                  op->option[OPTION_REDUCE]);
}

static void take_address_part(struct decoder *d, const struct ptx_operand *operand, int *part) {
    if (operand->kind != OPERAND_ADDRESS || operand->parts != 1) {
        refuse(d, "an address is missing");
        return;
    }
    part[1] = register_bytes(d, &operand->part[0]) == 4 ? 32 : 64;
    part[0] = read_operand(d, &operand->part[0], part[1] == 32 ? 'w' : 'd');
    part[2] = (int)operand->offset;
}

/* [map, {column, row, ...}] */
static void take_box(struct decoder *d, const struct ptx_operand *operand, int rank, int *part) {
    const struct ptx_operand *const at = operand->parts == 2 ? &operand->part[1] : NULL;
    const int given = !at ? 0 : at->kind == OPERAND_VECTOR ? at->parts : 1;
    if (operand->kind != OPERAND_ADDRESS || operand->offset || given != rank) {
        refuse(d, "the box has another form than its rank says");
        return;
    }
    part[MAP] = read_operand(d, &operand->part[0], 'd');
    for (int i = 0; i < rank; ++i)
        part[AT + i] = read_operand(d, at->kind == OPERAND_VECTOR ? &at->part[i] : at, 'w');
}

static int take_rank(struct decoder *d) {
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d", NULL};
    const int rank = take_one_of(d, ranks) + 1;
    if (!rank) refuse(d, "this form of it is not modelled");
    d->op->option[OPTION_RANK] = rank;
    return rank;
}

static int *new_parts(struct decoder *d) {
    d->op->list = arena_alloc(&d->module->arena, PARTS * sizeof *d->op->list);
    d->op->listed = PARTS;
    return d->op->list;
}

static bool take_shared_space(struct decoder *d) {
    return take(d, "shared::cluster") || take(d, "shared::cta");
}

static void take_tile(struct decoder *d) {
    static const char *const gathers[] = {"im2col", "im2col::w", "tile::gather4", "im2col_no_offs",
                                          NULL};
    if (take_one_of(d, gathers) >= 0) refuse(d, "of tensor copies only tiles are modelled");
    take(d, "tile");
}

static void decode_tensor(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    const int rank = take_rank(d);
    const bool load = take_shared_space(d);
    require(d, "global");
    if (!load) require(d, "shared::cta");
    take_tile(d);
    require(d, load ? "mbarrier::complete_tx::bytes" : "bulk_group");
    d->op->option[OPTION_MULTICAST] = load && take(d, "multicast::cluster");
    const bool hint = take(d, "L2::cache_hint");
    const int operands = (load ? 3 + d->op->option[OPTION_MULTICAST] : 2) + hint;
    need_operands(d, operands, operands);
    if (d->why) return;
    int *const part = new_parts(d);
    take_box(d, &o[load ? 1 : 0], rank, part);
    take_address_part(d, &o[load ? 0 : 1], part + SHARED);
    if (load) take_address_part(d, &o[2], part + BARRIER);
    if (d->op->option[OPTION_MULTICAST]) part[MASK] = read_operand(d, &o[3], 'h');
    d->op->run = load ? tensor_load : tensor_store;
}

static void decode_tensor_reduce(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    const int rank = take_rank(d);
    require(d, "global");
    require(d, "shared::cta");
    if (!take(d, "add")) refuse(d, "of tensor reductions only additions are modelled");
    take_tile(d);
    require(d, "bulk_group");
    const bool hint = take(d, "L2::cache_hint");
    need_operands(d, 2 + hint, 2 + hint);
    if (d->why) return;
    int *const part = new_parts(d);
    take_box(d, &o[0], rank, part);
    take_address_part(d, &o[1], part + SHARED);
    d->op->option[OPTION_REDUCE] = true;
    d->op->run = tensor_store;
}

/* ---- cp.async.bulk: contiguous bytes ---- */

static void load_bytes(const struct operation *op, struct frame *frame) {
    bulk_load(shared_part(op, frame, SHARED), global_part(op, frame, TARGET),
              VALUE_AT(reg_u32, op->list[SIZE]), shared_part(op, frame, BARRIER),
              mask_of(op, frame));
}

static void store_bytes(const struct operation *op, struct frame *frame) {
    const enum gemm_type type = (enum gemm_type)op->option[OPTION_TYPE];
    bulk_store(global_part(op, frame, TARGET), shared_part(op, frame, SHARED),
               VALUE_AT(reg_u32, op->list[SIZE]), op->option[OPTION_REDUCE] ? &type : NULL);
}

static void send_bytes(const struct operation *op, struct frame *frame) {
    enum { CHUNK = 16 };
    const uint32_t bytes = VALUE_AT(reg_u32, op->list[SIZE]);
    bulk_send(window_place(address_part(op, frame, TARGET), bytes, CHUNK),
              shared_part(op, frame, SHARED), bytes,
              window_place(address_part(op, frame, BARRIER), sizeof(uint64_t), sizeof(uint64_t)));
}

static void decode_bulk(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    const bool to_shared = take_shared_space(d), from_global = take(d, "global");
    const bool load = to_shared && from_global, store = !to_shared && from_global;
    if (!load) require(d, "shared::cta");
    require(d, store ? "bulk_group" : "mbarrier::complete_tx::bytes");
    d->op->option[OPTION_MULTICAST] = load && take(d, "multicast::cluster");
    const bool hint = take(d, "L2::cache_hint");
    const int operands = 3 + !store + d->op->option[OPTION_MULTICAST] + hint;
    need_operands(d, operands, operands);
    if (d->why) return;
    int *const part = new_parts(d);
    take_address_part(d, &o[0], part + (load ? SHARED : TARGET));
    take_address_part(d, &o[1], part + (load ? TARGET : SHARED));
    part[SIZE] = read_operand(d, &o[2], 'w');
    if (!store) take_address_part(d, &o[3], part + BARRIER);
    if (d->op->option[OPTION_MULTICAST]) part[MASK] = read_operand(d, &o[4], 'h');
    d->op->run = load ? load_bytes : store ? store_bytes : send_bytes;
}

static void decode_bulk_reduce(struct decoder *d) {
    static const char *const types[] = {"f16", "bf16", "f32", NULL};
    static const enum gemm_type gemm_types[] = {GEMM_FP16, GEMM_BF16, GEMM_FP32};
    const struct ptx_operand *const o = d->source->operand;
    require(d, "global");
    require(d, "shared::cta");
    require(d, "bulk_group");
    const bool hint = take(d, "L2::cache_hint");
    if (!take(d, "add")) refuse(d, "of bulk reductions only additions are modelled");
    take(d, "noftz");
    const int type = take_one_of(d, types);
    if (type < 0) refuse(d, "of bulk reductions only those of f16, bf16 and f32 are modelled");
    need_operands(d, 3 + hint, 3 + hint);
    if (d->why) return;
    int *const part = new_parts(d);
    take_address_part(d, &o[0], part + TARGET);
    take_address_part(d, &o[1], part + SHARED);
    part[SIZE] = read_operand(d, &o[2], 'w');
    d->op->option[OPTION_REDUCE] = true;
    d->op->option[OPTION_TYPE] = (int)gemm_types[type];
    d->op->run = store_bytes;
}

/* ---- st.async: registers to another CTA ---- */

/* In op->list behind the addresses: the elements of the value. */
enum { VALUES = PARTS, MOST_VALUES = 4 };
enum { OPTION_ELEMENT, OPTION_COUNT };

static void store_async(const struct operation *op, struct frame *frame) {
    unsigned char value[16];
    const int bytes = op->option[OPTION_ELEMENT], count = op->option[OPTION_COUNT];
    for (int i = 0; i < count; ++i)
        memcpy(value + i * bytes, frame->registers + op->list[VALUES + i], (size_t)bytes);
    const size_t all = (size_t)(bytes * count);
    async_store(window_place(address_part(op, frame, TARGET), all, all), value, (uint32_t)all,
                window_place(address_part(op, frame, BARRIER), sizeof(uint64_t), sizeof(uint64_t)));
}

static void decode_store_async(struct decoder *d) {
    static const char *const vectors[] = {"v2", "v4", NULL};
    const struct ptx_operand *const o = d->source->operand;
    take(d, "weak");
    require(d, "shared::cluster");
    require(d, "mbarrier::complete_tx::bytes");
    const int vector = take_one_of(d, vectors), count = vector < 0 ? 1 : 2 << vector;
    const struct ptx_type type = take_type(d);
    need_operands(d, 3, 3);
    if (type.bytes < 4 || type.bytes * count > 16) refuse(d, "its value has another size");
    if (d->why) return;
    take_list(d, &o[1], type.bytes == 4 ? 'w' : 'd', false);
    if (d->op->listed != count) refuse(d, "its vector has another length than it says");
    if (d->why) return;
    int *const part = arena_alloc(&d->module->arena, (VALUES + MOST_VALUES) * sizeof *part);
    memcpy(part + VALUES, d->op->list, (size_t)count * sizeof *part);
    d->op->list = part;
    take_address_part(d, &o[0], part + TARGET);
    take_address_part(d, &o[2], part + BARRIER);
    d->op->option[OPTION_ELEMENT] = type.bytes;
    d->op->option[OPTION_COUNT] = count;
    d->op->run = store_async;
}

static void nothing(const struct operation *op, struct frame *frame) { (void)op, (void)frame; }
static void decode_prefetch(struct decoder *d) {
    d->next = d->words;
    d->op->run = nothing;
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

#define COPY "Data Movement and Conversion Instructions: Asynchronous copy: "
static const struct family families[] = {
    {"cp.async", decode_cp_async, MODELLED, COPY "cp.async"},
    {"cp.async.commit_group", decode_commit, MODELLED, COPY "cp.async.commit_group"},
    {"cp.async.wait_group", decode_wait_group, MODELLED, COPY "cp.async.wait_group"},
    {"cp.async.wait_all", decode_wait_all, MODELLED, COPY "cp.async.wait_all"},
    {"cp.async.mbarrier.arrive", decode_arrive_landed, MODELLED,
     "Parallel Synchronization and Communication Instructions: cp.async.mbarrier.arrive"},
    {"st.async", decode_store_async, MODELLED,
     "Data Movement and Conversion Instructions: st.async"},
    {"cp.async.bulk", decode_bulk, MODELLED, COPY "cp.async.bulk"},
    {"cp.async.bulk.prefetch", decode_prefetch, ORDERING, COPY "cp.async.bulk.prefetch"},
    {"cp.async.bulk.tensor", decode_tensor, MODELLED, COPY "cp.async.bulk.tensor"},
    {"cp.reduce.async.bulk", decode_bulk_reduce, MODELLED, COPY "cp.reduce.async.bulk"},
    {"cp.reduce.async.bulk.tensor", decode_tensor_reduce, MODELLED,
     COPY "cp.reduce.async.bulk.tensor"},
    {"cp.async.bulk.commit_group", decode_bulk_commit, MODELLED, COPY "commit_group"},
    {"cp.async.bulk.wait_group", decode_bulk_wait, MODELLED, COPY "wait_group"},
    {"prefetch.tensormap", decode_prefetch_map, MODELLED, COPY "prefetch.tensormap"},
};
const struct family_group copy_families = FAMILY_GROUP(families);
