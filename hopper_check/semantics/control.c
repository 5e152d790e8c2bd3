/*
 * control.c: PTX ISA: mov, trap, calls, setmaxnreg, griddepcontrol, nanosleep.
 */
#include <stdio.h>
#include <string.h>

#include "hopper/griddepcontrol.h"
#include "hopper/registers.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "machine/heap.h"
#include "semantics/print.h"
#include "sim/core/hazards.h"
#include "sim/core/state.h"
#include "sim/core/scheduler.h"

/* ---- mov: also between a register and the parts of a wider one ---- */

enum { OPTION_PART };

static void mov_16(const struct operation *op, struct frame *frame) {
    VALUE(reg_u16, 0) = VALUE(reg_u16, 1);
}
static void mov_32(const struct operation *op, struct frame *frame) {
    VALUE(reg_u32, 0) = VALUE(reg_u32, 1);
}
static void mov_64(const struct operation *op, struct frame *frame) {
    VALUE(reg_u64, 0) = VALUE(reg_u64, 1);
}
static void mov_128(const struct operation *op, struct frame *frame) {
    memcpy(&VALUE(reg_u8, 0), &VALUE(reg_u8, 1), 16);
}
static void mov_pack(const struct operation *op, struct frame *frame) {
    const int bytes = op->option[OPTION_PART];
    unsigned char whole[16];
    for (int i = 0; i < op->listed; ++i)
        memcpy(whole + i * bytes, frame->registers + op->list[i], (size_t)bytes);
    memcpy(&VALUE(reg_u8, 0), whole, (size_t)(bytes * op->listed));
}
static void mov_unpack(const struct operation *op, struct frame *frame) {
    const int bytes = op->option[OPTION_PART];
    unsigned char whole[16];
    memcpy(whole, &VALUE(reg_u8, 1), (size_t)(bytes * op->listed));
    for (int i = 0; i < op->listed; ++i)
        memcpy(frame->registers + op->list[i], whole + i * bytes, (size_t)bytes);
}
static void mov_clock(const struct operation *op, struct frame *frame) {
    const uint64_t now = sim_now();
    memcpy(&VALUE(reg_u8, 0), &now, (size_t)op->option[OPTION_PART]);
}

static char letter_of(int bytes) {
    return bytes == 2 ? 'h' : bytes == 4 ? 'w' : bytes == 8 ? 'd' : 'q';
}

static void decode_mov(struct decoder *d) {
    const struct ptx_operand *const o = d->source->operand;
    const struct ptx_type type = take_type(d);
    need_operands(d, 2, 2);
    d->op->flow = FLOW_PLAIN;
    if (type.bytes == 1) refuse(d, "moves of this width are not modelled");
    if (d->why) return;
    const char letter = type.kind == KIND_PREDICATE ? 'p' : letter_of(type.bytes);
    const struct ptx_operand *const vector = o[0].kind == OPERAND_VECTOR   ? &o[0]
                                             : o[1].kind == OPERAND_VECTOR ? &o[1]
                                                                           : NULL;
    if (vector) {
        const int part = type.bytes / vector->parts;
        if (part < 2 || part * vector->parts != type.bytes) {
            refuse(d, "parts of this width are not modelled yet");
            return;
        }
        d->op->option[OPTION_PART] = part;
        d->op->run = vector == &o[0] ? mov_unpack : mov_pack;
        take_list(d, vector, letter_of(part), vector == &o[0]);
        if (vector == &o[0])
            d->op->at[1] = read_operand(d, &o[1], letter);
        else
            d->op->at[0] = written_operand(d, &o[0], letter);
        return;
    }
    d->op->at[0] = written_operand(d, &o[0], letter);
    if (o[1].kind == OPERAND_SPECIAL &&
        (!strncmp(o[1].name, "clock", 5) || !strncmp(o[1].name, "globaltimer", 11))) {
        d->op->option[OPTION_PART] = type.bytes;
        d->op->run = mov_clock;
        return;
    }
    /* Of fp32 and fp64 the number may be written in decimals. */
    const bool decimal = o[1].kind == OPERAND_F64 && type.kind == KIND_FLOAT && type.bytes == 4;
    d->op->at[1] = read_operand(d, &o[1], decimal ? 'f' : letter);
    d->op->run = type.bytes == 2   ? mov_16
                 : type.bytes == 4 ? mov_32
                 : type.bytes == 8 ? mov_64
                                   : mov_128;
}

