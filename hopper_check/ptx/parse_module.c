/* parse_module.c: directives of a module and the heads of functions. PTX ISA, "Directives". */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/demangle.h"
#include "ptx/parser.h"

void parse_fail(struct parser *p, const char *format, ...) {
    va_list arguments;
    const int used = snprintf(p->error, p->error_size, "%s:%d: ", p->module->file, p->token.line);
    va_start(arguments, format);
    if (used >= 0 && (size_t)used < p->error_size)
        vsnprintf(p->error + used, p->error_size - (size_t)used, format, arguments);
    va_end(arguments);
    const size_t length = strlen(p->error);
    const int shown = p->token.length < 40 ? (int)p->token.length : 40;
    if (p->token.kind == TOKEN_END)
        snprintf(p->error + length, p->error_size - length, ", at the end of the text");
    else
        snprintf(p->error + length, p->error_size - length, ", at '%.*s'", shown, p->token.text);
    longjmp(p->failed, 1);
}

void parse_advance(struct parser *p) { p->token = lexer_next(&p->lexer); }

bool parse_accept(struct parser *p, const char *text) {
    if (!token_is(&p->token, text)) return false;
    parse_advance(p);
    return true;
}

void parse_expect(struct parser *p, const char *text) {
    if (!parse_accept(p, text)) parse_fail(p, "'%s' expected", text);
}

char *parse_word(struct parser *p, const char *what) {
    if (p->token.kind != TOKEN_WORD) parse_fail(p, "%s expected", what);
    char *const word = arena_text(&p->module->arena, p->token.text, p->token.length);
    parse_advance(p);
    return word;
}

uint64_t parse_integer(struct parser *p, const char *what) {
    if (p->token.kind != TOKEN_INTEGER) parse_fail(p, "%s expected", what);
    const uint64_t bits = p->token.bits;
    parse_advance(p);
    return bits;
}

static char *parse_string(struct parser *p) {
    if (p->token.kind != TOKEN_STRING) parse_fail(p, "a file's name expected");
    char *const text = arena_text(&p->module->arena, p->token.text, p->token.length);
    parse_advance(p);
    return text;
}

/* ---- sections: of .debug_str the strings, of the others nothing ---- */

static void parse_strings(struct parser *p) {
    char text[4096];
    size_t used = 0;
    const char *label = NULL;
    while (!token_is(&p->token, "}")) {
        if (p->token.kind == TOKEN_END) parse_fail(p, "a section does not end");
        if (p->token.kind == TOKEN_WORD && *p->token.text == '$') {
            label = parse_word(p, "a label");
            used = 0;
            parse_expect(p, ":");
            continue;
        }
        if (p->token.kind == TOKEN_INTEGER && used < sizeof text) {
            text[used++] = (char)p->token.bits;
            if (label && !p->token.bits) {
                locations_string(&p->locations, &p->module->arena, label,
                                 arena_text(&p->module->arena, text, used));
                label = NULL;
            }
        }
        parse_advance(p);
    }
}

static void parse_section(struct parser *p) {
    const bool strings = token_is(&p->token, ".debug_str");
    parse_advance(p);
    parse_expect(p, "{");
    if (strings) parse_strings(p);
    while (!parse_accept(p, "}")) {
        if (p->token.kind == TOKEN_END) parse_fail(p, "a section does not end");
        parse_advance(p);
    }
}

/* ---- functions ---- */

static void parse_parameters(struct parser *p, struct ptx_function *f) {
    while (!parse_accept(p, ")")) {
        parse_expect(p, ".param");
        struct ptx_variable v = parse_variable(p, SPACE_PARAM);
        f->param_bytes = (f->param_bytes + v.align - 1) & ~(v.align - 1);
        v.offset = f->param_bytes;
        f->param_bytes += v.bytes;
        *ARENA_PUSH(&p->module->arena, f->param, f->params) = v;
        if (!parse_accept(p, ",") && !token_is(&p->token, ")")) parse_fail(p, "')' expected");
    }
}

static void parse_three(struct parser *p, int out[3]) {
    for (int i = 0; i < 3; ++i)
        out[i] = i == 0 || parse_accept(p, ",") ? (int)parse_integer(p, "an extent") : 1;
}

/* The directives between a function's head and its body. PTX ISA, "Performance-Tuning Directives".
 */
static void parse_bounds(struct parser *p, struct ptx_function *f) {
    int ignored[3];
    while (p->token.kind == TOKEN_WORD && *p->token.text == '.') {
        if (parse_accept(p, ".maxntid"))
            parse_three(p, f->max_threads);
        else if (parse_accept(p, ".reqntid"))
            parse_three(p, f->required_threads);
        else if (parse_accept(p, ".reqnctapercluster"))
            parse_three(p, f->cluster);
        else if (parse_accept(p, ".minnctapersm"))
            f->min_ctas = (int)parse_integer(p, "a number of CTAs");
        else if (parse_accept(p, ".maxnreg") || parse_accept(p, ".maxclusterrank"))
            parse_three(p, ignored);
        else if (!parse_accept(p, ".explicitcluster") && !parse_accept(p, ".noreturn") &&
                 !parse_accept(p, ".blocksareclusters"))
            parse_fail(p, "unknown directive of a function");
    }
}

