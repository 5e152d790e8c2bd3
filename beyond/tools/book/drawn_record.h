/*
 * drawn_record.h: a kernel on the shapes that a seed drew (record/drawn_shapes.h), beside cuBLASLt.
 */
#ifndef TOOLS_BOOK_DRAWN_RECORD_H
#define TOOLS_BOOK_DRAWN_RECORD_H

#include "tools/book/docs_page.h"
#include "tools/json/json.h"
#include "tools/record/drawn_shapes.h"

struct drawn_row {
    struct problem_size size;
    double ratio;       /* burst: TFLOPS of the kernel / TFLOPS of cuBLASLt's best */
    bool aligned;       /* n and k are multiples of 8 */
    char selected[32];  /* the kernel's configuration */
    int tile_m, tile_n; /* of cuBLASLt's best; 0: not reported, here and below */
    int cluster_m, cluster_n;
    int splits; /* parts that k is cut into */
};

struct drawn_record {
    struct drawn_row row[DRAWN_SHAPES];
    int rows;
    int drawn; /* the seed's shapes up to that of the last row */
    unsigned long long seed;
    struct json run; /* the line that says how it was recorded */
    char dtype[16];
};

/* What can be said of some of the rows. */
struct drawn_group {
    int count;
    double mean;                    /* geometric */
    double percentile;              /* of rank count / 20, rounded up: the 5th percentile */
    const struct drawn_row *lowest; /* NULL: there are no rows */
};

/* Reads the rows of a variant ("": the chapter's own kernel) in docs/results/<file>, one run. They
 * must be the seed's shapes, in their order, and some may be left out; otherwise it complains about
 * the marker in line `line`. False if there is no such file. drawn_free() follows either way. */
bool drawn_read(struct drawn_record *record, const char *root, const struct page *page, int line,
                const char *file, const char *variant);
void drawn_free(struct drawn_record *record);

/* The aligned rows if `aligned`, and the others if `unaligned`. */
struct drawn_group drawn_group(const struct drawn_record *record, bool aligned, bool unaligned);

#endif
