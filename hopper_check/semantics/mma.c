/*
 * mma.c: mma.sync: fragments of one row of lanes' registers, multiplied as a whole.
 *
 * PTX ISA, "Matrix Fragments for mma.m16n8k...": a register of A or B holds elements that adjoin
 * along k, 32 bits of them. In A registers alternate between rows g and g + 8, g = lane / 4; of D
 * and C two registers adjoin along n. Whole numbers are added exactly, real ones as the Tensor Core
 * adds 16-bit elements (sim/models/tensor_sum.h).
 */
#include "semantics/mma.h"

#include <string.h>

#include "semantics/address.h"
#include "sim/core/collective.h"
#include "sim/models/element_values.h"
#include "sim/models/tensor_sum.h"

enum { M = 16, N = 8, MOST_K = 64, A_ROWS = 2 };
enum { MOST_A = 4, MOST_B = 2, MOST_D = 4 };
enum { OPTION_K, OPTION_A, OPTION_B, OPTION_D, OPTION_SATURATES };
const char *const mma_element_names[] = {"f16", "bf16", "e4m3", "e5m2", "s8", "u8", "tf32", NULL};
const int mma_element_bits[] = {16, 16, 8, 8, 8, 8, 32};
static const char *const sum_names[] = {"f32", "f16", "s32", NULL};

struct call {
    const struct operation *op;
    uint32_t a[MOST_A], b[MOST_B], d[MOST_D];
};

static struct tensor_term real(enum mma_element type, uint32_t bits) {
    static const enum tensor_type types[] = {
        [F16] = TENSOR_FP16, [BF16] = TENSOR_BF16, [E4M3] = TENSOR_E4M3, [E5M2] = TENSOR_E5M2};
    if (type == TF32) return tensor_accumulator(bits & 0xffffe000u); /* the rest is not looked at */
    return tensor_element(types[type], (uint16_t)bits);
}

static struct tensor_term product(struct tensor_term a, struct tensor_term b) {
    return (struct tensor_term){a.value * b.value, a.exponent + b.exponent};
}

static int32_t whole(enum mma_element type, uint32_t bits) {
    return type == S8 ? (int8_t)bits : (int32_t)(uint8_t)bits;
}

/* Element `column` along k, of what lane and register hold. */
static void spread(const uint32_t *registers, int count, int rows, int lane, int bits,
                   uint32_t to[][MOST_K]) {
    const int in_register = 32 / bits, mask = bits == 32 ? -1 : (1 << bits) - 1;
    for (int i = 0; i < count; ++i)
        for (int e = 0; e < in_register; ++e) {
            const int k = i / rows * 4 * in_register + lane % 4 * in_register + e;
            to[lane / 4 + 8 * (i % rows)][k] = registers[i] >> bits * e & (uint32_t)mask;
        }
}

uint32_t mma_sum(struct mma_types types, int k, const uint32_t *a, const uint32_t *b, uint32_t c) {
    struct tensor_term term[MOST_K + 1];
    if (types.sum == SUM_S32) {
        int64_t exact = (int32_t)c;
        for (int i = 0; i < k; ++i)
            exact += whole(types.a, a[i]) * whole(types.b, b[i]);
        if (!types.saturates) return (uint32_t)exact;
        return exact > INT32_MAX   ? INT32_MAX
               : exact < INT32_MIN ? (uint32_t)INT32_MIN
                                   : (uint32_t)exact;
    }
    for (int i = 0; i < k; ++i)
        term[i] = product(real(types.a, a[i]), real(types.b, b[i]));
    term[k] = tensor_accumulator(c);
    if (types.sum != SUM_F16) return tensor_sum(term, k + 1, tensor_precision(TENSOR_FP16));
    if (term[k].exponent < TENSOR_HALF_EXPONENT) term[k].exponent = TENSOR_HALF_EXPONENT;
    return tensor_sum_half(term, k + 1, tensor_precision(TENSOR_FP16));
}

uint32_t mma_f32_of(uint32_t half) {
    const float f = element_value((uint16_t)half, false);
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

uint32_t mma_f16_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return element_nearest(f, false);
}

/* Element (row, column) of D in the lane's registers. */
static uint32_t get(const struct call *c, int half_row, int i) {
    if (c->op->option[OPTION_D] != SUM_F16) return c->d[2 * half_row + i];
    return mma_f32_of(c->d[half_row] >> 16 * i);
}

static void put(struct call *c, int half_row, int i, uint32_t bits) {
    if (c->op->option[OPTION_D] != SUM_F16)
        c->d[2 * half_row + i] = bits;
    else if (i)
        c->d[half_row] = (c->d[half_row] & 0xffff) | mma_f16_of(bits) << 16;
    else
        c->d[half_row] = (c->d[half_row] & 0xffff0000) | mma_f16_of(bits);
}