static void parse_function(struct parser *p, bool entry) {
    struct ptx_function f = {.entry = entry};
    if (!entry && parse_accept(p, "(")) { /* what it returns */
        struct ptx_function head = {0};
        parse_parameters(p, &head);
        f.variable = head.param;
        f.variables = f.results = head.params;
    }
    f.name = parse_word(p, "a function's name");
    if (parse_accept(p, "(")) parse_parameters(p, &f);
    parse_bounds(p, &f);
    if (!parse_accept(p, ";")) {
        parse_expect(p, "{");
        f.defined = true;
        parse_body(p, &f);
    }
    *ARENA_PUSH(&p->module->arena, p->module->function, p->module->functions) = f;
}

/* ---- the module ---- */

static void parse_version(struct parser *p) {
    int *const part[] = {&p->module->major, &p->module->minor};
    if (p->token.kind != TOKEN_F64 || sscanf(p->token.text, "%d.%d", part[0], part[1]) != 2)
        parse_fail(p, "a version expected");
    parse_advance(p);
}

/* .alias name, function: another name of a function that is defined in front of it. */
static void parse_alias(struct parser *p) {
    struct ptx_module *const m = p->module;
    const char *const name = parse_word(p, "a function's name");
    parse_expect(p, ",");
    const char *const of = parse_word(p, "a function's name");
    const struct ptx_function *found = NULL;
    for (int i = 0; i < m->functions; ++i)
        if (m->function[i].defined && !strcmp(m->function[i].name, of)) found = &m->function[i];
    if (!found) parse_fail(p, "there is no function %s", of);
    struct ptx_function alias = *found;
    alias.name = name;
    for (int i = 0; i < m->functions; ++i)
        if (!strcmp(m->function[i].name, name)) {
            m->function[i] = alias;
            return;
        }
    *ARENA_PUSH(&m->arena, m->function, m->functions) = alias;
}

static void parse_directive(struct parser *p) {
    enum ptx_space space;
    bool external = false;
    if (parse_accept(p, ".version")) {
        parse_version(p);
    } else if (parse_accept(p, ".target")) {
        p->module->target = parse_word(p, "a target");
        while (parse_accept(p, ","))
            parse_word(p, "a target's option");
    } else if (parse_accept(p, ".address_size")) {
        if (parse_integer(p, "a size") != 64) parse_fail(p, "only 64-bit addresses are supported");
    } else if (parse_accept(p, ".file")) {
        const int number = (int)parse_integer(p, "a file's number");
        locations_file(&p->locations, &p->module->arena, number, parse_string(p));
        while (parse_accept(p, ","))
            parse_integer(p, "a time or size");
    } else if (parse_accept(p, ".alias")) {
        parse_alias(p);
    } else if (parse_accept(p, ".section")) {
        parse_section(p);
    } else {
        while (token_is(&p->token, ".visible") || token_is(&p->token, ".weak") ||
               token_is(&p->token, ".extern") || token_is(&p->token, ".common")) {
            external |= token_is(&p->token, ".extern");
            parse_advance(p);
        }
        if (parse_accept(p, ".entry")) {
            parse_function(p, true);
        } else if (parse_accept(p, ".func")) {
            parse_function(p, false);
        } else if (parse_space(&p->token, &space)) {
            parse_advance(p);
            struct ptx_variable v = parse_variable(p, space);
            v.external = external;
            *ARENA_PUSH(&p->module->arena, p->module->variable, p->module->variables) = v;
            parse_expect(p, ";");
        } else {
            parse_fail(p, "unknown directive");
        }
    }
}

static bool parse_all(struct parser *p) {
    if (setjmp(p->failed)) return false;
    parse_advance(p);
    if (!token_is(&p->token, ".version"))
        parse_fail(p, "PTX begins with .version: is this the text that nvcc -ptx writes?");
    while (p->token.kind != TOKEN_END)
        if (!parse_accept(p, ";")) parse_directive(p);
    if (!p->module->target) parse_fail(p, "there is no .target");
    locations_resolve(&p->locations);
    return true;
}

struct ptx_module *ptx_parse(const char *file, const char *text, char *error, size_t error_size) {
    struct ptx_module *module = calloc(1, sizeof *module);
    struct parser *const p = calloc(1, sizeof *p);
    if (!module || !p) {
        snprintf(error, error_size, "%s: no memory", file);
        free(module);
        free(p);
        return NULL;
    }
    module->file = file;
    p->module = module;
    p->lexer = (struct lexer){text, 1};
    p->error = error;
    p->error_size = error_size;
    if (!parse_all(p)) {
        ptx_free(module);
        module = NULL;
    }
    free(p);
    return module;
}

void ptx_free(struct ptx_module *module) {
    arena_free(&module->arena);
    free(module);
}

struct ptx_function *ptx_entry(struct ptx_module *module, const char *name, char *error,
                               size_t error_size) {
    struct ptx_function *found = NULL;
    int matches = 0, entries = 0;
    for (int i = 0; i < module->functions; ++i) {
        struct ptx_function *const f = &module->function[i];
        if (!f->entry || !f->defined) continue;
        ++entries;
        if (name && strcmp(f->name, name) != 0 &&
            strcmp(demangle(&module->arena, f->name), name) != 0)
            continue;
        found = f;
        ++matches;
    }
    if (matches == 1) return found;
    int used = !entries ? snprintf(error, error_size, "%s has no kernel", module->file)
               : matches
                   ? snprintf(error, error_size, "%s: which kernel? --entry", module->file)
                   : snprintf(error, error_size, "%s has no kernel %s; it has", module->file, name);
    for (int i = 0; i < module->functions && used >= 0 && (size_t)used < error_size; ++i)
        if (module->function[i].entry && module->function[i].defined)
            used +=
                snprintf(error + used, error_size - (size_t)used, " %s", module->function[i].name);
    return NULL;
}
