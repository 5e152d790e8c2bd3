/*
 * docs_ratios.h: some kernels against some rivals on many shapes, a row for each shape.
 *
 *   <!-- ratios: results=h200-fp8-layers kernels=11 against=cublaslt-blocks timing=burst -->
 *   ...
 *   <!-- end -->
 *
 * What stands between the markers is made from docs/results/<results>.jsonl: TFLOPS of every kernel
 * and every baseline in `against`, and the ratio of the fastest of the former to the fastest of the
 * latter; then the geometric mean of the ratios, and the lowest.
 */
#ifndef TOOLS_BOOK_DOCS_RATIOS_H
#define TOOLS_BOOK_DOCS_RATIOS_H

#include "tools/book/docs_page.h"

/* Makes every such table of the page anew; complains about those that were stale unless
 * `rewrite`. */
void ratios_check(const char *root, struct page *page, bool rewrite);

#endif