/* ---- the kernel stops itself ---- */

static void trap(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_fatal("trap", NULL, "the kernel stops itself: a trap instruction");
}

static void decode_trap(struct decoder *d) {
    need_operands(d, 0, 0);
    d->op->run = trap;
}

static void assertion(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_fatal("trap", NULL, "the kernel stops itself: an assertion failed");
}

/* ---- call (results), function, (parameters) ---- */

/* A variable of the caller's that a call names. */
static int passed(struct decoder *d, const struct ptx_operand *operand) {
    const struct ptx_variable *const v =
        operand->kind == OPERAND_SYMBOL ? find_variable(d, operand->name) : NULL;
    if (v && v->space == SPACE_LOCAL) return (int)v->offset;
    refuse(d, "a call passes what is no .param variable");
    return 0;
}

/* What goes to the function, and where its results go. */
static void pass(struct decoder *d, const struct ptx_operand *results,
                 const struct ptx_operand *parameters) {
    const int given = parameters ? parameters->parts : 0, returned = results ? results->parts : 0;
    d->op->flow = FLOW_CALL;
    d->op->given = given;
    d->op->listed = given + returned;
    d->op->list = arena_alloc(&d->module->arena, ((size_t)d->op->listed + 1) * sizeof(int));
    for (int i = 0; i < given; ++i)
        d->op->list[i] = passed(d, &parameters->part[i]);
    for (int i = 0; i < returned; ++i)
        d->op->list[given + i] = passed(d, &results->part[i]);
}

static void decode_module_call(struct decoder *d, const struct program *callee,
                               const struct ptx_operand *results,
                               const struct ptx_operand *parameters) {
    const struct ptx_function *const f = callee->function;
    const int given = parameters ? parameters->parts : 0, returned = results ? results->parts : 0;
    if (given != f->params || returned != f->results) {
        refuse(d, "the function has another number of parameters");
        return;
    }
    pass(d, results, parameters);
    d->op->callee = callee;
}

static void print(const struct operation *op, struct frame *frame) {
    uint64_t format, values;
    memcpy(&format, frame->local + op->list[0], sizeof format);
    memcpy(&values, frame->local + op->list[1], sizeof values);
    const int count =
        print_values((const char *)(uintptr_t)format, (const unsigned char *)(uintptr_t)values,
                     launch_running->silent ? NULL : stdout);
    if (op->listed > 2) memcpy(frame->local + op->list[2], &count, sizeof count);
}

/* ---- malloc, free ---- */

static void heap_malloc(const struct operation *op, struct frame *frame) {
    uint64_t bytes;
    bool exhausted;
    memcpy(&bytes, frame->local + op->list[0], sizeof bytes);
    const void *const block = heap_alloc(bytes, &exhausted);
    if (exhausted) thread_not_modelled(op, "malloc gives no memory that has been freed before");
    memcpy(frame->local + op->list[1], &block, sizeof block);
}

static void heap_release(const struct operation *op, struct frame *frame) {
    void *block;
    memcpy(&block, frame->local + op->list[0], sizeof block);
    if (block && !heap_free(block))
        sim_fatal("bad-free", NULL,
                  "frees %p, which no malloc of a kernel has given, or which is free already",
                  block);
}

