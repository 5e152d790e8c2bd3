/*
 * define.h: how the files of semantics/ define what an opcode computes from registers.
 */
#ifndef SEMANTICS_DEFINE_H
#define SEMANTICS_DEFINE_H

#include "program/instructions.h"

/* A function of the registers a, b, c, which are operands 1, 2, 3; its value goes to operand 0. */
#define DEFINE1(name, out, type, value)                                                            \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const reg_##type a = VALUE(reg_##type, 1);                                                 \
        VALUE(reg_##out, 0) = (reg_##out)(value);                                                  \
    }
#define DEFINE2(name, out, type, value)                                                            \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const reg_##type a = VALUE(reg_##type, 1), b = VALUE(reg_##type, 2);                       \
        VALUE(reg_##out, 0) = (reg_##out)(value);                                                  \
    }
#define DEFINE3(name, out, type, value)                                                            \
    static void name(const struct operation *op, struct frame *frame) {                            \
        const reg_##type a = VALUE(reg_##type, 1), b = VALUE(reg_##type, 2),                       \
                         c = VALUE(reg_##type, 3);                                                 \
        VALUE(reg_##out, 0) = (reg_##out)(value);                                                  \
    }

#endif
