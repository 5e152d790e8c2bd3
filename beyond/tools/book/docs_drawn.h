/*
 * docs_drawn.h: the shapes that a seed drew: a figure and two tables.
 *
 *   <!-- drawn: results=h200-drawn figure=10_stream_k-drawn lowest=8 -->
 *   ...
 *   <!-- end -->
 *
 * With variant=NAME it is about this variant, and otherwise about the chapter's own kernel. What
 * stands between the markers is made from docs/results/<results>.jsonl, and so is
 * docs/figures/<figure>.svg: the ratios to cuBLASLt's best, their means, and the shapes with the
 * lowest ratios. The shapes whose n and k are multiples of 8 are told apart from the others.
 */
#ifndef TOOLS_BOOK_DOCS_DRAWN_H
#define TOOLS_BOOK_DOCS_DRAWN_H

#include "tools/book/docs_page.h"

/* Makes every such block of the page anew, with its figure; complains about those that were stale
 * unless `rewrite`. */
void drawn_check(const char *root, struct page *page, bool rewrite);

#endif
