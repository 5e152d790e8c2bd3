/*
 * docs_grid.h: tables whose cells are computed from the records.
 *
 *   <!-- grid: results=h200-w4a8 dtype=w4a8
 *   | m | 10, bf16 | 12 | of its rate |
 *   |---:|---:|---:|---:|
 *   | {1} | {{1000*ms(10,{1}x14336x4096,h200-w4a8:bf16) | 2}} | ... | {{100*a/b | 0}} % |
 *   - 1
 *   - 16; a label
 *   + | 2,048 | **{{1000*ms(12,2048x14336x4096) | 1}}** | ... | – |
 *   bold: min 2-3
 *   -->
 *   ... the table ...
 *   <!-- end -->
 *
 * The first two lines are the table's heading, the third is what a row is made of: a line "- a; b"
 * makes one in which {1} is a, {2} is b, and so on. A line "+ | ..." is a row of its own. In braces
 * twice stands an expression of docs_numbers.h and how it is printed: with so many decimals, +N
 * with a sign, -N rounded to tens, hundreds, ..., and a comma behind it for 1,000. "bold: min 2-3"
 * puts the smallest of columns 2 to 3 of every row in bold type, and those that look the same;
 * "bold: max ..." the greatest, "bold: >=75 2-2" those that are at least 75.
 */
#ifndef TOOLS_BOOK_DOCS_GRID_H
#define TOOLS_BOOK_DOCS_GRID_H

#include "tools/book/docs_page.h"

/* Makes every grid of the page anew; complains about those that were stale unless `rewrite`. */
void grids_check(const char *root, struct page *page, bool rewrite);

#endif
