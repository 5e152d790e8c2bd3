/*
 * bulk.c: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy": contiguous
 * bytes, between shared memory and global memory or another CTA's, as copies and as reductions;
 * st.async and red.async.
 */
#include "semantics/bulk.h"

#include <string.h>

#include "hopper/tma.h"
#include "sim/core/hazards.h"

/* ---- what all have in common ---- */

uint64_t bulk_address(const struct operation *op, const struct frame *frame, int part) {
    const int *const p = op->list + part;
    return (p[1] == 32 ? VALUE_AT(reg_u32, p[0]) : VALUE_AT(reg_u64, p[0])) +
           (uint64_t)(int64_t)p[2];
}

void *bulk_shared(const struct operation *op, const struct frame *frame, int part) {
    return own_shared(op, bulk_address(op, frame, part));
}

void *bulk_global(const struct operation *op, const struct frame *frame, int part) {
    return (void *)(uintptr_t)bulk_address(op, frame, part);
}

struct bulk_destination bulk_destination(const struct operation *op, const struct frame *frame) {
    unsigned rank, of_barrier;
    void *const shared = shared_pointer(bulk_address(op, frame, PART_SHARED), &rank);
    void *const barrier = shared_pointer(bulk_address(op, frame, PART_BARRIER), &of_barrier);
    const bool multicast = op->option[BULK_MULTICAST];
    const unsigned wanted = multicast ? sim_self->cluster_rank : rank;
    if (rank != wanted || of_barrier != wanted)
        thread_not_modelled(op, "its mbarrier is in another CTA than what it brings");
    if (wanted >= (unsigned)sim_thread()->cta->cluster->ctas)
        sim_fatal("bad-rank", NULL, "CTA %u of a cluster of %d", wanted,
                  sim_thread()->cta->cluster->ctas);
    return (struct bulk_destination){
        shared, barrier, multicast ? VALUE_AT(reg_u16, op->list[PART_MASK]) : 1u << wanted};
}

void bulk_take_address(struct decoder *d, const struct ptx_operand *operand, int *part) {
    if (operand->kind != OPERAND_ADDRESS || operand->parts != 1) {
        refuse(d, "an address is missing");
        return;
    }
    part[1] = register_bytes(d, &operand->part[0]) == 4 ? 32 : 64;
    part[0] = read_operand(d, &operand->part[0], part[1] == 32 ? 'w' : 'd');
    part[2] = (int)operand->offset;
}

int *bulk_new_parts(struct decoder *d) {
    d->op->list = arena_alloc(&d->module->arena, PARTS * sizeof *d->op->list);
    d->op->listed = PARTS;
    return d->op->list;
}

bool bulk_take_shared(struct decoder *d) {
    return take(d, "shared::cluster") || take(d, "shared::cta");
}

/* ---- reductions, of each element by itself ---- */

/* of = function + FUNCTIONS * type */
enum { FUNCTIONS = CAS + 1 };

static void reduce_element(int of, void *element, const void *operand) {
    struct reduction r = {.function = (enum reduction_function)(of % FUNCTIONS),
                          .type = (enum reduction_type)(of / FUNCTIONS)};
    memcpy(r.operand, operand, reduction_bytes(r.type));
    reduction_apply(element, element, &r);
}

struct tma_reduction bulk_reduction(int function, enum reduction_type type) {
    return (struct tma_reduction){reduce_element, function + FUNCTIONS * (int)type,
                                  (int)reduction_bytes(type)};
}

int bulk_take_function(struct decoder *d) {
    const int function = take_function(d);
    if (function < 0 || function > DEC) refuse(d, "there is no such reduction");
    return function;
}

/* Of an instruction that says the type; of a copy none. */
static struct tma_reduction reduction_in(const struct operation *op) {
    if (!op->option[BULK_REDUCES]) return (struct tma_reduction){NULL, 0, 0};
    return bulk_reduction(op->option[BULK_FUNCTION], (enum reduction_type)op->option[BULK_TYPE]);
}

bool bulk_reduction_exists(int function, enum reduction_type type, bool global) {
    if (reduction_is_bitwise(function)) return type == B32 || (global && type == B64);
    switch (type) {
    case U32:
        return true;
    case S32:
        return function <= MAX;
    case U64:
        return function == ADD || (global && function <= MAX);
    case S64:
        return global && (function == MIN || function == MAX);
    case F16:
    case BF16:
        return global && function <= MAX;
    case F32:
    case F64:
        return global && function == ADD;
    default:
        return false;
    }
}

