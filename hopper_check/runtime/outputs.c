/*
 * outputs.c: a set of sources for each register: words of the parameters, addresses of parameters,
 * variables of the module. What an instruction makes has the sources of all that it reads. An
 * address that has been loaded from memory may be any.
 */
#include "runtime/outputs.h"

#include <string.h>

#include "runtime/session.h"
#include "sim/core/global_memory.h"
#include "sim/models/tensor_map.h"

enum source_kind { SOURCE_WORD, SOURCE_PARAMETER, SOURCE_VARIABLE };
struct source {
    enum source_kind kind;
    size_t offset, bytes;                /* in the parameters */
    const struct ptx_variable *variable; /* of the module */
};

typedef uint64_t source_set;
enum { MOST_SOURCES = 62 };
/* HALF: 32 bits from memory, which may be half of an address. */
static const source_set ANY = UINT64_C(1) << 63, HALF = UINT64_C(1) << 62;

struct outputs {
    source_set stored;
    struct source source[MOST_SOURCES];
    int sources;
};

struct flow {
    const struct ptx_module *module;
    const struct ptx_function *f;
    struct outputs *out;
    source_set *of; /* [register] */
    bool changed;
};

static source_set add_source(struct flow *flow, const struct source *s) {
    struct outputs *const o = flow->out;
    for (int i = 0; i < o->sources; ++i)
        if (o->source[i].kind == s->kind && o->source[i].offset == s->offset &&
            o->source[i].variable == s->variable)
            return UINT64_C(1) << i;
    if (o->sources == MOST_SOURCES) return ANY;
    o->source[o->sources] = *s;
    return UINT64_C(1) << o->sources++;
}

static const struct ptx_variable *named(const struct ptx_variable *v, int count, const char *name) {
    for (int i = 0; i < count; ++i)
        if (!strcmp(v[i].name, name)) return &v[i];
    return NULL;
}

/* The sources of what an operand gives. */
static source_set sources(struct flow *flow, const struct ptx_operand *o) {
    source_set set = 0;
    if (o->kind == OPERAND_REGISTER) {
        const bool predicate = flow->f->reg[o->reg].type.kind == KIND_PREDICATE;
        return predicate ? 0 : flow->of[o->reg];
    }
    if (o->kind == OPERAND_SYMBOL) {
        const struct ptx_variable *v = named(flow->f->param, flow->f->params, o->name);
        if (v)
            return add_source(flow, &(struct source){SOURCE_PARAMETER, v->offset, v->bytes, NULL});
        v = named(flow->module->variable, flow->module->variables, o->name);
        if (v && (v->space == SPACE_GLOBAL || v->space == SPACE_CONST))
            return add_source(flow, &(struct source){SOURCE_VARIABLE, 0, v->bytes, v});
        return 0; /* shared, local, a function */
    }
    for (int i = 0; i < o->parts; ++i)
        set |= sources(flow, &o->part[i]);
    return set;
}

static void give(struct flow *flow, const struct ptx_operand *to, source_set set) {
    if (to->kind == OPERAND_REGISTER) {
        flow->changed |= (flow->of[to->reg] | set) != flow->of[to->reg];
        flow->of[to->reg] |= set;
    }
    for (int i = 0; i < to->parts; ++i)
        give(flow, &to->part[i], set);
}

static size_t bytes_of(const struct flow *flow, const struct ptx_operand *o) {
    return o->kind == OPERAND_REGISTER ? (size_t)flow->f->reg[o->reg].type.bytes : 0;
}

/* A word from memory may be an address if it is as long as one. */
static void give_loaded(struct flow *flow, const struct ptx_operand *to) {
    const size_t bytes = bytes_of(flow, to);
    if (bytes >= sizeof(uint32_t)) give(flow, to, bytes >= sizeof(uint64_t) ? ANY : HALF);
    for (int i = 0; i < to->parts; ++i)
        give_loaded(flow, &to->part[i]);
}

/* ld.param of the kernel's own: each word is a source. */
static bool give_parameter(struct flow *flow, const struct ptx_operand *to,
                           const struct ptx_operand *from) {
    enum { WORD = 8 };
    const struct ptx_operand *const at = from->parts ? &from->part[0] : from;
    const struct ptx_variable *const v =
        at->kind == OPERAND_SYMBOL ? named(flow->f->param, flow->f->params, at->name) : NULL;
    const int count = to->kind == OPERAND_VECTOR ? to->parts : 1;
    if (!v) return false;
    for (int i = 0; i < count; ++i) {
        const struct ptx_operand *const one = to->kind == OPERAND_VECTOR ? &to->part[i] : to;
        const size_t offset = v->offset + (size_t)(at->offset + from->offset);
        if (bytes_of(flow, one) != WORD) {
            give_loaded(flow, one);
            continue;
        }
        give(
            flow, one,
            add_source(flow, &(struct source){SOURCE_WORD, offset + (size_t)i * WORD, WORD, NULL}));
    }
    return true;
}

