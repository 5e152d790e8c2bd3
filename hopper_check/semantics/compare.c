/*
 * compare.c: PTX ISA, "Comparison and Selection Instructions".
 *
 * setp.CMP{.ftz}.TYPE p{|q}, a, b is one function for each comparison and type. With a further
 * predicate and a word for how to combine, setp.CMP.BOOL.TYPE, the same function's result is
 * combined afterwards.
 */
#include <math.h>
#include <string.h>

#include "semantics/define.h"
#include "semantics/floating.h"

enum combine { COMBINE_NOTHING, COMBINE_AND, COMBINE_OR, COMBINE_XOR };
enum { OPTION_COMBINE, OPTION_NEGATED, OPTION_SECOND };
enum { OPERAND_SECOND = 4 };

static uint32_t combined(const struct operation *op, const struct frame *frame, uint32_t result) {
    if (op->option[OPTION_COMBINE] == COMBINE_NOTHING) return result;
    const uint32_t c = VALUE(reg_u32, 3) ^ (uint32_t)op->option[OPTION_NEGATED];
    switch (op->option[OPTION_COMBINE]) {
    case COMBINE_AND:
        return result & c;
    case COMBINE_OR:
        return result | c;
    default:
        return result ^ c;
    }
}

static inline void finish(const struct operation *op, struct frame *frame, uint32_t result) {
    if (op->option[OPTION_SECOND]) VALUE(reg_u32, OPERAND_SECOND) = combined(op, frame, !result);
    VALUE(reg_u32, 0) = combined(op, frame, result);
}

#define COMPARE(name, type, value)                                                                 \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const reg_##type a = VALUE(reg_##type, 1), b = VALUE(reg_##type, 2);                       \
        finish(op, frame, value);                                                                  \
    }
