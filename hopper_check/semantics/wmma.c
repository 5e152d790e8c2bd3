/*
 * wmma.c: PTX ISA, "Warp Level Matrix Instructions: wmma.mma".
 */
#include <math.h>
#include <string.h>

#include "program/instructions.h"
#include "semantics/mma.h"
#include "semantics/wmma.h"
#include "sim/core/collective.h"

enum { OPTION_SHAPE, OPTION_A, OPTION_B, OPTION_D, OPTION_C, OPTION_SATURATES };
enum { ELEMENT_F64 = TF32 + 1, SUM_F64 = SUM_S32 + 1 };

struct call {
    const struct operation *op;
    uint64_t a[WMMA_MOST_REGISTERS], b[WMMA_MOST_REGISTERS], c[WMMA_MOST_REGISTERS],
        d[WMMA_MOST_REGISTERS];
};

static int bits_of_element(int element) {
    return element == ELEMENT_F64 ? 64 : mma_element_bits[element];
}
static int bits_of_sum(int sum) { return sum == SUM_F64 ? 64 : sum == SUM_F16 ? 16 : 32; }

static struct wmma_fragment fragment_named(const struct operation *op, char matrix) {
    const struct wmma_shape *const s = &wmma_shapes[op->option[OPTION_SHAPE]];
    const int type = op->option[matrix == 'a'   ? OPTION_A
                                : matrix == 'b' ? OPTION_B
                                : matrix == 'c' ? OPTION_C
                                                : OPTION_D];
    const bool of_sums = matrix == 'c' || matrix == 'd';
    return wmma_fragment_of(matrix, s, of_sums ? bits_of_sum(type) : bits_of_element(type),
                            !of_sums && type == BF16);
}

/* One after the other, each rounded once. */
static uint64_t sum_f64(int k, const uint64_t *a, const uint64_t *b, uint64_t c) {
    double sum, x, y;
    memcpy(&sum, &c, sizeof sum);
    for (int i = 0; i < k; ++i) {
        memcpy(&x, &a[i], sizeof x);
        memcpy(&y, &b[i], sizeof y);
        sum = fma(x, y, sum);
    }
    memcpy(&c, &sum, sizeof c);
    return c;
}

static uint64_t sum_of(const struct operation *op, int k, const uint64_t *a, const uint64_t *b,
                       uint64_t c) {
    const struct mma_types types = {
        (enum mma_element)op->option[OPTION_A], (enum mma_element)op->option[OPTION_B],
        (enum mma_sum_type)op->option[OPTION_D], op->option[OPTION_SATURATES]};
    uint32_t left[WMMA_MOST_K], right[WMMA_MOST_K];
    if (op->option[OPTION_D] == SUM_F64) return sum_f64(k, a, b, c);
    for (int i = 0; i < k; ++i) {
        left[i] = (uint32_t)a[i];
        right[i] = (uint32_t)b[i];
    }
    if (op->option[OPTION_C] == SUM_F16) c = mma_f32_of((uint32_t)c);
    const uint32_t sum = mma_sum(types, k, left, right, (uint32_t)c);
    return op->option[OPTION_D] == SUM_F16 ? mma_f16_of(sum) : sum;
}

static bool multiply(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    static uint64_t a[WMMA_MOST_EXTENT][WMMA_MOST_K],
        b[WMMA_MOST_EXTENT][WMMA_MOST_K]; /* k inside */
    const struct operation *const op = ((const struct call *)operand[0])->op;
    const struct wmma_fragment of_a = fragment_named(op, 'a'), of_b = fragment_named(op, 'b'),
                               of_c = fragment_named(op, 'c'), of_d = fragment_named(op, 'd');
    (void)warp;
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct call *const c = operand[lane];
        for (int i = 0, part = wmma_lane_part(&of_a); i < part; ++i)
            a[(lane * part + i) / of_a.columns][(lane * part + i) % of_a.columns] =
                wmma_get(&of_a, c->a, i);
        for (int i = 0, part = wmma_lane_part(&of_b); i < part; ++i)
            b[(lane * part + i) % of_b.columns][(lane * part + i) / of_b.columns] =
                wmma_get(&of_b, c->b, i);
    }
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        struct call *const c = operand[lane];
        for (int i = 0, part = wmma_lane_part(&of_d); i < part; ++i) {
            const int at = lane * part + i;
            wmma_put(&of_d, c->d, i,
                     sum_of(op, of_a.columns, a[at / of_d.columns], b[at % of_d.columns],
                            wmma_get(&of_c, c->c, i)));
        }
    }
    return true;
}

