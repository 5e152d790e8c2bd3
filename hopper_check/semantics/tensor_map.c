/* tensor_map.c: PTX ISA, "Tensormap": tensormap.replace and tensormap.cp_fenceproxy. */
#include "hopper/tensormap.h"

#include "program/instructions.h"
#include "semantics/address.h"

enum { OPTION_FIELD, OPTION_ORDINAL, OPTION_WIDE, OPTION_SCOPE, OPTION_GLOBAL };

static void replace(const struct operation *op, struct frame *frame) {
    const uint64_t at = address(op, frame, 0, op->offset);
    const enum sim_map_field field = (enum sim_map_field)op->option[OPTION_FIELD];
    uint64_t value = op->option[OPTION_WIDE] ? VALUE(reg_u64, 1) : VALUE(reg_u32, 1);
    if (field == MAP_RANK) ++value; /* the field counts dimensions from 0 */
    if (op->option[OPTION_GLOBAL])
        sim_tensor_map_replace_global((struct tensor_map *)(uintptr_t)at, field,
                                      op->option[OPTION_ORDINAL], value);
    else
        sim_tensor_map_replace(own_shared(op, at), field, op->option[OPTION_ORDINAL], value);
}

/* .tile.FIELD.{shared::cta, global}.b1024.TYPE [map], {ordinal,} value */
static void decode_replace(struct decoder *d) {
    static const struct {
        const char *name;
        enum sim_map_field field;
        bool ordinal;
    } fields[] = {{"global_address", MAP_ADDRESS, false},
                  {"global_dim", MAP_DIM, true},
                  {"global_stride", MAP_PITCH, true},
                  {"box_dim", MAP_BOX, true},
                  {"element_stride", MAP_ELEMENT_STRIDE, true},
                  {"rank", MAP_RANK, false},
                  {"elemtype", MAP_TYPE, false},
                  {"interleave_layout", MAP_INTERLEAVE, false},
                  {"swizzle_mode", MAP_SWIZZLE, false},
                  {"fill_mode", MAP_FILL, false}};
    enum { FIELDS = sizeof fields / sizeof *fields };
    const struct ptx_operand *const o = d->source->operand;
    int i = 0;
    require(d, "tile");
    while (i < FIELDS && !take(d, fields[i].name))
        ++i;
    if (i == FIELDS) refuse(d, "this field is not modelled");
    d->op->option[OPTION_GLOBAL] = take(d, "global");
    if (!d->op->option[OPTION_GLOBAL]) require(d, "shared::cta");
    require(d, "b1024");
    const bool wide = take(d, "b64");
    if (!wide) require(d, "b32");
    if (d->why) return;
    need_operands(d, 2 + fields[i].ordinal, 2 + fields[i].ordinal);
    if (d->why) return;
    d->op->run = replace;
    d->op->option[OPTION_FIELD] = (int)fields[i].field;
    d->op->option[OPTION_ORDINAL] = fields[i].ordinal ? (int)immediate(d, &o[1]) : 0;
    d->op->option[OPTION_WIDE] = wide;
    take_address(d, 0, &o[0]);
    d->op->at[1] = read_operand(d, &o[1 + fields[i].ordinal], wide ? 'd' : 'w');
}

static void copy_release(const struct operation *op, struct frame *frame) {
    struct tensor_map *const to =
        (struct tensor_map *)(uintptr_t)(VALUE(reg_u64, 1) + (uint64_t)(int64_t)op->list[0]);
    sim_tensor_map_copy_release(to, own_shared(op, address(op, frame, 0, op->offset)),
                                (enum scope)op->option[OPTION_SCOPE]);
}

/* .global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned [to], [from], 128 */
static void decode_copy(struct decoder *d) {
    static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
    static const char *const words[] = {"global", "shared::cta", "tensormap::generic", "release"};
    const struct ptx_operand *const o = d->source->operand;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        require(d, words[i]);
    const int scope = take_one_of(d, scopes);
    require(d, "sync");
    require(d, "aligned");
    need_operands(d, 3, 3);
    if (scope < 0) refuse(d, "its scope is missing");
    if (d->why) return;
    d->op->run = copy_release;
    d->op->option[OPTION_SCOPE] = scope;
    take_address(d, 1, &o[0]);
    d->op->list = arena_alloc(&d->module->arena, sizeof *d->op->list);
    d->op->list[0] = (int)d->op->offset;
    if (d->op->option[ADDRESS_BITS] != 64) refuse(d, "an address of global memory has 64 bits");
    take_address(d, 0, &o[1]);
}

static const struct family families[] = {
    {"tensormap.replace", decode_replace, MODELLED, "Tensormap Instructions: tensormap.replace"},
    {"tensormap.cp_fenceproxy", decode_copy, MODELLED,
     "Parallel Synchronization and Communication Instructions: tensormap.cp_fenceproxy"},
};
const struct family_group tensor_map_families = FAMILY_GROUP(families);
