/*
 * scalar.c: what single instructions compute, bit for bit. The expected bits follow from the PTX
 * ISA and IEEE 754, worked out by hand; fp16 and bf16 are compared with exhaustive searches.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/instructions.h"
#include "sim/models/element_values.h"

static int failures;

/* %p predicates, %h 16 bits, %w 32, %d 64, %f fp32, %g fp64; operand i is number i. */
struct row {
    const char *text;
    uint64_t in[4], out;
};

static const struct row rows[] = {
    {"add.s32 %w0, %w1, %w2", {0x7fffffff, 1}, 0x80000000},
    {"sub.u16 %h0, %h1, %h2", {0, 1}, 0xffff},
    {"mul.lo.s32 %w0, %w1, %w2", {0xffffffff, 3}, 0xfffffffd},
    {"mul.hi.s32 %w0, %w1, %w2", {0xffffffff, 3}, 0xffffffff},
    {"mul.hi.u32 %w0, %w1, %w2", {0xffffffff, 3}, 2},
    {"mul.hi.s64 %d0, %d1, %d2", {UINT64_C(0x8000000000000000), 4}, UINT64_C(0xfffffffffffffffe)},
    {"mul.wide.s32 %d0, %w1, %w2", {0xfffffffe, 3}, UINT64_C(0xfffffffffffffffa)},
    {"mul.wide.u32 %d0, %w1, %w2", {0xfffffffe, 3}, UINT64_C(0x2fffffffa)},
    {"mad.lo.s32 %w0, %w1, %w2, %w3", {7, 0xfffffffe, 20}, 6},
    {"mad.wide.s32 %d0, %w1, %w2, %d3", {0xffffffff, 2, 5}, 3},
    {"div.s32 %w0, %w1, %w2", {0xfffffff9, 2}, 0xfffffffd},
    {"div.s32 %w0, %w1, %w2", {0x80000000, 0xffffffff}, 0x80000000},
    {"rem.s32 %w0, %w1, %w2", {0xfffffff9, 2}, 0xffffffff},
    {"div.u64 %d0, %d1, %d2", {100, 7}, 14},
    {"min.s32 %w0, %w1, %w2", {0xffffffff, 1}, 0xffffffff},
    {"min.u32 %w0, %w1, %w2", {0xffffffff, 1}, 1},
    {"abs.s32 %w0, %w1", {0x80000000}, 0x80000000},
    {"and.pred %p0, %p1, %p2", {1, 0}, 0},
    {"not.pred %p0, %p1", {1}, 0},
    {"lop3.b32 %w0, %w1, %w2, %w3, 0x96", {0xf0, 0xcc, 0xaa}, 0x96},
    {"lop3.b32 %w0, %w1, %w2, %w3, 0xe2", {0xf0, 0xcc, 0xaa}, 0xe2},
    {"shl.b32 %w0, %w1, %w2", {1, 31}, 0x80000000},
    {"shl.b32 %w0, %w1, %w2", {1, 32}, 0},
    {"shr.s32 %w0, %w1, %w2", {0x80000000, 40}, 0xffffffff},
    {"shr.u64 %d0, %d1, %w2", {UINT64_C(0x8000000000000000), 63}, 1},
    {"shf.l.wrap.b32 %w0, %w1, %w2, %w3", {0x80000000, 1, 33}, 3},
    {"shf.r.clamp.b32 %w0, %w1, %w2, %w3", {5, 9, 40}, 9},
    {"bfe.u32 %w0, %w1, %w2, %w3", {0xabcd1234, 8, 8}, 0x12},
    {"bfe.s32 %w0, %w1, %w2, %w3", {0x00008000, 8, 8}, 0xffffff80},
    {"bfe.s32 %w0, %w1, %w2, %w3", {0x80000000, 28, 8}, 0xfffffff8},
    {"bfi.b32 %w0, %w1, %w2, %w3, %w4", {0xf, 0xffffff00, 4, 4}, 0xfffffff0},
    {"prmt.b32 %w0, %w1, %w2, %w3", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
    {"prmt.b32 %w0, %w1, %w2, %w3", {0x00000080, 0, 0x4448}, 0x000000ff},
    {"vadd.u32.s32.u32.sat %w0, %w1, %w2", {0xffffffff, 0}, 0},
    {"vadd.u32.s32.u32 %w0, %w1, %w2", {0xffffffff, 0}, 0xffffffff},
    {"vadd.s32.u32.u32.sat.max %w0, %w1, %w2, %w3", {0xffffffff, 1, 5}, 0x7fffffff},
    {"vsub.s32.u32.s32.min %w0, %w1, %w2, %w3", {0, 1, 0xfffffffe}, 0xfffffffe},
    {"vabsdiff.u32.s32.s32 %w0, %w1, %w2", {0x80000000, 0x7fffffff}, 0xffffffff},
    {"vabsdiff.u32.u32.u32.add %w0, %w1, %w2, %w3", {3, 10, 100}, 107},
    {"vmin.s32.s32.u32 %w0, %w1, %w2", {0xffffffff, 0xffffffff}, 0xffffffff},
    {"vmax.s32.s32.u32.sat %w0, %w1, %w2", {0xffffffff, 0xffffffff}, 0x7fffffff},
    {"vshl.u32.u32.u32.clamp %w0, %w1, %w2", {3, 40}, 0},
    {"vshl.u32.u32.u32.sat.clamp %w0, %w1, %w2", {3, 31}, 0xffffffff},
    {"vshl.s32.s32.u32.wrap %w0, %w1, %w2", {3, 33}, 6},
    {"vshr.s32.s32.u32.clamp %w0, %w1, %w2", {0x80000000, 64}, 0xffffffff},
    {"vshr.u32.s32.u32.sat.clamp %w0, %w1, %w2", {0x80000000, 4}, 0},
    {"vshr.u32.u32.u32.wrap.add %w0, %w1, %w2, %w3", {0x100, 36, 7}, 0x17},
    {"popc.b32 %w0, %w1", {0xf0f0}, 8},
    {"clz.b32 %w0, %w1", {0}, 32},
    {"bfind.s32 %w0, %w1", {0xffffffff}, 0xffffffff},
    {"bfind.s32 %w0, %w1", {0xfffffff0}, 3},
    {"brev.b32 %w0, %w1", {1}, 0x80000000},
    {"setp.lt.s32 %p0, %w1, %w2", {0xffffffff, 0}, 1},
    {"setp.lt.u32 %p0, %w1, %w2", {0xffffffff, 0}, 0},
    {"setp.eq.or.s32 %p0, %w1, %w2, !%p3", {1, 2, 0}, 1},
    {"setp.ne.and.s32 %p0, %w1, %w2, %p3", {1, 2, 0}, 0},
    {"setp.ltu.f32 %p0, %f1, %f2", {0x7fc00000, 0}, 1},
    {"setp.lt.f32 %p0, %f1, %f2", {0x7fc00000, 0}, 0},
    {"setp.ne.f32 %p0, %f1, %f2", {0x7fc00000, 0}, 0},
    {"selp.b32 %w0, %w1, %w2, %p3", {5, 6, 0}, 6},
    {"add.f32 %f0, %f1, %f2", {0x3f800000, 0x33800000}, 0x3f800000}, /* 1 + 2^-24, a tie */
    {"fma.rn.f32 %f0, %f1, %f2, %f3", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},
    {"add.f32 %f0, %f1, %f2", {0x7f800000, 0xff800000}, 0x7fffffff},
    {"min.f32 %f0, %f1, %f2", {0x80000000, 0}, 0x80000000},
    {"max.f32 %f0, %f1, %f2", {0x7fc00000, 0x3f800000}, 0x3f800000},
    {"add.ftz.f32 %f0, %f1, %f2", {1, 1}, 0},
    {"cvt.rzi.s32.f32 %w0, %f1", {0xc02ccccd}, 0xfffffffe}, /* -2.7 */
    {"cvt.rni.s32.f32 %w0, %f1", {0x40200000}, 2},          /* 2.5 */
    {"cvt.rni.s32.f32 %w0, %f1", {0x4f800000}, 0x7fffffff}, /* 2^32 */
    {"cvt.rzi.u32.f32 %w0, %f1", {0xbf800000}, 0},
    {"cvt.rzi.s32.f32 %w0, %f1", {0x7fc00000}, 0},
    {"cvt.rn.f32.s32 %f0, %w1", {0x01000001}, 0x4b800000}, /* 2^24 + 1, a tie */
    {"cvt.rn.f32.u64 %f0, %d1", {UINT64_C(0xffffffffffffffff)}, 0x5f800000},
    {"cvt.s64.s32 %d0, %w1", {0xffffffff}, UINT64_C(0xffffffffffffffff)},
    {"cvt.u32.u16 %w0, %h1", {0xffff}, 0xffff},
    {"cvt.s8.s32 %w0, %w1", {0x180}, 0xffffff80},
    {"cvt.sat.s8.s32 %w0, %w1", {300}, 127},
    {"cvt.rn.f16.f32 %h0, %f1", {0x477ff000}, 0x7c00}, /* 65520 */
    {"cvt.rz.f16.f32 %h0, %f1", {0x477ff000}, 0x7bff},
    {"cvt.rz.bf16.f32 %h0, %f1", {0x3f80ffff}, 0x3f80},
    {"cvt.rn.bf16x2.f32 %w0, %f1, %f2", {0x3f800000, 0x40000000}, 0x3f804000},
    {"cvt.rn.f16x2.f32 %w0, %f1, %f2", {0x3f800000, 0xc0000000}, 0x3c00c000},
    {"cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2", {0x43e00000, 0x3f800000}, 0x7e38},
    {"cvt.rn.f16x2.e4m3x2 %w0, %h1", {0x7e38}, 0x5f003c00},
    {"cvt.rna.tf32.f32 %w0, %f1", {0x3f801000}, 0x3f802000}, /* a tie, away from zero */
    {"cvt.rn.tf32.f32 %w0, %f1", {0x3f801000}, 0x3f800000},
    {"cvt.rn.f16x2.e5m2x2 %w0, %h1", {0x7b3c}, 0x7b003c00},
    {"fma.rm.f32 %f0, %f1, %f2, %f3", {0x3f800001, 0x3f800001, 0}, 0x3f800002},
    {"fma.rp.f32 %f0, %f1, %f2, %f3", {0x3f800001, 0x3f800001, 0}, 0x3f800003},
    {"add.rz.f32 %f0, %f1, %f2", {0xbf800000, 0xb3800000}, 0xbf800000},
    {"add.rm.f32 %f0, %f1, %f2", {0xbf800000, 0xb3800000}, 0xbf800001},
    {"div.rp.f64 %g0, %g1, %g2",
     {UINT64_C(0x3ff0000000000000), UINT64_C(0x4008000000000000)},
     UINT64_C(0x3fd5555555555556)},
    {"fma.rn.sat.f32 %f0, %f1, %f2, %f3", {0x40000000, 0x40000000, 0x3f800000}, 0x3f800000},
    {"max.ftz.f32 %f0, %f1, %f2", {1, 0x80000001}, 0},
    {"bmsk.clamp.b32 %w0, %w1, %w2", {4, 8}, 0xff0},
    {"bmsk.clamp.b32 %w0, %w1, %w2", {28, 8}, 0xf0000000},
    {"bfind.shiftamt.u32 %w0, %w1", {0xf0}, 24},
    {"bfind.shiftamt.s32 %w0, %w1", {0xfffffff0}, 28},
    {"bfind.s64 %w0, %d1", {UINT64_C(0xfffffffffffffff0)}, 3},
    {"cvt.f64.f32 %g0, %f1", {0x3f800000}, UINT64_C(0x3ff0000000000000)},
    {"cvt.ftz.f32.f16 %f0, %h1", {1}, 0x33800000}, /* an fp32 is not subnormal there */
    {"cvt.rzi.ftz.s32.f32 %w0, %f1", {0x80000001}, 0},
    {"cvt.rp.f32.s32 %f0, %w1", {0x01000001}, 0x4b800001},
    {"cvt.rz.f64.u64 %g0, %d1", {UINT64_MAX}, UINT64_C(0x43efffffffffffff)},
    {"cvt.rn.sat.f32.s32 %f0, %w1", {7}, 0x3f800000},
    {"cvt.sat.f32.f32 %f0, %f1", {0x80000000}, 0},
    {"cvt.rn.bf16.s64 %h0, %d1", {UINT64_C(0x4040000000000001)}, 0x5e81}, /* just over a tie */
    {"cvt.pack.sat.u8.s32.b32 %w0, %w1, %w2, %w3", {300, 0xffffffff, 0xabcd1234}, 0x1234ff00},
    {"cvt.pack.sat.s16.s32 %w0, %w1, %w2", {40000, 0xffff0000}, 0x7fff8000},
    {"cvt.rn.satfinite.e5m2x2.f32 %h0, %f1, %f2", {0x7f800000, 0xbf900000}, 0x7bbc},
    {"cvt.rn.satfinite.e5m2x2.f32 %h0, %f1, %f2", {0x3f900001, 0x3f900000}, 0x3d3c},
    {"cvt.rn.satfinite.e4m3x2.f16x2 %h0, %w1", {0x3c00c000}, 0x38c0},
    {"cvt.rn.relu.f16x2.e5m2x2 %w0, %h1", {0xbc3c}, 0x3c00},
    {"cvt.rz.bf16x2.f32 %w0, %f1, %f2", {0x3f80ffff, 0xbf80ffff}, 0x3f80bf80},
    {"cvt.rz.relu.f16x2.f32 %w0, %f1, %f2", {0x3f801fff, 0xbf800000}, 0x3c000000},
    {"cvt.rn.relu.bf16.f32 %h0, %f1", {0x3f80ffff}, 0x3f81},
    {"cvt.rn.relu.bf16.f32 %h0, %f1", {0xbf80ffff}, 0},
    {"fns.b32 %w0, %w1, %w2, %w3", {0xf0, 0, 3}, 6},
    {"fns.b32 %w0, %w1, %w2, %w3", {0xf0, 7, 0xfffffffe}, 6},
    {"fns.b32 %w0, %w1, %w2, %w3", {0xf0, 3, 0}, 0xffffffff},
    {"fns.b32 %w0, %w1, %w2, %w3", {0xf0, 0, 5}, 0xffffffff},
    {"add.s16x2 %w0, %w1, %w2", {0x0001ffff, 0x00020001}, 0x00030000},
    {"min.u16x2 %w0, %w1, %w2", {0x00018000, 0xffff0001}, 0x00010001},
    {"max.s16x2 %w0, %w1, %w2", {0x00018000, 0xffff0001}, 0x00010001},
    {"min.relu.s16x2 %w0, %w1, %w2", {0x00018000, 0x00030001}, 0x00010000},
    {"max.relu.s32 %w0, %w1, %w2", {0xffffffff, 0xfffffffe}, 0},
    {"max.ftz.NaN.f32 %f0, %f1, %f2", {0x00000001, 0x80000001}, 0},
    {"max.ftz.NaN.f32 %f0, %f1, %f2", {0x7fc00000, 0x3f800000}, 0x7fffffff},
    {"max.xorsign.abs.f32 %f0, %f1, %f2", {0xc0000000, 0x3f800000}, 0xc0000000},
    {"min.xorsign.abs.f32 %f0, %f1, %f2", {0xc0000000, 0xbf800000}, 0x3f800000},
    {"min.NaN.xorsign.abs.f32 %f0, %f1, %f2", {0xffc00000, 0xbf800000}, 0x7fffffff},
    {"min.xorsign.abs.f32 %f0, %f1, %f2", {0x7fc00000, 0xbf800000}, 0xbf800000},
    {"max.ftz.xorsign.abs.f16x2 %w0, %w1, %w2", {0xc0000001, 0x3c008000}, 0xc0008000},
    {"min.xorsign.abs.bf16 %h0, %h1, %h2", {0xc000, 0xbf80}, 0x3f80},
    {"fma.rn.ftz.sat.f16 %h0, %h1, %h2, %h3", {0x4000, 0x3c00, 0x3c00}, 0x3c00},
    {"mul.ftz.sat.f16 %h0, %h1, %h2", {0x0001, 0x3c00}, 0},
    {"setp.lt.ftz.f32 %p0, %f1, %f2", {0, 1}, 0},
    {"setp.lt.f32 %p0, %f1, %f2", {0, 1}, 1},
    {"setp.gt.f16 %p0, %h1, %h2", {0x3c00, 0xc000}, 1},
    {"setp.ltu.bf16 %p0, %h1, %h2", {0x7fc0, 0}, 1},
    {"set.ge.u32.f32 %w0, %f1, %f2", {0x3f800000, 0x3f800000}, 0xffffffff},
    {"set.eq.xor.f32.s16 %f0, %h1, %h2, %p3", {1, 2, 1}, 0x3f800000},
    {"set.lt.f16x2.f16x2 %w0, %w1, %w2", {0x3c004000, 0x40004000}, 0x3c000000},
    {"set.num.u32.f16x2 %w0, %w1, %w2", {0x7e003c00, 0}, 0xffff},
    {"testp.normal.f32 %p0, %f1", {0x80000000}, 1},
    {"testp.number.f64 %p0, %g1", {UINT64_C(0x7ff8000000000000)}, 0},
    {"mul24.hi.s32 %w0, %w1, %w2", {0xff800001, 0x00000002}, 0xffffff00},
    {"mad24.lo.u32 %w0, %w1, %w2, %w3", {0x01000003, 5, 7}, 22},
    {"dp4a.s32.u32 %w0, %w1, %w2, %w3", {0xff020304, 0x01ffff01, 10}, 1288},
    {"dp2a.hi.u32.s32 %w0, %w1, %w2, %w3", {0x00020003, 0x04ff0000, 1}, 6},
    {"mad.hi.sat.s32 %w0, %w1, %w2, %w3", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
    {"sub.sat.s32 %w0, %w1, %w2", {0x80000000, 1}, 0x80000000},
    {"sad.s16 %h0, %h1, %h2, %h3", {0x8000, 0x7fff, 1}, 0},
    {"prmt.b32.b4e %w0, %w1, %w2, %w3", {0x33221100, 0x77665544, 1}, 0x66770011},
    {"prmt.b32.rc16 %w0, %w1, %w2, %w3", {0x33221100, 0x77665544, 1}, 0x33223322},
    {"bfe.u64 %d0, %d1, %w2, %w3", {UINT64_MAX, 0x12f, 8}, 0}, /* 32 bits of it count */
    {"bfe.u32 %w0, %w1, %w2, %w3", {0xff00, 0x108, 8}, 0xff},
    {"sub.rp.ftz.sat.f32 %f0, %f1, %f2", {0x3f800000, 1}, 0x3f800000},
    {"sub.rz.sat.f32 %f0, %f1, %f2", {0x3f800000, 1}, 0x3f7fffff},
    {"div.approx.f32 %f0, %f1, %f2", {0x3f800000, 0x7f000000}, 0},
    {"max.f16 %h0, %h1, %h2", {0x8000, 0}, 0},
    {"max.NaN.bf16 %h0, %h1, %h2", {0x7fc0, 0}, 0x7fff},
    {"min.ftz.f16x2 %w0, %w1, %w2", {0x00018001, 0x3c003c00}, 0x00008000},
    {"fma.rn.sat.f16 %h0, %h1, %h2, %h3", {0x4000, 0x4000, 0}, 0x3c00},
    {"ex2.approx.ftz.bf16x2 %w0, %w1", {0x3f80c000}, 0x40003e80},
    {"tanh.approx.f16 %h0, %h1", {0x7c00}, 0x3c00},
    {"add.rn.f16x2 %w0, %w1, %w2", {0x3c003c00, 0x3c00bc00}, 0x40000000},
    {"fma.rn.bf16x2 %w0, %w1, %w2, %w3", {0x3f803f80, 0x40004000, 0x3f803f80}, 0x40404040},
};

static struct ptx_module *parse(const char *instruction) {
    char text[512], error[256];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k() {\n"
             ".reg .pred %%p<5>; .reg .b16 %%h<5>; .reg .b32 %%w<5>; .reg .b64 %%d<5>;\n"
             ".reg .f32 %%f<5>; .reg .f64 %%g<5>;\n%s;\nret;\n}\n",
             instruction);
    struct ptx_module *const module = ptx_parse("text", text, error, sizeof error);
    if (!module) {
        printf("%s: %s\n", instruction, error);
        exit(1);
    }
    return module;
}

static uint64_t mask(int bytes) { return ~UINT64_C(0) >> (64 - 8 * bytes); }

/* The value that the program's first operation leaves in operand 0. */
static uint64_t compute_with(const struct program *p, const uint64_t in[4], uint32_t *carry) {
    static unsigned char registers[4096] __attribute__((aligned(16)));
    const struct operation *const op = &p->operation[0];
    const struct ptx_instruction *const s = op->source;
    struct frame frame = {.program = p, .registers = registers, .carry = *carry};
    memcpy(registers, p->image, (size_t)p->frame_bytes);
    for (int i = 1; i < s->operands; ++i) {
        if (s->operand[i].kind != OPERAND_REGISTER) continue;
        const int bytes = p->function->reg[s->operand[i].reg].type.bytes;
        memcpy(registers + op->at[i], &in[i - 1], (size_t)bytes);
    }
    op->run(op, &frame);
    *carry = frame.carry;
    uint64_t out = 0;
    const int bytes = p->function->reg[s->operand[0].reg].type.bytes;
    memcpy(&out, registers + op->at[0], (size_t)bytes);
    return out & mask(bytes);
}

static uint64_t compute(const struct program *p, const uint64_t in[4]) {
    uint32_t carry = 0;
    return compute_with(p, in, &carry);
}

static void check_rows(void) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        struct ptx_module *const module = parse(rows[i].text);
        const struct program *const p = program_of(module, &module->function[0]);
        if (p->refusals) {
            printf("%s: refused: %s\n", rows[i].text, p->refusal[0].why);
            ++failures;
        } else {
            const uint64_t out = compute(p, rows[i].in);
            if (out != rows[i].out) {
                printf("%s: %#llx, expected %#llx\n", rows[i].text, (unsigned long long)out,
                       (unsigned long long)rows[i].out);
                ++failures;
            }
        }
        ptx_free(module);
    }
}