#define ORDERED(type)                                                                              \
    COMPARE(eq_##type, type, a == b)                                                               \
    COMPARE(ne_##type, type, a != b)                                                               \
    COMPARE(lt_##type, type, a < b)                                                                \
    COMPARE(le_##type, type, a <= b)                                                               \
    COMPARE(gt_##type, type, a > b)                                                                \
    COMPARE(ge_##type, type, a >= b)
ORDERED(u16)
ORDERED(s16)
ORDERED(u32)
ORDERED(s32)
ORDERED(u64)
ORDERED(s64)

/* Ordered comparisons are false if an operand is a NaN, unordered ones (equ, ...) true. Both see
 * accumulators that a wgmma owns, which are NaNs. */
#define COMPARE_FLOAT(name, type, value)                                                           \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const reg_##type a = VALUE(reg_##type, 1), b = VALUE(reg_##type, 2);                       \
        if (isunordered(a, b)) nan_seen_##type(op, frame);                                         \
        finish(op, frame, value);                                                                  \
    }
#define FLOATS(type)                                                                               \
    COMPARE_FLOAT(eq_##type, type, a == b)                                                         \
    COMPARE_FLOAT(ne_##type, type, islessgreater(a, b))                                            \
    COMPARE_FLOAT(lt_##type, type, isless(a, b))                                                   \
    COMPARE_FLOAT(le_##type, type, islessequal(a, b))                                              \
    COMPARE_FLOAT(gt_##type, type, isgreater(a, b))                                                \
    COMPARE_FLOAT(ge_##type, type, isgreaterequal(a, b))                                           \
    COMPARE_FLOAT(equ_##type, type, !islessgreater(a, b))                                          \
    COMPARE_FLOAT(neu_##type, type, a != b)                                                        \
    COMPARE_FLOAT(ltu_##type, type, !isgreaterequal(a, b))                                         \
    COMPARE_FLOAT(leu_##type, type, !isgreater(a, b))                                              \
    COMPARE_FLOAT(gtu_##type, type, !islessequal(a, b))                                            \
    COMPARE_FLOAT(geu_##type, type, !isless(a, b))                                                 \
    COMPARE_FLOAT(num_##type, type, !isunordered(a, b))                                            \
    COMPARE_FLOAT(nan_##type, type, isunordered(a, b))
FLOATS(f32)
FLOATS(f64)

/* ---- the table of comparisons, which setp takes its function from ---- */

struct comparison {
    const char *word, *type;
    operation_run *run;
    char letter;
};
#define ROW(word, name, type, letter)                                                              \
    { #word, #name, word##_##type, letter }
#define EQUALITIES(name, type, letter) ROW(eq, name, type, letter), ROW(ne, name, type, letter)
#define ROWS(name, type, letter)                                                                   \
    EQUALITIES(name, type, letter), ROW(lt, name, type, letter), ROW(le, name, type, letter),      \
        ROW(gt, name, type, letter), ROW(ge, name, type, letter)
#define UNSIGNED(name, letter)                                                                     \
    {"lo", #name, lt_##name, letter}, {"ls", #name, le_##name, letter},                            \
        {"hi", #name, gt_##name, letter}, {                                                        \
        "hs", #name, ge_##name, letter                                                             \
    }
#define UNORDERED(name, type, letter)                                                              \
    ROW(equ, name, type, letter), ROW(neu, name, type, letter), ROW(ltu, name, type, letter),      \
        ROW(leu, name, type, letter), ROW(gtu, name, type, letter), ROW(geu, name, type, letter),  \
        ROW(num, name, type, letter), ROW(nan, name, type, letter)
static const struct comparison comparisons[] = {
    ROWS(u16, u16, 'h'),      ROWS(s16, s16, 'h'), EQUALITIES(b16, u16, 'h'),
    ROWS(u32, u32, 'w'),      ROWS(s32, s32, 'w'), EQUALITIES(b32, u32, 'w'),
    ROWS(u64, u64, 'd'),      ROWS(s64, s64, 'd'), EQUALITIES(b64, u64, 'd'),
    ROWS(f32, f32, 'f'),      ROWS(f64, f64, 'g'), UNSIGNED(u16, 'h'),
    UNSIGNED(u32, 'w'),       UNSIGNED(u64, 'd'),  UNORDERED(f32, f32, 'f'),
    UNORDERED(f64, f64, 'g'),
};

static void decode_setp(struct decoder *d) {
    static const char *const combines[] = {"and", "or", "xor", NULL};
    const struct ptx_operand *const o = d->source->operand;
    const char *const word = d->next < d->words ? d->word[d->next++] : "";
    const int combine = take_one_of(d, combines);
    if (take(d, "ftz")) refuse(d, "comparisons that flush subnormals are not modelled yet");
    const char *const type = d->next < d->words ? d->word[d->next++] : "";
    const struct comparison *row = NULL;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; ++i)
        if (!strcmp(comparisons[i].word, word) && !strcmp(comparisons[i].type, type))
            row = &comparisons[i];
    if (!row) {
        refuse(d, "this comparison is not modelled");
        return;
    }
    d->op->flow = FLOW_PLAIN;
    d->op->run = row->run;
    need_operands(d, combine < 0 ? 3 : 4, combine < 0 ? 3 : 4);
    if (d->why) return;
    const bool pair = o[0].kind == OPERAND_PAIR;
    d->op->at[0] = written_operand(d, pair ? &o[0].part[0] : &o[0], 'p');
    if (pair) d->op->at[OPERAND_SECOND] = written_operand(d, &o[0].part[1], 'p');
    d->op->option[OPTION_SECOND] = pair;
    d->op->at[1] = read_operand(d, &o[1], row->letter);
    d->op->at[2] = read_operand(d, &o[2], row->letter);
    if (combine < 0) return;
    struct ptx_operand with = o[3];
    d->op->option[OPTION_COMBINE] = combine + COMBINE_AND;
    d->op->option[OPTION_NEGATED] = with.negated;
    with.negated = false;
    d->op->at[3] = read_operand(d, &with, 'p');
}

static const struct family families[] = {
    {"setp", decode_setp, MODELLED, "Comparison and Selection Instructions: setp"},
};
const struct family_group compare_families = FAMILY_GROUP(families);

/* ---- selection ---- */

#define SELECT(name, type)                                                                         \
    static void name(const struct operation *op, struct frame *frame) {                            \
        VALUE(reg_##type, 0) = VALUE(reg_u32, 3) ? VALUE(reg_##type, 1) : VALUE(reg_##type, 2);    \
    }
SELECT(selp_16, u16)
SELECT(selp_32, u32)
SELECT(selp_64, u64)
#define SELECTS(opcode, f, letters)                                                                \
    {"selp.b" opcode, f, letters}, {"selp.u" opcode, f, letters}, { "selp.s" opcode, f, letters }
static const struct scalar selects[] = {
    SELECTS("16", selp_16, "hhhp"), SELECTS("32", selp_32, "wwwp"), SELECTS("64", selp_64, "dddp"),
    {"selp.f32", selp_32, "fffp"},  {"selp.f64", selp_64, "gggp"},  {"selp.f16", selp_16, "hhhp"},
};
const struct scalar_group select_group =
    SCALAR_GROUP("Comparison and Selection Instructions: selp", MODELLED, selects);
