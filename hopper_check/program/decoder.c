/* decoder.c: the words of an opcode, and its operands. PTX ISA, "Instruction Operands" and "Operand
 * Size Exceeding Instruction-Type Size". */
#include "program/decoder.h"

#include <string.h>

/* ---- words ---- */

void refuse(struct decoder *d, const char *why) {
    if (!d->why) d->why = why;
}

bool take(struct decoder *d, const char *word) {
    if (d->next >= d->words || strcmp(d->word[d->next], word) != 0) return false;
    ++d->next;
    return true;
}

int take_one_of(struct decoder *d, const char *const *list) {
    for (int i = 0; list[i]; ++i)
        if (take(d, list[i])) return i;
    return -1;
}

void require(struct decoder *d, const char *word) {
    if (!take(d, word)) refuse(d, "this form of it is not modelled");
}

struct ptx_type take_type(struct decoder *d) {
    struct ptx_type type = {KIND_BITS, 4};
    if (d->next < d->words && ptx_type_of(d->word[d->next], strlen(d->word[d->next]), &type))
        ++d->next;
    else
        refuse(d, "a type is missing, or not modelled");
    return type;
}

void no_more_words(struct decoder *d) {
    if (d->next < d->words) refuse(d, "this form of it is not modelled");
}

void need_operands(struct decoder *d, int least, int most) {
    if (d->source->operands < least || d->source->operands > most)
        refuse(d, "this number of operands is not modelled");
}

/* ---- the frame behind the registers ---- */

static int reserve(struct decoder *d, int bytes) {
    const int align = bytes < 4 ? 4 : bytes, at = (d->used + align - 1) / align * align;
    d->used = at + align;
    return at;
}

static int constant(struct decoder *d, uint64_t bits, int bytes) {
    if (bytes < 8) bits &= (UINT64_C(1) << 8 * bytes) - 1;
    for (int i = 0; i < d->constants; ++i)
        if (d->constant[i].bits == bits && d->constant[i].bytes == bytes) return d->constant[i].at;
    const int at = reserve(d, bytes);
    *ARENA_PUSH(&d->module->arena, d->constant, d->constants) = (struct constant){bits, bytes, at};
    return at;
}

static int preset(struct decoder *d, enum special special, int64_t offset, int bytes,
                  const struct ptx_variable *variable) {
    struct program *const p = d->program;
    for (int i = 0; i < p->presets; ++i) {
        const struct preset *const known = &p->preset[i];
        if (known->special == special && known->offset == offset && known->bytes == bytes &&
            known->variable == variable)
            return known->at;
    }
    const int at = reserve(d, bytes);
    *ARENA_PUSH(&d->module->arena, p->preset, p->presets) =
        (struct preset){at, bytes, special, offset, variable};
    return at;
}

/* ---- operands ---- */

static int bytes_of(char letter) {
    switch (letter) {
    case 'h':
    case 'H':
        return 2;
    case 'd':
    case 'D':
    case 'g':
        return 8;
    case 'q':
        return 16;
    default:
        return 4;
    }
}

const struct ptx_variable *find_variable(const struct decoder *d, const char *name) {
    const struct ptx_function *const f = d->program->function;
    for (int i = 0; i < f->variables; ++i)
        if (!strcmp(f->variable[i].name, name)) return &f->variable[i];
    for (int i = 0; i < f->params; ++i)
        if (!strcmp(f->param[i].name, name)) return &f->param[i];
    for (int i = 0; i < d->module->variables; ++i)
        if (!strcmp(d->module->variable[i].name, name)) return &d->module->variable[i];
    return NULL;
}

/* The address of a variable: as a parameter and in local memory a generic one, in shared memory one
 * of its window. */
static int symbol(struct decoder *d, const struct ptx_operand *operand, int bytes) {
    if (!strcmp(operand->name, "WARP_SZ")) return constant(d, 32, bytes);
    const struct ptx_variable *const v = find_variable(d, operand->name);
    const struct program *const function = v ? NULL : program_called(d, operand->name);
    if (function) return constant(d, (uintptr_t)function->function, bytes);
    if (!v) {
        refuse(d, "its operand is the address of what is not in this module");
        return 0;
    }
    const int64_t offset = (int64_t)v->offset + operand->offset;
    switch (v->space) {
    case SPACE_PARAM:
        return preset(d, SPECIAL_PARAM, offset, bytes, NULL);
    case SPACE_LOCAL:
        return preset(d, SPECIAL_LOCAL, offset, bytes, NULL);
    case SPACE_SHARED:
        return preset(d, SPECIAL_SHARED, offset, bytes, NULL);
    default:
        return preset(d, SPECIAL_GLOBAL, operand->offset, bytes, v);
    }
}

