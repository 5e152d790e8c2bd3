/*
 * compare.c: PTX ISA, "Comparison and Selection Instructions": setp, set.
 *
 * setp.CMP.TYPE p{|q}, a, b is one function for each comparison and type. With a further predicate
 * and a word for how to combine, setp.CMP.BOOL.TYPE, the same function's result is combined
 * afterwards. set is the same, but that its result is a number. Comparisons of halves, and of fp32
 * with .ftz, look at which comparison it is each time.
 */
#include <math.h>
#include <string.h>

#include "semantics/define.h"
#include "semantics/floating.h"
#include "sim/models/element_values.h"

enum combine { COMBINE_NOTHING, COMBINE_AND, COMBINE_OR, COMBINE_XOR };
enum { OPTION_COMBINE, OPTION_NEGATED, OPTION_RESULT, OPTION_WORD, OPTION_HALVES };
/* RESULT_SECOND: a second predicate, for the opposite. */
enum result { RESULT_PREDICATE, RESULT_SECOND, RESULT_ONES, RESULT_F32, RESULT_F16, RESULT_BF16 };
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

static __attribute__((noinline)) void finish_other(const struct operation *op, struct frame *frame,
                                                   uint32_t result) {
    static const uint32_t ones[] = {[RESULT_ONES] = UINT32_MAX,
                                    [RESULT_F32] = 0x3f800000,
                                    [RESULT_F16] = 0x3c00,
                                    [RESULT_BF16] = 0x3f80};
    const int how = op->option[OPTION_RESULT];
    const uint32_t value = combined(op, frame, result) ? ones[how] : 0;
    if (how == RESULT_SECOND) {
        VALUE(reg_u32, OPERAND_SECOND) = combined(op, frame, !result);
        VALUE(reg_u32, 0) = combined(op, frame, result);
    } else if (how >= RESULT_F16) {
        VALUE(reg_u16, 0) = (uint16_t)value;
    } else {
        VALUE(reg_u32, 0) = value;
    }
}

