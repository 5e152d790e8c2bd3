/*
 * docs_cuts.h: how good the choices of fit.h and select.c are among the cuts and configurations of
 * a record (tools/cuts).
 *
 *   <!-- cuts: record=h200-cuts.txt -->
 *   ...
 *   <!-- end -->
 *
 * What stands between the markers is a table of the configurations: at how many shapes each is the
 * fastest, and what the best choices lose without it. Below it is what the selection's choices
 * lose.
 */
#ifndef TOOLS_BOOK_DOCS_CUTS_H
#define TOOLS_BOOK_DOCS_CUTS_H

#include <stddef.h>

#include "tools/book/docs_page.h"

/* A number of docs/results/<file>. Of the cuts alone: "cuts" and "shapes" count; "mean" and "most"
 * are by how many percent longer the chosen cuts take than the fastest; "above 10" counts the
 * shapes where it is more than 10 %. With "selection" before one of the last three, or before
 * "95th", a percentile, of cuts and configurations together; with "tuned", of the fastest of
 * several kernels (CUTS_TUNED). "configurations" counts the times of these; "fastest NAME" the
 * shapes at which configuration NAME is the fastest; "without NAME" is by how many percent the best
 * possible choices take longer without it. If there is no such number, NaN, and the reason in
 * `error`. */
double cuts_number(const char *root, const char *file, const char *what, char *error, size_t size);

/* Makes every such table of the page anew; complains about those that were stale unless
 * `rewrite`. */
void cuts_check(const char *root, struct page *page, bool rewrite);

#endif
