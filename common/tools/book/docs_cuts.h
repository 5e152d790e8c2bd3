/*
 * docs_cuts.h: how good fit.h's choice is among the cuts of a record (tools/cuts).
 */
#ifndef TOOLS_BOOK_DOCS_CUTS_H
#define TOOLS_BOOK_DOCS_CUTS_H

#include <stddef.h>

/* A number of docs/results/<file>: "cuts" and "shapes" count; "mean" and "most" are by how many
 * percent longer the chosen cuts take than the fastest; "above 10" counts the shapes where it is
 * more than 10 %. If there is no such number, NaN, and the reason in `error`. */
double cuts_number(const char *root, const char *file, const char *what, char *error, size_t size);

#endif
