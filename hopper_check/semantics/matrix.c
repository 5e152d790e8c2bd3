/*
 * matrix.c: PTX ISA, "Warp Level Matrix Instructions": ldmatrix, stmatrix, mma.sync.
 *
 * The simulator takes registers as arrays. Where a vector's registers adjoin, it gets their own
 * place, so that it can tell what a wgmma still uses; else a copy.
 */
#include <string.h>

#include "hopper/mma.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "semantics/mma.h"
#include "sim/core/collective.h"

enum { FRAGMENT = 4 };

/* ---- ldmatrix, stmatrix ---- */

enum { OPTION_TRANSPOSED };

/* The row that the lane gives; those of lanes that give none are not looked at. */
static void *row_of(const struct operation *op, const struct frame *frame) {
    const uint64_t at = address(op, frame, 0, op->offset);
    unsigned rank;
    return sim_thread()->lane < 8 * op->listed ? own_shared(op, at) : shared_pointer(at, &rank);
}

static void ldmatrix(const struct operation *op, struct frame *frame) {
    uint32_t copy[FRAGMENT];
    bool adjoin = true;
    for (int i = 0; i < op->listed; ++i)
        adjoin &= op->list[i] == op->list[0] + 4 * i;
    sim_ldmatrix(adjoin ? (uint32_t *)(void *)(frame->registers + op->list[0]) : copy,
                 row_of(op, frame), op->listed, op->option[OPTION_TRANSPOSED]);
    for (int i = 0; i < op->listed && !adjoin; ++i)
        VALUE_AT(reg_u32, op->list[i]) = copy[i];
}

static void stmatrix(const struct operation *op, struct frame *frame) {
    uint32_t r[FRAGMENT];
    for (int i = 0; i < op->listed; ++i)
        r[i] = VALUE_AT(reg_u32, op->list[i]);
    sim_stmatrix(row_of(op, frame), r, op->listed, op->option[OPTION_TRANSPOSED]);
}

/* .sync.aligned.m8n8.COUNT{.trans}{.shared}.b16, where headers differ in the order of the words. */
static void decode_rows(struct decoder *d, bool store) {
    static const char *const counts[] = {"x1", "x2", "x4", NULL};
    static const char *const shared[] = {"shared", "shared::cta", NULL};
    const struct ptx_operand *const o = d->source->operand;
    require(d, "sync");
    require(d, "aligned");
    int count = take_one_of(d, counts);
    require(d, "m8n8");
    if (count < 0) count = take_one_of(d, counts);
    d->op->option[OPTION_TRANSPOSED] = take(d, "trans");
    if (take_one_of(d, shared) < 0) refuse(d, "its state space is missing");
    require(d, "b16");
    need_operands(d, 2, 2);
    if (d->why) return;
    d->op->run = store ? stmatrix : ldmatrix;
    take_list(d, &o[store], 'w', !store);
    take_address(d, 0, &o[!store]);
    if (count < 0 || d->op->listed != 1 << count)
        refuse(d, "its vector has another length than it says");
}
static void decode_ldmatrix(struct decoder *d) { decode_rows(d, false); }
static void decode_stmatrix(struct decoder *d) { decode_rows(d, true); }

/* ---- mma.sync.aligned.m16n8k16.row.col.f32.T.T.f32 d, a, b, c ---- */

enum { OPTION_BF16 };
enum { D = 0, A = 4, B = 8, C = 10, MMA_REGISTERS = 14 };

static void mma(const struct operation *op, struct frame *frame) {
    uint32_t a[4], b[2];
    float d[4];
    for (int i = 0; i < 4; ++i) {
        a[i] = VALUE_AT(reg_u32, op->list[A + i]);
        d[i] = VALUE_AT(reg_f32, op->list[C + i]);
    }
    for (int i = 0; i < 2; ++i)
        b[i] = VALUE_AT(reg_u32, op->list[B + i]);
    sim_mma_m16n8k16(d, a, b, op->option[OPTION_BF16]);
    for (int i = 0; i < 4; ++i)
        VALUE_AT(reg_f32, op->list[D + i]) = d[i];
}

static void decode_mma(struct decoder *d) {
    static const char *const types[] = {"f16", "bf16", NULL};
    if (d->words > 6 && !strcmp(d->word[6], "f64")) {
        decode_mma_f64(d);
        return;
    }
    if (!d->words || strcmp(d->word[d->words - 1], "f32") != 0 || d->words < 4 ||
        strcmp(d->word[3], "m16n8k16") != 0) {
        decode_other_mma(d);
        return;
    }
    static const struct {
        int operand, first, count;
        char letter;
    } parts[] = {{0, D, 4, 'f'}, {1, A, 4, 'w'}, {2, B, 2, 'w'}, {3, C, 4, 'f'}};
    require(d, "m16n8k16");
    require(d, "row");
    require(d, "col");
    require(d, "f32");
    const int a = take_one_of(d, types), b = take_one_of(d, types);
    require(d, "f32");
    need_operands(d, 4, 4);
    if (a < 0 || a != b) refuse(d, "these types are not modelled");
    if (d->why) return;
    int *const all = arena_alloc(&d->module->arena, MMA_REGISTERS * sizeof *all);
    for (int i = 0; i < 4; ++i) {
        take_list(d, &d->source->operand[parts[i].operand], parts[i].letter, i == 0);
        if (d->op->listed != parts[i].count) {
            refuse(d, "a fragment has another length than the shape says");
            return;
        }
        memcpy(all + parts[i].first, d->op->list, (size_t)parts[i].count * sizeof *all);
    }
    d->op->list = all;
    d->op->listed = MMA_REGISTERS;
    d->op->option[OPTION_BF16] = a;
    d->op->run = mma;
}

/* ---- movmatrix.sync.aligned.m8n8.trans.b16 d, a ---- */

/* Lane 4 i + j holds the elements 2 j and 2 j + 1 of row i, in *operand. */
static bool transpose(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    uint16_t element[8][8];
    (void)warp;
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        memcpy(&element[lane / 4][lane % 4 * 2], operand[lane], sizeof(uint32_t));
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const uint16_t pair[] = {element[lane % 4 * 2][lane / 4],
                                 element[lane % 4 * 2 + 1][lane / 4]};
        memcpy(operand[lane], pair, sizeof pair);
    }
    return true;
}

static void movmatrix(const struct operation *op, struct frame *frame) {
    uint32_t pair = VALUE(reg_u32, 1);
    if (sim_thread()->warp->lanes != UINT32_MAX)
        thread_not_modelled(op, "a warp of fewer than 32 threads");
    sim_warp_collective("movmatrix", &pair, transpose);
    VALUE(reg_u32, 0) = pair;
}

static void decode_movmatrix(struct decoder *d) {
    static const char *const words[] = {"sync", "aligned", "m8n8", "trans", "b16"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        require(d, words[i]);
    d->op->run = movmatrix;
    take_operands(d, "ww");
}

#define MATRIX "Warp Level Matrix Instructions: "
static const struct family families[] = {
    {"ldmatrix", decode_ldmatrix, MODELLED, MATRIX "ldmatrix"},
    {"stmatrix", decode_stmatrix, MODELLED, MATRIX "stmatrix"},
    {"movmatrix", decode_movmatrix, MODELLED, MATRIX "movmatrix"},
    {"mma.sync.aligned", decode_mma, MODELLED, MATRIX "mma.sync"},
};
const struct family_group matrix_families = FAMILY_GROUP(families);
