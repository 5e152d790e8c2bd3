/*
 * wmma_move.c: PTX ISA, "Warp Level Matrix Instructions: wmma.load, wmma.store", and how they lay a
 * matrix out in registers.
 */
#include <string.h>

#include "program/instructions.h"
#include "semantics/address.h"
#include "semantics/wmma.h"
#include "sim/core/collective.h"
#include "sim/units/access.h"

enum { OPTION_ROWS, OPTION_COLUMNS, OPTION_BITS, OPTION_REGISTERS, OPTION_TRANSPOSED };
enum { AT_ADDRESS, AT_STRIDE, AT_SPACE };

const struct wmma_shape wmma_shapes[WMMA_SHAPES] = {{"m16n16k16", 16, 16, 16},
                                                    {"m32n8k16", 32, 8, 16},
                                                    {"m8n32k16", 8, 32, 16},
                                                    {"m16n16k8", 16, 16, 8},
                                                    {"m8n8k4", 8, 8, 4}};

struct wmma_fragment wmma_fragment_of(char matrix, const struct wmma_shape *s, int bits,
                                      bool bf16) {
    struct wmma_fragment f = {matrix == 'b' ? s->k : s->m, matrix == 'a' ? s->k : s->n, bits, 0};
    f.registers = wmma_lane_part(&f) / wmma_in_register(&f);
    if (bits == 16 && !bf16 && (matrix == 'a' || matrix == 'b')) f.registers = WMMA_MOST_REGISTERS;
    return f;
}

uint64_t wmma_get(const struct wmma_fragment *f, const uint64_t *registers, int i) {
    const int in = wmma_in_register(f);
    const uint64_t mask = ~UINT64_C(0) >> (64 - f->bits);
    return registers[i / in] >> f->bits * (i % in) & mask;
}

void wmma_put(const struct wmma_fragment *f, uint64_t *registers, int i, uint64_t bits) {
    const int in = wmma_in_register(f), part = wmma_lane_part(f);
    for (; i < f->registers * in; i += part)
        registers[i / in] |= bits << f->bits * (i % in);
}

void wmma_read(const struct operation *op, const struct frame *frame, int first,
               const struct wmma_fragment *f, uint64_t *to) {
    for (int i = 0; i < f->registers; ++i)
        to[i] = f->bits == 64 ? VALUE_AT(reg_u64, op->list[first + i])
                              : VALUE_AT(reg_u32, op->list[first + i]);
}

void wmma_write(const struct operation *op, struct frame *frame, const struct wmma_fragment *f,
                const uint64_t *from) {
    for (int i = 0; i < f->registers; ++i)
        if (f->bits == 64)
            VALUE_AT(reg_u64, op->list[i]) = from[i];
        else
            VALUE_AT(reg_u32, op->list[i]) = (uint32_t)from[i];
}

static bool all_are_here(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    (void)warp, (void)operand;
    return true;
}

void wmma_need_whole_warp(const struct operation *op) {
    if (sim_thread()->warp->lanes != UINT32_MAX)
        thread_not_modelled(op, "a warp of fewer than 32 threads");
}

/* ---- load and store ---- */

static struct wmma_fragment fragment_moved(const struct operation *op) {
    return (struct wmma_fragment){op->option[OPTION_ROWS], op->option[OPTION_COLUMNS],
                                  op->option[OPTION_BITS], op->option[OPTION_REGISTERS]};
}

/* The host's address of the lane's element i; NULL: it is outside of global memory. */
static void *element_at(const struct operation *op, const struct frame *frame,
                        const struct wmma_fragment *f, int i, enum sim_access access) {
    const size_t bytes = (size_t)f->bits / 8;
    const int at = sim_thread()->lane * wmma_lane_part(f) + i, row = at / f->columns,
              column = at % f->columns;
    const uint32_t stride = VALUE(reg_u32, AT_STRIDE);
    const uint64_t offset = op->option[OPTION_TRANSPOSED]
                                ? (uint64_t)column * stride + (uint64_t)row
                                : (uint64_t)row * stride + (uint64_t)column;
    const struct target t =
        target_of(frame, address(op, frame, AT_ADDRESS, op->offset) + offset * bytes,
                  op->at[AT_SPACE], bytes);
    if (t.kind == TARGET_OWN) thread_not_modelled(op, "its matrix is in local memory");
    if (t.kind == TARGET_SHARED) return sim_access_cluster(t.shared, bytes, access);
    return sim_access_global(t.host, bytes, access) ? t.host : NULL;
}

