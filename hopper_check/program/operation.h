/*
 * operation.h: a decoded instruction, and the frame of the thread that executes it.
 *
 * Registers, constants and special registers all lie in the frame, so that an operand is an offset
 * and nothing is looked up by name when a kernel runs.
 */
#ifndef PROGRAM_OPERATION_H
#define PROGRAM_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/module.h"

struct operation;
struct program;

/* A thread's. */
struct frame {
    const struct program *program;
    const unsigned char *parameters; /* the kernel's, which no thread may write */
    unsigned char *local;            /* local memory */
    uint32_t carry;                  /* of add.cc and sub.cc: 0 or 1 */
    size_t stack;                    /* bytes that this frame and those of its callers take */
    unsigned char *registers;
};

typedef void operation_run(const struct operation *op, struct frame *frame);

enum operation_flow {
    FLOW_PLAIN, /* computes in registers */
    FLOW_UNIT,  /* calls the simulator, or touches registers that a wgmma uses */
    FLOW_BRANCH,
    FLOW_TABLE, /* list: the targets, of which at[0] is the index */
    FLOW_CALL,  /* of `callee`; list: the caller's parameters, then its results */
    FLOW_RETURN,
    FLOW_EXIT
};

enum { OPERANDS = 6, OPTIONS = 6 };

struct operation {
    operation_run *run;
    enum operation_flow flow;
    bool guard_negated;
    int guard;           /* offset of a predicate; < 0: none */
    int at[OPERANDS];    /* offsets of operands: PTX's order, unless run() says otherwise */
    int option[OPTIONS]; /* what the opcode's words say; run()'s own */
    int64_t offset;      /* of an address */
    int target;          /* of a branch: an index in the program */
    int *list;           /* offsets of a vector's elements */
    int listed;
    const struct program *callee; /* NULL: what at[0] points to */
    int given;                    /* parameters of the caller */
    /* Registers of wgmmas that are not operands of this as a wgmma: the first `read` are read. */
    int *touch;
    int touches, read;
    const char *file; /* as reports show it: the line in the kernel, whatever is inlined there */
    int line;
    const struct ptx_instruction *source;
};

/* An operand's value. Registers of all types share their memory. */
#define REGISTER_TYPE(name, type) typedef type name __attribute__((may_alias));
REGISTER_TYPE(reg_u8, uint8_t)
REGISTER_TYPE(reg_s8, int8_t)
REGISTER_TYPE(reg_u16, uint16_t)
REGISTER_TYPE(reg_s16, int16_t)
REGISTER_TYPE(reg_u32, uint32_t)
REGISTER_TYPE(reg_s32, int32_t)
REGISTER_TYPE(reg_u64, uint64_t)
REGISTER_TYPE(reg_s64, int64_t)
REGISTER_TYPE(reg_f32, float)
REGISTER_TYPE(reg_f64, double)

#define VALUE_AT(type, offset) (*(type *)(frame->registers + (offset)))
#define VALUE(type, i) VALUE_AT(type, op->at[i])

#endif
