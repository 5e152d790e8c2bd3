/* parse_operand.c: PTX ISA, "Instruction Operands". */
#include <string.h>

#include "ptx/parser.h"

static void add_part(struct parser *p, struct ptx_operand *to, struct ptx_operand part) {
    *ARENA_PUSH(&p->module->arena, to->part, to->parts) = part;
}

/* + 16, -16 or +-16 */
int64_t parse_offset(struct parser *p) {
    const bool plus = parse_accept(p, "+");
    if (!plus && p->token.kind != TOKEN_INTEGER) return 0;
    return (int64_t)parse_integer(p, "an offset");
}

static struct ptx_operand parse_list(struct parser *p, enum ptx_operand_kind kind,
                                     const char *end) {
    struct ptx_operand list = {.kind = kind};
    while (!parse_accept(p, end)) {
        add_part(p, &list, parse_operand(p));
        if (kind == OPERAND_ADDRESS && list.parts == 1) list.offset = parse_offset(p);
        if (!parse_accept(p, ",") && !token_is(&p->token, end)) parse_fail(p, "'%s' expected", end);
    }
    if (!list.parts && *end != ')') parse_fail(p, "an empty operand"); /* a call without any */
    return list;
}

static struct ptx_operand parse_name(struct parser *p) {
    const int reg = parse_find(p, p->name, p->token.text, p->token.length, p->scope);
    if (reg >= 0) {
        parse_advance(p);
        return (struct ptx_operand){.kind = OPERAND_REGISTER, .reg = reg};
    }
    const char *const text = parse_word(p, "an operand");
    if (!strcmp(text, "_")) return (struct ptx_operand){.kind = OPERAND_SINK};
    if (*text == '%') return (struct ptx_operand){.kind = OPERAND_SPECIAL, .name = text + 1};
    return (struct ptx_operand){.kind = OPERAND_SYMBOL, .name = text};
}

static struct ptx_operand parse_simple(struct parser *p) {
    struct ptx_operand operand = {.bits = p->token.bits};
    if (parse_accept(p, "[")) return parse_list(p, OPERAND_ADDRESS, "]");
    if (parse_accept(p, "{")) return parse_list(p, OPERAND_VECTOR, "}");
    if (parse_accept(p, "(")) return parse_list(p, OPERAND_VECTOR, ")");
    if (parse_accept(p, "!")) {
        operand = parse_simple(p);
        operand.negated = true;
        return operand;
    }
    switch (p->token.kind) {
    case TOKEN_INTEGER:
        operand.kind = OPERAND_INTEGER;
        break;
    case TOKEN_F32:
        operand.kind = OPERAND_F32;
        break;
    case TOKEN_F64:
        operand.kind = OPERAND_F64;
        break;
    case TOKEN_WORD:
        return parse_name(p);
    default:
        parse_fail(p, "an operand expected");
    }
    parse_advance(p);
    return operand;
}

struct ptx_operand parse_operand(struct parser *p) {
    struct ptx_operand operand = parse_simple(p);
    if (operand.kind == OPERAND_SYMBOL && token_is(&p->token, "+"))
        operand.offset = parse_offset(p);
    if (!parse_accept(p, "|")) return operand;
    struct ptx_operand pair = {.kind = OPERAND_PAIR};
    add_part(p, &pair, operand);
    add_part(p, &pair, parse_simple(p));
    return pair;
}
