/* parse_variable.c: PTX ISA, "Variables" and "Types". */
#include <string.h>

#include "ptx/parser.h"

bool ptx_type_of(const char *name, size_t length, struct ptx_type *type) {
    static const struct {
        const char *name;
        struct ptx_type type;
    } types[] = {
        {"u8", {KIND_UNSIGNED, 1}},  {"u16", {KIND_UNSIGNED, 2}},  {"u32", {KIND_UNSIGNED, 4}},
        {"u64", {KIND_UNSIGNED, 8}}, {"s8", {KIND_SIGNED, 1}},     {"s16", {KIND_SIGNED, 2}},
        {"s32", {KIND_SIGNED, 4}},   {"s64", {KIND_SIGNED, 8}},    {"b8", {KIND_BITS, 1}},
        {"b16", {KIND_BITS, 2}},     {"b32", {KIND_BITS, 4}},      {"b64", {KIND_BITS, 8}},
        {"b128", {KIND_BITS, 16}},   {"f16", {KIND_FLOAT, 2}},     {"bf16", {KIND_FLOAT, 2}},
        {"f16x2", {KIND_BITS, 4}},   {"bf16x2", {KIND_BITS, 4}},   {"f32", {KIND_FLOAT, 4}},
        {"f64", {KIND_FLOAT, 8}},    {"pred", {KIND_PREDICATE, 4}}};
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
        if (strlen(types[i].name) == length && !memcmp(types[i].name, name, length)) {
            *type = types[i].type;
            return true;
        }
    return false;
}

bool parse_space(const struct token *token, enum ptx_space *space) {
    static const char *const names[] = {[SPACE_GLOBAL] = ".global",
                                        [SPACE_SHARED] = ".shared",
                                        [SPACE_LOCAL] = ".local",
                                        [SPACE_PARAM] = ".param",
                                        [SPACE_CONST] = ".const"};
    for (int i = SPACE_GLOBAL; i <= SPACE_CONST; ++i)
        if (token_is(token, names[i])) {
            *space = (enum ptx_space)i;
            return true;
        }
    return false;
}

/* The address of a symbol, also as generic(symbol), with an offset. */
static void parse_address_of(struct parser *p, struct ptx_variable *v, size_t at, uint64_t mask) {
    const char *symbol = parse_word(p, "a symbol");
    if (parse_accept(p, "(")) {
        symbol = parse_word(p, "a symbol");
        parse_expect(p, ")");
    }
    *ARENA_PUSH(&p->module->arena, v->symbols, v->symbol_count) =
        (struct ptx_initializer){at, symbol, parse_offset(p), mask};
}

/* One element of an initializer: a number, an address, or a byte of one as 0xff00(address). */
static void parse_element(struct parser *p, struct ptx_variable *v, size_t at) {
    uint64_t bits = p->token.bits;
    if (p->token.kind == TOKEN_WORD) {
        parse_address_of(p, v, at, UINT64_MAX);
        return;
    }
    if (p->token.kind != TOKEN_INTEGER && p->token.kind != TOKEN_F32 && p->token.kind != TOKEN_F64)
        parse_fail(p, "an initializer needs a number");
    parse_advance(p);
    if (bits && parse_accept(p, "(")) {
        parse_address_of(p, v, at, bits);
        parse_expect(p, ")");
        return;
    }
    memcpy(v->initial + at, &bits,
           (size_t)v->type.bytes < sizeof bits ? (size_t)v->type.bytes : sizeof bits);
}

static void parse_initializer(struct parser *p, struct ptx_variable *v) {
    const size_t element = (size_t)v->type.bytes;
    v->initial = arena_alloc(&p->module->arena, v->bytes ? v->bytes : element);
    size_t at = 0;
    int depth = 0;
    do {
        if (parse_accept(p, "{")) {
            ++depth;
        } else if (parse_accept(p, "}")) {
            --depth;
        } else if (!parse_accept(p, ",")) {
            if (at + element > v->bytes)
                parse_fail(p, "%s has more initializers than elements", v->name);
            parse_element(p, v, at);
            at += element;
        }
    } while (depth > 0);
}

struct ptx_variable parse_variable(struct parser *p, enum ptx_space space) {
    struct ptx_variable v = {.space = space, .align = 1};
    size_t count = 1;
    bool typed = false;
    while (p->token.kind == TOKEN_WORD && *p->token.text == '.') {
        if (parse_accept(p, ".align")) {
            v.align = parse_integer(p, "an alignment");
        } else if (parse_accept(p, ".v2")) {
            count = 2;
        } else if (parse_accept(p, ".v4")) {
            count = 4;
        } else if (ptx_type_of(p->token.text + 1, p->token.length - 1, &v.type)) {
            typed = true;
            parse_advance(p);
        } else if (parse_accept(p, ".texref") || parse_accept(p, ".samplerref") ||
                   parse_accept(p, ".surfref")) { /* no instruction that uses it is modelled */
            v.type = (struct ptx_type){KIND_BITS, 8};
            typed = true;
        } else if (parse_accept(p, ".ptr") || parse_accept(p, ".managed")) {
            enum ptx_space of;
            if (parse_space(&p->token, &of)) parse_advance(p);
        } else if (parse_accept(p, ".attribute")) { /* the host may access it, too */
            parse_expect(p, "(");
            parse_expect(p, ".managed");
            parse_expect(p, ")");
        } else {
            parse_fail(p, "unknown attribute of a variable");
        }
    }
    if (!typed) parse_fail(p, "a variable has no type");
    v.name = parse_word(p, "a variable's name");
    while (parse_accept(p, "[")) {
        count = parse_accept(p, "]") ? 0 : count * (size_t)parse_integer(p, "an extent");
        if (count) parse_expect(p, "]");
    }
    v.bytes = count * (size_t)v.type.bytes;
    if (v.align < (size_t)v.type.bytes) v.align = (size_t)v.type.bytes;
    if (v.align & (v.align - 1)) parse_fail(p, "%s: an alignment is a power of two", v.name);
    if (parse_accept(p, "=")) parse_initializer(p, &v);
    return v;
}
