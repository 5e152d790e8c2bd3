/*
 * tensor.c: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": wgmma.
 *
 * A wgmma owns its registers from its issue to the wait for it. The frame has them as arrays
 * (program/slots.h), which the simulator marks and fills in place.
 */
#include <stdlib.h>
#include <string.h>

#include "hopper/wgmma.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "sim/units/wgmma/state.h"

enum { OPTION_N, OPTION_TYPES, OPTION_FLAGS };
enum {
    A_MN_MAJOR = 1,
    ONE_TRANSPOSED = 2,
    A_REGISTERS_ = 4,
    HALVES = 8,
    NEGATIVE = 16,
    SATURATES = 32
};
enum { AT_SUMS, AT_A, AT_B, AT_SCALE_D };
static const char *const type_names[] = {"f16", "bf16", "e4m3", "e5m2", "tf32", "s8", "u8", NULL};
enum { TYPES = TENSOR_U8 + 1 };

static void wgmma(const struct operation *op, struct frame *frame) {
    const int flags = op->option[OPTION_FLAGS], types = op->option[OPTION_TYPES];
    struct wgmma_call call = {.n = op->option[OPTION_N],
                              .acc = (float *)(void *)(frame->registers + op->at[AT_SUMS]),
                              .b = VALUE(reg_u64, AT_B),
                              .accumulate = VALUE(reg_u32, AT_SCALE_D) != 0,
                              .mn_major = flags & A_MN_MAJOR,
                              .type = (enum tensor_type)(types % TYPES),
                              .halves = flags & HALVES,
                              .saturates = flags & SATURATES,
                              .negative = flags & NEGATIVE,
                              .one_transposed = flags & ONE_TRANSPOSED,
                              .other_type = true,
                              .b_type = (enum tensor_type)(types / TYPES)};
    if (flags & A_REGISTERS_)
        call.a_registers = (const uint32_t *)(const void *)(frame->registers + op->at[AT_A]);
    else
        call.a = VALUE(reg_u64, AT_A);
    wgmma_issue(call);
}

/* m64nNk8, m64nNk16 or m64nNk32: N, 0 if it is another shape. */
static int take_shape(struct decoder *d, const char *k) {
    const char *const word = d->next < d->words ? d->word[d->next++] : "";
    char *end;
    if (strncmp(word, "m64n", 4) != 0) return 0;
    const long n = strtol(word + 4, &end, 10);
    return strcmp(end, k) != 0 || n < 8 || n > 256 || n % 8 ? 0 : (int)n;
}

/* The array of a list of registers. */
static int take_registers(struct decoder *d, const struct ptx_operand *list, int count) {
    if (list->kind != OPERAND_VECTOR || list->parts != count || !slots_adjoin(&d->slots, list)) {
        refuse(d, list->parts != count
                      ? "a list of registers has another length than the shape says"
                      : "another wgmma names the same registers in another order");
        return 0;
    }
    for (int i = 0; i < count; ++i) {
        const struct ptx_type type = d->program->function->reg[list->part[i].reg].type;
        if (type.bytes != 4 || type.kind == KIND_PREDICATE)
            refuse(d, "a register of another size is given");
    }
    return d->slots.at[list->part[0].reg];
}

/* The factors of A and B, and which dimension is contiguous in them, are constants. With A in
 * registers only B's is given. */
static int take_constants(struct decoder *d, const struct ptx_operand *o, int count,
                          bool a_shared) {
    int flags = 0;
    for (int i = 0; i < 2 && i < count; ++i)
        if (immediate(d, &o[i]) < 0) flags ^= NEGATIVE;
    const int transposes = count - 2;
    if (transposes <= 0) return flags;
    if (transposes != (a_shared ? 2 : 1)) refuse(d, "this number of operands is not modelled");
    if (d->why) return flags;
    const bool b = immediate(d, &o[count - 1]), a = a_shared ? immediate(d, &o[2]) : b;
    return flags | (a ? A_MN_MAJOR : 0) | (a != b ? ONE_TRANSPOSED : 0);
}

static void decode_mma(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    require(d, "sync");
    require(d, "aligned");
    const char *const last = d->word[d->words - 1];
    const bool whole = !strcmp(last, "s8") || !strcmp(last, "u8") || !strcmp(last, "satfinite");
    const bool bytes = whole || last[0] == 'e', tf32 = !strcmp(last, "tf32");
    const int n = take_shape(d, tf32 ? "k8" : bytes ? "k32" : "k16");
    const bool halves = !whole && take(d, "f16");
    if (!halves && !take(d, whole ? "s32" : "f32"))
        refuse(d, "only sums of fp32, fp16 and 32-bit integers are modelled");
    const int a = take_one_of(d, type_names), b = take_one_of(d, type_names);
    const bool saturates = take(d, "satfinite");
    if (!n || a < 0 || b < 0 || (a != b && !bytes) || whole != (a > TENSOR_TF32) ||
        whole != (b > TENSOR_TF32) || (halves && (a == TENSOR_BF16 || tf32)) ||
        (whole && n > 32 && n % 16))
        refuse(d, "this shape, or these types, are not modelled yet");
    need_operands(d, 4, 8);
    if (d->why) return;
    const bool registers = o[1].kind == OPERAND_VECTOR;
    d->op->option[OPTION_N] = n;
    d->op->option[OPTION_TYPES] = a + b * TYPES;
    d->op->at[AT_SUMS] = take_registers(d, &o[0], wgmma_registers(n, halves));
    d->op->at[AT_A] = registers ? take_registers(d, &o[1], 4) : read_operand(d, &o[1], 'd');
    d->op->at[AT_B] = read_operand(d, &o[2], 'd');
    d->op->at[AT_SCALE_D] = read_operand(d, &o[3], 'p');
    d->op->option[OPTION_FLAGS] = take_constants(d, o + 4, d->source->operands - 4, !registers) |
                                  (registers ? A_REGISTERS_ : 0) | (halves ? HALVES : 0) |
                                  (saturates ? SATURATES : 0);
    d->op->run = wgmma;
}

static void fence(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_wgmma_fence();
}
static void commit(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_wgmma_commit_group();
}
static void wait(const struct operation *op, struct frame *frame) {
    (void)frame;
    sim_wgmma_wait_group(op->option[0]);
}

static void decode_simple(struct decoder *d, operation_run *run) {
    require(d, "sync");
    require(d, "aligned");
    need_operands(d, 0, 0);
    d->op->run = run;
}
static void decode_fence(struct decoder *d) { decode_simple(d, fence); }
static void decode_commit(struct decoder *d) { decode_simple(d, commit); }
static void decode_wait(struct decoder *d) {
    require(d, "sync");
    require(d, "aligned");
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->option[0] = (int)immediate(d, &d->source->operand[0]);
    d->op->run = wait;
}

#define WGMMA "Asynchronous Warpgroup Level Matrix Instructions: "
static const struct family families[] = {
    {"wgmma.mma_async", decode_mma, MODELLED, WGMMA "wgmma.mma_async"},
    {"wgmma.fence", decode_fence, MODELLED, WGMMA "wgmma.fence"},
    {"wgmma.commit_group", decode_commit, MODELLED, WGMMA "wgmma.commit_group"},
    {"wgmma.wait_group", decode_wait, MODELLED, WGMMA "wgmma.wait_group"},
};
const struct family_group tensor_families = FAMILY_GROUP(families);
