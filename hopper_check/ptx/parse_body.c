/* parse_body.c: registers, labels and instructions of a function. PTX ISA, "Statements". */
#include <stdio.h>
#include <string.h>

#include "ptx/parser.h"

/* A label may follow the branch to it. */
struct branch {
    int instruction; /* < 0: an element of a list of targets */
    int list, element;
    int scope;
    struct token label;
};

struct branches {
    struct branch *branch;
    int count;
};

static unsigned bucket_of(const char *text, size_t length) {
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < length; ++i)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash % NAME_BUCKETS;
}

int parse_find(const struct parser *p, struct ptx_name *const *table, const char *text,
               size_t length, int scope) {
    const struct ptx_name *const first = table[bucket_of(text, length)];
    for (; scope >= 0; scope = p->parent[scope])
        for (const struct ptx_name *name = first; name; name = name->next)
            if (name->scope == scope && !strncmp(name->text, text, length) && !name->text[length])
                return name->index;
    return -1;
}

void parse_declare(struct parser *p, struct ptx_name **table, const char *text, int index) {
    struct ptx_name **const bucket = &table[bucket_of(text, strlen(text))];
    for (const struct ptx_name *name = *bucket; name; name = name->next)
        if (name->scope == p->scope && !strcmp(name->text, text))
            parse_fail(p, "%s is declared twice", text);
    struct ptx_name *const name = arena_alloc(&p->module->arena, sizeof *name);
    *name = (struct ptx_name){text, p->scope, index, *bucket};
    *bucket = name;
}

static void open_scope(struct parser *p) {
    *ARENA_PUSH(&p->module->arena, p->parent, p->parents) = p->scope;
    p->scope = p->scopes++;
}

static void add_register(struct parser *p, const char *name, struct ptx_type type) {
    struct ptx_function *const f = p->function;
    parse_declare(p, p->name, name, f->registers);
    *ARENA_PUSH(&p->module->arena, f->reg, f->registers) = (struct ptx_register){name, type};
}

/* .reg .f32 %f<31>, %x; */
static void parse_registers(struct parser *p) {
    enum { MOST = 1 << 20 };
    struct ptx_type type;
    if (p->token.length < 2 || !ptx_type_of(p->token.text + 1, p->token.length - 1, &type))
        parse_fail(p, "a register's type expected");
    parse_advance(p);
    do {
        const char *const name = parse_word(p, "a register's name");
        if (!parse_accept(p, "<")) {
            add_register(p, name, type);
            continue;
        }
        const uint64_t count = parse_integer(p, "a number of registers");
        if (count > MOST) parse_fail(p, "%llu registers", (unsigned long long)count);
        parse_expect(p, ">");
        for (uint64_t i = 0; i < count; ++i) {
            char text[128];
            const int length = snprintf(text, sizeof text, "%s%llu", name, (unsigned long long)i);
            if (length >= (int)sizeof text) parse_fail(p, "a register's name is too long");
            add_register(p, arena_text(&p->module->arena, text, (size_t)length), type);
        }
    } while (parse_accept(p, ","));
    parse_expect(p, ";");
}

static struct position parse_position(struct parser *p) {
    struct position at;
    at.file = (int)parse_integer(p, "a file's number");
    at.line = (int)parse_integer(p, "a line");
    at.column = (int)parse_integer(p, "a column");
    return at;
}

/* .loc 3 27 5, function_name $L__info_string1, inlined_at 1 32 9 */
static void parse_place(struct parser *p) {
    const struct position at = parse_position(p);
    struct position call = {0};
    const char *function = NULL;
    while (parse_accept(p, ",")) {
        if (parse_accept(p, "function_name")) {
            function = parse_word(p, "a function's name");
            if (parse_accept(p, "+")) parse_integer(p, "an offset");
        } else {
            parse_expect(p, "inlined_at");
            call = parse_position(p);
        }
    }
    p->place = locations_add(&p->locations, &p->module->arena, at, function, call);
}

static void skip_statement(struct parser *p) {
    while (!parse_accept(p, ";")) {
        if (p->token.kind == TOKEN_END) parse_fail(p, "';' expected");
        parse_advance(p);
    }
}

/* NAME: .branchtargets LABEL, LABEL, ...; `name` is the latest label. */
static void parse_targets(struct parser *p, const char *name, struct branches *all) {
    struct ptx_function *const f = p->function;
    struct arena *const arena = &p->module->arena;
    if (!name) parse_fail(p, "a list of targets has no name");
    struct ptx_targets *const list = ARENA_PUSH(arena, f->list, f->lists);
    list->name = name;
    do {
        *ARENA_PUSH(arena, all->branch, all->count) =
            (struct branch){-1, f->lists - 1, list->targets, p->scope, p->token};
        parse_word(p, "a label");
        *ARENA_PUSH(arena, list->target, list->targets) = -1;
    } while (parse_accept(p, ","));
    parse_expect(p, ";");
}

