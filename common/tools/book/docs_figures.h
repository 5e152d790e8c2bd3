/*
 * docs_figures.h: the timelines of a chapter.
 *
 *   <!-- figure: 06_wgmma -->
 *   ...
 *   <!-- end -->
 *
 * What stands between is made from those of docs/figures/06_wgmma-simulated.svg and -measured.svg
 * that exist, or of the one that is asked for (<!-- figure: 06_wgmma measured -->); without them it
 * says how to draw one, or that the measured one is not recorded yet. The name "all" is the picture
 * of all chapters.
 */
#ifndef TOOLS_BOOK_DOCS_FIGURES_H
#define TOOLS_BOOK_DOCS_FIGURES_H

#include "tools/book/docs_page.h"

/* Makes every figure block of the page anew; complains about stale ones unless `rewrite`. */
void figures_check(const char *root, struct page *page, bool rewrite);

#endif
