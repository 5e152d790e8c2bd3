/* slots.c: places of registers: lists of wgmmas first come, first served. */
#include "program/slots.h"

#include <string.h>

enum { WORD = 4, NOT_PLACED = -1 };

/* While places are given: in one of three parts of the frame. */
enum part { PART_WORDS, PART_PREFERRED, PART_FLOATS, PARTS };

struct placing {
    const struct ptx_function *function;
    struct slots *slots;
    enum part *part; /* by register */
    int used[PARTS];
};

bool slots_adjoin(const struct slots *slots, const struct ptx_operand *vector) {
    for (int i = 0; i < vector->parts; ++i)
        if (vector->part[i].kind != OPERAND_REGISTER ||
            slots->at[vector->part[i].reg] != slots->at[vector->part[0].reg] + WORD * i)
            return false;
    return true;
}

/* Only a list of registers that have no place yet, and that are all different, gets one. */
static void place_list(struct placing *p, const struct ptx_operand *list) {
    int *const at = p->slots->at;
    for (int i = 0; i < list->parts; ++i) {
        const struct ptx_operand *const o = &list->part[i];
        if (o->kind != OPERAND_REGISTER || p->function->reg[o->reg].type.bytes != WORD ||
            at[o->reg] != NOT_PLACED)
            return;
        for (int j = 0; j < i; ++j)
            if (list->part[j].reg == o->reg) return;
    }
    const bool floats = p->function->reg[list->part[0].reg].type.kind == KIND_FLOAT;
    const enum part part = floats ? PART_FLOATS : PART_PREFERRED;
    for (int i = 0; i < list->parts; ++i) {
        at[list->part[i].reg] = p->used[part];
        p->part[list->part[i].reg] = part;
        p->used[part] += WORD;
    }
}

static bool begins(const struct ptx_instruction *i, const char *with) {
    return !strncmp(i->opcode, with, strlen(with));
}

static void place_lists(struct placing *p, const char *opcode, bool of_wgmma) {
    const struct ptx_function *const f = p->function;
    for (int i = 0; i < f->instructions; ++i) {
        if (!begins(&f->instruction[i], opcode)) continue;
        for (int j = 0; j < f->instruction[i].operands; ++j) {
            const struct ptx_operand *const o = &f->instruction[i].operand[j];
            if (o->kind != OPERAND_VECTOR) continue;
            place_list(p, o);
            for (int k = 0; k < o->parts; ++k)
                if (of_wgmma && o->part[k].kind == OPERAND_REGISTER)
                    p->slots->of_wgmma[o->part[k].reg] = true;
        }
    }
}

static int size_of(const struct ptx_register *reg) {
    return reg->type.bytes < WORD ? WORD : reg->type.bytes;
}

struct slots slots_of(const struct ptx_function *f, struct arena *arena) {
    struct slots slots = {.at = arena_alloc(arena, (size_t)f->registers * sizeof *slots.at),
                          .of_wgmma =
                              arena_alloc(arena, (size_t)f->registers * sizeof *slots.of_wgmma)};
    struct placing p = {f, &slots, arena_alloc(arena, (size_t)f->registers * sizeof *p.part), {0}};
    for (int i = 0; i < f->registers; ++i)
        slots.at[i] = NOT_PLACED;
    place_lists(&p, "wgmma.mma_async", true);
    place_lists(&p, "mma.sync", false);
    place_lists(&p, "ldmatrix", false);
    place_lists(&p, "stmatrix", false);
    for (int i = 0; i < f->registers; ++i) {
        if (slots.at[i] != NOT_PLACED) continue;
        const int bytes = size_of(&f->reg[i]);
        slots.at[i] = (p.used[PART_WORDS] + bytes - 1) / bytes * bytes;
        p.used[PART_WORDS] = slots.at[i] + bytes;
    }
    const int preferred = (p.used[PART_WORDS] + 15) & ~15;
    slots.floats = preferred + p.used[PART_PREFERRED];
    slots.floats_end = slots.floats + p.used[PART_FLOATS];
    slots.bytes = (slots.floats_end + 15) & ~15;
    for (int i = 0; i < f->registers; ++i)
        slots.at[i] += p.part[i] == PART_FLOATS      ? slots.floats
                       : p.part[i] == PART_PREFERRED ? preferred
                                                     : 0;
    return slots;
}
