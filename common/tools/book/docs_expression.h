/*
 * docs_expression.h: what an expression over the recorded runs is worth. docs_numbers.h has its
 * grammar.
 */
#ifndef TOOLS_BOOK_DOCS_EXPRESSION_H
#define TOOLS_BOOK_DOCS_EXPRESSION_H

#include <stddef.h>

struct expression_source {
    const char *root;
    const char *results; /* the record of a column that names none, "" for none */
    const char *dtype;
};

/* The expression's value. If it has none, NaN, and the reason in `error`, which is "" otherwise. */
double expression_value(const struct expression_source *source, const char *expression, char *error,
                        size_t size);

#endif