/* ---- cp.async.bulk: contiguous bytes ---- */

static void load_bytes(const struct operation *op, struct frame *frame) {
    const struct bulk_destination to = bulk_destination(op, frame);
    bulk_load(to.shared, bulk_global(op, frame, PART_TARGET),
              VALUE_AT(reg_u32, op->list[PART_SIZE]), to.barrier, to.mask);
}

static void store_bytes(const struct operation *op, struct frame *frame) {
    bulk_store(bulk_global(op, frame, PART_TARGET), bulk_shared(op, frame, PART_SHARED),
               VALUE_AT(reg_u32, op->list[PART_SIZE]), reduction_in(op));
}

static void send_bytes(const struct operation *op, struct frame *frame) {
    enum { CHUNK = 16 };
    const uint32_t bytes = VALUE_AT(reg_u32, op->list[PART_SIZE]);
    bulk_send(
        window_pointer(bulk_address(op, frame, PART_TARGET), bytes, CHUNK),
        bulk_shared(op, frame, PART_SHARED), bytes,
        window_pointer(bulk_address(op, frame, PART_BARRIER), sizeof(uint64_t), sizeof(uint64_t)),
        reduction_in(op));
}

static void decode_bulk(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    const bool to_shared = bulk_take_shared(d), from_global = take(d, "global");
    const bool load = to_shared && from_global, store = !to_shared && from_global;
    if (!load) require(d, "shared::cta");
    require(d, store ? "bulk_group" : "mbarrier::complete_tx::bytes");
    d->op->option[BULK_MULTICAST] = load && take(d, "multicast::cluster");
    const bool hint = take(d, "L2::cache_hint");
    const int operands = 3 + !store + d->op->option[BULK_MULTICAST] + hint;
    need_operands(d, operands, operands);
    if (d->why) return;
    int *const part = bulk_new_parts(d);
    bulk_take_address(d, &o[0], part + (load ? PART_SHARED : PART_TARGET));
    bulk_take_address(d, &o[1], part + (load ? PART_TARGET : PART_SHARED));
    part[PART_SIZE] = read_operand(d, &o[2], 'w');
    if (!store) bulk_take_address(d, &o[3], part + PART_BARRIER);
    if (d->op->option[BULK_MULTICAST]) part[PART_MASK] = read_operand(d, &o[4], 'h');
    d->op->run = load ? load_bytes : store ? store_bytes : send_bytes;
}

static void decode_bulk_reduce(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    const bool global = take(d, "global");
    if (!global) require(d, "shared::cluster");
    require(d, "shared::cta");
    require(d, global ? "bulk_group" : "mbarrier::complete_tx::bytes");
    const bool hint = global && take(d, "L2::cache_hint");
    const int function = bulk_take_function(d);
    take(d, "noftz");
    const int type = take_reduction_type(d), operands = 3 + !global + hint;
    if (!d->why &&
        (type < 0 || !bulk_reduction_exists(function, (enum reduction_type)type, global)))
        refuse(d, "there is no such reduction");
    need_operands(d, operands, operands);
    if (d->why) return;
    int *const part = bulk_new_parts(d);
    bulk_take_address(d, &o[0], part + PART_TARGET);
    bulk_take_address(d, &o[1], part + PART_SHARED);
    part[PART_SIZE] = read_operand(d, &o[2], 'w');
    if (!global) bulk_take_address(d, &o[3], part + PART_BARRIER);
    d->op->option[BULK_REDUCES] = true;
    d->op->option[BULK_FUNCTION] = function;
    d->op->option[BULK_TYPE] = type;
    d->op->run = global ? store_bytes : send_bytes;
}

/* ---- st.async, red.async: registers to another CTA ---- */

/* In op->list behind the addresses: the elements of the value. */
enum { VALUES = PARTS, MOST_VALUES = 4, PART_GENERIC = PART_MASK };
enum { OPTION_ELEMENT, OPTION_COUNT = BULK_RANK };

/* Without .shared::cluster an address is a generic one. */
static struct sim_shared_pointer async_pointer(const struct operation *op,
                                               const struct frame *frame, int part, size_t bytes) {
    const uint64_t at = bulk_address(op, frame, part);
    if (!op->list[PART_GENERIC]) return window_pointer(at, bytes, bytes);
    const struct target t = target_of(frame, at, -1, bytes);
    if (t.kind != TARGET_SHARED)
        sim_fatal("shared-bounds", NULL, "%p is in no shared memory of the cluster", t.host);
    return t.shared;
}

