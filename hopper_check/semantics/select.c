/*
 * select.c: PTX ISA: selp of the "Comparison and Selection Instructions", and testp.
 */
#include <math.h>

#include "semantics/define.h"
#include "semantics/floating.h"

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

/* ---- testp: what kind of number it is; zeros count as normal ones ---- */

enum { OPTION_KINDS };
enum { NUMBER_KINDS = 6 };
static const char *const kind_words[] = {"finite", "infinite",  "number", "notanumber",
                                         "normal", "subnormal", NULL};
static const int classes[NUMBER_KINDS][3] = {
    {FP_NORMAL, FP_SUBNORMAL, FP_ZERO}, {FP_INFINITE, FP_INFINITE, FP_INFINITE},
    {FP_NAN, FP_NAN, FP_NAN},           {FP_NAN, FP_NAN, FP_NAN},
    {FP_NORMAL, FP_ZERO, FP_ZERO},      {FP_SUBNORMAL, FP_SUBNORMAL, FP_SUBNORMAL}};

static void test(const struct operation *op, struct frame *frame, int class) {
    enum { NUMBER = 2 };
    const int *const of = classes[op->option[OPTION_KINDS]];
    const bool is = class == of[0] || class == of[1] || class == of[2];
    VALUE(reg_u32, 0) = is != (op->option[OPTION_KINDS] == NUMBER);
}
static void test_f32(const struct operation *op, struct frame *frame) {
    if (isnan(VALUE(reg_f32, 1))) nan_seen_f32(op, frame);
    test(op, frame, fpclassify(VALUE(reg_f32, 1)));
}
static void test_f64(const struct operation *op, struct frame *frame) {
    test(op, frame, fpclassify(VALUE(reg_f64, 1)));
}

static void decode_testp(struct decoder *d) {
    const int kind = take_one_of(d, kind_words);
    const bool wide = take(d, "f64");
    if (!wide) require(d, "f32");
    if (kind < 0) refuse(d, "this form of it is not modelled");
    d->op->flow = FLOW_PLAIN;
    d->op->option[OPTION_KINDS] = kind;
    d->op->run = wide ? test_f64 : test_f32;
    take_operands(d, wide ? "pg" : "pf");
}

static const struct family families[] = {
    {"testp", decode_testp, MODELLED, "Floating Point Instructions: testp"},
};
const struct family_group test_families = FAMILY_GROUP(families);
