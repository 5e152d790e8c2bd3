/*
 * lexer.h: the words of PTX. An opcode with its dots is one word, and so is a directive.
 */
#ifndef PTX_LEXER_H
#define PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_INTEGER,
    TOKEN_F32,
    TOKEN_F64,
    TOKEN_STRING,
    TOKEN_MARK
};

struct token {
    enum token_kind kind;
    const char *text; /* in the source; a string without its quotes */
    size_t length;
    uint64_t bits; /* of a number */
    int line;
};

struct lexer {
    const char *at;
    int line;
};

/* The next token. A character that begins none is a mark. */
struct token lexer_next(struct lexer *lexer);

static inline bool token_is(const struct token *token, const char *text) {
    return token->kind != TOKEN_STRING && __builtin_strlen(text) == token->length &&
           !__builtin_memcmp(token->text, text, token->length);
}

#endif