/* 128 bits in four parts: what each leaves the next one takes. */
static void check_carries(void) {
    static const uint64_t a[] = {0xffffffff, 0xffffffff, 5}, b[] = {1, 0, 7}, sum_of[] = {0, 0, 13},
                          difference_of[] = {2, 0, 1};
    static const char *const forms[2][3] = {{"add.cc.u32", "addc.cc.u32", "addc.u32"},
                                            {"sub.cc.u32", "subc.cc.u32", "subc.u32"}};
    for (int i = 0; i < 2; ++i) {
        uint32_t carry = 0;
        for (int part = 0; part < 3; ++part) {
            char text[64];
            snprintf(text, sizeof text, "%s %%w0, %%w1, %%w2", forms[i][part]);
            struct ptx_module *const module = parse(text);
            const struct program *const p = program_of(module, &module->function[0]);
            /* b - a where it is a difference */
            const uint64_t in[4] = {i ? b[part] : a[part], i ? a[part] : b[part]};
            const uint64_t out = compute_with(p, in, &carry),
                           wanted = i ? difference_of[part] : sum_of[part];
            if (out != wanted) {
                printf("part %d of %s: %#llx\n", part, forms[i][0], (unsigned long long)out);
                ++failures;
            }
            ptx_free(module);
        }
    }
}

