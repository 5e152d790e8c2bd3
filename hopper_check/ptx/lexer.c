/* lexer.c: PTX ISA, "Syntax": "Source Format", "Comments", "Identifiers", "Constants". */
#include "ptx/lexer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void skip_space(struct lexer *lexer) {
    for (;;) {
        const char *const c = lexer->at;
        if (*c == '\n') {
            ++lexer->line;
            ++lexer->at;
        } else if (isspace((unsigned char)*c)) {
            ++lexer->at;
        } else if (c[0] == '/' && c[1] == '/') {
            lexer->at += strcspn(c, "\n");
        } else if (c[0] == '/' && c[1] == '*') {
            const char *const end = strstr(c + 2, "*/");
            lexer->at = end ? end + 2 : c + strlen(c);
            for (const char *in = c; in < lexer->at; ++in)
                lexer->line += *in == '\n';
        } else {
            return;
        }
    }
}

static bool in_word(const char *c) {
    return isalnum((unsigned char)*c) || (*c && strchr("_$%.", *c)) || (c[0] == ':' && c[1] == ':');
}

static void read_word(struct lexer *lexer, struct token *token) {
    token->kind = TOKEN_WORD;
    while (in_word(lexer->at))
        lexer->at += *lexer->at == ':' ? 2 : 1;
}

/* 12, -12, 0x1f, 017, 0b101, 12U, 0f3F800000, 0d3FF0000000000000, 1.5 */
static void read_number(struct lexer *lexer, struct token *token) {
    char *end;
    const char *c = lexer->at;
    const bool negative = *c == '-';
    c += negative;
    token->kind = TOKEN_INTEGER;
    if (c[0] == '0' && (c[1] == 'f' || c[1] == 'F')) {
        token->kind = TOKEN_F32;
        token->bits = strtoull(c + 2, &end, 16) ^ (negative ? UINT64_C(1) << 31 : 0);
    } else if (c[0] == '0' && (c[1] == 'd' || c[1] == 'D')) {
        token->kind = TOKEN_F64;
        token->bits = strtoull(c + 2, &end, 16) ^ (negative ? UINT64_C(1) << 63 : 0);
    } else if (c[0] == '0' && (c[1] == 'b' || c[1] == 'B')) {
        token->bits = strtoull(c + 2, &end, 2);
    } else {
        token->bits = strtoull(c, &end, 0);
        if (*end == '.' || ((*end == 'e' || *end == 'E') && strncmp(c, "0x", 2) != 0)) {
            const double value = strtod(c, &end);
            token->kind = TOKEN_F64;
            memcpy(&token->bits, &value, sizeof value);
        }
    }
    if (negative && token->kind == TOKEN_INTEGER) token->bits = -token->bits;
    lexer->at = end;
    while (*lexer->at == 'U')
        ++lexer->at;
}

static void read_string(struct lexer *lexer, struct token *token) {
    token->kind = TOKEN_STRING;
    token->text = ++lexer->at;
    while (*lexer->at && *lexer->at != '"' && *lexer->at != '\n')
        lexer->at += lexer->at[0] == '\\' && lexer->at[1] ? 2 : 1;
    token->length = (size_t)(lexer->at - token->text);
    if (*lexer->at == '"') ++lexer->at;
}

struct token lexer_next(struct lexer *lexer) {
    skip_space(lexer);
    const char *const c = lexer->at;
    struct token token = {TOKEN_MARK, c, 0, 0, lexer->line};
    if (!*c) {
        token.kind = TOKEN_END;
        return token;
    }
    if (*c == '"') {
        read_string(lexer, &token);
        return token;
    }
    if (isdigit((unsigned char)*c) || (*c == '-' && isdigit((unsigned char)c[1])))
        read_number(lexer, &token);
    else if (in_word(c))
        read_word(lexer, &token);
    else
        ++lexer->at;
    token.length = (size_t)(lexer->at - c);
    return token;
}