static bool begins(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

/* The operand that says where in global memory it writes; < 0: nowhere. */
static int written_operand(const char *opcode) {
    if (strstr(opcode, ".shared") && !strstr(opcode, ".global")) return -1;
    if (begins(opcode, "st.") || begins(opcode, "red."))
        return begins(opcode, "st.local") || begins(opcode, "st.param") ? -1 : 0;
    if (begins(opcode, "atom.")) return 1;
    if (begins(opcode, "wmma.store")) return 0;
    if (begins(opcode, "cp.async.bulk") || begins(opcode, "cp.reduce.async.bulk")) {
        const char *const global = strstr(opcode, ".global"), *const shared =
                                                                  strstr(opcode, ".shared");
        return global && shared && global < shared ? 0 : -1;
    }
    return begins(opcode, "tensormap.") ? 0 : -1;
}

/* Of [a + offset] and of [map, {coordinates}] the first part. One that was made of numbers from
 * memory alone may be any. */
static source_set address_sources(struct flow *flow, const struct ptx_operand *o) {
    const source_set set = sources(flow, o->kind == OPERAND_ADDRESS ? &o->part[0] : o);
    return set == HALF ? ANY : set;
}

/* Functions that write nothing that a kernel reads. */
static bool is_harmless_call(const struct ptx_instruction *s) {
    for (int i = 0; i < s->operands; ++i)
        if (s->operand[i].kind == OPERAND_SYMBOL &&
            (!strcmp(s->operand[i].name, "vprintf") || !strcmp(s->operand[i].name, "__assertfail")))
            return true;
    return false;
}

/* Two halves make a whole: {low, high}, or the one moved beside the other. */
static bool puts_together(const struct ptx_instruction *s) {
    return s->operand[1].kind == OPERAND_VECTOR || begins(s->opcode, "or.b64") ||
           begins(s->opcode, "bfi.b64") || begins(s->opcode, "xor.b64");
}

static void follow(struct flow *flow, const struct ptx_instruction *s) {
    source_set set = 0;
    if (begins(s->opcode, "call") && !is_harmless_call(s)) flow->out->stored |= ANY;
    if (begins(s->opcode, "tensormap.replace")) flow->out->stored |= ANY; /* the map's base */
    const int written = written_operand(s->opcode);
    if (written >= 0 && written < s->operands)
        flow->out->stored |= address_sources(flow, &s->operand[written]);
    if (s->operands < 2 || begins(s->opcode, "st") || begins(s->opcode, "red.")) return;
    if (begins(s->opcode, "ld.param") && give_parameter(flow, &s->operand[0], &s->operand[1]))
        return;
    if (begins(s->opcode, "ld") || begins(s->opcode, "atom.")) {
        give_loaded(flow, &s->operand[0]);
        return;
    }
    for (int i = 1; i < s->operands; ++i)
        set |= sources(flow, &s->operand[i]);
    if (set & HALF && puts_together(s)) set |= ANY;
    give(flow, &s->operand[0], set);
}

struct outputs *outputs_of(struct ptx_module *module, const struct ptx_function *f) {
    struct outputs *const o = arena_alloc(&module->arena, sizeof *o);
    struct flow flow = {.module = module, .f = f, .out = o, .changed = true};
    flow.of = arena_alloc(&module->arena, ((size_t)f->registers + 1) * sizeof *flow.of);
    while (flow.changed && !(o->stored & ANY)) {
        flow.changed = false;
        for (int i = 0; i < f->instructions; ++i)
            follow(&flow, &f->instruction[i]);
    }
    return o;
}

/* ---- a launch ---- */

/* A word that is an address, or what a tensor map describes. */
static void let_write_word(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    global_let_write_to((const void *)(uintptr_t)word);
}

static void let_write_maps(const unsigned char *at, size_t bytes) {
    enum { MAP_ALIGNMENT = 64 };
    for (size_t i = 0; i + sizeof(struct tensor_map) <= bytes; i += MAP_ALIGNMENT) {
        struct tensor_map map;
        struct tensor_map_fields fields;
        memcpy(&map, at + i, sizeof map);
        if (tensor_map_decode(&map, &fields)) global_let_write_to(fields.base);
    }
}

/* The word may point to a map in global memory. */
static void let_write_map_at(const unsigned char *at) {
    uint64_t word;
    size_t offset, bytes;
    memcpy(&word, at, sizeof word);
    const unsigned char *const map = (const unsigned char *)(uintptr_t)word;
    if (global_cells_of(map, &offset, &bytes)) let_write_maps(map, bytes - offset);
}

static void refuse(const char *label) {
    session_refuse(REFUSED_INCOMPLETE,
                   "a launch writes to %s by an address whose origin was mistaken: --follow all "
                   "follows all memory, and takes longer",
                   label);
}

void outputs_apply(const struct outputs *o, const struct ptx_function *f,
                   const unsigned char *parameters) {
    const bool all = session_get()->follow_all || (o->stored & ANY) != 0;
    global_unforeseen = refuse;
    global_let_write(all);
    if (all) return;
    for (int i = 0; i < o->sources; ++i) {
        const struct source *const s = &o->source[i];
        if (!(o->stored >> i & 1)) continue;
        if (s->kind == SOURCE_VARIABLE) {
            global_let_write_to(s->variable->memory);
            let_write_maps(s->variable->memory, s->bytes);
        } else if (s->offset + s->bytes <= f->param_bytes) {
            if (s->kind == SOURCE_PARAMETER) let_write_maps(parameters + s->offset, s->bytes);
            if (s->kind == SOURCE_WORD) let_write_word(parameters + s->offset);
            if (s->kind == SOURCE_WORD) let_write_map_at(parameters + s->offset);
        }
    }
}