static void parse_directive(struct parser *p) {
    enum ptx_space space;
    if (parse_space(&p->token, &space)) {
        parse_advance(p);
        do {
            struct ptx_function *const f = p->function;
            const struct ptx_variable v = parse_variable(p, space);
            *ARENA_PUSH(&p->module->arena, f->variable, f->variables) = v;
        } while (parse_accept(p, ","));
        parse_expect(p, ";");
    } else if (parse_accept(p, ".reg")) {
        parse_registers(p);
    } else if (parse_accept(p, ".loc")) {
        parse_place(p);
    } else if (token_is(&p->token, ".pragma") || token_is(&p->token, ".callprototype") ||
               token_is(&p->token, ".calltargets")) {
        skip_statement(p);
    } else {
        parse_fail(p, "unknown directive");
    }
}

static int parse_guard(struct parser *p, bool *negated) {
    *negated = parse_accept(p, "!");
    const struct ptx_operand guard = parse_operand(p);
    if (guard.kind != OPERAND_REGISTER || p->function->reg[guard.reg].type.kind != KIND_PREDICATE)
        parse_fail(p, "an instruction's guard is a predicate");
    return guard.reg;
}

/* `opcode` has been read; up to the semicolon. */
static struct ptx_instruction parse_instruction(struct parser *p, const char *opcode, int line) {
    struct ptx_instruction i = {
        .opcode = opcode, .guard = -1, .target = -1, .place = p->place, .line = line};
    while (!parse_accept(p, ";")) {
        const struct ptx_operand operand = parse_operand(p);
        *ARENA_PUSH(&p->module->arena, i.operand, i.operands) = operand;
        if (!parse_accept(p, ",") && !token_is(&p->token, ";")) parse_fail(p, "';' expected");
    }
    return i;
}

static void resolve(struct parser *p, const struct branches *all) {
    const struct branch *const branch = all->branch;
    for (int i = 0; i < all->count; ++i) {
        const int target =
            parse_find(p, p->label, branch[i].label.text, branch[i].label.length, branch[i].scope);
        if (target < 0) {
            p->token = branch[i].label;
            parse_fail(p, "a branch to %.*s, which is no label", (int)branch[i].label.length,
                       branch[i].label.text);
        }
        if (branch[i].instruction < 0)
            p->function->list[branch[i].list].target[branch[i].element] = target;
        else
            p->function->instruction[branch[i].instruction].target = target;
    }
}

void parse_body(struct parser *p, struct ptx_function *f) {
    struct arena *const arena = &p->module->arena;
    struct branches branches = {0};
    const char *latest = NULL; /* label */
    memset(p->name, 0, sizeof p->name);
    memset(p->label, 0, sizeof p->label);
    p->parent = NULL;
    p->parents = p->scopes = 0;
    p->scope = -1;
    p->function = f;
    p->place = NULL;
    open_scope(p);
    while (p->scope >= 0) {
        if (p->token.kind == TOKEN_END) parse_fail(p, "%s does not end", f->name);
        if (parse_accept(p, ";")) continue;
        if (parse_accept(p, "{")) {
            open_scope(p);
            continue;
        }
        if (parse_accept(p, "}")) {
            p->scope = p->parent[p->scope];
            continue;
        }
        if (p->token.kind == TOKEN_WORD && *p->token.text == '.') {
            if (parse_accept(p, ".branchtargets"))
                parse_targets(p, latest, &branches);
            else
                parse_directive(p);
            continue;
        }
        bool negated = false;
        const int guard = parse_accept(p, "@") ? parse_guard(p, &negated) : -1;
        const int line = p->token.line;
        const char *const word = parse_word(p, "an instruction");
        if (guard < 0 && parse_accept(p, ":")) {
            parse_declare(p, p->label, word, f->instructions);
            latest = word;
            continue;
        }
        if (!strcmp(word, "bra") || !strcmp(word, "bra.uni"))
            *ARENA_PUSH(arena, branches.branch, branches.count) =
                (struct branch){f->instructions, -1, -1, p->scope, p->token};
        struct ptx_instruction i = parse_instruction(p, word, line);
        i.guard = guard;
        i.guard_negated = negated;
        *ARENA_PUSH(arena, f->instruction, f->instructions) = i;
    }
    resolve(p, &branches);
}
