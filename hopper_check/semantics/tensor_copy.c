/*
 * tensor_copy.c: PTX ISA, "Data Movement and Conversion Instructions: Tensor copy": boxes of a
 * tensor map, tiles and im2col.
 */
#include <string.h>

#include "hopper/tma.h"
#include "semantics/bulk.h"

static struct tma_at box_at(const struct operation *op, const struct frame *frame) {
    struct tma_at at = {.rank = op->option[BULK_RANK], .im2col = op->option[BULK_IM2COL]};
    for (int i = 0; i < at.rank; ++i)
        at.at[i] = VALUE_AT(reg_s32, op->list[PART_AT + i]);
    for (int i = 0; i < TENSOR_MAP_SPACE; ++i)
        if (op->list[PART_PIXEL + i] >= 0)
            at.offset[i] = VALUE_AT(reg_u16, op->list[PART_PIXEL + i]);
    return at;
}

static const struct tensor_map *map_of(const struct operation *op, const struct frame *frame) {
    return (const struct tensor_map *)(uintptr_t)VALUE_AT(reg_u64, op->list[PART_MAP]);
}

static void load(const struct operation *op, struct frame *frame) {
    const struct bulk_destination to = bulk_destination(op, frame);
    tma_load_box(to.shared, map_of(op, frame), box_at(op, frame), to.barrier, to.mask,
                 op->option[BULK_MULTICAST] ? "TMA multicast load" : "TMA load");
}

static void prefetch(const struct operation *op, struct frame *frame) {
    tma_prefetch_box(map_of(op, frame), box_at(op, frame));
}

/* B16: no reduction has it. */
static enum reduction_type type_in(const struct tensor_map_fields *f, int function) {
    const bool wide = f->element_bytes == 8;
    if (f->element_bytes < 4 && f->whole) return B16;
    if (f->whole && reduction_is_bitwise(function)) return wide ? B64 : B32;
    if (f->whole == WHOLE_UNSIGNED || (wide && f->whole && function == ADD))
        return wide ? U64 : U32;
    if (f->whole) return wide ? S64 : S32;
    return wide                   ? F64
           : f->type == GEMM_FP32 ? F32
           : f->type == GEMM_FP16 ? F16
           : f->type == GEMM_BF16 ? BF16
                                  : B16;
}

static struct tma_reduction reduction_in_map(const struct tensor_map_fields *f, int function) {
    const enum reduction_type type = type_in(f, function);
    if (!bulk_reduction_exists(function, type, true)) return (struct tma_reduction){NULL, 0, 0};
    return bulk_reduction(function, type);
}

static void store(const struct operation *op, struct frame *frame) {
    tma_store_box(map_of(op, frame), box_at(op, frame), bulk_shared(op, frame, PART_SHARED),
                  op->option[BULK_REDUCES] ? reduction_in_map : NULL, op->option[BULK_FUNCTION]);
}

/* ---- decoding ---- */

static int take_rank(struct decoder *d) {
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d", NULL};
    const int rank = take_one_of(d, ranks) + 1;
    if (!rank) refuse(d, "this form of it is not modelled");
    d->op->option[BULK_RANK] = rank;
    return rank;
}

/* .tile, or the form of im2col that is given. */
static void take_mode(struct decoder *d, const char *im2col) {
    static const char *const others[] = {"im2col::w", "im2col::w::128", "tile::gather4",
                                         "tile::scatter4", NULL};
    if (take_one_of(d, others) >= 0) refuse(d, "a mode of Blackwell");
    d->op->option[BULK_IM2COL] = take(d, im2col);
    if (!d->op->option[BULK_IM2COL]) take(d, "tile");
    if (d->op->option[BULK_IM2COL] && d->op->option[BULK_RANK] < 3)
        refuse(d, "im2col has three dimensions at least");
}

/* As many registers as `count`, in a vector or alone. */
static void take_registers(struct decoder *d, const struct ptx_operand *operand, int count,
                           char letter, int *part) {
    const bool vector = operand->kind == OPERAND_VECTOR;
    if ((vector ? operand->parts : 1) != count) {
        refuse(d, "the box has another form than its rank says");
        return;
    }
    for (int i = 0; i < count; ++i)
        part[i] = read_operand(d, vector ? &operand->part[i] : operand, letter);
}