static void decode_call(struct decoder *d) {
    const struct ptx_operand *o = d->source->operand, *results = NULL;
    int left = d->source->operands;
    take(d, "uni");
    if (left && o->kind == OPERAND_VECTOR) {
        results = o++;
        --left;
    }
    if (!left || (o->kind != OPERAND_SYMBOL && o->kind != OPERAND_REGISTER)) {
        refuse(d, "the function to be called is missing");
        return;
    }
    const struct ptx_operand *const parameters =
        left > 1 && o[1].kind == OPERAND_VECTOR ? &o[1] : NULL;
    if (o->kind == OPERAND_REGISTER) {
        pass(d, results, parameters);
        d->op->at[0] = read_operand(d, o, 'd');
        return;
    }
    const struct program *const callee = program_called(d, o->name);
    if (callee) {
        decode_module_call(d, callee, results, parameters);
    } else if (!strcmp(o->name, "__assertfail")) {
        d->op->run = assertion;
    } else if (!strcmp(o->name, "vprintf") && parameters && parameters->parts == 2) {
        d->op->run = print;
        d->op->listed = results ? 3 : 2;
        d->op->list = arena_alloc(&d->module->arena, 3 * sizeof(int));
        for (int i = 0; i < 2; ++i)
            d->op->list[i] = passed(d, &parameters->part[i]);
        if (results) d->op->list[2] = passed(d, &results->part[0]);
    } else if (!strcmp(o->name, "malloc") && parameters && parameters->parts == 1 && results) {
        pass(d, results, parameters);
        d->op->flow = FLOW_UNIT;
        d->op->run = heap_malloc;
    } else if (!strcmp(o->name, "free") && parameters && parameters->parts == 1 && !results) {
        pass(d, results, parameters);
        d->op->flow = FLOW_UNIT;
        d->op->run = heap_release;
    } else {
        refuse(d, "it calls a function that is not in this module");
    }
}

/* ---- setmaxnreg, griddepcontrol ---- */

enum { OPTION_COUNT, OPTION_INCREASE };

static void setmaxnreg(const struct operation *op, struct frame *frame) {
    (void)frame;
    sim_setmaxnreg(op->option[OPTION_COUNT], op->option[OPTION_INCREASE]);
}

static void decode_setmaxnreg(struct decoder *d) {
    const bool increase = take(d, "inc");
    if (!increase) require(d, "dec");
    require(d, "sync");
    require(d, "aligned");
    require(d, "u32");
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->run = setmaxnreg;
    d->op->option[OPTION_COUNT] = (int)immediate(d, &d->source->operand[0]);
    d->op->option[OPTION_INCREASE] = increase;
}

static void dependents(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_griddepcontrol_launch_dependents();
}
static void prerequisites(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    sim_griddepcontrol_wait();
}
static void decode_griddepcontrol(struct decoder *d) {
    const bool wait = take(d, "wait");
    if (!wait) require(d, "launch_dependents");
    need_operands(d, 0, 0);
    d->op->run = wait ? prerequisites : dependents;
}

/* One that has its list is a branch (program.c). */
static void decode_brx(struct decoder *d) { refuse(d, "its list of targets is missing"); }

/* ---- nanosleep, brkpt ---- */

/* For at most twice the time: others run meanwhile. */
static void nanosleep_(const struct operation *op, struct frame *frame) {
    (void)op, (void)frame;
    scheduler_yield();
}

static void decode_nanosleep(struct decoder *d) {
    require(d, "u32");
    need_operands(d, 1, 1);
    if (d->why) return;
    d->op->run = nanosleep_;
    d->op->at[0] = read_operand(d, &d->source->operand[0], 'w');
}

static void nothing(const struct operation *op, struct frame *frame) { (void)op, (void)frame; }

static void decode_brkpt(struct decoder *d) {
    d->next = d->words;
    d->op->run = nothing;
}

#define SYNCHRONIZATION "Parallel Synchronization and Communication Instructions: "
static const struct family families[] = {
    {"mov", decode_mov, MODELLED, "Data Movement and Conversion Instructions: mov"},
    {"trap", decode_trap, MODELLED, "Miscellaneous Instructions: trap"},
    {"call", decode_call, MODELLED, "Control Flow Instructions: call"},
    {"brx.idx", decode_brx, MODELLED, "Control Flow Instructions: brx.idx"},
    {"setmaxnreg", decode_setmaxnreg, MODELLED, "Miscellaneous Instructions: setmaxnreg"},
    {"griddepcontrol", decode_griddepcontrol, MODELLED, SYNCHRONIZATION "griddepcontrol"},
    {"nanosleep", decode_nanosleep, MODELLED, "Miscellaneous Instructions: nanosleep"},
    {"brkpt", decode_brkpt, ORDERING, "Miscellaneous Instructions: brkpt"},
    {"pmevent", decode_brkpt, ORDERING, "Miscellaneous Instructions: pmevent"},
};
const struct family_group control_families = FAMILY_GROUP(families);