static inline void finish(const struct operation *op, struct frame *frame, uint32_t result) {
    if (op->option[OPTION_RESULT])
        finish_other(op, frame, result);
    else
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

/* ---- halves, and fp32 with .ftz ---- */

static const char *const words[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ", "neu",
                                    "ltu", "leu", "gtu", "geu", "num", "nan", NULL};
enum { ORDERED_WORDS = 6, BOTH_NUMBERS = 12 };

static bool holds(int word, float a, float b) {
    if (word >= BOTH_NUMBERS) return (word > BOTH_NUMBERS) == (isunordered(a, b) != 0);
    if (isunordered(a, b)) return word >= ORDERED_WORDS;
    switch (word % ORDERED_WORDS) {
    case 0:
        return a == b;
    case 1:
        return a != b;
    case 2:
        return a < b;
    case 3:
        return a <= b;
    case 4:
        return a > b;
    default:
        return a >= b;
    }
}

static void compare_flushed(const struct operation *op, struct frame *frame) {
    const float a = VALUE(reg_f32, 1), b = VALUE(reg_f32, 2);
    if (isunordered(a, b)) nan_seen_f32(op, frame);
    finish(op, frame, holds(op->option[OPTION_WORD], flushed(a), flushed(b)));
}

enum { ONE_HALF = 1, TWO_HALVES = 2, OF_BF16 = 4, FLUSH_HALVES = 8 };

static bool halves_hold(const struct operation *op, uint32_t a, uint32_t b) {
    const int how = op->option[OPTION_HALVES];
    float x = element_value((uint16_t)a, how & OF_BF16),
          y = element_value((uint16_t)b, how & OF_BF16);
    if (how & FLUSH_HALVES && fabsf(x) < 0x1p-14f) x = 0;
    if (how & FLUSH_HALVES && fabsf(y) < 0x1p-14f) y = 0;
    return holds(op->option[OPTION_WORD], x, y);
}

static void compare_half(const struct operation *op, struct frame *frame) {
    finish(op, frame, halves_hold(op, VALUE(reg_u16, 1), VALUE(reg_u16, 2)));
}

/* A result for each half: two predicates, two halves of a register, or half the bits of one. */
static void compare_halves(const struct operation *op, struct frame *frame) {
    const uint32_t a = VALUE(reg_u32, 1), b = VALUE(reg_u32, 2);
    const uint32_t low = combined(op, frame, halves_hold(op, a, b)),
                   high = combined(op, frame, halves_hold(op, a >> 16, b >> 16));
    const uint32_t one = op->option[OPTION_RESULT] == RESULT_F16    ? 0x3c00
                         : op->option[OPTION_RESULT] == RESULT_BF16 ? 0x3f80
                                                                    : 0xffff;
    if (op->option[OPTION_RESULT] > RESULT_SECOND) {
        VALUE(reg_u32, 0) = (low ? one : 0) | (high ? one << 16 : 0);
        return;
    }
    VALUE(reg_u32, 0) = low;
    VALUE(reg_u32, OPERAND_SECOND) = high;
}

/* ---- decoding ---- */

/* The comparison of that type, of those that have no function of their own: the letter of its
 * operands. */
static char take_other(struct decoder *d, int word, bool flush, const char *type) {
    static const char *const types[] = {"f16", "f16x2", "bf16", "bf16x2"};
    d->op->option[OPTION_WORD] = word;
    if (flush && !strcmp(type, "f32")) {
        d->op->run = compare_flushed;
        return 'f';
    }
    for (int i = 0; i < 4; ++i)
        if (!strcmp(types[i], type)) {
            d->op->run = i % 2 ? compare_halves : compare_half;
            d->op->option[OPTION_HALVES] = (i % 2 ? TWO_HALVES : ONE_HALF) | (i > 1   ? OF_BF16
                                                                              : flush ? FLUSH_HALVES
                                                                                      : 0);
            return i % 2 ? 'w' : 'h';
        }
    return 0;
}

/* CMP{.BOOL}{.ftz}, and what is compared: the letter of its type; 0: it is not modelled. */
static char take_comparison(struct decoder *d, const char *word, bool flush) {
    const char *const type = d->next < d->words ? d->word[d->next++] : "";
    for (size_t i = 0; !flush && i < sizeof comparisons / sizeof *comparisons; ++i)
        if (!strcmp(comparisons[i].word, word) && !strcmp(comparisons[i].type, type)) {
            d->op->run = comparisons[i].run;
            return comparisons[i].letter;
        }
    for (int i = 0; words[i]; ++i)
        if (!strcmp(words[i], word)) return take_other(d, i, flush, type);
    return 0;
}

/* What is left: a predicate to combine with. */
static void take_combined(struct decoder *d, int combine) {
    need_operands(d, combine < 0 ? 3 : 4, combine < 0 ? 3 : 4);
    if (combine < 0 || d->why) return;
    struct ptx_operand with = d->source->operand[3];
    d->op->option[OPTION_COMBINE] = combine + COMBINE_AND;
    d->op->option[OPTION_NEGATED] = with.negated;
    with.negated = false;
    d->op->at[3] = read_operand(d, &with, 'p');
}

static const char *const combines[] = {"and", "or", "xor", NULL};

static void decode_setp(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    const char *const word = d->next < d->words ? d->word[d->next++] : "";
    const int combine = take_one_of(d, combines);
    const bool flush = take(d, "ftz");
    const char letter = take_comparison(d, word, flush);
    if (!letter) refuse(d, "this comparison is not modelled");
    take_combined(d, combine);
    if (d->why) return;
    const bool pair = o[0].kind == OPERAND_PAIR;
    if (d->op->option[OPTION_HALVES] & TWO_HALVES && !pair)
        refuse(d, "a comparison of two halves has two predicates");
    d->op->flow = FLOW_PLAIN;
    d->op->at[0] = written_operand(d, pair ? &o[0].part[0] : &o[0], 'p');
    if (pair) d->op->at[OPERAND_SECOND] = written_operand(d, &o[0].part[1], 'p');
    d->op->option[OPTION_RESULT] = pair ? RESULT_SECOND : RESULT_PREDICATE;
    d->op->at[1] = read_operand(d, &o[1], letter);
    d->op->at[2] = read_operand(d, &o[2], letter);
}

/* set.CMP{.BOOL}{.ftz}.RESULT.TYPE d, a, b{, c} */
static void decode_set(struct decoder *d) {
    static const char *const results[] = {"u32", "s32", "f32",   "f16",    "bf16",
                                          "u16", "s16", "f16x2", "bf16x2", NULL};
    static const enum result result_of[] = {RESULT_ONES, RESULT_ONES, RESULT_F32,
                                            RESULT_F16,  RESULT_BF16, RESULT_ONES,
                                            RESULT_ONES, RESULT_F16,  RESULT_BF16};
    enum { NARROW = 3, PAIRS = 7 };
    const struct ptx_operand *const o = d->source->operand;
    const char *const word = d->next < d->words ? d->word[d->next++] : "";
    const int combine = take_one_of(d, combines);
    const bool flush = take(d, "ftz");
    const int result = take_one_of(d, results);
    const char letter = take_comparison(d, word, flush);
    const bool pairs = d->op->option[OPTION_HALVES] & TWO_HALVES;
    if (!letter || result < 0 || (pairs != (result >= PAIRS) && !(pairs && result < 2)))
        refuse(d, "this comparison is not modelled");
    take_combined(d, combine);
    if (d->why) return;
    d->op->flow = FLOW_PLAIN;
    d->op->option[OPTION_RESULT] = (int)result_of[result];
    d->op->at[0] = written_operand(d, &o[0], result >= NARROW && result < PAIRS ? 'h' : 'w');
    d->op->at[1] = read_operand(d, &o[1], letter);
    d->op->at[2] = read_operand(d, &o[2], letter);
}

static const struct family families[] = {
    {"setp", decode_setp, MODELLED, "Comparison and Selection Instructions: setp"},
    {"set", decode_set, MODELLED, "Comparison and Selection Instructions: set"},
};
const struct family_group compare_families = FAMILY_GROUP(families);
