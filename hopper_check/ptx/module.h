/*
 * module.h: a PTX module as its text has it: functions, variables, instructions, places.
 *
 * PTX ISA, "Syntax" and "State Spaces, Types, and Variables". Nothing is judged here but the
 * grammar; program/decode.h gives instructions their meaning.
 */
#ifndef PTX_MODULE_H
#define PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/arena.h"

enum ptx_space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM, SPACE_CONST };

/* A fundamental type, as a register or a variable is declared with. */
struct ptx_type {
    enum ptx_kind { KIND_BITS, KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT, KIND_PREDICATE } kind;
    int bytes; /* 1, 2, 4, 8, 16; of a predicate 4 */
};
/* "u32" and so on; false: there is no such type. */
bool ptx_type_of(const char *name, size_t length, struct ptx_type *type);

/* Where an instruction comes from: a line of a file, and if that is in an inlined function, where
 * it was called. `.loc` with `inlined_at`. */
struct ptx_place {
    const char *file; /* as the compiler was given it */
    int line, column;
    const char *function;          /* demangled; NULL: the function itself */
    const struct ptx_place *outer; /* the call; NULL: the function itself */
};

struct ptx_initializer {
    size_t offset;
    const char *symbol; /* whose address stands here, */
    int64_t plus;       /* and that is added to it, */
    uint64_t mask;      /* of which these bits alone are taken, shifted down */
};

struct ptx_variable {
    const char *name;
    enum ptx_space space;
    struct ptx_type type;
    size_t bytes, align; /* bytes 0: an array without a size */
    bool external;
    unsigned char *initial; /* NULL: zeros */
    struct ptx_initializer *symbols;
    int symbol_count;
    size_t offset; /* in its space, once that has been laid out */
    void *memory;  /* of a module's variable, during a launch */
};

struct ptx_register {
    const char *name;
    struct ptx_type type;
};

enum ptx_operand_kind {
    OPERAND_REGISTER,
    OPERAND_INTEGER,
    OPERAND_F32,
    OPERAND_F64,
    OPERAND_SPECIAL, /* %tid.x: `name` without the percent sign */
    OPERAND_SYMBOL,  /* a variable's address, plus `offset` */
    OPERAND_SINK,    /* _ */
    OPERAND_VECTOR,  /* {a, b}: `part` */
    OPERAND_ADDRESS, /* [a + offset]: part[0]; [a, {b, c}]: part[1] */
    OPERAND_PAIR     /* p|q: part[0], part[1] */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated; /* !p */
    int reg;      /* OPERAND_REGISTER: index in the function's registers */
    uint64_t bits;
    int64_t offset;
    const char *name;
    struct ptx_operand *part;
    int parts;
};

struct ptx_instruction {
    const char *opcode; /* "ld.global.v4.u32" */
    struct ptx_operand *operand;
    int operands;
    int guard; /* register; < 0: none */
    bool guard_negated;
    int target;                    /* of bra: index of an instruction */
    const struct ptx_place *place; /* NULL: compiled without -lineinfo */
    int line;                      /* of the PTX */
};

/* Labels that an indirect branch may go to: `.branchtargets`. */
struct ptx_targets {
    const char *name;
    int *target, targets; /* indices of instructions */
};

struct ptx_function {
    const char *name; /* mangled */
    bool entry, defined;
    struct ptx_variable *param;
    int params;
    size_t param_bytes;
    struct ptx_variable *variable; /* of its body: shared, local, param */
    int variables;
    int results; /* the first of its variables: what it returns */
    struct ptx_register *reg;
    int registers;
    struct ptx_instruction *instruction;
    int instructions;
    struct ptx_targets *list;
    int lists;
    int max_threads[3], required_threads[3], cluster[3], min_ctas; /* 0: not said */
};

struct ptx_module {
    struct arena arena;
    const char *file; /* of the PTX */
    int major, minor; /* .version */
    const char *target;
    struct ptx_variable *variable;
    int variables;
    struct ptx_function *function;
    int functions;
};

/* Parses `text`, which ends with a NUL. NULL: `error` says why, with the line. `file` is for
 * messages. */
struct ptx_module *ptx_parse(const char *file, const char *text, char *error, size_t error_size);
void ptx_free(struct ptx_module *module);

/* The entry of that name, mangled or demangled without its parameters; the only one if `name` is
 * NULL. NULL: there is none, or several; `error` lists what there is. */
struct ptx_function *ptx_entry(struct ptx_module *module, const char *name, char *error,
                               size_t error_size);

#endif
