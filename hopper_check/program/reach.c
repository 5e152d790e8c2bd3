/* reach.c: depth first, along branches and their lists of targets. */
#include "program/reach.h"

#include <string.h>

const struct ptx_targets *targets_of(const struct ptx_function *f,
                                     const struct ptx_instruction *s) {
    if (strncmp(s->opcode, "brx.idx", 7) != 0 || s->operands != 2) return NULL;
    for (int i = 0; i < f->lists; ++i)
        if (s->operand[1].kind == OPERAND_SYMBOL && !strcmp(f->list[i].name, s->operand[1].name))
            return &f->list[i];
    return NULL;
}

bool *reach(const struct ptx_function *f, struct arena *arena) {
    bool *const reached = arena_alloc(arena, (size_t)f->instructions + 1);
    size_t most = (size_t)f->instructions + 1;
    for (int i = 0; i < f->instructions; ++i)
        if (targets_of(f, &f->instruction[i]))
            most += (size_t)targets_of(f, &f->instruction[i])->targets;
    int *const todo = arena_alloc(arena, most * sizeof *todo);
    int count = 0;
    todo[count++] = 0;
    while (count) {
        int i = todo[--count];
        while (i < f->instructions && !reached[i]) {
            const struct ptx_instruction *const s = &f->instruction[i];
            const bool ends = !strncmp(s->opcode, "ret", 3) || !strcmp(s->opcode, "exit") ||
                              !strcmp(s->opcode, "trap");
            reached[i] = true;
            if (s->target >= 0 && s->target < f->instructions && !reached[s->target])
                todo[count++] = s->target;
            const struct ptx_targets *const list = targets_of(f, s);
            for (int j = 0; list && j < list->targets; ++j)
                if (list->target[j] < f->instructions && !reached[list->target[j]])
                    todo[count++] = list->target[j];
            if ((s->target >= 0 || list || ends) && s->guard < 0) break;
            ++i;
        }
    }
    return reached;
}