static void load(const struct operation *op, struct frame *frame) {
    const struct wmma_fragment f = fragment_moved(op);
    uint64_t registers[WMMA_MOST_REGISTERS] = {0};
    wmma_need_whole_warp(op);
    sim_warp_collective("wmma.load", NULL, all_are_here);
    for (int i = 0; i < wmma_lane_part(&f); ++i) {
        uint64_t bits = 0;
        const void *const from = element_at(op, frame, &f, i, SIM_READ);
        if (from) memcpy(&bits, from, (size_t)f.bits / 8);
        wmma_put(&f, registers, i, bits);
    }
    wmma_write(op, frame, &f, registers);
}

static void store(const struct operation *op, struct frame *frame) {
    const struct wmma_fragment f = fragment_moved(op);
    uint64_t registers[WMMA_MOST_REGISTERS];
    wmma_need_whole_warp(op);
    sim_warp_collective("wmma.store", NULL, all_are_here);
    wmma_read(op, frame, 0, &f, registers);
    for (int i = 0; i < wmma_lane_part(&f); ++i) {
        const uint64_t bits = wmma_get(&f, registers, i);
        void *const to = element_at(op, frame, &f, i, SIM_WRITE);
        if (to) memcpy(to, &bits, (size_t)f.bits / 8);
    }
}

const struct wmma_shape *wmma_take_shape(struct decoder *d) {
    for (int i = 0; i < WMMA_SHAPES; ++i)
        if (take(d, wmma_shapes[i].name)) return &wmma_shapes[i];
    refuse(d, "this shape is not modelled");
    return &wmma_shapes[0];
}

/* The bits of a type that goes with the shape; 0: it does not. */
static int take_bits(struct decoder *d, char matrix, const struct wmma_shape *s) {
    static const char *const sums[] = {"f32", "f16", "s32", "f64", NULL};
    static const char *const elements[] = {"f16", "bf16", "tf32", "s8", "u8", "f64", NULL};
    static const int sum_bits[] = {32, 16, 32, 64}, element_bits[] = {16, 16, 32, 8, 8, 64};
    const bool of_sums = matrix == 'c' || matrix == 'd';
    const int type = take_one_of(d, of_sums ? sums : elements);
    const int bits = type < 0 ? 0 : of_sums ? sum_bits[type] : element_bits[type];
    const bool wide = !strcmp(s->name, "m8n8k4"), tf32 = !strcmp(s->name, "m16n16k8");
    const bool fits = wide == (bits == 64) && (of_sums || tf32 == (bits == 32));
    return fits ? bits : 0;
}

static void decode_move(struct decoder *d, char matrix) {
    static const char *const layouts[] = {"row", "col", NULL};
    const bool stores = matrix == 'd';
    const struct ptx_operand *const o = d->source->operand, *const at = &o[stores ? 0 : 1],
                                    *const list = &o[stores ? 1 : 0];
    require(d, "sync");
    require(d, "aligned");
    const int layout = take_one_of(d, layouts);
    const struct wmma_shape *const s = wmma_take_shape(d);
    d->op->at[AT_SPACE] = take_space(d);
    const bool bf16 = d->next < d->words && !strcmp(d->word[d->next], "bf16");
    const int bits = take_bits(d, matrix, s);
    if (layout < 0 || !bits) refuse(d, "this layout, or this type, is not modelled");
    need_operands(d, 2, 3);
    if (d->why) return;
    struct wmma_fragment f = wmma_fragment_of(matrix, s, bits, bf16);
    d->op->option[OPTION_ROWS] = f.rows;
    d->op->option[OPTION_COLUMNS] = f.columns;
    d->op->option[OPTION_BITS] = f.bits;
    d->op->option[OPTION_REGISTERS] = f.registers;
    d->op->option[OPTION_TRANSPOSED] = layout;
    take_list(d, list, bits == 64 ? 'd' : 'w', !stores);
    if (d->op->listed != f.registers) refuse(d, "its fragment has another length");
    take_address(d, AT_ADDRESS, at);
    const struct ptx_operand dense = {.kind = OPERAND_INTEGER,
                                      .bits = (uint64_t)(layout ? f.rows : f.columns)};
    d->op->at[AT_STRIDE] = read_operand(d, d->source->operands > 2 ? &o[2] : &dense, 'w');
    d->op->run = stores ? store : load;
}

static void decode_load_a(struct decoder *d) { decode_move(d, 'a'); }
static void decode_load_b(struct decoder *d) { decode_move(d, 'b'); }
static void decode_load_c(struct decoder *d) { decode_move(d, 'c'); }
static void decode_store(struct decoder *d) { decode_move(d, 'd'); }

#define WMMA "Warp Level Matrix Instructions: wmma"
static const struct family families[] = {
    {"wmma.load.a", decode_load_a, MODELLED, WMMA ".load"},
    {"wmma.load.b", decode_load_b, MODELLED, WMMA ".load"},
    {"wmma.load.c", decode_load_c, MODELLED, WMMA ".load"},
    {"wmma.store.d", decode_store, MODELLED, WMMA ".store"},
};
const struct family_group wmma_move_families = FAMILY_GROUP(families);