/* [map, {column, row, ...}] */
static void take_box(struct decoder *d, const struct ptx_operand *operand, int *part) {
    if (operand->kind != OPERAND_ADDRESS || operand->offset || operand->parts != 2) {
        refuse(d, "the box has another form than its rank says");
        return;
    }
    part[PART_MAP] = read_operand(d, &operand->part[0], 'd');
    take_registers(d, &operand->part[1], d->op->option[BULK_RANK], 'w', part + PART_AT);
    for (int i = 0; i < TENSOR_MAP_SPACE; ++i)
        part[PART_PIXEL + i] = -1;
}

static void decode_load(struct decoder *d) {
    const struct ptx_operand *o = d->source->operand;
    take_mode(d, "im2col");
    require(d, "mbarrier::complete_tx::bytes");
    const bool multicast = take(d, "multicast::cluster"), hint = take(d, "L2::cache_hint");
    const bool pixels = d->op->option[BULK_IM2COL];
    need_operands(d, 3 + pixels + multicast + hint, 3 + pixels + multicast + hint);
    if (d->why) return;
    int *const part = bulk_new_parts(d);
    bulk_take_address(d, o++, part + PART_SHARED);
    take_box(d, o++, part);
    bulk_take_address(d, o++, part + PART_BARRIER);
    if (pixels) take_registers(d, o++, d->op->option[BULK_RANK] - 2, 'h', part + PART_PIXEL);
    if (multicast) part[PART_MASK] = read_operand(d, o, 'h');
    d->op->option[BULK_MULTICAST] = multicast;
    d->op->run = load;
}

static void decode_store(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    take_mode(d, "im2col_no_offs");
    require(d, "bulk_group");
    const bool hint = take(d, "L2::cache_hint");
    need_operands(d, 2 + hint, 2 + hint);
    if (d->why) return;
    int *const part = bulk_new_parts(d);
    take_box(d, &o[0], part);
    bulk_take_address(d, &o[1], part + PART_SHARED);
    d->op->run = store;
}

static void decode_copy(struct decoder *d) {
    take_rank(d);
    const bool to_shared = bulk_take_shared(d);
    require(d, "global");
    if (!to_shared) require(d, "shared::cta");
    (to_shared ? decode_load : decode_store)(d);
}

static void decode_reduce(struct decoder *d) {
    take_rank(d);
    require(d, "global");
    require(d, "shared::cta");
    d->op->option[BULK_REDUCES] = true;
    d->op->option[BULK_FUNCTION] = bulk_take_function(d);
    decode_store(d);
}

/* .RANK.L2.global{.MODE} [map, {column, row, ...}]{, {offsets}} */
static void decode_prefetch(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    take_rank(d);
    require(d, "L2");
    require(d, "global");
    take_mode(d, "im2col");
    const bool hint = take(d, "L2::cache_hint"), pixels = d->op->option[BULK_IM2COL];
    need_operands(d, 1 + pixels + hint, 1 + pixels + hint);
    if (d->why) return;
    int *const part = bulk_new_parts(d);
    take_box(d, &o[0], part);
    if (pixels) take_registers(d, &o[1], d->op->option[BULK_RANK] - 2, 'h', part + PART_PIXEL);
    d->op->run = prefetch;
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

#define COPY "Data Movement and Conversion Instructions: Tensor copy: "
static const struct family families[] = {
    {"cp.async.bulk.tensor", decode_copy, MODELLED, COPY "cp.async.bulk.tensor"},
    {"cp.async.bulk.prefetch.tensor", decode_prefetch, ORDERING,
     COPY "cp.async.bulk.prefetch.tensor"},
    {"cp.reduce.async.bulk.tensor", decode_reduce, MODELLED, COPY "cp.reduce.async.bulk.tensor"},
    {"prefetch.tensormap", decode_prefetch_map, MODELLED, COPY "prefetch.tensormap"},
};
const struct family_group tensor_copy_families = FAMILY_GROUP(families);