static int special(struct decoder *d, const struct ptx_operand *operand, int bytes) {
    for (int i = 0; i < SPECIALS; ++i)
        if (!strcmp(special_names[i], operand->name)) {
            d->kernel->reserved_shared |= i >= SPECIAL_RESERVED_BEGIN;
            return preset(d, (enum special)i, 0, bytes, NULL);
        }
    /* The driver's, counters of performance, and the fourth element of a vector of three. */
    const size_t length = strlen(operand->name);
    if (!strncmp(operand->name, "envreg", 6) || !strncmp(operand->name, "pm", 2) ||
        (length > 2 && !strcmp(operand->name + length - 2, ".w")))
        return constant(d, 0, bytes);
    refuse(d, "it reads a special register that is not modelled");
    return 0;
}

int register_bytes(const struct decoder *d, const struct ptx_operand *operand) {
    return operand->kind == OPERAND_REGISTER ? d->program->function->reg[operand->reg].type.bytes
                                             : 0;
}

/* The offset of a register of the size that the letter says. */
static int register_operand(struct decoder *d, const struct ptx_operand *operand, char letter) {
    const struct ptx_type type = d->program->function->reg[operand->reg].type;
    const bool wide = letter == 'H' || letter == 'W' || letter == 'D';
    const bool fits = wide ? type.bytes >= bytes_of(letter) : type.bytes == bytes_of(letter);
    if ((type.kind == KIND_PREDICATE) != (letter == 'p') || !fits)
        refuse(d, "a register of another size is given");
    return d->slots.at[operand->reg];
}

static int number(struct decoder *d, const struct ptx_operand *operand, char letter) {
    if (letter == 'q') refuse(d, "an operand of 128 bits has to be a register");
    uint64_t bits = operand->bits;
    const bool is_float = operand->kind != OPERAND_INTEGER;
    double value;
    float narrow;
    memcpy(&value, &bits, sizeof value);
    if ((letter == 'f' || letter == 'g') != is_float && (letter == 'f' || letter == 'g'))
        refuse(d, "a whole number is given for a floating-point one");
    if (letter == 'f' && operand->kind == OPERAND_F64) {
        narrow = (float)value;
        bits = 0;
        memcpy(&bits, &narrow, sizeof narrow);
    }
    if (letter == 'g' && operand->kind == OPERAND_F32) {
        memcpy(&narrow, &bits, sizeof narrow);
        value = narrow;
        memcpy(&bits, &value, sizeof bits);
    }
    return constant(d, letter == 'p' ? bits != 0 : bits, bytes_of(letter));
}

int read_operand(struct decoder *d, const struct ptx_operand *operand, char letter) {
    if (operand->negated) refuse(d, "a negated operand is not modelled here");
    switch (operand->kind) {
    case OPERAND_REGISTER:
        return register_operand(d, operand, letter);
    case OPERAND_INTEGER:
    case OPERAND_F32:
    case OPERAND_F64:
        return number(d, operand, letter);
    case OPERAND_SPECIAL:
        return special(d, operand, bytes_of(letter));
    case OPERAND_SYMBOL:
        return symbol(d, operand, bytes_of(letter));
    default:
        refuse(d, "an operand of another kind is given");
        return 0;
    }
}

int written_operand(struct decoder *d, const struct ptx_operand *operand, char letter) {
    if (operand->kind == OPERAND_SINK) return reserve(d, 16);
    if (operand->kind == OPERAND_REGISTER && !operand->negated)
        return register_operand(d, operand, letter);
    refuse(d, "an operand of another kind is given");
    return 0;
}

void take_operands(struct decoder *d, const char *letters) {
    const int count = (int)strlen(letters);
    need_operands(d, count, count);
    for (int i = 0; i < count && !d->why; ++i)
        d->op->at[i] = i ? read_operand(d, &d->source->operand[i], letters[i])
                         : written_operand(d, &d->source->operand[i], letters[i]);
}

int64_t immediate(struct decoder *d, const struct ptx_operand *operand) {
    if (operand->kind != OPERAND_INTEGER) refuse(d, "an operand has to be a constant here");
    return (int64_t)operand->bits;
}

void take_address(struct decoder *d, int i, const struct ptx_operand *operand) {
    if (operand->kind != OPERAND_ADDRESS || operand->parts > 2) {
        refuse(d, "an address is missing");
        return;
    }
    const struct ptx_operand *const base = &operand->part[0];
    d->op->option[ADDRESS_BITS] = register_bytes(d, base) == 4 ? 32 : 64;
    d->op->at[i] = read_operand(d, base, d->op->option[ADDRESS_BITS] == 32 ? 'w' : 'd');
    d->op->offset = operand->offset;
}

void take_list(struct decoder *d, const struct ptx_operand *operand, char letter, bool written) {
    const bool vector = operand->kind == OPERAND_VECTOR;
    d->op->listed = vector ? operand->parts : 1;
    d->op->list = arena_alloc(&d->module->arena, (size_t)d->op->listed * sizeof *d->op->list);
    for (int i = 0; i < d->op->listed; ++i) {
        const struct ptx_operand *const part = vector ? &operand->part[i] : operand;
        d->op->list[i] = written ? written_operand(d, part, letter) : read_operand(d, part, letter);
    }
}