/* op->list: D, A, B, C, one behind the other. */
static void mma(const struct operation *op, struct frame *frame) {
    const struct wmma_fragment a = fragment_named(op, 'a'), b = fragment_named(op, 'b'),
                               c = fragment_named(op, 'c'), d = fragment_named(op, 'd');
    struct call call = {.op = op};
    wmma_read(op, frame, d.registers, &a, call.a);
    wmma_read(op, frame, d.registers + a.registers, &b, call.b);
    wmma_read(op, frame, d.registers + a.registers + b.registers, &c, call.c);
    wmma_need_whole_warp(op);
    sim_warp_collective("wmma.mma", &call, multiply);
    wmma_write(op, frame, &d, call.d);
}

/* The types of D, A, B and C; of fp16 those of D and C alone. */
static void take_types(struct decoder *d) {
    static const char *const sums[] = {"f32", "f16", "s32", "f64", NULL};
    int *const option = d->op->option;
    const int sum = take_one_of(d, sums);
    int a = F16, b = F16, last;
    if (sum == SUM_F64 && take(d, "f64")) {
        a = b = ELEMENT_F64;
        require(d, "f64");
        last = take_one_of(d, sums);
    } else if ((last = take_one_of(d, sums)) < 0) {
        a = take_one_of(d, mma_element_names);
        b = take_one_of(d, mma_element_names);
        last = take_one_of(d, sums);
    }
    take(d, "rn");
    option[OPTION_SATURATES] = take(d, "satfinite");
    const struct wmma_shape *const s = &wmma_shapes[option[OPTION_SHAPE]];
    const bool whole = a == S8 || a == U8, halves = a == F16;
    const bool good = sum >= 0 && a >= 0 && b >= 0 && a != E4M3 && a != E5M2 &&
                      (whole ? b == S8 || b == U8 : a == b) && whole == (sum == SUM_S32) &&
                      (last == sum || (halves && (last == SUM_F32 || last == SUM_F16))) &&
                      (halves || sum != SUM_F16) && (a == ELEMENT_F64) == (s->k == 4) &&
                      (a == TF32) == (s->k == 8) && (a == ELEMENT_F64) == (sum == SUM_F64);
    if (!good || (option[OPTION_SATURATES] && !whole))
        refuse(d, "this shape, or these types, are not modelled");
    option[OPTION_A] = a;
    option[OPTION_B] = b;
    option[OPTION_D] = sum;
    option[OPTION_C] = last;
}

static void decode_mma(struct decoder *d) {
    static const char *const layouts[] = {"row", "col", NULL};
    require(d, "sync");
    require(d, "aligned");
    if (take_one_of(d, layouts) < 0 || take_one_of(d, layouts) < 0)
        refuse(d, "its layouts are missing");
    d->op->option[OPTION_SHAPE] = (int)(wmma_take_shape(d) - wmma_shapes);
    take(d, "rn");
    take_types(d);
    need_operands(d, 4, 4);
    if (d->why) return;
    int *const all = arena_alloc(&d->module->arena, 4 * WMMA_MOST_REGISTERS * sizeof *all);
    int used = 0;
    for (int i = 0; i < 4 && !d->why; ++i) {
        const struct wmma_fragment f = fragment_named(d->op, "dabc"[i]);
        take_list(d, &d->source->operand[i], f.bits == 64 ? 'd' : 'w', i == 0);
        if (d->op->listed != f.registers) {
            refuse(d, "a fragment has another length than the shape says");
            return;
        }
        memcpy(all + used, d->op->list, (size_t)f.registers * sizeof *all);
        used += f.registers;
    }
    d->op->list = all;
    d->op->listed = used;
    d->op->run = mma;
}

static const struct family families[] = {
    {"wmma.mma", decode_mma, MODELLED, "Warp Level Matrix Instructions: wmma.mma"},
};
const struct family_group wmma_families = FAMILY_GROUP(families);
