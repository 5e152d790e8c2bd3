/*
 * docs_tables.h: tables of recorded runs.
 *
 *   <!-- table: results=h200 stages=05,06:wait0,cublas shapes=4096,8192x8192x512
 *        columns=burst,cublas dtype=bf16 link=yes -->     (in one line)
 *   ...
 *   <!-- end -->
 *
 * What stands between the markers is made from docs/results/<results>*.jsonl: the programs' own
 * --json lines, behind one line that says where and how they were recorded
 * (docs/results/README.md). A stage is a chapter's number, with a variant behind a colon, or a
 * baseline's name. A later record replaces an earlier one of the same stage, shape and type.
 */
#ifndef TESTS_DOCS_TABLES_H
#define TESTS_DOCS_TABLES_H

#include "docs_page.h"

/* Makes every table of the page anew; complains about those that were stale unless `rewrite`. */
void tables_check(const char *root, struct page *page, bool rewrite);

#endif
