/*
 * docs_suite.h: one kernel on many shapes, a row for each.
 *
 *   <!-- suite: results=h200-suite timing=burst -->
 *   ...
 *   <!-- end -->
 *
 * What stands between the markers is made from docs/results/<results>.jsonl, the only run in it:
 * the chapter's own kernel beside cuBLAS and cuBLASLt's best, and the geometric means of the
 * ratios.
 *
 *   <!-- suite-means: results=h200-suite:burst,h200-suite-sustained:sustained -->
 *
 * has a row for each such run: the means and the shape with the lowest ratio to cuBLAS alone.
 * h200-suite:burst:tuned is the same for the variant `tuned`.
 */
#ifndef TOOLS_BOOK_DOCS_SUITE_H
#define TOOLS_BOOK_DOCS_SUITE_H

#include "tools/book/docs_page.h"

/* Makes every such table of the page anew; complains about those that were stale unless
 * `rewrite`. */
void suites_check(const char *root, struct page *page, bool rewrite);

#endif
