/*
 * atomic.c: PTX ISA, "Parallel Synchronization and Communication Instructions": atom and red, on
 * global and shared memory. Each element of a vector is an atomic of its own.
 */
#include <string.h>

#include "hopper/atomics.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "semantics/reduction.h"
#include "sim/units/strong.h"

enum { OPTION_FUNCTION, OPTION_TYPE, OPTION_SEMANTICS, OPTION_SCOPE, OPTION_SPACE };

/* op->list: what was there before, the operands, and what cas writes. */
static void run(const struct operation *op, struct frame *frame) {
    struct reduction c = {.function = (enum reduction_function)op->option[OPTION_FUNCTION],
                          .type = (enum reduction_type)op->option[OPTION_TYPE]};
    const size_t bytes = reduction_bytes(c.type);
    const int count = op->listed;
    struct target t = target_of(frame, address(op, frame, 0, op->offset), op->option[OPTION_SPACE],
                                bytes * (size_t)count);
    const struct strong_access how = {bytes, (enum sim_semantics)op->option[OPTION_SEMANTICS],
                                      (enum sim_scope)op->option[OPTION_SCOPE],
                                      t.kind == TARGET_SHARED ? &t.shared : NULL};
    const bool keeps = c.function != EXCH && c.function != CAS;
    if (t.kind == TARGET_OWN) thread_not_modelled(op, "an atomic operation on local memory");
    for (int i = 0; i < count; ++i) {
        unsigned char before[REDUCTION_MOST_BYTES];
        memcpy(c.operand, frame->registers + op->list[count + i], bytes);
        if (c.function == CAS) memcpy(c.other, frame->registers + op->list[2 * count], bytes);
        if (bytes == 4) thread_check_register(op, VALUE_AT(reg_u32, op->list[count + i]));
        (void)strong_atomic((char *)t.host + (size_t)i * bytes, before, reduction_apply, &c, keeps,
                            how);
        memcpy(frame->registers + op->list[i], before, bytes);
        t.shared.offset += bytes;
        t.shared.host += bytes;
    }
}

static void take_elements(struct decoder *d, const struct ptx_operand *operand, int count,
                          char letter, bool written, int *list) {
    const bool vector = operand->kind == OPERAND_VECTOR;
    if (count != (vector ? operand->parts : 1)) {
        refuse(d, "its vector has another length than it says");
        return;
    }
    for (int i = 0; i < count; ++i) {
        const struct ptx_operand *const part = vector ? &operand->part[i] : operand;
        list[i] = written ? written_operand(d, part, letter) : read_operand(d, part, letter);
    }
}

static void decode(struct decoder *d, bool red) {
    static const char *const semantics[] = {"relaxed", "acquire", "release", "acq_rel", NULL};
    static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
    static const char *const vectors[] = {"v2", "v4", "v8", NULL};
    static const enum sim_semantics semantics_of[] = {SIM_RELAXED, SIM_ACQUIRE, SIM_RELEASE,
                                                      SIM_ACQ_REL};
    static const struct ptx_operand sink = {.kind = OPERAND_SINK};
    const struct ptx_operand *const o = d->source->operand + !red;
    struct operation *const op = d->op;
    int semantic = -1, scope = -1, space = -1, function = -1, vector = -1, type = -1, before;
    bool hint = false;
    do { /* compilers and headers differ in the order of the words */
        before = d->next;
        if (semantic < 0) semantic = take_one_of(d, semantics);
        if (scope < 0) scope = take_one_of(d, scopes);
        if (space < 0) space = take_space(d);
        if (function < 0) function = take_function(d);
        if (vector < 0) vector = take_one_of(d, vectors);
        if (type < 0) type = take_reduction_type(d);
        hint |= take(d, "L2::cache_hint");
        take(d, "noftz");
    } while (d->next != before);
    op->option[OPTION_SPACE] = space;
    if (function < 0 || type < 0 ||
        !reduction_exists((enum reduction_function)function, (enum reduction_type)type)) {
        refuse(d, "this atomic operation is not modelled");
        return;
    }
    const int operands = 2 + !red + (function == CAS) + hint, count = vector < 0 ? 1 : 2 << vector;
    need_operands(d, operands, operands);
    if (red && (semantic == 1 || semantic == 3)) refuse(d, "there is no such instruction");
    if (d->why) return;
    op->run = run;
    op->option[OPTION_FUNCTION] = function;
    op->option[OPTION_TYPE] = type;
    op->option[OPTION_SEMANTICS] = (int)semantics_of[semantic < 0 ? 0 : semantic];
    op->option[OPTION_SCOPE] = scope < 0 ? SCOPE_GPU : scope;
    const size_t bytes = reduction_bytes((enum reduction_type)type);
    const char letter = bytes == 2 ? 'h' : bytes == 4 ? 'w' : bytes == 8 ? 'd' : 'q';
    int *const list = arena_alloc(&d->module->arena, (2 * (size_t)count + 1) * sizeof *list);
    for (int i = 0; i < count && red; ++i)
        list[i] = written_operand(d, &sink, letter);
    if (!red) take_elements(d, d->source->operand, count, letter, true, list);
    take_address(d, 0, &o[0]);
    take_elements(d, &o[1], count, letter, false, list + count);
    if (function == CAS) list[2 * count] = read_operand(d, &o[2], letter);
    op->list = list;
    op->listed = count;
}
static void decode_atom(struct decoder *d) { decode(d, false); }
static void decode_red(struct decoder *d) { decode(d, true); }

#define SYNCHRONIZATION "Parallel Synchronization and Communication Instructions: "
static const struct family families[] = {
    {"atom", decode_atom, MODELLED, SYNCHRONIZATION "atom"},
    {"red", decode_red, MODELLED, SYNCHRONIZATION "red"},
};
const struct family_group atomic_families = FAMILY_GROUP(families);