static void store_async(const struct operation *op, struct frame *frame) {
    unsigned char value[16];
    const int bytes = op->option[OPTION_ELEMENT], count = op->option[OPTION_COUNT];
    for (int i = 0; i < count; ++i)
        memcpy(value + i * bytes, frame->registers + op->list[VALUES + i], (size_t)bytes);
    const size_t all = (size_t)(bytes * count);
    async_store(async_pointer(op, frame, PART_TARGET, all), value, (uint32_t)all,
                async_pointer(op, frame, PART_BARRIER, sizeof(uint64_t)), reduction_in(op));
}

static void take_store_async(struct decoder *d, bool generic, int bytes, int count) {
    const struct ptx_operand *const o = d->source->operand;
    need_operands(d, 3, 3);
    if (d->why) return;
    take_list(d, &o[1], bytes == 4 ? 'w' : 'd', false);
    if (d->op->listed != count) refuse(d, "its vector has another length than it says");
    if (d->why) return;
    int *const part = arena_alloc(&d->module->arena, (VALUES + MOST_VALUES) * sizeof *part);
    memcpy(part + VALUES, d->op->list, (size_t)count * sizeof *part);
    d->op->list = part;
    bulk_take_address(d, &o[0], part + PART_TARGET);
    bulk_take_address(d, &o[2], part + PART_BARRIER);
    part[PART_GENERIC] = generic;
    d->op->option[OPTION_ELEMENT] = bytes;
    d->op->option[OPTION_COUNT] = count;
    d->op->run = store_async;
}

/* {.relaxed.cluster}{.shared::cluster}.mbarrier::complete_tx::bytes.OP.TYPE [to], value, [mbarrier]
 */
static void decode_reduce_async(struct decoder *d) {
    if (take(d, "relaxed")) require(d, "cluster");
    const bool generic = !take(d, "shared::cluster");
    require(d, "mbarrier::complete_tx::bytes");
    const int function = bulk_take_function(d), type = take_reduction_type(d);
    const bool wide = type == S64 && function == ADD;
    if (!d->why &&
        (type < 0 || !(wide || bulk_reduction_exists(function, (enum reduction_type)type, false))))
        refuse(d, "there is no such reduction");
    if (d->why) return;
    d->op->option[BULK_REDUCES] = true;
    d->op->option[BULK_FUNCTION] = function;
    d->op->option[BULK_TYPE] = type;
    take_store_async(d, generic, (int)reduction_bytes((enum reduction_type)type), 1);
}

static void decode_store_async(struct decoder *d) {
    static const char *const vectors[] = {"v2", "v4", NULL};
    take(d, "weak");
    const bool generic = !take(d, "shared::cluster");
    require(d, "mbarrier::complete_tx::bytes");
    const int vector = take_one_of(d, vectors), count = vector < 0 ? 1 : 2 << vector;
    const struct ptx_type type = take_type(d);
    if (type.bytes < 4 || type.bytes * count > 16) refuse(d, "its value has another size");
    if (!d->why) take_store_async(d, generic, type.bytes, count);
}

/* Nothing is brought anywhere that a kernel could see. */
static void nothing(const struct operation *op, struct frame *frame) { (void)op, (void)frame; }

/* .L2.global [from], bytes */
static void decode_prefetch(struct decoder *d) {
    require(d, "L2");
    require(d, "global");
    const bool hint = take(d, "L2::cache_hint");
    need_operands(d, 2 + hint, 2 + hint);
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

#define COPY "Data Movement and Conversion Instructions: Asynchronous copy: "
static const struct family families[] = {
    {"st.async", decode_store_async, MODELLED,
     "Data Movement and Conversion Instructions: st.async"},
    {"red.async", decode_reduce_async, MODELLED,
     "Parallel Synchronization and Communication Instructions: red.async"},
    {"cp.async.bulk", decode_bulk, MODELLED, COPY "cp.async.bulk"},
    {"cp.async.bulk.prefetch", decode_prefetch, ORDERING, COPY "cp.async.bulk.prefetch"},
    {"cp.reduce.async.bulk", decode_bulk_reduce, MODELLED, COPY "cp.reduce.async.bulk"},
    {"cp.async.bulk.commit_group", decode_bulk_commit, MODELLED, COPY "commit_group"},
    {"cp.async.bulk.wait_group", decode_bulk_wait, MODELLED, COPY "wait_group"},
};
const struct family_group bulk_families = FAMILY_GROUP(families);