/* fp16 and bf16 sums against the nearest of all 16-bit numbers: the exact sum is an fp64 here,
 * because the operands' exponents are near one another. */
static uint16_t nearest_of_all(double x, bool bf16) {
    double best = INFINITY;
    uint16_t found = 0;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const double value = element_value((uint16_t)bits, bf16), distance = fabs(value - x);
        if (isnan(value) || isinf(value) || (x != 0 && signbit(value) != signbit(x))) continue;
        if (distance < best || (distance == best && !(bits & 1))) {
            best = distance;
            found = (uint16_t)bits;
        }
    }
    return found;
}

static void check_halves(const char *text, bool bf16, double (*exact)(double, double)) {
    struct ptx_module *const module = parse(text);
    const struct program *const p = program_of(module, &module->function[0]);
    uint32_t random = 12345;
    for (int i = 0; i < 200; ++i) {
        random = random * 1664525u + 1013904223u;
        const uint16_t a = (uint16_t)((random >> 16 & 0x83ff) | 0x3c00);
        random = random * 1664525u + 1013904223u;
        const uint16_t b = (uint16_t)((random >> 16 & 0x83ff) | 0x3800);
        const uint64_t in[4] = {a, b};
        const double x = exact(element_value(a, bf16), element_value(b, bf16));
        const uint16_t out = (uint16_t)compute(p, in), wanted = nearest_of_all(x, bf16);
        if (element_value(out, bf16) == element_value(wanted, bf16)) continue;
        printf("%s of %#x, %#x: %#x, nearest is %#x\n", text, a, b, out, wanted);
        ++failures;
    }
    ptx_free(module);
}

static double sum(double a, double b) { return a + b; }
static double product(double a, double b) { return a * b; }

int main(void) {
    check_rows();
    check_carries();
    check_halves("add.rn.f16 %h0, %h1, %h2", false, sum);
    check_halves("mul.rn.f16 %h0, %h1, %h2", false, product);
    check_halves("add.rn.bf16 %h0, %h1, %h2", true, sum);
    check_halves("mul.rn.bf16 %h0, %h1, %h2", true, product);
    printf("%zu instructions, %d wrong\n", sizeof rows / sizeof *rows + 4, failures);
    return failures > 0;
}
