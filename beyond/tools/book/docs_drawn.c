#include "tools/book/docs_drawn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/text_file.h"
#include "tools/book/docs_tables.h"
#include "tools/book/drawn_figure.h"
#include "tools/book/drawn_record.h"

static void add_size(struct text *out, const struct drawn_row *row) {
    tables_add_shape(out, row->size.m, row->size.n, row->size.k, "×");
}

static void add_group(struct text *out, const char *name, struct drawn_group group) {
    if (!group.count) return;
    text_add(out, "| %s | %d | %.3f | %.2f | %.2f, ", name, group.count, group.mean,
             group.percentile, group.lowest->ratio);
    add_size(out, group.lowest);
    text_add(out, " |\n");
}

/* The seed's shapes that lie between two rows. */
static void add_left_out(struct text *out, const struct drawn_record *record) {
    for (int i = 0, row = 0; i < record->drawn; ++i) {
        const struct problem_size drawn = drawn_shape(record->seed, i),
                                  next = record->row[row].size;
        if (drawn.m == next.m && drawn.n == next.n && drawn.k == next.k) {
            ++row;
            continue;
        }
        tables_add_shape(out, drawn.m, drawn.n, drawn.k, "×");
        text_add(out, " ");
    }
}

static void add_means(struct text *out, const struct drawn_record *record) {
    text_add(out, "| of the seed's %d shapes ", DRAWN_SHAPES);
    if (record->drawn > record->rows) {
        text_add(out, "without ");
        add_left_out(out, record);
    }
    if (record->drawn < DRAWN_SHAPES) text_add(out, "the first %d ", record->drawn);
    text_add(out, "| shapes | geometric mean of the ratios | 5th percentile¹ | lowest |\n"
                  "|---|---:|---:|---:|---|\n");
    add_group(out, "n and k multiples of 8", drawn_group(record, true, false));
    add_group(out, "n or k not a multiple of 8", drawn_group(record, false, true));
    add_group(out, "all", drawn_group(record, true, true));
    text_add(out, "\n¹ the ratio of rank *shapes* / 20, rounded up, from the lowest\n\n");
}

static int by_ratio(const void *a, const void *b) {
    const struct drawn_row *x = a, *y = b;
    return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

/* "8×64", or a dash if the library does not report it. */
static void add_pair(struct text *out, int m, int n) {
    if (m && n)
        text_add(out, " %d×%d |", m, n);
    else
        text_add(out, " – |");
}

static void add_lowest(struct text *out, const struct drawn_record *record, int count) {
    struct drawn_row row[DRAWN_SHAPES];
    int rows = 0;
    for (int i = 0; i < record->rows; ++i)
        if (record->row[i].aligned) row[rows++] = record->row[i];
    qsort(row, (size_t)rows, sizeof *row, by_ratio);
    text_add(out,
             "| the lowest, n and k multiples of 8 | ratio | configuration | "
             "cuBLASLt's best: tile | cluster | parts of k |\n|---|---:|---|---:|---:|---:|\n");
    for (int i = 0; i < rows && i < count; ++i) {
        text_add(out, "| ");
        add_size(out, &row[i]);
        text_add(out, " | %.2f | `%s` |", row[i].ratio, row[i].selected);
        add_pair(out, row[i].tile_m, row[i].tile_n);
        add_pair(out, row[i].cluster_m, row[i].cluster_n);
        text_add(out, " %d |\n", row[i].splits);
    }
}

/* drawn_check()'s `rewrite`: page_remake() does not pass it on to the function that it calls. */
static bool rewriting;

/* Compares the file with the figure that the record yields, and replaces it if `rewriting`. */
static void check_figure(const char *root, const struct page *page, int line, const char *name,
                         const struct drawn_record *record) {
    struct text path = {0};
    char *made = NULL;
    size_t length = 0;
    char file[PLACE], place[PLACE];
    snprintf(file, sizeof file, "figures/%s.svg", name);
    text_add(&path, "%s/%s", root, docs_place(root, file, place));
    FILE *memory = open_memstream(&made, &length);
    if (!memory) abort();
    drawn_figure(memory, record);
    fclose(memory);
    char *old = json_read_file(path.data);
    if (!old || strcmp(old, made)) {
        struct text_file output;
        bool written = rewriting && text_file_open(&output, path.data);
        if (written) {
            fputs(made, output.file);
            written = text_file_commit(&output);
        }
        if (!rewriting)
            complain(page, line, "docs/figures/%s.svg is stale: build the target docs", name);
        else if (!written)
            complain(page, line, "docs/figures/%s.svg cannot be written: %s", name,
                     strerror(errno));
    }
    free(old);
    free(made);
    free(path.data);
}

static bool make_drawn(struct text *out, const char *root, const struct page *page, int line) {
    char results[64], figure[64], lowest[16], file[80], variant[32];
    if (!marker_value(page->line[line], "results", results, sizeof results) ||
        !marker_value(page->line[line], "figure", figure, sizeof figure) ||
        !marker_value(page->line[line], "lowest", lowest, sizeof lowest)) {
        complain(page, line, "drawn shapes need results=, figure= and lowest=");
        return false;
    }
    snprintf(file, sizeof file, "%s.jsonl", results);
    if (!marker_value(page->line[line], "variant", variant, sizeof variant)) *variant = 0;
    static struct drawn_record record;
    if (!drawn_read(&record, root, page, line, file, variant)) {
        text_add(out, "\n*Not yet recorded: there is no `docs/results/%s`.*\n\n", file);
    } else if (record.rows) {
        char name[PLACE], place[PLACE], link[PLACE];
        check_figure(root, page, line, figure, &record);
        snprintf(name, sizeof name, "figures/%s.svg", figure);
        text_add(out,
                 "\n![Ratio to cuBLASLt's best over the FLOP of the drawn shapes, measured]"
                 "(%s)\n\n",
                 page_link(page, docs_place(root, name, place), link));
        add_means(out, &record);
        add_lowest(out, &record, atoi(lowest));
        tables_add_source(out, root, page, &record.run, false, record.dtype, file);
        text_add(out, "\n");
    }
    drawn_free(&record);
    return true;
}

void drawn_check(const char *root, struct page *page, bool rewrite) {
    rewriting = rewrite;
    page_remake(root, page, rewrite, "<!-- drawn:", "block", make_drawn);
}