static bool multiply(struct sim_warp *warp, void *const operand[WARP_SIZE]) {
    static uint32_t a[M][MOST_K], b[N][MOST_K];
    const struct operation *const op = ((const struct call *)operand[0])->op;
    const int of_a = mma_element_bits[op->option[OPTION_A]],
              of_b = mma_element_bits[op->option[OPTION_B]];
    const struct mma_types types = {
        (enum mma_element)op->option[OPTION_A], (enum mma_element)op->option[OPTION_B],
        (enum mma_sum_type)op->option[OPTION_D], op->option[OPTION_SATURATES]};
    const int count_a = M * op->option[OPTION_K] * of_a / 32 / WARP_SIZE;
    (void)warp;
    for (int lane = 0; lane < WARP_SIZE; ++lane) {
        const struct call *const c = operand[lane];
        spread(c->a, count_a, A_ROWS, lane, of_a, a);
        spread(c->b, count_a / A_ROWS, 1, lane, of_b, b);
    }
    for (int lane = 0; lane < WARP_SIZE; ++lane)
        for (int i = 0; i < 4; ++i) {
            struct call *const c = operand[lane];
            const int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
            put(c, i / 2, i % 2,
                mma_sum(types, op->option[OPTION_K], a[row], b[column], get(c, i / 2, i % 2)));
        }
    return true;
}

/* op->list: D, A, B, C, one behind the other. */
static void run(const struct operation *op, struct frame *frame) {
    struct call c = {.op = op};
    const int d = op->option[OPTION_D] == SUM_F16 ? 2 : 4;
    const int a =
        M * op->option[OPTION_K] * mma_element_bits[op->option[OPTION_A]] / 32 / WARP_SIZE;
    const int *list = op->list + d;
    for (int i = 0; i < a; ++i)
        c.a[i] = VALUE_AT(reg_u32, *list++);
    for (int i = 0; i < a / A_ROWS; ++i)
        c.b[i] = VALUE_AT(reg_u32, *list++);
    for (int i = 0; i < d; ++i)
        c.d[i] = VALUE_AT(reg_u32, *list++);
    if (sim_thread()->warp->lanes != UINT32_MAX)
        thread_not_modelled(op, "a warp of fewer than 32 threads");
    sim_warp_collective("mma.sync", &c, multiply);
    for (int i = 0; i < d; ++i)
        VALUE_AT(reg_u32, op->list[i]) = c.d[i];
}

void take_fragments(struct decoder *d, const int counts[4], char letter) {
    need_operands(d, 4, 4);
    if (d->why) return;
    int *const all = arena_alloc(
        &d->module->arena, (size_t)(counts[0] + counts[1] + counts[2] + counts[3]) * sizeof *all);
    int used = 0;
    for (int i = 0; i < 4 && !d->why; ++i) {
        take_list(d, &d->source->operand[i], letter, i == 0);
        if (d->op->listed != counts[i]) {
            refuse(d, "a fragment has another length than the shape says");
            return;
        }
        memcpy(all + used, d->op->list, (size_t)counts[i] * sizeof *all);
        used += counts[i];
    }
    d->op->list = all;
    d->op->listed = used;
}

void decode_other_mma(struct decoder *d) {
    static const struct {
        const char *name;
        int k;
    } shapes[] = {{"m16n8k4", 4}, {"m16n8k8", 8}, {"m16n8k16", 16}, {"m16n8k32", 32}};
    int k = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !k; ++i)
        if (take(d, shapes[i].name)) k = shapes[i].k;
    require(d, "row");
    require(d, "col");
    const bool saturates = take(d, "satfinite");
    const int sum = take_one_of(d, sum_names), a = take_one_of(d, mma_element_names),
              b = take_one_of(d, mma_element_names), last = take_one_of(d, sum_names);
    if (!k || sum < 0 || a < 0 || b < 0 || last != sum) {
        refuse(d, "this shape, or these types, are not modelled");
        return;
    }
    const int words = M * k * mma_element_bits[a] / 32 / WARP_SIZE;
    const bool integers = a == S8 || a == U8;
    if (mma_element_bits[a] != mma_element_bits[b] || words < A_ROWS || words > MOST_A ||
        integers != (sum == SUM_S32) || (saturates && !integers) ||
        integers != (b == S8 || b == U8) || (mma_element_bits[a] != 8 && a != b))
        refuse(d, "this shape, or these types, are not modelled");
    const int counts[] = {sum == SUM_F16 ? 2 : 4, words, words / A_ROWS, sum == SUM_F16 ? 2 : 4};
    take_fragments(d, counts, 'w');
    d->op->option[OPTION_K] = k;
    d->op->option[OPTION_A] = a;
    d->op->option[OPTION_B] = b;
    d->op->option[OPTION_D] = sum;
    d->op->option[OPTION_SATURATES] = saturates;
    d->op->run = run;
}
