/*
 * docs_tables.h: tables of recorded runs.
 *
 *   <!-- table: results=h200 kernels=05,06:wait0,cublas shapes=4096,8192x8192x512
 *        columns=burst,cublas dtype=bf16 link=yes -->     (in one line)
 *   ...
 *   <!-- end -->
 *
 * What stands between the markers is made from docs/results/<results>*.jsonl: the programs' own
 * --json lines, behind one line that says where and how they were recorded
 * (docs/results/README.md). A kernel is a chapter's number, with a variant behind a colon, or a
 * baseline's name. With link=yes a row links to its chapter, and to the section that follows the
 * name behind a # (06:two_warpgroups#two-warpgroups-on-a-wider-tile). The column "gain" compares a
 * row with the one above, or with what follows the name behind a < (09<08:persistent). A later
 * record replaces an earlier one of the same kernel, shape and type. The columns are those of
 * columns[] in docs_tables.c. What a record has:
 *
 *   jq -r 'select(.chapter or .stage) | [(.chapter // .stage), .variant, .m, .n, .k] | @tsv' FILE
 */
#ifndef TOOLS_BOOK_DOCS_TABLES_H
#define TOOLS_BOOK_DOCS_TABLES_H

#include "tools/book/docs_page.h"
#include "tools/json/json.h"

/* Makes every table of the page anew; complains about those that were stale unless `rewrite`. */
void tables_check(const char *root, struct page *page, bool rewrite);

/* Reads docs/results/<file>, and says how many lines it has; lines count from 0. */
int tables_load(const char *root, const char *file);
/* Does this line say how those that follow it were recorded, by a command with this text? */
bool tables_is_run(int line, const char *command);
/* What the run of this line has of a kernel or library, and the run's cuBLAS; NULL if nothing. */
const struct json *tables_find(const char *kernel, const char *shape, const char *dtype, int run,
                               const struct json **cublas);
/* A row's baseline of this name, or NULL. */
const struct json *tables_baseline(const struct json *value, const char *name);
/* "4096³", or "16×4096×4096"; `times`: what stands between the lengths. */
void tables_add_shape(struct text *out, double m, double n, double k, const char *times);
/* The line below a table: measured or simulated, on what, when, how. `run`: the line of a record
 * that says so; `file`: the record's name. */
void tables_add_source(struct text *out, const char *root, const struct page *page,
                       const struct json *run, bool simulated, const char *dtype, const char *file);

#endif
