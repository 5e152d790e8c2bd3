/*
 * atomic.c: PTX ISA, "Parallel Synchronization and Communication Instructions": atom and red, on
 * global and shared memory. Each element of a vector is an atomic of its own.
 */
#include <math.h>
#include <string.h>

#include "hopper/atomics.h"
#include "program/instructions.h"
#include "semantics/address.h"
#include "semantics/floating.h"
#include "sim/units/strong.h"

enum { OPTION_FUNCTION, OPTION_TYPE, OPTION_SEMANTICS, OPTION_SCOPE, OPTION_SPACE };

enum function { ADD, MIN, MAX, AND, OR, XOR, INC, DEC, EXCH, CAS };
static const char *const function_names[] = {"add", "min", "max",  "and", "or", "xor",
                                             "inc", "dec", "exch", "cas", NULL};
enum type { U32, S32, B32, U64, S64, B64, F32, F64, F16, BF16, F16X2, BF16X2, B16, TYPES };
static const char *const type_names[] = {"u32", "s32", "b32",  "u64",   "s64",    "b64", "f32",
                                         "f64", "f16", "bf16", "f16x2", "bf16x2", "b16", NULL};
static const int type_bytes[TYPES] = {4, 4, 4, 8, 8, 8, 4, 8, 2, 2, 4, 4, 2};

struct change {
    enum function function;
    enum type type;
    uint64_t operand, other; /* other: what cas writes, if it finds the operand */
};

static uint64_t of_integers(const struct change *c, uint64_t a) {
    const bool narrow = type_bytes[c->type] == 4, is_signed = c->type == S32 || c->type == S64;
    const uint64_t b = c->operand;
    const bool less = !is_signed ? a < b
                      : narrow   ? (int32_t)a < (int32_t)b
                                 : (int64_t)a < (int64_t)b;
    switch (c->function) {
    case ADD:
        return a + b;
    case MIN:
        return less ? a : b;
    case MAX:
        return less ? b : a;
    case AND:
        return a & b;
    case OR:
        return a | b;
    case XOR:
        return a ^ b;
    case INC:
        return a >= b ? 0 : a + 1;
    case DEC:
        return a == 0 || a > b ? b : a - 1;
    case EXCH:
        return b;
    default:
        return a == b ? c->other : a;
    }
}

static uint64_t of_f32(uint64_t a, uint64_t b) {
    const uint32_t bits[2] = {(uint32_t)a, (uint32_t)b};
    uint32_t result;
    float x, y;
    memcpy(&x, &bits[0], sizeof x);
    memcpy(&y, &bits[1], sizeof y);
    x += y;
    memcpy(&result, &x, sizeof result);
    return isnan(x) ? 0x7fffffff : result;
}

static uint64_t of_f64(uint64_t a, uint64_t b) {
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

static uint64_t of_halves(const struct change *c, uint64_t a) {
    const bool bf16 = c->type == BF16 || c->type == BF16X2;
    uint64_t result = 0;
    for (int at = 0; at < 8 * type_bytes[c->type]; at += 16) {
        const uint16_t x = (uint16_t)(a >> at), y = (uint16_t)(c->operand >> at);
        const uint16_t value = c->function == ADD ? half_sum(x, y, bf16)
                                                  : half_extreme(x, y, bf16, c->function == MAX);
        result |= (uint64_t)value << at;
    }
    return result;
}

static void apply(const void *before, void *after, const void *object) {
    const struct change *const c = object;
    const size_t bytes = (size_t)type_bytes[c->type];
    uint64_t a = 0;
    memcpy(&a, before, bytes);
    switch (c->type) {
    case F32:
        a = of_f32(a, c->operand);
        break;
    case F64:
        a = of_f64(a, c->operand);
        break;
    case F16:
    case BF16:
    case F16X2:
    case BF16X2:
        a = of_halves(c, a);
        break;
    default:
        a = of_integers(c, a);
    }
    memcpy(after, &a, bytes);
}

/* op->list: what was there before, the operands, and what cas writes. */
static void run(const struct operation *op, struct frame *frame) {
    struct change c = {(enum function)op->option[OPTION_FUNCTION],
                       (enum type)op->option[OPTION_TYPE], 0, 0};
    const size_t bytes = (size_t)type_bytes[c.type];
    const int count = op->listed;
    struct target t = target_of(frame, address(op, frame, 0, op->offset), op->option[OPTION_SPACE],
                                bytes * (size_t)count);
    const struct strong_access how = {bytes, (enum sim_semantics)op->option[OPTION_SEMANTICS],
                                      (enum sim_scope)op->option[OPTION_SCOPE],
                                      t.kind == TARGET_SHARED ? &t.place : NULL};
    const bool keeps = c.function != EXCH && c.function != CAS;
    if (t.kind == TARGET_OWN) thread_not_modelled(op, "an atomic operation on local memory");
    for (int i = 0; i < count; ++i) {
        uint64_t before = 0;
        memcpy(&c.operand, frame->registers + op->list[count + i], bytes);
        if (c.function == CAS) memcpy(&c.other, frame->registers + op->list[2 * count], bytes);
        if (bytes == 4) thread_check_register(op, (uint32_t)c.operand);
        (void)strong_atomic((char *)t.host + (size_t)i * bytes, &before, apply, &c, keeps, how);
        memcpy(frame->registers + op->list[i], &before, bytes);
        t.place.offset += bytes;
        t.place.host += bytes;
    }
}

static bool has(enum function f, enum type t) {
    switch (t) {
    case F32:
    case F64:
        return f == ADD;
    case F16:
    case BF16:
    case F16X2:
    case BF16X2:
        return f == ADD || f == MIN || f == MAX;
    case B16:
        return f == CAS;
    case B32:
    case B64:
        return f >= AND && f != INC && f != DEC;
    case S32:
    case S64:
        return f <= MAX;
    default:
        return true;
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
        if (function < 0) function = take_one_of(d, function_names);
        if (vector < 0) vector = take_one_of(d, vectors);
        if (type < 0) type = take_one_of(d, type_names);
        hint |= take(d, "L2::cache_hint");
        take(d, "noftz");
    } while (d->next != before);
    op->option[OPTION_SPACE] = space;
    if (function < 0 || type < 0 || !has((enum function)function, (enum type)type)) {
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
    const char letter = type_bytes[type] == 2 ? 'h' : type_bytes[type] == 4 ? 'w' : 'd';
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
