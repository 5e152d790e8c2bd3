/*
 * parser.h: what the parts of the parser share.
 */
#ifndef PTX_PARSER_H
#define PTX_PARSER_H

#include <setjmp.h>

#include "ptx/lexer.h"
#include "ptx/locations.h"
#include "ptx/module.h"

/* Names of a function's body, by scope: `{` opens one, `}` closes it. */
struct ptx_name {
    const char *text;
    int scope, index; /* of a register, or of an instruction if it is a label */
    struct ptx_name *next;
};
enum { NAME_BUCKETS = 4096 };

struct parser {
    struct ptx_module *module;
    struct lexer lexer;
    struct token token; /* the next one */
    struct locations locations;
    jmp_buf failed; /* a mistake ends the parse: one is reported */
    char *error;
    size_t error_size;
    /* Of the function's body: */
    struct ptx_function *function;
    const struct ptx_place *place;
    int scope, scopes, *parent; /* the scope that is open, how many there were, their parents */
    int parents;
    struct ptx_name *name[NAME_BUCKETS], *label[NAME_BUCKETS];
};

/* Ends the parse with this message and the token's line. */
void parse_fail(struct parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
void parse_advance(struct parser *p);
/* Takes the token if it is `text`. */
bool parse_accept(struct parser *p, const char *text);
void parse_expect(struct parser *p, const char *text);
/* A word, as the module keeps it. */
char *parse_word(struct parser *p, const char *what);
uint64_t parse_integer(struct parser *p, const char *what);

/* A declaration behind its state space: ".align 8 .b8 name[4][16] = {...}". parse_variable.c */
struct ptx_variable parse_variable(struct parser *p, enum ptx_space space);
bool parse_space(const struct token *token, enum ptx_space *space);

/* The body behind its `{`, and the `}`. parse_body.c */
void parse_body(struct parser *p, struct ptx_function *function);
/* + 16, or nothing. parse_operand.c */
int64_t parse_offset(struct parser *p);
/* An operand of an instruction. parse_operand.c */
struct ptx_operand parse_operand(struct parser *p);
/* The index of what is called `text` here, in the scope that is open or one around it; < 0: nothing
 * is. A new name stands in front of those of the same text. */
int parse_find(const struct parser *p, struct ptx_name *const *table, const char *text,
               size_t length, int scope);
void parse_declare(struct parser *p, struct ptx_name **table, const char *text, int index);

#endif
